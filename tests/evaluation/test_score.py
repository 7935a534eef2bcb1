"""``score``: requests, settings, and warnings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import captious
from captious.data import References
from captious.errors import (
    CaptiousWarning,
    DuplicateCandidateError,
    EmptyInputError,
)
from captious.evaluation import evaluate
from captious.metrics.contract.metric import reference_counts, run_signatures
from captious.metrics.contract.selection import select
from captious.progress import observed
from tests.support.corpora import references_table
from tests.support.observers import Events

REFERENCES = {i: [f"a dog and {i} cats", f"{i} cats with a dog"] for i in range(120)}
CANDIDATES = {i: f"a dog with {i} cats" for i in range(120)}


class TestMetrics:
    def test_every_metric_is_a_step(self) -> None:
        events = Events()
        captions = captious.read_captions(CANDIDATES, REFERENCES)
        with observed(events):
            evaluate(captions, select(["rouge-l", "bleu"]), system="mine")
        assert events.steps == ["mine: rouge-l", "mine: bleu"]
        assert events.works[0].total == 2


class TestImages:
    def test_swapped_captions_and_references_are_explained(self) -> None:
        with pytest.raises(DuplicateCandidateError) as caught:
            captious.score(REFERENCES, CANDIDATES, ["rouge-l"])
        assert "are these the references?" in caught.value.hint

    @pytest.mark.filterwarnings("ignore:too few images")
    @pytest.mark.filterwarnings("ignore:.*single letters:captious.CaptiousWarning")
    def test_ids_are_read_by_a_rule(self) -> None:
        candidates, references = {"a/1.jpg": "one a", "a/2.jpg": "two a"}, {2: ["two", "x"], 1: ["one", "y"]}
        report = captious.score(candidates, references, ["rouge-1"], ids="stem")
        assert report.ids == (2, 1)
        plain = captious.score({1: "one a", 2: "two a"}, references, ["rouge-1"])
        assert report["rouge-1"].signature == plain["rouge-1"].signature  # ids are no part of a score
        assert captious.score_systems({"a": candidates}, references, "rouge-1", ids="stem")["a"].ids == (2, 1)
        assert captious.check(candidates, references, ids="stem").n_candidates == 2
        compared = captious.compare({"a": candidates, "b": candidates}, references, "rouge-1", ids="stem")
        assert compared["rouge-1"].difference == 0


class TestWarnings:
    def test_few_images_are_warned_about(self) -> None:
        with pytest.warns(CaptiousWarning, match="only 3") as caught:
            report = captious.score(
                dict.fromkeys(range(3), "a cat"), {i: [f"a cat runs {i}", "it sits"] for i in range(3)}, ["cider-d"]
            )
        assert [str(warning.message) for warning in caught] == report.warnings
        assert report.to_dict()["warnings"] == report.warnings
        assert all(Path(warning.filename) == Path(__file__) for warning in caught)

    def test_few_images_are_said_once_per_metric(self) -> None:
        with pytest.warns(CaptiousWarning) as caught:
            captious.score({1: "a cat"}, {1: ["a cat runs", "it sits"]}, ["cider-d", "cider-d@paper", "cider"])
        assert len(caught) == 2

    def test_single_references_are_warned_about(self) -> None:
        with pytest.warns(CaptiousWarning, match="only one reference"):
            captious.score(dict.fromkeys(range(5), "a cat"), {i: ["a cat runs"] for i in range(5)}, ["rouge-l"])

    def test_several_references_of_an_image_need_no_warning(self) -> None:
        captious.score({1: "a cat", 2: "dogs"}, {1: ["a cat runs"], 2: ["dogs", "it sits"]}, ["rouge-l"])

    def test_occasional_copies_of_references_give_no_warning(self) -> None:
        captious.score(
            {i: "a cat" if i < 2 else "nothing" for i in range(20)},
            {i: ["a cat", "it sits"] for i in range(20)},
            ["rouge-l"],
        )


def test_score_of_no_captions_is_refused() -> None:
    nothing = captious.read_captions(CANDIDATES, REFERENCES).select(np.zeros(0, np.int64))
    with pytest.raises(EmptyInputError, match="there are no captions") as caught:
        captious.score(nothing, metrics=["cider-d"], system="mine")
    assert caught.value.where == "mine"


@pytest.mark.parametrize(
    ("references", "counts", "part"),
    [
        (references_table([["a", "b"], ["c", "d"]]), (2, 4, 2), "2"),
        (references_table([["a", "b"], ["c"]]), (2, 3, 2), "var"),
        (references_table([["a", "b"], ["c"]]).concatenated, (2, 2, 1), "1"),
        (captious.read_captions({1: "a", 2: "b"}).references, (2, 0, 0), ""),
    ],
)
def test_references_are_counted(references: References, counts: tuple[int, int, int], part: str) -> None:
    assert reference_counts(references) == counts
    assert run_signatures(captious.RougeL(), None, counts)[0].partition("|references:")[2].partition("|")[0] == part
