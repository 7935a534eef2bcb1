"""Scene graphs of captions as an annotation layer. The references of an image are merged once, for all candidates."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, KeyedByFields, References, Stored, stored_key
from captious.data.storage.annotations import text_array, texts_of
from captious.parsing.parsed_captions import ParsedCaptions, ParseSource
from captious.resources.meteor_tables import MeteorTables
from captious.scenes.caption_tuples import TupleLayer
from captious.scenes.facts import CATEGORIES, Fact, Facts
from captious.scenes.scene_graph import SceneGraph
from captious.scenes.synonyms import Concept, synonyms
from captious.scenes.tuples import Tuple
from captious.text.tokenizers import Tokenizer


class _Pause:
    """A pause of Python's garbage collection while many long-lived objects are created.

    Facts of all captions are millions of objects, which the collector would traverse again and again. The pause begins
    when the first thread enters, and ends when the last one leaves, in this process.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._was_enabled = False

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._was_enabled:
                gc.enable()

    def reset(self) -> None:
        """End the pause in a forked process, which does not have the threads that were inside."""
        if self._inside and self._was_enabled:
            gc.enable()
        self._lock = threading.Lock()
        self._inside = 0


gc_pause = _Pause()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=gc_pause.reset)


@dataclass(frozen=True)
class SceneGraphLayer(KeyedByFields):
    """The merged facts of the references of each image, and those of each candidate.

    Args:
        tokenizer: the tokenizer.
        source: the source of parses.
        tables: METEOR's tables, for synonyms.
        split: how captions are split before parsing, one of ``caption_tuples.SPLITS``.
    """

    tokenizer: Tokenizer
    source: ParseSource
    tables: MeteorTables
    split: str = "none"

    @property
    def tuples(self) -> TupleLayer:
        """The layer of tuples below."""
        return TupleLayer(self.tokenizer, self.source, self.split)

    @property
    def parses(self) -> ParsedCaptions:
        """The layer of parses below that."""
        return self.tuples.parses

    @property
    def stored_as(self) -> str | None:
        split = () if self.split == "none" else (f"{self.split}-1",)
        return stored_key("scene-graphs-1", self.parses.stored_as, self.tables.fingerprint, *split)

    def to_stored(self, annotation: tuple[Facts, ...], references: References) -> Stored:
        return Stored(_fact_arrays(annotation))

    def from_stored(self, stored: Stored, references: References) -> tuple[Facts, ...]:
        with gc_pause:
            return _facts_of_arrays(stored.arrays, len(references))

    def of_references(self, references: References) -> tuple[Facts, ...]:
        tuples = self.tuples.of_references(references)
        of_images = (tuples[start:end] for start, end in pairwise(references.offsets.tolist()))
        with gc_pause:
            return tuple(facts_of(chain.from_iterable(image), self.tables) for image in of_images)

    def of_candidates(self, captions: Captions, references: tuple[Facts, ...]) -> tuple[Facts, ...]:
        return self._caption_facts(self.tuples.of_candidates(captions))

    def of_texts(self, captions: Sequence[str]) -> tuple[Facts, ...]:
        """Return the graphs of captions that are in no table, each by itself."""
        return self._caption_facts(self.tuples.of_texts(captions))

    def _caption_facts(self, tuples: Sequence[tuple[Tuple, ...]]) -> tuple[Facts, ...]:
        distinct = {id(of_caption): of_caption for of_caption in tuples}
        with gc_pause:
            facts = {key: facts_of(of_caption, self.tables) for key, of_caption in distinct.items()}
        return tuple(facts[id(of_caption)] for of_caption in tuples)


def facts_of(tuples: Iterable[Tuple], tables: MeteorTables) -> Facts:
    """Return the facts of tuples merged to a scene graph."""
    return Facts.of(SceneGraph(synonyms(tables), tuples))


#: The number of concepts in a fact of each category.
_SIZES = {"object": 1, "attribute": 2, "relation": 3, "cardinality": 2, "color": 2, "size": 2}


def _fact_arrays(facts: Sequence[Facts]) -> dict[str, NDArray[Any]]:
    """Return facts as arrays: distinct concepts, and for each category the numbers of the concepts in its facts."""
    numbers: dict[Concept, int] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for category in CATEGORIES[1:]:
        lists = [of_image.by_category[category] for of_image in facts]
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


def _facts_of_arrays(arrays: Mapping[str, NDArray[Any]], n: int) -> tuple[Facts, ...]:
    """Restore the facts of n images from the result of ``_fact_arrays``.

    Raises:
        ValueError, KeyError, IndexError, TypeError: arrays that contradict each other.
    """
    names = texts_of(arrays["names"])
    values = arrays["items"].tolist()
    items: list[str | int] = [value if value >= 0 else _value_at(names, -1 - value) for value in values]
    bounds = _bounds(arrays["items_offsets"], len(items))
    concepts: list[Concept] = [frozenset(items[start:end]) for start, end in pairwise(bounds)]
    images: list[dict[str, list[Fact]]] = [{} for _ in range(n)]
    for category, size in _SIZES.items():
        flat = [_value_at(concepts, number) for number in arrays[category].tolist()]
        if len(flat) % size:
            raise ValueError(f"facts of {category} that are cut")
        facts: list[Fact] = [*zip(*(flat[k::size] for k in range(size)), strict=True)]
        ends = _bounds(arrays[f"{category}_offsets"], len(facts))
        if len(ends) != n + 1:
            raise ValueError("facts of other images")
        for by_category, (start, end) in zip(images, pairwise(ends), strict=True):
            by_category[category] = facts[start:end]
    return tuple(map(Facts, images))


def _value_at(values: Sequence[Any], place: int) -> Any:
    if not 0 <= place < len(values):
        raise IndexError("a number that stands for nothing")
    return values[place]


def _bounds(offsets: NDArray[Any], n: int) -> list[int]:
    bounds: list[int] = offsets.tolist()
    if not bounds or bounds[0] != 0 or bounds[-1] != n or (np.diff(offsets) < 0).any():
        raise ValueError("offsets that do not fit")
    return bounds
