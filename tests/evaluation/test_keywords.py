"""Keywords that users try are answered by the right ones, and signatures stay what they are."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import captious
from captious.errors import ParameterError

CANDIDATES, REFERENCES = {1: "a dog"}, {1: ["a dog runs"]}
SCORE = (captious.score, (CANDIDATES, REFERENCES, "bleu-1"))
SYSTEMS = (captious.score_systems, ({"mine": CANDIDATES}, REFERENCES, "bleu-1"))
CHECK = (captious.check, (CANDIDATES,))
REWARD = (captious.reward, (REFERENCES, "cider-d"))
JUDGE = (captious.judge, ("flickr8k-cf", "bleu-1"))
EXPLAIN = (captious.explain, ("a dog", ["a dog runs"], "rouge-l"))

TRIED: list[tuple[Any, dict[str, Any], str]] = [
    (SCORE, {"idf": "coco"}, "settings=captious.Settings(idf=...)"),
    (SYSTEMS, {"language": "de"}, "settings=captious.Settings(language=...)"),
    (REWARD, {"idf": "coco"}, "settings=captious.Settings(idf=...)"),
    (EXPLAIN, {"idf": "coco"}, "settings=captious.Settings(idf=...)"),
    (JUDGE, {"model": "roberta-large"}, "settings=captious.Settings(model=...)"),
    (SCORE, {"references_as": "cat"}, "settings=captious.Settings(references_as=...)"),
    (SCORE, {"n_jobs": 4}, "settings=captious.Settings(threads=...)"),
    (REWARD, {"num_workers": 4}, "settings=captious.Settings(threads=...)"),
    (SCORE, {"subset": True}, 'match="common"'),
    (CHECK, {"subset": True}, 'match="common"'),
    (SCORE, {"of_k": "best"}, 'several="mean" or several="best"'),
    (SYSTEMS, {"of_k": "best"}, 'several="mean" or several="best"'),
    (SCORE, {"names": ["mine"]}, "system=..."),
    (SCORE, {"metric": "bleu-1"}, "metrics=..."),
    (REWARD, {"metrics": "bleu-1"}, "metric=..."),
    (JUDGE, {"metric": "bleu-1"}, "metrics=..."),
    (JUDGE, {"random_state": 1}, "seed=..."),
    (JUDGE, {"n_resamples": 10}, "resamples=..."),
    ((captious.score, (CANDIDATES,)), {"refs": REFERENCES}, "references=..."),
    ((captious.score, ()), {"preds": CANDIDATES, "target": REFERENCES}, "candidates=..."),
    ((captious.score_systems, ()), {"predictions": {"mine": CANDIDATES}}, "systems=..."),
    ((captious.explain, ()), {"hypothesis": "a dog"}, "candidate=..."),
    ((captious.reward, ()), {"refs": REFERENCES, "metric": "bleu-1"}, "references=..."),
    ((captious.judge, ()), {"dataset": "flickr8k-cf"}, "benchmarks=..."),
]


@pytest.mark.parametrize(("call", "keywords", "instead"), TRIED)
def test_keywords_of_others_are_answered(call: Any, keywords: dict[str, Any], instead: str) -> None:
    function, arguments = call
    with pytest.raises(TypeError) as caught:
        function(*arguments, **keywords)
    assert f"{function.__name__}() has no parameter {next(iter(keywords))!r}: write {instead}" == str(caught.value)


@pytest.mark.parametrize("function", [captious.score, captious.check, captious.reward])
def test_other_keywords_are_those_of_python(function: Any) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'frobnicate'"):
        function(CANDIDATES, "bleu-1", frobnicate=1)


def test_signatures_are_those_of_the_functions() -> None:
    assert [*inspect.signature(captious.explain).parameters] == ["candidate", "references", "metric", "settings"]
    assert [*inspect.signature(captious.reward).parameters] == ["references", "metric", "settings", "clean"]
    assert "match" in inspect.signature(captious.score).parameters


def test_a_file_that_is_written_is_named_by_keyword() -> None:
    with pytest.raises(ParameterError, match="prepare needs path") as caught:
        captious.prepare(REFERENCES, "out.prepared")  # type: ignore[call-arg]
    assert "path=..." in caught.value.hint


ORDERS: list[tuple[Any, str]] = [
    (lambda: captious.explain("rouge-l", "a dog", ["a dog"]), "takes candidate first, then references, then metric"),  # type: ignore[arg-type]
    (lambda: captious.judge("cider-d", "flickr8k-cf"), "the benchmarks come first, then the metrics"),
    (lambda: captious.judge(["cider-d"], "flickr8k-cf"), "the benchmarks come first, then the metrics"),
]


@pytest.mark.parametrize(("call", "words"), ORDERS)
def test_arguments_in_the_old_order_are_named(call: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        call()


def test_a_caption_that_is_the_name_of_a_metric_is_explained() -> None:
    assert captious.explain("chair", "chair", "rouge-l").candidate == "chair"


@pytest.mark.parametrize("metric", ["cider-d", "cider", captious.CiderD()])
def test_document_frequencies_are_asked_for(metric: Any) -> None:
    with pytest.raises(ParameterError, match="needs the document frequencies of many images") as caught:
        captious.explain("a dog", ["a dog"], metric)
    assert 'settings=captious.Settings(idf="coco")' in caught.value.hint
    assert captious.explain("a dog", ["a dog"], "cider-d", settings=captious.Settings(idf="coco"))


@pytest.mark.parametrize(("candidate", "references"), [(CANDIDATES, REFERENCES), ("a dog", REFERENCES), (["a"], ["a"])])
def test_captions_of_systems_are_explained_by_reports(candidate: Any, references: Any) -> None:
    with pytest.raises(captious.CaptiousError) as caught:
        captious.explain(candidate, references, "rouge-l")
    assert "report.explain(metric, image)" in caught.value.hint


SYSTEM = {"1": "a dog", "2": "a cat"}


@pytest.mark.parametrize(
    "systems",
    [
        {"base": SYSTEM, "mine": SYSTEM},
        {"base": "base.json", "mine": "runs/mine.jsonl.gz"},
        {"mine": {1: "a dog"}},
        {"mine": captious.read_captions(SYSTEM)},
    ],
)
def test_score_refuses_several_systems(systems: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        captious.score(systems, {"1": ["a dog"], "2": ["a cat"]}, "bleu-1")
    assert "captious.score_systems(systems, references)" in caught.value.hint


@pytest.mark.parametrize("captions", [SYSTEM, {1: "a dog", 2: "a cat"}, {"1": ["a", "b"], "2": ["c"]}])
def test_score_systems_refuses_one_system(captions: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        captious.score_systems(captions, {image: ["a dog"] for image in captions}, "bleu-1")
    assert "captious.score(candidates, references)" in caught.value.hint


@pytest.mark.parametrize("systems", [{}, [SYSTEM], "mine.json", {1: [SYSTEM]}])
def test_systems_have_names(systems: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        captious.score_systems(systems, {"1": ["a dog"], "2": ["a cat"]}, "bleu-1")
    assert 'captious.score_systems({"mine": captions' in caught.value.hint
