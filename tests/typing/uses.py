"""What users pass to the public functions, for type checkers: ``test_uses.py`` runs mypy on this file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import captious

BY_NUMBER: dict[int, str] = {1: "a dog runs", 2: "a cat"}
BY_NAME: dict[str, str] = {"a.jpg": "a dog runs", "b.jpg": "a cat"}
BY_EITHER: dict[int | str, str] = {1: "a dog runs", "b.jpg": "a cat"}
LISTS: dict[int, list[str]] = {1: ["a dog runs"], 2: ["a cat", "the cat"]}
TUPLES: Mapping[str, tuple[str, ...]] = {"a.jpg": ("a dog",), "b.jpg": ("a cat",)}
IN_ORDER: list[str] = ["a dog runs", "a cat"]
LISTS_IN_ORDER: list[list[str]] = [["a dog runs"], ["a cat", "the cat"]]
RECORDS: list[dict[str, object]] = [{"image_id": 1, "caption": "a dog runs"}, {"image_id": 2, "caption": "a cat"}]
FILE = captious.CaptionFile("mine.csv", columns={"id": "key", "caption": ["text"]}, split="test")


class Table:
    """What data frames of pandas, polars and pyarrow have in common; their own types take a minute to check."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        raise NotImplementedError


def overlap(candidate: str, references: Sequence[str]) -> float:
    """Return whether a candidate is one of its references."""
    return float(candidate in references)


def overlaps(candidates: list[str], references: list[list[str]]) -> list[float]:
    """Return the same for all candidates."""
    return [float(candidate in own) for candidate, own in zip(candidates, references, strict=True)]


def score_every_form() -> None:
    """Candidates and references in every form."""
    captious.score(BY_NUMBER, LISTS)
    captious.score(BY_NAME, TUPLES)
    captious.score(BY_EITHER, {1: ["a dog"], "b.jpg": ["a cat"]})
    captious.score({np.int64(1): "a dog"}, {1: ["a dog"]})
    captious.score(IN_ORDER, LISTS_IN_ORDER)
    captious.score(tuple(IN_ORDER), IN_ORDER)
    captious.score(LISTS, LISTS, "div", several="mean")
    captious.score(RECORDS, RECORDS)
    captious.score("mine.json", Path("references.json"))
    captious.score(FILE, captious.CaptionFile(Path("r.json")))
    captious.score(Table(), Table())
    captious.score(captious.read_captions(BY_NUMBER, LISTS))
    captious.score(captious.read_captions(LISTS, LISTS, several=("mean", "best")), None, several="best")
    captious.score(BY_NUMBER, captious.read_references(LISTS))
    captious.score(1, LISTS)  # type: ignore[arg-type]
    captious.score({1: 2}, LISTS)  # type: ignore[dict-item]


def score_every_metric() -> None:
    """Metrics in every form."""
    names: list[str] = ["bleu-4", "cider-d"]
    metric: captious.Metric = captious.CiderD(idf="coco")
    mixed: list[captious.MetricLike] = ["bleu-4", captious.Bleu(), metric, overlap, overlaps]
    captious.score(IN_ORDER, IN_ORDER, "bleu-4")
    captious.score(IN_ORDER, IN_ORDER, names)
    captious.score(IN_ORDER, IN_ORDER, tuple(names))
    captious.score(IN_ORDER, IN_ORDER, metric)
    captious.score(IN_ORDER, IN_ORDER, overlap)
    captious.score(IN_ORDER, IN_ORDER, lambda candidate, references: float(candidate in references))
    captious.score(IN_ORDER, IN_ORDER, mixed)
    captious.score(IN_ORDER, IN_ORDER, [captious.Bleu(), captious.RougeL()])
    captious.score(IN_ORDER, IN_ORDER, 4)  # type: ignore[arg-type]
    captious.score(IN_ORDER, IN_ORDER, idf="coco")  # type: ignore[call-arg]


def score_with_options() -> captious.Report:
    """All keywords, and what is returned."""
    settings = captious.Settings(idf="coco", threads=2)
    report = captious.score(
        BY_NUMBER, LISTS, settings=settings, match="common", several="best", clean="prompt", system="mine"
    )
    captious.score(BY_NUMBER, LISTS, several=["mean", "best"], clean=["prompt", "markdown"])
    captious.score(BY_NUMBER, LISTS, match="some")  # type: ignore[arg-type]
    captious.score(BY_NUMBER, LISTS, several=True)  # type: ignore[arg-type]
    result: captious.evaluation.Result = report["bleu-4"]
    scores: NDArray[np.float64] = result.per_caption
    low, high = result.confidence_interval(0.9, resamples=100, seed=1)
    names: list[str] = [*report]
    assert low < result.score < high
    assert len(scores) == len(names)
    return report


def score_systems() -> captious.Reports:
    """Systems in every form."""
    files: dict[str, Path] = {"mine": Path("mine.json"), "base": Path("base.json")}
    captious.score_systems(files, "references.json", "bleu-4")
    captious.score_systems({"mine": BY_NUMBER, "base": dict(BY_NUMBER)}, LISTS, ["bleu-4"])
    captious.score_systems({"mine": BY_NUMBER, "base": "base.json"}, LISTS)
    reports = captious.score_systems({"mine": IN_ORDER, "base": IN_ORDER}, LISTS_IN_ORDER, match="all")
    report: captious.Report = reports["mine"]
    assert report
    return reports


def compare_systems() -> None:
    """Compare systems in every form, and their reports."""
    comparison: captious.Comparison = captious.compare({"base": "base.json", "mine": BY_NUMBER}, LISTS, "bleu-4")
    captious.compare({"base": IN_ORDER, "mine": IN_ORDER}, IN_ORDER, [overlap], match="common", resamples=10, seed=1)
    captious.compare(score_systems(), level=0.9)
    captious.compare({"base": score_with_options(), "mine": score_with_options()})
    difference: float = comparison["bleu-4"].difference
    p_value: float = comparison["bleu-4", "base", "mine"].p_randomization
    print(difference, p_value)


def score_by_objects() -> None:
    """Score captions by metrics alone."""
    result: captious.evaluation.Result = captious.CiderD(idf="coco").score(BY_NUMBER, LISTS)
    numbers: list[float] = [float(result), round(result, 4), result.by_image[1]]
    captious.Bleu().score("mine.json", "references.json", output="bleu-4").confidence_interval()
    captious.Chair(objects={1: ["dog"]}).score(IN_ORDER, output="chair-i")
    captious.Div().score(LISTS, output="div-1")
    print(numbers)


def reward_captions() -> None:
    """Rewards, and what training loops call them with."""
    reward: captious.Reward = captious.reward(LISTS, "cider-d", settings=captious.Settings(idf="coco"))
    captious.reward("references.json", {"cider-d": 1, "bleu-4": 0.5})
    captious.reward(captious.read_references(LISTS), captious.RougeL())
    captious.reward(LISTS_IN_ORDER, overlap)
    rewards: NDArray[np.float64] = reward([1, 1, 2], ["a dog", "a dog runs", "a cat"])
    reward(np.array([1, 2]), (text for text in IN_ORDER))
    reward([1], [["a", "dog"]])
    reward([1], [[{"role": "assistant", "content": "a dog"}]])
    function: Callable[..., list[float]] = reward.trl()
    columns: list[float] = reward.trl(column="image")(prompts=["?"], completions=["a dog"], image=[1])
    signature: str = reward.signature
    print(rewards, function, columns, signature)


def explain_check_and_prepare() -> None:
    """Call the other functions of captions."""
    captious.explain("a dog", "a dog runs", "rouge-l").to_dict()
    captious.explain("a dog", ["a dog runs"], captious.Bleu(), settings=captious.Settings(tokenizer="13a"))
    warnings: Sequence[str] = captious.check(BY_NUMBER).warnings
    captious.check("mine.json", "references.json", match="common", several="mean")
    references: captious.References = captious.prepare(LISTS, "bleu-4", path="references.prepared")
    captious.prepare("references.json", path=Path("references.prepared"))
    print(warnings, references)


def describe_metrics() -> None:
    """Ask for what is known of metrics."""
    information: list[captious.MetricInfo] = captious.list_metrics()
    one = captious.metric_info("bleu-4", settings=captious.Settings(tokenizer="13a"))
    lower: bool | None = one.lower_is_better["bleu-4"]
    needs: tuple[str, ...] = one.needs
    print(information, lower, needs)


def follow_a_stream() -> None:
    """Parts of a corpus."""
    stream = captious.Stream(["bleu-4", "rouge-l"])
    stream.update(BY_NUMBER, LISTS, match="common", clean="markdown")
    scores: dict[str, float] = stream.compute()
    assert scores


def judge_metrics() -> None:
    """Benchmarks of human judgments."""
    captious.judge("flickr8k-cf", "bleu-4")
    captious.judge(["flickr8k-cf", "composite"], ["bleu-4", captious.RougeL(), overlap], resamples=10)
