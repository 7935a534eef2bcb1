"""Slow metrics are left out unless they are named, and are announced before they run."""

from __future__ import annotations

import pytest

import captious
from captious.errors import shown
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious.metrics.shared import scene_encoder

pytestmark = pytest.mark.usefixtures("meteor_tables")

LONG = " ".join(["a dog runs over the green grass beside a red barn with two children who eat ice cream"] * 6)
CAPTIONS = captious.read_captions({i: f"{i} {LONG}" for i in range(100)}, {i: [f"a cat {i}"] for i in range(100)})
SHORT = captious.read_captions({1: "a dog"}, {1: ["a cat"]})
SETTINGS = Settings(parser="bundled")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundled grammar needs twenty seconds for two thousand of these captions."""
    monkeypatch.setattr(scene_encoder, "_PATIENCE", 0.5)


def test_metrics_that_nobody_named_are_left_out() -> None:
    selection, slow = select(None, SETTINGS).without_slow([SHORT, CAPTIONS])
    assert "spice" not in selection.labels
    assert "cider-d" in selection.labels
    assert not slow
    (message,) = (warning for warning in selection.warnings if warning.startswith("spice is left out"))
    assert "parses 100 captions of more than 60 words" in message
    assert '"spice" asks for it, or "spice:split=sentences" parses sentence by sentence' in message
    in_terminal = shown(message, "command line")
    assert "-m spice asks for it, or -m spice:split=sentences parses sentence by sentence" in in_terminal


def test_metrics_that_are_named_are_announced() -> None:
    selection, slow = select(["spice", "spider", "hwcm-1", "bleu"], SETTINGS).without_slow([CAPTIONS])
    assert {"spice", "spider", "hwcm-1"} < {*selection.labels}
    assert [text.split()[0] for text in slow] == ["spice", "spider", "hwcm"]
    assert slow[0].endswith("seconds: spice:split=sentences parses sentence by sentence.")
    assert not any("left out" in warning for warning in selection.warnings)


def test_sentences_and_short_captions_are_not_slow() -> None:
    for table, metrics in ((CAPTIONS, ["spice:split=sentences"]), (SHORT, None)):
        chosen = select(metrics, SETTINGS)
        assert chosen.without_slow([table])[0].labels == chosen.labels


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_report_warns_of_omitted_slow_metrics() -> None:
    report = captious.score(CAPTIONS, metrics=None, settings=SETTINGS)
    assert "spice" not in report
    assert any(warning.startswith("spice is left out") for warning in report.warnings)
