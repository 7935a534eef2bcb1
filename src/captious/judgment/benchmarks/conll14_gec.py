"""CoNLL-14: grammar correction systems with human rankings. Grundkiewicz et al. 2015.

Metrics are computed on the corrected sentences alone.
"""

from __future__ import annotations

from functools import partial

from captious.judgment import Benchmark, DataFolder, Files, Protocol, RankedSystem, Rule

_NORMALIZED = "conll14_gec/systems.json"


_protocol = partial(
    Protocol,
    "conll14-gec",
    ratings="given",
    of="systems",
    references=Rule("none", lambda system: {}),
    excluded=Rule("INPUT, the uncorrected sentences", lambda system: system.name == "INPUT"),
    measure=Rule("expected wins", lambda system: system.facts["expected_wins"][system.name]),
    source="Grundkiewicz et al. 2015",
)


def _read(folder: DataFolder) -> list[RankedSystem]:
    content = folder.json(_NORMALIZED)
    return [RankedSystem(name, content, outputs) for name, outputs in content["outputs"].items()]


CONLL14_GEC = Benchmark(
    "conll14-gec",
    (_protocol("spearman", statistic="spearman"), _protocol("pearson", statistic="pearson")),
    (Files((_NORMALIZED,), _read),),
    "Grundkiewicz et al. 2015",
)
