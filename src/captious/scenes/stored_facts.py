"""What scene graphs say as arrays, as files of prepared references keep it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data.storing import text_array, texts_of
from captious.scenes.matching import CATEGORIES, Fact, Facts
from captious.scenes.synonyms import Concept

__all__ = ["fact_arrays", "facts_of_arrays"]

#: How many concepts a fact of each category has.
_SIZES = {"object": 1, "attribute": 2, "relation": 3, "cardinality": 2, "color": 2, "size": 2}


def fact_arrays(facts: Sequence[Facts]) -> dict[str, NDArray[Any]]:
    """Facts as arrays: distinct concepts, and for each category the numbers of those that facts are made of."""
    numbers: dict[Concept, int] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for category in CATEGORIES[1:]:
        lists = [each.by_category[category] for each in facts]
        flat = chain.from_iterable(chain.from_iterable(lists))
        arrays[category] = np.array([numbers.setdefault(concept, len(numbers)) for concept in flat], np.int32)
        arrays[f"{category}_offsets"] = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    names: dict[str, int] = {}
    items = []  # synonym sets by number, names as -1, -2, ...
    for concept in numbers:
        strings = sorted(item for item in concept if isinstance(item, str))
        sets = sorted(item for item in concept if isinstance(item, int))
        items.append([*(-1 - names.setdefault(name, len(names)) for name in strings), *sets])
    arrays["items"] = np.array([*chain.from_iterable(items)], np.int32)
    arrays["items_offsets"] = np.cumsum([0, *map(len, items)], dtype=np.int64)
    arrays["names"] = text_array([*names])
    return arrays


def facts_of_arrays(arrays: Mapping[str, NDArray[Any]], n: int) -> tuple[Facts, ...]:
    """The facts of n images that ``fact_arrays`` was given.

    Raises:
        ValueError, KeyError, IndexError, TypeError: arrays that contradict each other.
    """
    names = texts_of(arrays["names"])
    values = arrays["items"].tolist()
    items: list[str | int] = [value if value >= 0 else _at(names, -1 - value) for value in values]
    bounds = _bounds(arrays["items_offsets"], len(items))
    concepts: list[Concept] = [frozenset(items[start:end]) for start, end in pairwise(bounds)]
    found: list[dict[str, list[Fact]]] = [{} for _ in range(n)]
    for category, size in _SIZES.items():
        flat = [_at(concepts, number) for number in arrays[category].tolist()]
        if len(flat) % size:
            raise ValueError(f"facts of {category} that are cut")
        facts: list[Fact] = [*zip(*(flat[k::size] for k in range(size)), strict=True)]
        ends = _bounds(arrays[f"{category}_offsets"], len(facts))
        if len(ends) != n + 1:
            raise ValueError("facts of other images")
        for each, (start, end) in zip(found, pairwise(ends), strict=True):
            each[category] = facts[start:end]
    return tuple(map(Facts.of_categories, found))


def _at(values: Sequence[Any], place: int) -> Any:
    if not 0 <= place < len(values):
        raise IndexError("a number that stands for nothing")
    return values[place]


def _bounds(offsets: NDArray[Any], n: int) -> list[int]:
    bounds: list[int] = offsets.tolist()
    if not bounds or bounds[0] != 0 or bounds[-1] != n or (np.diff(offsets) < 0).any():
        raise ValueError("offsets that do not fit")
    return bounds
