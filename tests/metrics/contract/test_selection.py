"""Selection of metrics that are ready to run, from requests."""

from __future__ import annotations

import pytest

import captious
from captious.errors import ParameterError
from captious.metrics.contract.selection import COCO, RequestedMetric, coco_available, select
from captious.metrics.contract.settings import Settings
from captious.metrics.spice import Spice

# ---- what runs by default


@pytest.fixture
def all_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the metrics of the COCO evaluation need is installed."""
    for metric in (captious.Meteor, Spice):
        monkeypatch.setattr(metric, "missing", classmethod(lambda cls: None))


@pytest.mark.usefixtures("all_installed")
def test_coco_set_has_the_eight_toolkit_metrics() -> None:
    assert COCO == ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider-d", "spice")
    assert coco_available() == ([*COCO], ())


@pytest.mark.usefixtures("all_installed")
def test_uninstalled_metrics_are_skipped_with_their_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for metric, command in ((captious.Meteor, "pip install 'captious[meteor]'"), (Spice, "get the tables")):
        monkeypatch.setattr(metric, "missing", classmethod(lambda cls, command=command: command))
    selection = select()
    assert selection.labels == tuple(name for name in COCO if name not in ("meteor", "spice"))
    assert selection.warnings == (
        "metrics skipped because requirements are missing: "
        "meteor (run pip install 'captious[meteor]'); spice (run get the tables)",
    )
    assert select(["bleu"]).warnings == ()  # nothing is left out of what is asked for


@pytest.mark.usefixtures("all_installed")
def test_a_report_says_what_the_default_leaves_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for metric in (captious.Meteor, Spice):
        monkeypatch.setattr(metric, "missing", classmethod(lambda cls: "some command"))
    with pytest.warns(captious.CaptiousWarning) as caught:
        report = captious.score(["dog", "cat"], [["a dog", "dogs"], ["a cat"]])
    assert report.warnings[0].startswith("metrics skipped")
    assert "meteor (run some command)" in report.warnings[0]
    assert [str(warning.message) for warning in caught] == report.warnings


# ---- asking


@pytest.mark.parametrize("several", [True, False])
def test_metric_object_is_used_unchanged(several: bool) -> None:
    metric = captious.CiderD(sigma=3)
    (chosen,) = select([metric] if several else metric)
    assert chosen.metric is metric
    assert chosen.output_indices == {"cider-d:sigma=3": 0}


def test_a_selection_is_a_sequence() -> None:
    settings = Settings(tokenizer="spaces")
    selection = select(iter(["bleu-1", "rouge-l", "cider-d"]), settings)
    assert selection.settings is settings
    assert len(selection) == 3
    assert [requested.metric.name for requested in selection] == ["bleu", "rouge-l", "cider-d"]
    assert isinstance(selection[0], RequestedMetric)
    assert [requested.metric.name for requested in selection[1:]] == ["rouge-l", "cider-d"]
    assert selection[-1] in selection


def test_asking_for_an_object_and_its_name() -> None:
    with pytest.raises(ParameterError, match="cider is requested twice"):
        select(["cider", captious.Cider()])


@pytest.mark.parametrize("settings", [{"tokenizer": "spaces"}, "spaces", Settings])
def test_value_that_is_not_settings_is_refused(settings: object) -> None:
    with pytest.raises(ParameterError, match=r"is not a captious\.Settings") as caught:
        select("bleu", settings)  # type: ignore[arg-type]
    assert "captious.Settings(" in caught.value.hint
