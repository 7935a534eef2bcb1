"""WMT16, direct assessment of segments: machine translations into English, each rated with one number.

Bojar et al. 2016.
"""

from __future__ import annotations

from operator import attrgetter

from captious.judgment import Benchmark, Choice, DataFolder, Files, Protocol, RatedCaption
from captious.judgment.protocols import AS_GIVEN

__all__ = ["WMT16_DASEG"]

_NORMALIZED = "wmt16/daseg_to_english.jsonl"


def _read(folder: DataFolder) -> list[RatedCaption]:
    """Every translation is drawn on its own in resamples."""
    return [
        RatedCaption(f"{r['pair']}|{i}", i, r["candidate"], [r["reference"]], [r["human"]], part=r["pair"])
        for i, r in enumerate(folder.records(_NORMALIZED))
    ]


WMT16_DASEG = Benchmark(
    "wmt16-daseg",
    (
        Protocol(
            "wmt16-daseg",
            "pearson",
            "pearson",
            "given",
            "captions",
            references=Choice("one", AS_GIVEN.rule),
            parts=Choice("language pairs", attrgetter("part")),
            source="Bojar et al. 2016",
        ),
    ),
    (Files((_NORMALIZED,), _read),),
    "Bojar et al. 2016, direct assessment of segments",
)
