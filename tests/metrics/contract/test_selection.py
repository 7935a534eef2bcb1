"""Selection of metrics that are ready to run, from requests."""

from __future__ import annotations

import pytest

import captious
from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract.metric import Metric
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


def test_selection_accepts_metrics_outputs_and_variants() -> None:
    assert select("bleu").labels == ("bleu-1", "bleu-2", "bleu-3", "bleu-4")
    assert select(["bleu-4", "cider-d"]).labels == ("bleu-4", "cider-d")
    assert select(["cider-d", "cider-d@paper"]).labels == ("cider-d", "cider-d@paper")
    assert select(["bleu@paper"]).labels == ("bleu-1@paper", "bleu-2@paper", "bleu-3@paper", "bleu-4@paper")


def test_names_in_any_case() -> None:
    assert select(["BLEU-4", "CIDEr-D", "ROUGE-L@Lin2004"]).labels == ("bleu-4", "cider-d", "rouge-l@lin2004")
    assert select(["rouge-s:GAP=2"]).labels == ("rouge-s:gap=2",)
    with pytest.raises(ParameterError, match="bleu-4@paper is requested twice"):
        select(["bleu-4@paper", "BLEU-4@Paper"])
    with pytest.raises(ParameterError, match="gap is given twice"):
        select(["rouge-s:gap=2,Gap=3"])


def test_outputs_of_one_metric_are_computed_once() -> None:
    selection = select(["bleu-4", "rouge-l", "bleu-1", "bleu-2@paper"])
    assert [requested.output_indices for requested in selection] == [
        {"bleu-4": 3, "bleu-1": 0},
        {"rouge-l": 0},
        {"bleu-2@paper": 1},
    ]
    assert [requested.metric.variant for requested in selection] == ["official", "official", "paper"]


def test_parameters_tell_metrics_apart() -> None:
    selection = select(["bleu-1:tokenizer=whitespace", "bleu-4:tokenizer=whitespace", "bleu-4"])
    assert [[*requested.output_indices] for requested in selection] == [
        ["bleu-1:tokenizer=whitespace", "bleu-4:tokenizer=whitespace"],
        ["bleu-4"],
    ]


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


def test_unknown_names_without_a_likeness_say_where_names_are() -> None:
    with pytest.raises(UnknownNameError, match="no metric 'xyzzy'") as caught:
        select(["xyzzy"])
    assert "did you mean" not in caught.value.hint
    assert caught.value.hint == "captious.list_metrics() lists them"


@pytest.mark.parametrize(
    "names",
    [["bleu-4", "bleu-4"], ["bleu", "bleu-2"], ["cider", "cider"], ["bleu-1@paper", "bleu@paper"], ["spice", "SPICE"]],
    ids=lambda names: "+".join(names),
)
@pytest.mark.usefixtures("meteor_tables")
def test_repeated_request_is_refused(names: list[str | Metric]) -> None:
    with pytest.raises(ParameterError, match="requested twice"):
        select(names)


def test_asking_for_an_object_and_its_name() -> None:
    with pytest.raises(ParameterError, match="cider is requested twice"):
        select(["cider", captious.Cider()])


@pytest.mark.parametrize("settings", [{"tokenizer": "spaces"}, "spaces", Settings])
def test_value_that_is_not_settings_is_refused(settings: object) -> None:
    with pytest.raises(ParameterError, match=r"is not a captious\.Settings") as caught:
        select("bleu", settings)  # type: ignore[arg-type]
    assert "captious.Settings(" in caught.value.hint


class TestNamesOfTheToolkit:
    def test_requests_may_be_written_as_there(self) -> None:
        assert select(["Bleu_4", "ROUGE_L", "METEOR"]).labels == ("bleu-4", "rouge-l", "meteor")

    @pytest.mark.parametrize("metrics", [["cider"], ["CIDEr"], ["cider@paper", "bleu"], [captious.Cider()]])
    def test_warning_names_the_toolkits_cider(self, metrics: list[str | Metric]) -> None:
        (warning,) = select(metrics).warnings
        assert "COCO toolkit call CIDEr is cider-d" in warning

    @pytest.mark.parametrize("metrics", [["cider-d"], ["cider", "cider-d"], ["bleu"]])
    def test_cider_d_gives_no_warning_of_names(self, metrics: list[str]) -> None:
        assert select(metrics).warnings == ()


def test_a_wrong_name_gets_three_suggestions() -> None:
    with pytest.raises(UnknownNameError) as caught:
        select(["spcie"])
    assert caught.value.hint.count(",") == 1
    assert " or " in caught.value.hint
