"""Scene graphs of captions as an annotation layer: references of an image are merged once, for all their candidates."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, KeyedByFields, References, Stored, stored_key
from captious.data.annotation_storage import text_array, texts_of
from captious.errors import ParameterError
from captious.parsing.parsed_captions import ParsedCaptions, Parses, ParseSource
from captious.parsing.parses import Parse
from captious.resources.meteor_tables import MeteorTables
from captious.scenes.facts import CATEGORIES, Fact, Facts
from captious.scenes.scene_graph import SceneGraph
from captious.scenes.synonyms import Concept, synonyms
from captious.scenes.tuples import Tuple, tuples_of
from captious.text.tokenizers import Tokenizer

__all__ = ["SceneGraphLayer", "facts_of", "gc_pause"]

#: Tuples of parses, by the identity of the parse: equal captions share theirs.
_TuplesOf: TypeAlias = dict[int, tuple[Tuple, ...]]


class _Pause:
    """A pause of Python's garbage collection, for while only objects that stay are made.

    Facts of all captions are millions of objects, and Python would look through them again and again. It begins when
    the first thread enters, and ends when the last one leaves, in this process.
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
    """What the references of each image say together, and what each candidate says.

    Args:
        tokenizer: how captions become words.
        source: where parses come from.
        tables: METEOR's, for synonyms.
    """

    tokenizer: Tokenizer
    source: ParseSource
    tables: MeteorTables

    @property
    def parses(self) -> ParsedCaptions:
        """The layer below."""
        return ParsedCaptions(self.tokenizer, self.source)

    @property
    def stored_as(self) -> str | None:
        return stored_key("scene-graphs-1", self.parses.stored_as, self.tables.fingerprint)

    def to_stored(self, annotation: tuple[Facts, ...], references: References) -> Stored:
        return Stored(_fact_arrays(annotation))

    def from_stored(self, stored: Stored, references: References) -> tuple[Facts, ...]:
        with gc_pause:
            return _facts_of_arrays(stored.arrays, len(references))

    def of_references(self, references: References) -> tuple[Facts, ...]:
        tuples_of_parses: _TuplesOf = {}
        parses: Parses = references.layer(self._parses(tuples_of_parses))
        tuples = [_tuples(tuples_of_parses, parse) for parse in parses.of_captions]
        of_images = (tuples[start:end] for start, end in pairwise(references.offsets.tolist()))
        with gc_pause:
            return tuple(facts_of(chain.from_iterable(image), self.tables) for image in of_images)

    def of_candidates(self, captions: Captions, references: tuple[Facts, ...]) -> tuple[Facts, ...]:
        tuples_of_parses: _TuplesOf = {}
        parses: Parses = captions.layer(self._parses(tuples_of_parses))[0]
        return self._of_captions(parses, tuples_of_parses)

    def of_texts(self, captions: Sequence[str]) -> tuple[Facts, ...]:
        """What captions that are in no table say, each by itself."""
        tuples_of_parses: _TuplesOf = {}
        return self._of_captions(self._parses(tuples_of_parses).of_texts(captions), tuples_of_parses)

    def _parses(self, tuples_of_parses: _TuplesOf) -> ParsedCaptions:
        """The layer below, with the tuples of parses computed while other captions are being parsed."""
        return replace(self.parses, meanwhile=partial(_tuples, tuples_of_parses))

    def _of_captions(self, parses: Parses, tuples_of_parses: _TuplesOf) -> tuple[Facts, ...]:
        distinct = {id(parse): parse for parse in parses.of_captions}
        tuples = {key: _tuples(tuples_of_parses, parse) for key, parse in distinct.items()}
        with gc_pause:
            facts = {key: facts_of(of_parse, self.tables) for key, of_parse in tuples.items()}
        return tuple(facts[id(parse)] for parse in parses.of_captions)


def facts_of(tuples: Iterable[Tuple], tables: MeteorTables) -> Facts:
    """What tuples say when they are merged to a scene graph."""
    return Facts.of(SceneGraph(synonyms(tables), tuples))


def _tuples(tuples_of_parses: _TuplesOf, parse: Parse) -> tuple[Tuple, ...]:
    """The tuples of a caption; they are computed once and kept.

    Raises:
        ParameterError: a parse without collapsed dependencies.
    """
    tuples = tuples_of_parses.get(id(parse))
    if tuples is None:
        if parse.words and not parse.collapsed:
            raise ParameterError(
                "a scene graph needs collapsed dependencies, which this parse does not have",
                where=" ".join(parse.words),
                help="spaCy pipelines do not produce them: use --parser corenlp or bundled, or a file of parses",
            )
        tuples = tuples_of_parses[id(parse)] = tuples_of(parse)
    return tuples


#: How many concepts a fact of each category has.
_SIZES = {"object": 1, "attribute": 2, "relation": 3, "cardinality": 2, "color": 2, "size": 2}


def _fact_arrays(facts: Sequence[Facts]) -> dict[str, NDArray[Any]]:
    """Facts as arrays: distinct concepts, and for each category the numbers of those that facts are made of."""
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
    """The facts of n images that ``_fact_arrays`` stored.

    Raises:
        ValueError, KeyError, IndexError, TypeError: arrays that contradict each other.
    """
    names = texts_of(arrays["names"])
    values = arrays["items"].tolist()
    items: list[str | int] = [value if value >= 0 else _at(names, -1 - value) for value in values]
    bounds = _bounds(arrays["items_offsets"], len(items))
    concepts: list[Concept] = [frozenset(items[start:end]) for start, end in pairwise(bounds)]
    images: list[dict[str, list[Fact]]] = [{} for _ in range(n)]
    for category, size in _SIZES.items():
        flat = [_at(concepts, number) for number in arrays[category].tolist()]
        if len(flat) % size:
            raise ValueError(f"facts of {category} that are cut")
        facts: list[Fact] = [*zip(*(flat[k::size] for k in range(size)), strict=True)]
        ends = _bounds(arrays[f"{category}_offsets"], len(facts))
        if len(ends) != n + 1:
            raise ValueError("facts of other images")
        for by_category, (start, end) in zip(images, pairwise(ends), strict=True):
            by_category[category] = facts[start:end]
    return tuple(map(Facts, images))


def _at(values: Sequence[Any], place: int) -> Any:
    if not 0 <= place < len(values):
        raise IndexError("a number that stands for nothing")
    return values[place]


def _bounds(offsets: NDArray[Any], n: int) -> list[int]:
    bounds: list[int] = offsets.tolist()
    if not bounds or bounds[0] != 0 or bounds[-1] != n or (np.diff(offsets) < 0).any():
        raise ValueError("offsets that do not fit")
    return bounds
