"""AudioCaps-Eval and Clotho-Eval: preferences between two captions of a sound. Zhou et al. 2022 (FENSE).

A file has a record per sound: ``references`` (five), and for each kind of pair ``[caption, caption, source, source,
votes]``. Votes are 1 for the first caption, -1 for the second and 0 for neither. The kinds are HC (two human captions,
both correct), HI (two human captions, of which the second belongs to another sound), HM (a human's and a machine's
caption) and MM_1 to MM_5 (two machine captions). Pairs with tied votes are left out; a tie between metric scores counts
as wrong. Some records have null instead of a pair, which is skipped.

References are those that the authors' program passes to n-gram metrics. HC: for each caption the four others. HI and
HM: the four that are not the first caption. MM: five draws of four, over which the score is averaged. If fewer than
four remain because of a duplicate reference, they are repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from captious.judgment import CaptionPair, DataFolder, PairReferences, Protocol, RatedCaption
from captious.judgment.items import sides

_KEYS = ("HC", "HI", "HM", "MM_1", "MM_2", "MM_3", "MM_4", "MM_5")
_N_REFERENCES = 4


def items_audio(
    protocol: Protocol, pairs: list[CaptionPair], folder: DataFolder
) -> list[CaptionPair] | list[RatedCaption]:
    """Return pairs, or the single captions of machine pairs."""
    if protocol.systems is None:
        return pairs
    return sides((pair for pair in pairs if pair.part == "MM"), _systems)


def _systems(pair: CaptionPair) -> tuple[str, str]:
    """Return the systems of a pair; cos_sim_11250 is retrieval, with the number of the retrieved caption."""
    first, second = ("cos_sim" if name.startswith("cos_sim") else name for name in pair.facts["sources"][:2])
    return first, second


def read_audio(folder: DataFolder, file: str) -> list[CaptionPair]:
    """Read the pairs of all records whose votes are not tied."""
    return [
        pair
        for number, record in enumerate(folder.json(file), start=1)
        for pair in _pairs(folder, file, number, record)
    ]


def _pairs(folder: DataFolder, file: str, number: int, record: dict[str, Any]) -> Iterator[CaptionPair]:
    for key in _KEYS:
        if record.get(key) is None:  # the owners' file has nulls
            continue
        first, second, *sources, votes = record[key]
        if not isinstance(votes, list) or not all(vote in (-1, 0, 1) for vote in votes):
            raise folder.error(f"the votes of {key} are not -1, 0 or 1", file, f"record {number}")
        if decided := sum(votes):
            image = record.get("raw_name", f"record {number}")
            preferred = 0 if decided > 0 else 1
            kind = key.partition("_")[0]
            yield CaptionPair(image, (first, second), preferred, record["references"], kind, {"sources": sources})


def four_references(pair: CaptionPair) -> PairReferences:
    """Return four references of each caption; five draws of four for two machine captions."""
    if pair.part == "MM":
        n = len(pair.references)
        draws = [[text for k, text in enumerate(pair.references) if k != left_out] for left_out in range(n)]
        return PairReferences(draws, draws)
    of_first, of_second = (_other_references(pair, caption) for caption in pair.captions)
    return PairReferences([of_first], [of_second if pair.part == "HC" else of_first])


def _other_references(pair: CaptionPair, caption: str) -> list[str]:
    """Return the references that are not this caption, repeated from the first if they are fewer than four."""
    references = [text for text in pair.references if text != caption]
    if not references:
        raise ValueError(f"{pair.image} has no other reference")
    return references + [references[k % len(references)] for k in range(_N_REFERENCES - len(references))]
