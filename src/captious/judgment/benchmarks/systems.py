"""Systems that people ranked or rated: COCO 2015 (captions), CoNLL-14 (grammar correction) and WMT16 (translation)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

from captious.judgment import Benchmark, DataFolder, Files, Protocol, RankedSystem, RatedCaption, Rule
from captious.judgment.benchmarks.benchmark import figures
from captious.judgment.judgments import AS_GIVEN
from captious.metrics.contract.registry import TOOLKIT_NAMES

# COCO 2015: the systems of the COCO captioning challenge, with human rankings and leaderboard scores.
#
# Scores are those of the judged entry, identified by its submission date, as teams submitted later entries that were
# not judged. They are those with 40 references, or with 5 (c5). The leaderboard has an entry of human captions, too,
# which some papers count as a system.

_TEAMS = "coco2015/teams.json"
_HUMAN, _RANDOM = "Human", "Random"
_MEASURES = {
    "m1": "share of captions judged better than or equal to a human's",
    "m2": "share that passes the Turing test",
    "m3": "correctness, 1 to 5",
    "m4": "amount of detail, 1 to 5",
    "m5": "share judged similar to a human's",
}
_LISTS = {"": "c40", "-c5": "c5"}


def _scores(leaderboard: str, system: RankedSystem) -> dict[str, float | None]:
    """Return the scores of the judged entry on a leaderboard, c5 or c40; empty if it has none."""
    for date, _, scores in system.facts[f"cap_{leaderboard}"]:
        if date == system.facts["date"]:
            return {metric: scores.get(key) for metric, key in TOOLKIT_NAMES.items()} if scores else {}
    return {}


def _left_out(leaderboard: str, names: Sequence[str], system: RankedSystem) -> bool:
    return system.name in names or not _scores(leaderboard, system)


def _protocol_coco_2015(measure: str, suffix: str, with_people: bool) -> Protocol:
    leaderboard, left_out = _LISTS[suffix], [_RANDOM] if with_people else [_HUMAN, _RANDOM]
    published = partial(_scores, leaderboard)
    return Protocol(
        "coco-2015",
        measure + suffix + ("-with-human" if with_people else ""),
        "pearson",
        "given",
        "systems",
        references=Rule(f"none (published leaderboard scores, {leaderboard})", published),
        excluded=Rule(
            f"{' and '.join(left_out)}; systems whose judged entry has no scores",
            partial(_left_out, leaderboard, left_out),
        ),
        measure=Rule(f"{measure.upper()}, {_MEASURES[measure]}", lambda system: system.facts[measure.upper()]),
        source="Cui et al. 2018, table 3" if with_people else "COCO captioning challenge 2015",
    )


def _read_coco_2015(folder: DataFolder) -> list[RankedSystem]:
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
    tuple(
        _protocol_coco_2015(measure, suffix, with_people)
        for with_people in (False, True)
        for suffix in _LISTS
        for measure in _MEASURES
    ),
    (Files((_TEAMS,), _read_coco_2015),),
    "the leaderboard of the COCO captioning challenge 2015",
    published=_PUBLISHED,
)


# CoNLL-14: grammar correction systems with human rankings. Grundkiewicz et al. 2015.
#
# Metrics are computed on the corrected sentences alone.

_NORMALIZED_CONLL14_GEC = "conll14_gec/systems.json"


_protocol_conll14_gec = partial(
    Protocol,
    "conll14-gec",
    ratings="given",
    of="systems",
    references=Rule("none", lambda system: {}),
    excluded=Rule("INPUT, the uncorrected sentences", lambda system: system.name == "INPUT"),
    measure=Rule("expected wins", lambda system: system.facts["expected_wins"][system.name]),
    source="Grundkiewicz et al. 2015",
)


def _read_conll14_gec(folder: DataFolder) -> list[RankedSystem]:
    content = folder.json(_NORMALIZED_CONLL14_GEC)
    return [RankedSystem(name, content, outputs) for name, outputs in content["outputs"].items()]


CONLL14_GEC = Benchmark(
    "conll14-gec",
    (_protocol_conll14_gec("spearman", statistic="spearman"), _protocol_conll14_gec("pearson", statistic="pearson")),
    (Files((_NORMALIZED_CONLL14_GEC,), _read_conll14_gec),),
    "Grundkiewicz et al. 2015",
)


# WMT16, direct assessment of segments: machine translations into English, with one rating each.
#
# Bojar et al. 2016 correlate with Pearson's r, Sharif et al. 2019 with Kendall's tau. The two differ for metrics that
# are probabilities: most are near 0 or 1, so r reflects two groups, and tau the order within them.

_NORMALIZED_WMT16_DASEG = "wmt16/daseg_to_english.jsonl"


def _read_wmt16_daseg(folder: DataFolder) -> list[RatedCaption]:
    """Read the translations; each is a separate unit in resamples."""
    return [
        RatedCaption(f"{r['pair']}|{i}", i, r["candidate"], [r["reference"]], [r["human"]], part=r["pair"])
        for i, r in enumerate(folder.records(_NORMALIZED_WMT16_DASEG))
    ]


_protocol_wmt16_daseg = partial(
    Protocol,
    "wmt16-daseg",
    ratings="given",
    of="captions",
    references=Rule("one", AS_GIVEN.function),
    parts=Rule("language pairs", attrgetter("part")),
)

WMT16_DASEG = Benchmark(
    "wmt16-daseg",
    (
        _protocol_wmt16_daseg("pearson", statistic="pearson", source="Bojar et al. 2016"),
        _protocol_wmt16_daseg("kendall-tau-b", statistic="kendall-tau-b", source="Sharif et al. 2019"),
    ),
    (Files((_NORMALIZED_WMT16_DASEG,), _read_wmt16_daseg),),
    "Bojar et al. 2016, direct assessment of segments",
)
