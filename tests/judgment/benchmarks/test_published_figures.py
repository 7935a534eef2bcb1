"""The published figures of every benchmark, on the data themselves."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from captious.judgment import judge, load_judgments
from captious.judgment.benchmarks import names as benchmark_names
from captious.resources import meteor_tables as meteor

#: Metrics of the figures that need no more than the core. SPICE of captions is judged with official scores.
METRICS = ("bleu-1", "bleu-4", "rouge-l", "meteor", "cider-d")

PROTOCOLS = [each for name in benchmark_names.names() for each in benchmark_names.get(name).protocols]
WITH_FIGURES = [each.full_name for each in PROTOCOLS if each.name in benchmark_names.get(each.benchmark).published]


def test_benchmarks_with_published_figures() -> None:
    expected = {f"flickr8k-expert@{name}" for name in ("spice2016", "tau-b", "yi2020")}
    expected |= {"flickr8k-cf@hessel2021", "composite@hessel2021", "pascal-50s@fleur2024"}
    assert set(WITH_FIGURES) == expected | {"coco-2015@m1", "coco-2015@m2"}


@pytest.mark.parametrize("name", WITH_FIGURES)
def test_published_figures_are_reproduced(name: str, shared_data: Path) -> None:
    benchmark, _, protocol = name.partition("@")
    published = benchmark_names.get(benchmark).published[protocol]
    metrics = [each for each in METRICS if each in published and (each != "meteor" or meteor.find() is not None)]
    if benchmark == "coco-2015":
        metrics.append("spice")  # of the leaderboard, as all of its scores
    verdict = judge(name, metrics, data=shared_data, resamples=10)[name]
    for metric in metrics:
        value, _, parts, tolerance = published[metric]
        assert verdict[metric].value == pytest.approx(value, abs=tolerance), metric
        if parts:
            assert verdict[metric].parts == pytest.approx(parts, abs=1e-11), metric


#: Figures of docs/judgment-results.md, in hundredths: protocol, number of judgments, values by metric or part of it.
MEASURED: list[tuple[str, int, dict[str, float]]] = [
    ("factvc@pearson-activitynet", 1200, {"concur": 44.2, "cider-d": 14.7}),
    ("factvc@pearson-youcook2", 600, {"concur": 41.2, "cider-d": 14.0}),
    ("sugarcrepe-pp@text-only", 4757, {"cider-d": 15.5, "concur": 81.2, "concur swap_obj": 76.3}),
    ("iiw@kendall-docci", 100, {"length-words": 28.5}),
    ("iiw@kendall-iiw-400-specificity", 100, {"length-words": 3.1}),
]


@pytest.mark.parametrize(("name", "n", "figures"), MEASURED)
def test_figures_are_as_measured(name: str, n: int, figures: dict[str, float], shared_data: Path) -> None:
    metrics = dict.fromkeys(figure.partition(" ")[0] for figure in figures)
    result = judge(name, [*metrics], data=shared_data, resamples=10)[name]
    found = {metric: result[metric].value for metric in metrics}
    found |= {f"{metric} {part}": value for metric in metrics for part, value in result[metric].parts.items()}
    assert result.n == n
    assert {figure: 100 * found[figure] for figure in figures} == pytest.approx(figures, abs=0.05)


def test_published_spice_figures_follow_from_official_scores(shared_data: Path) -> None:
    """Scores that were computed elsewhere give the published figures."""

    def official(name: str) -> list[float]:
        with gzip.open(shared_data / "spice" / f"scores_{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            return [json.loads(line)["All"]["f"] for line in lines]

    with gzip.open(shared_data / "flickr8k" / "expert.jsonl.gz", "rt", encoding="utf-8") as lines:
        kept = [not json.loads(line)["candidate_in_refs"] for line in lines]
    expert = [score for score, keep in zip(official("flickr8k"), kept, strict=True) if keep]
    names = {
        "flickr8k-expert@spice2016": expert,
        "flickr8k-expert@tau-b": expert,
        "flickr8k-cf@hessel2021": official("flickr8k_cf"),
        "composite@hessel2021": official("composite"),
    }
    for name, scores in names.items():
        benchmark, _, protocol = name.partition("@")
        figure = benchmark_names.get(benchmark).published[protocol]["spice"]
        judgments = load_judgments(name, shared_data)
        judgment = judge(judgments, scores={name: {"spice": scores}}, resamples=10)
        assert judgment[name]["spice"].value == pytest.approx(figure.value, abs=figure.tolerance)
