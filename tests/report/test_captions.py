"""Explanations: of captions by themselves, of those of a report, and refusals."""

from __future__ import annotations

import json
import pickle

import pytest

import captious
from captious.errors import ParameterError, UnknownImageError

CANDIDATES = {1: "a dog runs", 2: "a cat on a mat", 3: "two birds"}
REFERENCES = {1: ["a dog runs fast", "a dog"], 2: ["a cat on a mat"], 3: ["a plane in the sky"]}
COCO = captious.Settings(idf="coco")


def test_explanation_shows_image_score_and_caption() -> None:
    report = captious.score(CANDIDATES, REFERENCES, "cider-d", settings=COCO)
    explained = report.explain("CIDEr", "1")
    assert explained.image == 1
    assert explained.score == pytest.approx(report["cider-d"].per_caption[0])
    assert explained.score == pytest.approx(explained.explanation.score)
    assert str(explained).startswith(f"image 1 · cider-d {explained.score:.4f}\n  a dog runs\n  · a dog runs fast\n")
    assert explained.to_dict()["id"] == 1


def test_explanation_accepts_a_metric_object() -> None:
    metric = captious.RougeL(beta=2)
    explained = captious.score(CANDIDATES, REFERENCES, metric).explain("rouge-l:beta=2", 3)
    assert explained.label == "rouge-l:beta=2"
    assert explained.metric == "rouge-l"


def test_chair_knows_objects_that_references_name() -> None:
    settings = captious.Settings(objects={1: ["dog"], 2: ["dog"], 3: ["bird"]})
    explained = captious.score(CANDIDATES, REFERENCES, "chair", settings=settings).explain("chair-i", 2)
    assert "cat" in explained.explanation.objects


@pytest.mark.parametrize(
    ("metric", "name", "message"),
    [
        ("length", "length-words", "length-words cannot be explained yet"),
        ("rouge-n", "rouge-1", "rouge-1 cannot be explained yet"),
        ("bleu-4", "bleu", "'bleu' is a metric, not one of its outputs"),
        ("bleu-4", "rouge-l", "'rouge-l' was not scored"),
    ],
)
def test_what_cannot_be_explained_is_refused(metric: str, name: str, message: str) -> None:
    report = captious.score(CANDIDATES, REFERENCES, metric)
    with pytest.raises(captious.CaptiousError, match=message):
        report.explain(name, 1)


@pytest.mark.parametrize("image", [4, "01", "1.0", None])
def test_unknown_images_are_refused(image: int | str) -> None:
    with pytest.raises(UnknownImageError, match=f"there is no image {image}"):
        captious.score(CANDIDATES, REFERENCES, "bleu-4").explain("bleu-4", image)


def test_only_single_captions_are_explained() -> None:
    several = {image: [caption, "a bus"] for image, caption in CANDIDATES.items()}
    report = captious.score(several, REFERENCES, "rouge-l", several="mean")
    with pytest.raises(ParameterError, match="only one can be shown"):
        report.explain("rouge-l", 1)


@pytest.mark.parametrize("references_as", ["each", "cat"])
@pytest.mark.parametrize("metric", ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "cider-d"])
def test_explanations_are_of_the_scores_that_are_reported(metric: str, references_as: str) -> None:
    idf = "coco" if metric == "cider-d" else None
    settings = captious.Settings(references_as=references_as, idf=idf)  # type: ignore[arg-type]
    report = captious.score(CANDIDATES, REFERENCES, metric, settings=settings)
    result = report[metric]
    for explained in (report.explain(metric, image) for image in report.worst(metric, 3)):
        explanation = explained.explanation
        shown = explanation.scores[metric] if metric.startswith("bleu") else explanation.score
        assert explained.score == result.per_caption[[*CANDIDATES].index(explained.image)]
        assert explained.to_dict()["score"] == explained.score == pytest.approx(shown, abs=1e-12)
        assert explained.signature == result.signature


@pytest.mark.parametrize("references", ["a dog", ["a dog"]])
def test_a_caption_by_itself_is_explained(references: str | list[str]) -> None:
    explained = captious.explain("a dog runs", references, "rouge-l")
    assert explained.candidate == "a dog runs"
    assert [*explained.references] == ["a dog"]


@pytest.mark.parametrize("metric", ["bleu", "cider-d:idf=coco", "meteor", "rouge-l", "spice"])
def test_explanations_print_themselves(metric: str) -> None:
    explained = captious.explain("a <b>dog</b> runs & sits", ["a dog runs fast"], metric)
    assert isinstance(explained, captious.Explanation)
    assert json.loads(json.dumps(explained.to_dict())) == explained.to_dict()
    text = explained.to_text()
    assert text == str(explained)
    assert "dog" in text
    assert max(map(len, explained.to_text(width=30).splitlines())) <= 30
    page = explained.to_html()
    assert page == explained._repr_html_()
    assert "<b>" not in page
    assert "dog" in page
    assert explained.to_drawing()["layout"]["blocks"]
    assert pickle.loads(pickle.dumps(explained)) == explained
