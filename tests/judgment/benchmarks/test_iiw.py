"""ImageInWords: verdicts, criteria, and metrics that need references."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import CaptionFileError, ParameterError
from captious.judgment import judge
from tests.support.judgments import load, write_jsonl

CRITERIA = ("Comprehensiveness", "Specificity", "Hallucination", "First few line(s) as tldr", "Human Like")


def verdicts(*texts: str) -> dict[str, str]:
    return {f"metrics/{criterion}": text for criterion, text in zip(CRITERIA, texts, strict=True)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    human, model = "IIW-Human is marginally better", "IIW-P5B is substantially better"
    compared = verdicts(human, human, model, "Neutral", model)
    first = {"IIW": "a long text about a dog", "IIW-P5B": "a dog", "image/key": "1", "iiw-human-sxs-iiw-p5b": compared}
    neutral = first | {"image/key": "2", "iiw-human-sxs-iiw-p5b": verdicts(*["Neutral"] * 3, human, "Neutral")}
    write_jsonl(tmp_path, "iiw/IIW-400.jsonl", [first, neutral, {"IIW": "a cat", "image/key": "3"}])
    second = {"IIW": "a long text", "DOCCI": "short", "image": "test_1"}
    docci = verdicts("DOCCI is marginally better", *["IIW is marginally better"] * 4)
    write_jsonl(tmp_path, "iiw/DOCCI_Test.jsonl", [second | docci])
    return tmp_path


def length(candidates: list[str], references: list[list[str]]) -> list[int]:
    assert not any(references)
    return [len(text.split()) for text in candidates]


def test_iiw_needs_metrics_without_references(folder: Path) -> None:
    judgment = judge(["iiw@docci-specificity", "iiw@docci-comprehensiveness"], length, data=folder, resamples=10)
    assert judgment["iiw@docci-specificity"]["length"].value == 1.0
    assert judgment["iiw@docci-comprehensiveness"]["length"].value == 0.0
    assert "references" not in judgment["iiw@docci-specificity"]["length"].signature
    with pytest.raises(ParameterError, match="cider-d cannot be computed without references"):
        judge("iiw@iiw-400", "cider-d", data=folder)


def test_malformed_iiw_verdict_is_refused(folder: Path) -> None:
    record = {"IIW": "a", "DOCCI": "b", "image": "1", **verdicts("DCI is marginally better", *["Neutral"] * 4)}
    write_jsonl(folder, "iiw/DOCCI_Test.jsonl", [record])
    with pytest.raises(CaptionFileError, match="is not a judgment of IIW and DOCCI") as caught:
        load(folder, "iiw")
    assert "line 1" in caught.value.where


def test_iiw_figures_are_as_measured(shared_data: Path) -> None:
    assert load(shared_data, "iiw@iiw-400-specificity").n == 95
    assert load(shared_data, "iiw@docci-hallucination").n == 59
    judgment = judge(["iiw", "iiw@kendall-iiw-400-specificity"], "length-words", data=shared_data, resamples=10)
    assert [round(100 * result["length-words"].value, 1) for result in judgment.values()] == [28.5, 3.1]
