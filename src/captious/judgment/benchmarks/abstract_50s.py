"""ABSTRACT-50S: which of two captions of a clip-art scene do most people prefer? Vedantam et al. 2015."""

from __future__ import annotations

from operator import attrgetter

from captious.judgment import Benchmark, CaptionPair, Choice, DataFolder, Files, Protocol

__all__ = ["ABSTRACT_50S"]

_NORMALIZED = "abstract50s/pairs.jsonl"


def _read(folder: DataFolder) -> list[CaptionPair]:
    pairs = []
    for r in folder.records(_NORMALIZED):
        first, second = r["sent"]
        pairs.append(CaptionPair(r["image"], (first, second), r["label"], r["refs"], r.get("category", "all")))
    return pairs


ABSTRACT_50S = Benchmark(
    "abstract-50s",
    (
        Protocol(
            "abstract-50s",
            "vedantam2015",
            "accuracy",
            "majority",
            "pairs",
            parts=Choice("categories", attrgetter("part")),
            source="Vedantam et al. 2015",
        ),
    ),
    (Files((_NORMALIZED,), _read),),
    "Vedantam et al. 2015",
)
