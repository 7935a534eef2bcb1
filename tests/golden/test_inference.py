"""Intervals and p values: of scores, of two systems, of all pairs of systems, and within groups of images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import captious
from tests.golden.calls import (
    compared,
    compared_by_group,
    compared_systems,
    fields,
    scored,
    scored_by_group,
    scored_systems,
    without_version,
)
from tests.golden.captions import EXAMPLES, REFERENCES, coco
from tests.golden.record import Record

pytestmark = [
    pytest.mark.filterwarnings("ignore::captious.CaptiousWarning"),
    pytest.mark.usefixtures("meteor_tables"),
]

#: Of pooled statistics, of means, of metrics that are fitted, and of outputs without a better direction.
METRICS = ["bleu", "rouge-l", "meteor", "cider-d", "cider", "rouge-n", "chrf", "length", "concur"]
#: Whose caption scores are not always defined.
PARSED = ["spice", "hwcm"]
SETS = ["div", "mbleu", "self-cider", "distinct"]
#: The default level, number of resamples and seed, and others.
SAMPLINGS: dict[str, dict[str, Any]] = {"default": {}, "other": {"level": 0.8, "resamples": 333, "seed": 7}}

BASELINE, IMPROVED = str(EXAMPLES / "baseline.json"), str(EXAMPLES / "improved.json")


def intervals(report: Any) -> dict[str, Any]:
    return {
        name: {sampling: result.confidence_interval(**options) for sampling, options in SAMPLINGS.items()}
        for name, result in report.items()
    }


def differences_of(comparison: Any) -> dict[str, Any]:
    return {name: fields(difference) for name, difference in comparison.items()}


def groups_of(report: Any, groups: object) -> dict[str, Any]:
    by_group = scored_by_group(report, groups)
    return {
        "scores": [fields(score) for score in by_group.scores(intervals=True)],
        "other": without_version(by_group.to_dict(resamples=200, seed=3, intervals=True))["groups"],
    }


def outcomes_of_tests(difference: Any) -> dict[str, Any]:
    """Return a difference, and its p values after the correction for all pairs apart from it."""
    test = fields(difference)
    kinds = ("bootstrap", "randomization")
    corrected = {f"p_{kind}": test.pop(f"corrected_{kind}") for kind in kinds}
    return {"test": test, "corrected": corrected}


def pairs_of(reports: Any, **sampling: Any) -> dict[str, Any]:
    pairwise = compared_systems(reports, **sampling)
    names = next(iter(reports.values())).metrics
    return {
        "n_tests": pairwise.n_tests,
        "letters": pairwise.letters,
        "beaten": {system: {name: pairwise.beaten(system, name) for name in names} for system in reports},
        "pairs": {
            f"{a} {b}": {name: outcomes_of_tests(pairwise[name, a, b]) for name in names} for a, b in pairwise.pairs
        },
    }


# ---- intervals


def test_intervals_of_examples(record: Record) -> None:
    record("intervals/examples", intervals(scored(IMPROVED, REFERENCES, [*METRICS, *PARSED])))


def test_intervals_of_several_captions(record: Record) -> None:
    samples = str(EXAMPLES / "samples.json")
    record("intervals/sets", intervals(scored(samples, REFERENCES, [*SETS, "bleu-4", "cider-d"], several=True)))


def test_intervals_of_coco(record: Record, shared_data: Path) -> None:
    report = scored(coco().systems["system-0"], coco().references, [*METRICS, *PARSED])
    record("intervals/coco", intervals(report))


# ---- two systems


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_comparison_of_examples(sampling: str, record: Record) -> None:
    comparison = compared(BASELINE, IMPROVED, REFERENCES, [*METRICS, *PARSED], **SAMPLINGS[sampling])
    record(f"compare/examples-{sampling}", differences_of(comparison))


def test_images_on_which_examples_differ_most(record: Record) -> None:
    comparison = compared(BASELINE, IMPROVED, REFERENCES, METRICS)
    found = {by: [fields(e) for e in comparison.examples(4, by=by)] for by in ("bleu-4", "cider-d", "length-words")}
    record("compare/examples-images", found | {"default": [fields(e) for e in comparison.examples()]})


def test_comparison_of_several_captions(record: Record) -> None:
    beams, samples = str(EXAMPLES / "beams.json"), str(EXAMPLES / "samples.json")
    comparison = compared(beams, samples, REFERENCES, [*SETS, "rouge-l", "cider-d"], several="mean")
    record("compare/sets", differences_of(comparison))


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_comparison_of_coco(sampling: str, record: Record, shared_data: Path) -> None:
    a, b = coco().systems["system-0"], coco().systems["system-1"]
    comparison = compared(a, b, coco().references, [*METRICS, *PARSED], **SAMPLINGS[sampling])
    record(f"compare/coco-{sampling}", differences_of(comparison))


# ---- all pairs


def test_pairs_of_examples(record: Record) -> None:
    systems = {"baseline": BASELINE, "improved": IMPROVED, "again": BASELINE}
    reports = scored_systems(systems, REFERENCES, METRICS)
    record("pairs/examples", {name: pairs_of(reports, **options) for name, options in SAMPLINGS.items()})


def test_pairs_of_coco(record: Record, shared_data: Path) -> None:
    reports = scored_systems(coco().systems, coco().references, ["bleu-4", "rouge-l", "cider-d", "length"])
    record("pairs/coco", pairs_of(reports))


# ---- groups


def test_groups_by_length_of_references(record: Record) -> None:
    """The lengths at which images are parted, by default and given."""
    found = {}
    for name, bounds in {"default": None, "given": [8, 10.5]}.items():
        groups = captious.length_groups(REFERENCES, bounds)
        report = scored(IMPROVED, REFERENCES, METRICS)
        comparison = compared(BASELINE, IMPROVED, REFERENCES, ["bleu-4", "cider-d", "length-relative"])
        found[name] = {
            "groups": {str(image): group for image, group in groups.group_of.items()},
            "scores": groups_of(report, groups)["scores"],
            "tests": [fields(test) for test in compared_by_group(comparison, groups).differences],
        }
    record("groups/examples", found)


def test_groups_of_coco(record: Record, shared_data: Path) -> None:
    report = scored(coco().systems["system-0"], coco().references, METRICS)
    record("groups/coco-scores", groups_of(report, coco().groups()))
    a, b = coco().systems["system-0"], coco().systems["system-1"]
    comparison = compared(a, b, coco().references, METRICS, resamples=500, seed=11)
    by_group = compared_by_group(comparison, coco().groups())
    record("groups/coco-tests", [fields(difference) for difference in by_group.differences])
