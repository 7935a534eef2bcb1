"""captious metrics and captious doctor"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError

import pytest

from captious import __version__
from captious.metrics.registry import get, names

from .conftest import Run


def test_metrics(run: Run) -> None:
    outcome = run("metrics")
    assert (outcome.code, outcome.err) == (0, "")
    for name in names():
        line = next(line for line in outcome.out.splitlines() if line.startswith(f"{name} "))
        assert get(name).summary in line
        for variant in get(name).variants:
            assert variant in outcome.out


def test_metrics_as_json(run: Run) -> None:
    document = run("metrics", "--format", "json").json
    assert document["version"] == __version__
    assert [metric["name"] for metric in document["metrics"]] == names()
    for metric in document["metrics"]:
        kind = get(metric["name"])
        assert metric["outputs"] == list(kind.outputs)
        assert metric["variants"] == dict(kind.variants)
        assert metric["summary"]
        assert metric["runs"] is (kind.missing() is None)
        assert metric["install"] == kind.missing()


def test_a_metric_that_cannot_run_here(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(get("rouge-l"), "missing", classmethod(lambda cls: "pip install 'captious[rouge]'"))
    assert "no: pip install 'captious[rouge]'" in run("metrics").out
    doctor = run("doctor").out
    (line,) = (line for line in doctor.splitlines() if line.startswith("rouge-l "))
    assert line.split(maxsplit=2)[1:] == ["missing", "pip install 'captious[rouge]'"]


def test_a_metric_that_cannot_run_here_as_json(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(get("rouge-l"), "missing", classmethod(lambda cls: "pip install 'captious[rouge]'"))
    (found,) = (m for m in run("metrics", "--format", "json").json["metrics"] if m["name"] == "rouge-l")
    assert (found["runs"], found["install"]) == (False, "pip install 'captious[rouge]'")


def test_doctor(run: Run) -> None:
    outcome = run("doctor")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[0].split()[:2] == ["captious", __version__]
    first_words = [line.split()[0] for line in outcome.out.splitlines()]
    assert {"kernels", "pandas", "polars", "pyarrow", *names()} <= {*first_words}


def test_doctor_says_how_to_install_what_is_missing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from captious.cli import doctor

    def none_installed(package: str) -> str:
        raise PackageNotFoundError(package)

    monkeypatch.setattr(doctor, "installed_version", none_installed)
    out = run("doctor").out
    for extra in ("pandas", "polars", "parquet"):
        assert f"pip install 'captious[{extra}]'" in out
