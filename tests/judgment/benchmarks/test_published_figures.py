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


#: Of words between blanks.
SPACES = ":tokenizer=spaces"
#: Figures of docs/judgment-results.md and of papers, in hundredths: protocol, number of judgments, values by metric,
#: part of it, or p value.
MEASURED: list[tuple[str, int, dict[str, float]]] = [
    ("factvc@pearson-activitynet", 1200, {"concur": 44.23, "cider-d": 14.72}),
    ("factvc@pearson-youcook2", 600, {"concur": 41.25, "cider-d": 13.97}),
    ("sugarcrepe-pp@text-only", 4757, {"cider-d": 15.45, "concur": 81.22, "concur swap_obj": 76.33}),
    ("iiw@kendall-docci", 100, {"length-words": 28.48}),
    ("iiw@kendall-iiw-400-specificity", 100, {"length-words": 3.13}),
    # To about a point the published 88.5, 81.0 and 86.5.
    ("abstract-50s@vedantam2015", 388, {"bleu-1 HI": 88.89, "bleu-4 HI": 82.07, "spice HI": 86.87}),
    # With people, near Cui et al. 2018, table 3: .124, .606 and .759.
    ("coco-2015@m1-c5-with-human", 11, {"bleu-1": 6.39, "meteor": 53.73, "spice": 70.90}),
    ("coco-2015@m1-c5-with-human", 11, {"bleu-1 p": 85.19, "meteor p": 8.83, "spice p": 1.46}),
    # The published .308, .289, .212 and .209 to a few thousandths; constants keep captions without an n-gram apart.
    ("flickr8k-expert@cui2018", 16992, {"meteor": 30.89, "cider-d": 29.10, "bleu-2": 19.95, "bleu-3": 19.63}),
    ("flickr8k-expert@cui2018-rounded", 16992, {"bleu-2": 21.06, "bleu-3": 21.26}),
    # Feinglass and Yang 2021: table 4, near .305, .316 and .277 with ties; to .006 their .386, .393, .404, .407.
    ("flickr8k-expert@smurf2021-untied", 397, {f"bleu-1{SPACES}": 52.71, f"bleu-2{SPACES}": 57.73}),
    ("flickr8k-expert@smurf2021-untied", 397, {f"rouge-l{SPACES}": 51.13}),
    (
        "flickr8k-expert@smurf2021",
        5664,
        {f"bleu-1{SPACES}": 30.97, f"bleu-2{SPACES}": 32.57, f"rouge-l{SPACES}": 28.48},
    ),
    ("composite@smurf2021", 2991, {"bleu-1": 38.06, "rouge-l": 39.65, "meteor": 40.19, "cider-d": 40.15}),
]


@pytest.mark.parametrize(("name", "n", "figures"), MEASURED)
def test_figures_are_as_measured(name: str, n: int, figures: dict[str, float], shared_data: Path) -> None:
    metrics = dict.fromkeys(figure.partition(" ")[0] for figure in figures)
    result = judge(name, [*metrics], data=shared_data, resamples=10)[name]
    found = {metric: result[metric].value for metric in metrics}
    found |= {f"{metric} p": p for metric in metrics if (p := result[metric].p) is not None}
    found |= {f"{metric} {part}": value for metric in metrics for part, value in result[metric].parts.items()}
    assert result.n == n
    assert {figure: 100 * found[figure] for figure in figures} == pytest.approx(figures, abs=0.01)


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
