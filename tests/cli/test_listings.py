"""captious metrics and captious doctor"""

from __future__ import annotations

import importlib.metadata
import re
from importlib.metadata import EntryPoint, EntryPoints, PackageNotFoundError
from pathlib import Path

import pytest

from captious.metrics.contract.registry import PLUGINS, get, metric_names
from tests.cli.conftest import Run

INSTALL = "pip install 'captious[meteor]'"


def row(text: str, name: str) -> str:
    """Return a row of a listing."""
    (rest,) = (line.removeprefix(name) for line in text.splitlines() if line.startswith(f"{name}  "))
    return rest.strip()


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_metrics_fit_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", run("metrics").out).splitlines()
    assert max(map(len, lines)) <= columns
    assert {line.split()[0] for line in lines if line[:1].strip()} == {"metric", *metric_names()}


def test_doctor_and_metrics_agree(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is not on this machine keeps a metric from running, even if its packages are there."""
    monkeypatch.setattr(get("bertscore"), "missing", classmethod(lambda cls: None))
    (metric,) = run("metrics", "bertscore", "--format", "json").json["metrics"]
    assert (metric["runs"], metric["state"]) == (False, "no model")
    assert metric["install"].startswith("hf download ")
    assert row(run("doctor").out, "bertscore").startswith("no model ")
    assert "no model: hf download" in run("metrics").out
    doctor = run("doctor").out
    for described in run("metrics", "--format", "json").json["metrics"]:
        assert f"\n{described['name']} " in doctor
        assert re.search(rf"^{described['name']} +{described['state']} ", doctor, re.MULTILINE)


def test_unavailable_metric_shows_the_remedy(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(get("rouge-l"), "missing", classmethod(lambda cls: "pip install 'captious[rouge]'"))
    assert "no: pip install 'captious[rouge]'" in run("metrics").out
    doctor = run("doctor").out
    (line,) = (line for line in doctor.splitlines() if line.startswith("rouge-l "))
    assert line.split(maxsplit=2)[1:] == ["missing", "pip install 'captious[rouge]'"]


def test_doctor_shows_three_groups(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(get("bertscore"), "missing", classmethod(lambda cls: "pip install 'captious[models]'"))
    monkeypatch.setattr(get("wmd"), "missing", classmethod(lambda cls: "captious vectors add FILE --name NAME"))
    _, *tiers = run("doctor").out.split("\n\n")
    works, command, files = ([line.split()[0] for line in tier.splitlines()[1:]] for tier in tiers)
    assert [tier.splitlines()[0] for tier in tiers] == ["Works now", "Needs one command", "Needs your own files"]
    assert "rouge-l" in works
    assert "bertscore" in command
    assert "wmd" in files
    assert not {"bertscore", "wmd"} & {*works}


def test_doctor_says_how_to_install_what_is_missing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from captious.cli import installation

    def none_installed(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(installation, "installed_version", none_installed)
    out = run("doctor").out
    for extra in ("pandas", "polars", "parquet"):
        assert f"pip install 'captious[{extra}]'" in out


class TestTablesOfMeteor:
    """A metric that needs files that are no package."""

    def test_missing_meteor_tables_are_listed(self, run: Run, cache: Path) -> None:
        doctor = run("doctor")
        assert (doctor.code, doctor.err) == (0, "")
        state, message = row(doctor.out, "meteor tables").split(maxsplit=1)
        assert state == "missing"
        assert message.endswith(f": {INSTALL}")
        assert row(doctor.out, "meteor").split(maxsplit=1) == ["missing", INSTALL]
        assert row(doctor.out, "rouge-l").startswith("runs ")
        assert row(doctor.out, "cache") == f"{cache} (set CAPTIOUS_CACHE to change)"
        assert f"no: {INSTALL} words aligned" in " ".join(row(run("metrics").out, "meteor").split())

    def test_plugins_that_cannot_be_used_are_named(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        points = [EntryPoint(name, "nowhere:nothing", "captious.metrics") for name in ("broken", "bleu")]
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda **chosen: EntryPoints(points).select(**chosen))
        monkeypatch.setitem(vars(PLUGINS), "by_name", {"broken": points[0]})
        doctor = run("doctor").out.partition("Cannot be used\n")[2]
        listed = run("metrics")
        assert row(doctor, "broken").startswith("broken ")
        assert row(doctor, "bleu") == "ignored  the entry point nowhere:nothing: the name is that of another metric"
        assert (listed.code, listed.err) == (0, "")
        assert "the metric broken cannot be loaded" in " ".join(row(listed.out, "broken").split())
        assert " yes " in row(listed.out, "rouge-l")

    def test_damaged_meteor_tables_are_listed(self, run: Run, tables: Path) -> None:
        """Both say so, and list the other metrics as ever."""
        (tables / "meteor-1.5.jar").write_bytes(b"")
        doctor = run("doctor")
        assert (doctor.code, doctor.err) == (0, "")
        assert row(doctor.out, "meteor tables").startswith("unusable ")
        assert str(tables / "meteor-1.5.jar") in row(doctor.out, "meteor tables")
        assert row(doctor.out, "meteor").startswith("broken ")
        metrics = run("metrics")
        assert (metrics.code, metrics.err) == (0, "")
        assert "no: METEOR's tables are damaged" in row(metrics.out, "meteor")
        assert " yes " in row(metrics.out, "rouge-l")
