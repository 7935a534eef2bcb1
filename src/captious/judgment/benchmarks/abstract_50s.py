"""ABSTRACT-50S: the preferred one of two captions of a clip-art scene, by majority vote. Vedantam et al. 2015."""

from __future__ import annotations

from operator import attrgetter

from captious.judgment import Benchmark, CaptionPair, DataFolder, Files, Protocol, Rule
from captious.judgment.files.consensus_files import read_consensus

_NORMALIZED = "abstract50s/pairs.jsonl"
_CONSENSUS = "abstract50s/consensus_abstract.mat"
_KINDS = ("HC", "HI")
#: The pairs in the file that are of two correct captions.
_CORRECT = 200


def _read(folder: DataFolder) -> list[CaptionPair]:
    pairs = []
    for r in folder.records(_NORMALIZED):
        first, second = r["sent"]
        pairs.append(CaptionPair(r["image"], (first, second), r["label"], r["refs"], r.get("category", "all")))
    return pairs


def _read_published(folder: DataFolder) -> list[CaptionPair]:
    """Read the authors' triplets: 200 pairs of correct captions, then pairs with one caption of another scene.

    The references are the first five; pairs with tied votes are left out.
    """
    return [
        CaptionPair(number, pair.captions, pair.preferred, pair.references[:5], _KINDS[number >= _CORRECT])
        for number, pair in enumerate(read_consensus(folder, _CONSENSUS))
        if pair.preferred is not None
    ]


ABSTRACT_50S = Benchmark(
    "abstract-50s",
    (
        Protocol(
            "abstract-50s",
            "vedantam2015",
            "accuracy",
            "majority",
            "pairs",
            parts=Rule("categories", attrgetter("part")),
            source="Vedantam et al. 2015",
        ),
    ),
    (Files((_NORMALIZED,), _read), Files((_CONSENSUS,), _read_published)),
    "Vedantam et al. 2015",
)
