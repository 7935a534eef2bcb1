"""What people judged, item by item, and the judgments that a protocol makes of these items.

Loaders of benchmarks make items from their files; a protocol then says which of them are left out, which references
metrics get, and what becomes of ratings, parts and measures.
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
from captious.judgment.human_judgments import CaptionPairs, HumanJudgments, RatedCaptions, SystemRanking
from captious.judgment.protocols import Protocol
from captious.judgment.rated_systems import RatedSystems


class Unknown(int):
    """An image that has no id: the number of the only line that is about it."""


@dataclass(frozen=True)
class RatedCaption:
    """A caption that people rated.

    Args:
        id: unique within the benchmark.
        image: captions of one image are drawn together in resamples.
        candidate: the caption.
        references: the references of its image.
        ratings: one or several numbers.
        part: the part that it belongs to, for protocols with parts.
        facts: whatever else the rules of a protocol use.
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
        image: pairs of one image are drawn together in resamples.
        captions: both.
        preferred: 0 or 1, which of the two.
        references: the references of the image.
        part: the part that it belongs to, for protocols with parts.
        facts: whatever else the rules of a protocol use.
    """

    image: object
    captions: tuple[str, str]
    preferred: int
    references: Sequence[str] = ()
    part: str = "all"
    facts: Mapping[str, Any] = field(default_factory=dict)


class PairReferences(NamedTuple):
    """What the rule for references of a protocol may return for a pair whose captions get different references.

    Args:
        first, second: the references of each caption. There may be several draws of them: the score of the caption is
            then the mean of its scores against each.
    """

    first: Sequence[Sequence[str]]
    second: Sequence[Sequence[str]]


@dataclass(frozen=True)
class RankedSystem:
    """A system that people judged as a whole.

    Args:
        name: unique within the benchmark.
        facts: human measures, published scores, and whatever else the rules of a protocol use.
        outputs: its captions, if they are known.
    """

    name: str
    facts: Mapping[str, Any]
    outputs: Sequence[str] | None = None


#: What a benchmark's files hold, all of one kind.
Item: TypeAlias = RatedCaption | CaptionPair | RankedSystem
AnItem = TypeVar("AnItem", RatedCaption, CaptionPair, RankedSystem)


def judgments_of(protocol: Protocol, items: Sequence[Item], data: Mapping[str, str]) -> HumanJudgments:
    """The judgments of items of one kind under a protocol; arguments and errors as those of ``rated_captions``."""
    build: Any = {RatedCaption: rated_captions, CaptionPair: caption_pairs, RankedSystem: ranked_systems}
    return build[type(items[0])](protocol, items, data)  # type: ignore[no-any-return]


def rated_captions(
    protocol: Protocol, items: Iterable[RatedCaption], data: Mapping[str, str]
) -> RatedCaptions | RatedSystems:
    """Ratings of captions under a protocol, or of systems by their captions.

    Args:
        protocol: its rules are applied to every item.
        items: what was rated.
        data: the files that were read: name -> checksum.

    Raises:
        EmptyInputError: no items, or all are left out.
        ValueError: the protocol looks at annotators one by one, and captions have different numbers of ratings;
            or the protocol compares systems, and there are fewer than three.
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
    """Pairs of captions under a protocol; arguments and errors as those of ``rated_captions``.

    Raises:
        ValueError: a preference that is neither 0 nor 1.
    """
    items = _judged_items(protocol, items)
    preferred = np.array([item.preferred for item in items])
    if not set(np.unique(preferred)) <= {0, 1}:
        raise ValueError("a preference is neither 0 nor 1")
    of_pairs = [_of_both(protocol.references(item)) for item in items]
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


def _of_both(references: Sequence[str] | PairReferences) -> PairReferences:
    """The references of both captions of a pair, which are usually the same."""
    return references if isinstance(references, PairReferences) else PairReferences([references], [references])


def ranked_systems(protocol: Protocol, items: Iterable[RankedSystem], data: Mapping[str, str]) -> SystemRanking:
    """Systems under a protocol; arguments and errors as those of ``rated_captions``.

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
    """The captions of pairs one by one, for protocols that compare systems: 1 for the preferred one, 0 for the other.

    The mean rating of a system is then the share of its pairs that it won.

    Args:
        pairs: what people compared.
        systems: those of both captions of a pair.
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
    """The lower-cased letters and digits of a caption, which are equal for captions that read the same."""
    return re.sub("[^a-z0-9]", "", text.lower())


def references_table(ids: Sequence[str], references: Sequence[Sequence[str]], images: Sequence[str] = ()) -> References:
    """References with a row per judged caption: metrics that count documents count each as one.

    If no caption has any, the table says so, and metrics that need them are refused.
    """
    present = any(references)
    if not present:
        references = [("",)] * len(ids)
    offsets = np.concatenate([[0], np.cumsum([len(texts) for texts in references])])
    texts = tuple(text for image_texts in references for text in image_texts)
    return References(tuple(ids), texts, offsets, name="judged captions", images=tuple(images), present=present)


def _image_id(image: object) -> str:
    """The ids by which image files and features are found; an image without an id has none of them."""
    return f"(line {image})" if isinstance(image, Unknown) else str(image)


def _judged_items(protocol: Protocol, items: Iterable[AnItem]) -> list[AnItem]:
    items = [item for item in items if not protocol.excluded(item)]
    if not items:
        left_out = f" after excluding {protocol.excluded.text}" if protocol.excluded.text else ""
        raise EmptyInputError(f"there are no judgments{left_out}", where=protocol.full_name, help="check the files")
    return items


def _numbered(values: Iterable[object], order: Sequence[str] = ()) -> tuple[NDArray[np.int64], list[str]]:
    """Values as numbers from 0, those of ``order`` first and others by first occurrence; and what they stand for."""
    numbers: dict[object, int] = {value: number for number, value in enumerate(order)}
    codes = np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)
    return codes, [str(value) for value in numbers]
