"""captious metrics and captious doctor"""

from __future__ import annotations

import math
import re
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from captious import __version__
from captious.errors import shown
from captious.metrics.contract.registry import get, metric_names
from captious.metrics.contract.selection import availability, metric_info
from tests.cli.conftest import Run

INSTALL = "pip install 'captious[meteor]'"


def row(text: str, name: str) -> str:
    """Return a row of a listing."""
    (rest,) = (line.removeprefix(name) for line in text.splitlines() if line.startswith(f"{name}  "))
    return rest.strip()


def test_metrics_are_listed_with_requirements(run: Run) -> None:
    outcome = run("metrics")
    assert (outcome.code, outcome.err) == (0, "")
    for name in metric_names():
        line = next(line for line in outcome.out.splitlines() if line.startswith(f"{name}  "))
        assert get(name).summary in line


@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_metrics_fit_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("FORCE_COLOR", "1")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", run("metrics").out).splitlines()
    assert max(map(len, lines)) <= columns
    assert {line.split()[0] for line in lines if line[:1].strip()} == {"metric", *metric_names()}


def test_metrics_as_json(run: Run) -> None:
    document = run("metrics", "--format", "json").json
    assert document["version"] == __version__
    assert [metric["name"] for metric in document["metrics"]] == metric_names()
    for metric in document["metrics"]:
        kind = get(metric["name"])
        assert metric["outputs"] == list(kind.outputs)
        assert metric["variants"] == dict(kind.variants)
        assert metric["summary"]
        lower = {output for output, direction in metric["direction"].items() if direction == "lower"}
        neither = {output for output, direction in metric["direction"].items() if direction == "neither"}
        assert (lower, neither) == (kind.lower_is_better, kind.no_direction)
        info = metric_info(metric["name"])
        assert (metric["needs"], metric["languages"]) == ([*info.needs], info.languages and [*info.languages])
        low, high = metric["range"]
        assert (-math.inf if low is None else low, math.inf if high is None else high) == kind.bounds
        here = availability(metric["name"])
        assert (metric["runs"], metric["state"]) == (here.runs, here.state)
        assert metric["install"] == (shown(here.help, "command line") or None)


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


def test_doctor_shows_resources_and_packages(run: Run) -> None:
    outcome = run("doctor")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[0].split()[:2] == ["captious", __version__]
    first_words = [line.split()[0] for line in outcome.out.splitlines() if line]
    assert {"kernels", "pandas", "polars", "pyarrow", *metric_names()} <= {*first_words}


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

    @pytest.mark.usefixtures("tables")
    def test_meteor_tables_are_listed_as_found_then_compiled(self, run: Run) -> None:
        assert row(run("doctor").out, "meteor tables").startswith("found ")
        run("resources", "build")
        doctor = run("doctor").out
        assert row(doctor, "meteor tables").startswith("compiled ")
        assert row(doctor, "meteor tables").endswith(", from CAPTIOUS_METEOR_HOME")
        assert row(doctor, "meteor").startswith("runs ")
        assert " yes " in row(run("metrics").out, "meteor")

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

    @pytest.mark.usefixtures("cache")
    def test_meteor_tables_are_listed_in_json(self, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def meteor() -> tuple[object, object, object]:
            (metric,) = (m for m in run("metrics", "--format", "json").json["metrics"] if m["name"] == "meteor")
            return metric["runs"], metric["install"], metric["outputs"]

        assert meteor() == (False, INSTALL, ["meteor"])
        monkeypatch.setenv("CAPTIOUS_METEOR_HOME", str(tmp_path))
        assert meteor() == (False, "the folder that CAPTIOUS_METEOR_HOME names has no METEOR tables", ["meteor"])
