"""CoNLL-14: systems that correct grammar, as people ranked them. Grundkiewicz et al. 2015.

Metrics see the corrected sentences alone.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from captious.judgment.benchmarks.benchmark import Benchmark, Files
from captious.judgment.evidence import Evidence
from captious.judgment.judged_items import RankedSystem, ranked_systems
from captious.judgment.judgment_files import DataFolder
from captious.judgment.protocols import Choice, Protocol

__all__ = ["CONLL14_GEC"]

_NORMALISED = "conll14_gec/systems.json"


def _no_references(_: RankedSystem) -> dict[str, float]:
    return {}


def _is_input(system: RankedSystem) -> bool:
    return system.name == "INPUT"


def _expected_wins(system: RankedSystem) -> float:
    value: float = system.facts["expected_wins"][system.name]
    return value


_protocol = partial(
    Protocol,
    "conll14-gec",
    ratings="given",
    of="systems",
    references=Choice("none", _no_references),
    excluded=Choice("INPUT, the uncorrected sentences", _is_input),
    measure=Choice("expected wins", _expected_wins),
    source="Grundkiewicz et al. 2015",
)


def _read(folder: DataFolder) -> Any:
    return folder.json(_NORMALISED)


def _load(protocol: Protocol, content: dict[str, Any], folder: DataFolder) -> Evidence:
    systems = [RankedSystem(name, content, outputs) for name, outputs in content["outputs"].items()]
    return ranked_systems(protocol, systems, folder.read)


CONLL14_GEC = Benchmark(
    "conll14-gec",
    (_protocol("spearman", statistic="spearman"), _protocol("pearson", statistic="pearson")),
    (Files((_NORMALISED,), _read),),
    "Grundkiewicz et al. 2015",
    _load,
)
