"""WMT16, direct assessment of segments: machine translations into English, with one rating each.

Bojar et al. 2016 correlate with Pearson's r, Sharif et al. 2019 with Kendall's tau. The two differ for metrics that are
probabilities: most are near 0 or 1, so r reflects two groups, and tau the order within them.
"""

from __future__ import annotations

from functools import partial
from operator import attrgetter

from captious.judgment import Benchmark, DataFolder, Files, Protocol, RatedCaption, Rule
from captious.judgment.protocols import AS_GIVEN

_NORMALIZED = "wmt16/daseg_to_english.jsonl"


def _read(folder: DataFolder) -> list[RatedCaption]:
    """Read the translations; each is a separate unit in resamples."""
    return [
        RatedCaption(f"{r['pair']}|{i}", i, r["candidate"], [r["reference"]], [r["human"]], part=r["pair"])
        for i, r in enumerate(folder.records(_NORMALIZED))
    ]


_protocol = partial(
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
        _protocol("pearson", statistic="pearson", source="Bojar et al. 2016"),
        _protocol("kendall-tau-b", statistic="kendall-tau-b", source="Sharif et al. 2019"),
    ),
    (Files((_NORMALIZED,), _read),),
    "Bojar et al. 2016, direct assessment of segments",
)
