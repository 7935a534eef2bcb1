"""captious.explain: captions by image, the worst ones, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

import captious
from captious.errors import ParameterError, UnknownImageError
from captious.report.explain import explain_captions

CANDIDATES = {1: "a dog runs", 2: "a cat on a mat", 3: "two birds"}
REFERENCES = {1: ["a dog runs fast", "a dog"], 2: ["a cat on a mat"], 3: ["a plane in the sky"]}
COCO = captious.Settings(idf="coco")


def test_explanation_shows_image_score_and_caption() -> None:
    [explained] = explain_captions(CANDIDATES, REFERENCES, "cider-d", image="1", settings=COCO)
    report = captious.score(CANDIDATES, REFERENCES, "cider-d", settings=COCO)
    assert explained.image == 1
    assert explained.score == pytest.approx(report["cider-d"].per_caption[0])
    assert explained.score == pytest.approx(explained.explanation.score)
    assert str(explained).startswith(f"image 1 · cider-d {explained.score:.4f}\n  a dog runs\n  · a dog runs fast\n")
    assert explained.to_dict()["id"] == 1


def test_explanation_accepts_a_metric_object() -> None:
    metric = captious.RougeL(beta=2)
    [explained] = explain_captions(CANDIDATES, REFERENCES, metric, image=3)
    assert explained.label == "rouge-l:beta=2"
    assert explained.metric is metric


def test_explanations_are_sorted_from_the_worst() -> None:
    explained = explain_captions(CANDIDATES, REFERENCES, "rouge-l", worst=2)
    assert [one.image for one in explained] == [3, 1]
    assert len(explain_captions(CANDIDATES, REFERENCES, "rouge-l")) == 1


@pytest.mark.parametrize("options", [{"worst": 0}, {"worst": -5}, {"worst": 1, "image": 1}])
def test_contradictory_choices_of_captions_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match="worst"):
        explain_captions(CANDIDATES, REFERENCES, "rouge-l", **options)


def test_chair_knows_objects_that_references_name() -> None:
    settings = captious.Settings(objects={1: ["dog"], 2: ["dog"], 3: ["bird"]})
    [explained] = explain_captions(CANDIDATES, REFERENCES, "chair", image=2, settings=settings)
    assert "cat" in explained.explanation.objects


def test_unexplainable_metrics_and_images_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="length cannot be explained yet"):
        explain_captions(CANDIDATES, REFERENCES, "length")
    with pytest.raises(ParameterError, match="spider is made of other metrics"):
        explain_captions(CANDIDATES, REFERENCES, "spider")
    with pytest.raises(UnknownImageError, match="there is no image 4"):
        explain_captions(CANDIDATES, REFERENCES, "bleu-4", image=4)


@pytest.mark.parametrize("references_as", ["each", "cat"])
@pytest.mark.parametrize("metric", ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "cider-d"])
def test_explanations_are_of_the_scores_that_are_reported(metric: str, references_as: str) -> None:
    idf = "coco" if metric == "cider-d" else None
    settings = captious.Settings(references_as=references_as, idf=idf)  # type: ignore[arg-type]
    result = captious.score(CANDIDATES, REFERENCES, metric, settings=settings)[metric]
    for explained in explain_captions(CANDIDATES, REFERENCES, metric, worst=3, settings=settings):
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
