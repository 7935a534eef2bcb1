"""Results of scoring: Result and Report."""

from __future__ import annotations

import contextlib
import subprocess
import sys

import numpy as np
import pytest

import captious
from captious.errors import MissingExtraError

REFERENCES = {
    "b.jpg": ["a brown dog runs on the beach", "the dog is running"],
    "a.jpg": ["two cats sit on a chair", "a pair of cats"],
    "c.jpg": ["a man rides a bike", "someone on a bicycle"],
}
CANDIDATES = {"a.jpg": "two cats on a chair", "b.jpg": "a dog runs", "c.jpg": "a red car"}


@pytest.fixture
def report() -> captious.Report:
    return captious.score(CANDIDATES, REFERENCES, ["rouge-l", "bleu"], system="mine")


def test_report_is_in_the_order_of_the_references(report: captious.Report) -> None:
    assert report.ids == ("b.jpg", "a.jpg", "c.jpg")
    for image, score in zip(report.ids, report["rouge-l"].per_caption, strict=True):
        alone = captious.score({image: CANDIDATES[image]}, {image: REFERENCES[image]}, ["rouge-l"])
        assert score == alone["rouge-l"].score
    assert [record["id"] for record in report.to_records()] == ["b.jpg", "a.jpg", "c.jpg"]
    captions = ["a dog runs", "two cats on a chair", "a red car"]
    assert [record["candidate"] for record in report.to_records()] == captions


def test_caption_scores_are_one_float_per_image(report: captious.Report) -> None:
    for result in report.values():
        assert result.per_caption.shape == (3,)
        assert result.per_caption.dtype == np.float64
        assert type(result.score) is float


def test_report_score_is_the_mean_except_for_bleu(report: captious.Report) -> None:
    assert report["rouge-l"].score == pytest.approx(report["rouge-l"].per_caption.mean(), abs=1e-15)
    assert report["bleu-2"].score != pytest.approx(report["bleu-2"].per_caption.mean(), abs=1e-3)


def test_report_counts_images_and_references(report: captious.Report) -> None:
    assert (report.system, report.n_images, report.n_references) == ("mine", 3, 6)


def test_report_counts_excluded_captions() -> None:
    candidates = {"a.jpg": "two cats", "b.jpg": "a dog", "z.jpg": "a plane", "y.jpg": "a train"}
    report = captious.score(candidates, REFERENCES, ["rouge-l"], match="common")
    assert report.to_dict()["left_out"] == {"candidates": 2, "images": 1}


def test_repr_of_a_result_is_short(report: captious.Report) -> None:
    assert repr(report["rouge-l"]) == f"<Result rouge-l {report['rouge-l'].score:.4f}>"


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")  # about so few images
def test_summaries_are_single_lines(report: captious.Report) -> None:
    assert report.summary().startswith("mine: 3 images, rouge-l ")
    references = {1: ["a dog"], 2: ["a cat"]}
    captions = {"mine": {1: "a dog", 2: "a cat"}, "other": {1: "a dog", 2: "one bird"}}
    mine, other = captious.score_systems(captions, references, ["rouge-l"]).values()
    assert mine.summary() == "mine: 2 images, rouge-l 1.0000"
    compared = captious.compare({"mine": mine, "other": other})
    assert compared.summary() == "other - mine: rouge-l -0.5000"
    groups = {1: "dogs", 2: "cats"}
    assert captious.by_group(mine, groups).summary() == "mine by group: cats, dogs"
    assert captious.by_group(compared, groups).summary() == "other - mine by group: cats, dogs"


def test_report_has_a_repr_in_a_fresh_process() -> None:
    program = "from captious.evaluation import score; print(score(['a dog'], [['a dog']], ['rouge-l'], system='mine'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "rouge-l" in done.stdout
    assert "1.0000" in done.stdout


def test_caption_scores_cannot_be_changed_by_accident(report: captious.Report) -> None:
    before = report["rouge-l"].per_caption.tolist()
    scores = report["rouge-l"].per_caption
    with contextlib.suppress(ValueError):  # read-only
        scores *= 100
    assert report["rouge-l"].per_caption.tolist() == before


class TestFrames:
    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_a_library_that_is_not_installed_is_named(
        self, report: captious.Report, library: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(MissingExtraError, match=library) as caught:
            getattr(report, f"to_{library}")()
        assert caught.value.hint == f"pip install 'captious[{library}]'"
