"""COCO 2015: the systems of the COCO captioning challenge, with human rankings and leaderboard scores.

Scores are those of the judged entry, identified by its submission date, as teams submitted later entries that were not
judged.
"""

from __future__ import annotations

from functools import partial

from captious.judgment import Benchmark, DataFolder, Files, Protocol, RankedSystem, Rule
from captious.judgment.benchmarks.benchmark import figures
from captious.metrics.contract.catalogue import TOOLKIT_NAMES

_TEAMS = "coco2015/teams.json"
_NOT_SYSTEMS = ("Human", "Random")
_MEASURES = {
    "m1": "share of captions judged better than or equal to a human's",
    "m2": "share that passes the Turing test",
    "m3": "correctness, 1 to 5",
    "m4": "amount of detail, 1 to 5",
    "m5": "share judged similar to a human's",
}


def _scores(system: RankedSystem) -> dict[str, float | None]:
    """Return the scores of the judged entry, with forty references; empty if it has none."""
    for date, _, scores in system.facts["cap_c40"]:
        if date == system.facts["date"]:
            return {metric: scores.get(key) for metric, key in TOOLKIT_NAMES.items()} if scores else {}
    return {}


def _left_out(system: RankedSystem) -> bool:
    return system.name in _NOT_SYSTEMS or not _scores(system)


def _measured(system: RankedSystem, measure: str) -> float:
    value: float = system.facts[measure]
    return value


def _protocol(name: str, text: str) -> Protocol:
    measure = name.upper()
    return Protocol(
        "coco-2015",
        name,
        "pearson",
        "given",
        "systems",
        references=Rule("none (published leaderboard scores, c40)", _scores),
        excluded=Rule("systems whose judged entry has no scores", _left_out),
        measure=Rule(f"{measure}, {text}", partial(_measured, measure=measure)),
        source="COCO captioning challenge 2015",
    )


def _read(folder: DataFolder) -> list[RankedSystem]:
    return [RankedSystem(team, record) for team, record in folder.json(_TEAMS).items()]


_LEADERBOARD = "leaderboard scores of ten systems, rounded to two digits"

_FIGURES = {
    "m1": {"bleu-1": 52, "bleu-4": 56, "rouge-l": 57, "meteor": 78, "cider-d": 71, "spice": 89},
    "m2": {"bleu-1": 61, "bleu-4": 65, "rouge-l": 65, "meteor": 84, "cider-d": 77, "spice": 93},
}
_PUBLISHED = {
    name: figures(_LEADERBOARD, values, tolerance=0.005)
    | figures("Anderson et al. 2016", {"spice": values["spice"]}, tolerance=0.005)
    for name, values in _FIGURES.items()
}

COCO_2015 = Benchmark(
    "coco-2015",
    tuple(_protocol(name, text) for name, text in _MEASURES.items()),
    (Files((_TEAMS,), _read),),
    "the leaderboard of the COCO captioning challenge 2015",
    published=_PUBLISHED,
)
