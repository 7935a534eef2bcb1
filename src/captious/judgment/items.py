"""Judged items of benchmarks, and the judgments that a protocol derives from them.

Loaders of benchmarks create items from their files; a protocol then determines which of them are excluded, the
references for metrics, and the treatment of ratings, parts and measures.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import EmptyInputError
from captious.judgment.judgments import (
    CaptionPairs,
    HumanJudgments,
    Protocol,
    RatedCaptions,
    RatedSystems,
    SystemRanking,
)


class Unknown(int):
    """An image without an id, identified by the number of its only line."""


@dataclass(frozen=True)
class RatedCaption:
    """A caption rated by people.

    Args:
        id: unique within the benchmark.
        image: its image; captions of one image are resampled together.
        candidate: the caption.
        references: the references of its image.
        ratings: one or more numbers.
        part: its part, for protocols with parts.
        facts: other data for the rules of protocols.
    """

    id: str
    image: object
    candidate: str
    references: Sequence[str]
    ratings: Sequence[float]
    part: str = "all"
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class CaptionPair:
    """Two captions of one image, one of which people prefer.

    Args:
        image: its image; pairs of one image are resampled together.
        captions: both captions.
        preferred: index of the preferred caption, 0 or 1.
        references: the references of the image.
        part: its part, for protocols with parts.
        facts: other data for the rules of protocols.
    """

    image: object
    captions: tuple[str, str]
    preferred: int
    references: Sequence[str] = ()
    part: str = "all"
    facts: Mapping[str, Any] = field(default_factory=dict)


class PairReferences(NamedTuple):
    """References for a pair whose captions have different ones, returned by a protocol's rule.

    Args:
        first, second: the references of each caption. There may be several draws of them; the score of the caption is
            then the mean over draws.
    """

    first: Sequence[Sequence[str]]
    second: Sequence[Sequence[str]]


@dataclass(frozen=True)
class RankedSystem:
    """A system judged as a whole.

    Args:
        name: unique within the benchmark.
        facts: human measures, published scores, and other data for the rules of protocols.
        outputs: its captions, if known.
    """

    name: str
    facts: Mapping[str, Any]
    outputs: Sequence[str] | None = None


#: Content of a benchmark's files, all of one kind.
Item: TypeAlias = RatedCaption | CaptionPair | RankedSystem
AnItem = TypeVar("AnItem", RatedCaption, CaptionPair, RankedSystem)


def judgments_of(protocol: Protocol, items: Sequence[Item], data: Mapping[str, str]) -> HumanJudgments:
    """Return the judgments of items of one kind under a protocol; arguments and errors as for ``rated_captions``."""
    build: Any = {RatedCaption: rated_captions, CaptionPair: caption_pairs, RankedSystem: ranked_systems}
    return build[type(items[0])](protocol, items, data)  # type: ignore[no-any-return]


def rated_captions(
    protocol: Protocol, items: Iterable[RatedCaption], data: Mapping[str, str]
) -> RatedCaptions | RatedSystems:
    """Return the ratings of captions under a protocol, or of systems by their captions.

    Args:
        protocol: the protocol, whose rules are applied to every item.
        items: the rated captions.
        data: input files: name -> checksum.

    Raises:
        EmptyInputError: no items, or all are excluded.
        ValueError: a protocol of single annotators, and captions with different numbers of ratings; or a protocol of
            systems, and fewer than three systems.
    """
    items = _judged_items(protocol, items)
    of_items = [protocol.references(item) for item in items]
    references = references_table([item.id for item in items], of_items, [_image_id(item.image) for item in items])
    captions = Captions(tuple(item.candidate for item in items), references)
    ratings = [protocol.points([protocol.measure(item)] if protocol.measure else item.ratings) for item in items]
    units, _ = _numbered(item.image for item in items)
    numbers = {1} if protocol.measure else {len(item.ratings) for item in items}
    raters = np.array([item.ratings for item in items], np.float64) if len(numbers) == 1 and min(numbers) > 1 else None
    if protocol.ratings == "annotators":
        if len({*map(len, ratings)}) != 1:
            raise ValueError("captions have different numbers of ratings")
        annotators = [f"annotator {k + 1}" for k in range(len(ratings[0]))]
        return RatedCaptions(protocol, data, captions, ratings, units, None, annotators, raters)
    if protocol.systems is not None:
        systems, names = _numbered(map(protocol.systems, items))
        if len(names) < 3:
            raise ValueError(f"statistics of systems need three or more, not {len(names)}")
        means = np.array([of_caption.mean() for of_caption in ratings])
        return RatedSystems(protocol, data, captions, means, units, systems, names)
    if protocol.parts is None:
        return RatedCaptions(protocol, data, captions, ratings, units, raters=raters)
    parts, names = _numbered(map(protocol.parts, items), protocol.part_order)
    return RatedCaptions(protocol, data, captions, ratings, units, parts, names, raters)


def caption_pairs(protocol: Protocol, items: Iterable[CaptionPair], data: Mapping[str, str]) -> CaptionPairs:
    """Return pairs of captions under a protocol; arguments and errors as for ``rated_captions``.

    Raises:
        ValueError: a preference that is neither 0 nor 1.
    """
    items = _judged_items(protocol, items)
    preferred = np.array([item.preferred for item in items])
    if not set(np.unique(preferred)) <= {0, 1}:
        raise ValueError("a preference is neither 0 nor 1")
    of_pairs = [_pair_references(protocol.references(item)) for item in items]
    rows = [
        (item, number, side, draw)
        for number, (item, references) in enumerate(zip(items, of_pairs, strict=True))
        for side in (0, 1)
        for draw in range(len(references[side]))
    ]
    references = references_table(
        [f"{item.image}|{number}|{side}" + (f"|{draw}" if draw else "") for item, number, side, draw in rows],
        [of_pairs[number][side][draw] for _, number, side, draw in rows],
        [_image_id(item.image) for item, *_ in rows],
    )
    captions = Captions(tuple(item.captions[side] for item, _, side, _ in rows), references)
    draws = (
        np.array([2 * number + side for _, number, side, _ in rows], np.int64) if len(rows) > 2 * len(items) else None
    )
    units, _ = _numbered(item.image for item in items)
    parts, names = _numbered(map(protocol.parts or _only_part, items), protocol.part_order)
    return CaptionPairs(protocol, data, captions, preferred.astype(np.int64), units, parts, names, draws)


def _only_part(item: CaptionPair) -> str:
    return "all"


def _pair_references(references: Sequence[str] | PairReferences) -> PairReferences:
    """Return the references of both captions of a pair, which are usually the same."""
    return references if isinstance(references, PairReferences) else PairReferences([references], [references])


def ranked_systems(protocol: Protocol, items: Iterable[RankedSystem], data: Mapping[str, str]) -> SystemRanking:
    """Return systems under a protocol; arguments and errors as for ``rated_captions``.

    A metric's published scores are used if all systems have one.

    Raises:
        ValueError: the protocol has no measure.
    """
    if protocol.measure is None:
        raise ValueError(f"{protocol.full_name} judges systems, but has no measure")
    items = _judged_items(protocol, items)
    scores = [protocol.references(item) for item in items]
    published = {
        metric: np.array([of_system[metric] for of_system in scores], float)
        for metric in scores[0]
        if all(of_system.get(metric) is not None for of_system in scores)
    }
    human = np.array([protocol.measure(item) for item in items], float)
    outputs = [item.outputs for item in items if item.outputs is not None]
    names = [item.name for item in items]
    return SystemRanking(protocol, data, names, human, published, outputs if len(outputs) == len(items) else None)


def sides(pairs: Iterable[CaptionPair], systems: Callable[[CaptionPair], tuple[str, str]]) -> list[RatedCaption]:
    """Return the captions of pairs one by one, for protocols of systems: 1 for the preferred one, 0 for the other.

    The mean rating of a system is then the share of its pairs that it won.

    Args:
        pairs: the pairs.
        systems: returns the systems of both captions of a pair.
    """
    return [
        RatedCaption(
            f"{pair.image}|{number}|{side}",
            pair.image,
            pair.captions[side],
            pair.references,
            [float(side == pair.preferred)],
            facts={**pair.facts, "system": systems(pair)[side]},
        )
        for number, pair in enumerate(pairs)
        for side in (0, 1)
    ]


def letters(text: str) -> str:
    """Return the lower-case letters and digits of a caption, to compare captions."""
    return re.sub("[^a-z0-9]", "", text.lower())


def words(text: str) -> str:
    """Return the words of a caption in lower case, without what is neither a letter nor a digit, between blanks."""
    return " ".join(re.findall("[a-z0-9]+", text.lower()))


def without(references: Iterable[str], *captions: str) -> list[str]:
    """Return the references that differ in letters or digits from all of these captions."""
    known = {*map(letters, captions)}
    return [text for text in references if letters(text) not in known]


def references_table(ids: Sequence[str], references: Sequence[Sequence[str]], images: Sequence[str] = ()) -> References:
    """Return references with a row per judged caption, which document frequencies count as one document each.

    If no caption has references, the table is marked accordingly, and metrics that need them are refused.
    """
    present = any(references)
    if not present:
        references = [("",)] * len(ids)
    offsets = np.concatenate([[0], np.cumsum([len(texts) for texts in references])])
    texts = tuple(text for image_texts in references for text in image_texts)
    return References(tuple(ids), texts, offsets, name="judged captions", images=tuple(images), present=present)


def _image_id(image: object) -> str:
    """Return the id by which image files and features are looked up; images without an id have neither."""
    return f"(line {image})" if isinstance(image, Unknown) else str(image)


def _judged_items(protocol: Protocol, items: Iterable[AnItem]) -> list[AnItem]:
    items = [item for item in items if not protocol.excluded(item)]
    if not items:
        left_out = f" after excluding {protocol.excluded.text}" if protocol.excluded.text else ""
        raise EmptyInputError(f"there are no judgments{left_out}", where=protocol.full_name, hint="check the files")
    return items


def _numbered(values: Iterable[object], order: Sequence[str] = ()) -> tuple[NDArray[np.int64], list[str]]:
    """Return numbers of values from 0, those in ``order`` first and others by first occurrence, and the values."""
    numbers: dict[object, int] = {value: number for number, value in enumerate(order)}
    codes = np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)
    return codes, [str(value) for value in numbers]
