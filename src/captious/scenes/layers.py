"""Tuples and scene graphs of captions as annotation layers, and the explanation of a SPICE score."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, Stored, stored_key
from captious.data.prepared import check_words, text_array, texts_of
from captious.errors import ParameterError, setting
from captious.parsing.parses import Parse
from captious.parsing.sources import ParsedCaptions, ParsedSentences, ParseSource
from captious.resources.meteor_tables import MeteorTables
from captious.scenes.graphs import (
    CATEGORIES,
    KINDS,
    Concept,
    Fact,
    Facts,
    SceneGraph,
    Synonyms,
    agreement,
    count,
    names_of,
    synonyms,
)
from captious.scenes.tuples import Tuple, tuples_of
from captious.text.tokenizers import Tokenizer

# Tuples of captions, computed once for each distinct parse, while other captions are being parsed.

#: The ways to split captions before they are parsed.
SPLITS = ("none", "sentences")


@dataclass(frozen=True)
class TupleLayer:
    """The tuples of references and candidates, in order; equal captions share one object.

    Args:
        tokenizer: the tokenizer.
        source: the source of parses.
        split: one of ``SPLITS``; with "sentences", the tuples of a caption are those of its sentences, concatenated.
    """

    tokenizer: Tokenizer
    source: ParseSource
    split: str = "none"

    @property
    def parses(self) -> ParsedCaptions:
        """The layer of parses below; with ``split``, of sentences."""
        return ParsedCaptions(self.tokenizer, self.source)

    def of_references(self, references: References) -> list[tuple[Tuple, ...]]:
        return self._tuples(references.layer)

    def of_candidates(self, captions: Captions, references: object = None) -> list[tuple[Tuple, ...]]:
        return self._tuples(lambda layer: captions.layer(layer)[0])

    def of_texts(self, captions: Sequence[str]) -> list[tuple[Tuple, ...]]:
        """Return the tuples of captions that are in no table."""
        return self._tuples(lambda layer: layer.of_texts(captions))

    def _tuples(self, annotation_of: Callable[[Any], Any]) -> list[tuple[Tuple, ...]]:
        """Return the tuples of captions, given a function that returns their annotation by a layer of parses."""
        of_parses: dict[int, tuple[Tuple, ...]] = {}
        of_captions: dict[tuple[int, ...], tuple[Tuple, ...]] = {}

        def of_parse(parse: Parse) -> tuple[Tuple, ...]:
            tuples = of_parses.get(id(parse))
            if tuples is None:
                tuples = of_parses[id(parse)] = _checked_tuples(parse)
            return tuples

        def of_sentences(parses: tuple[Parse, ...]) -> tuple[Tuple, ...]:
            tuples = tuple(chain.from_iterable(map(of_parse, parses)))
            return of_captions.setdefault(tuple(map(id, parses)), tuples)

        parses = replace(self.parses, meanwhile=of_parse)
        if self.split == "sentences":
            return [*map(of_sentences, annotation_of(ParsedSentences(parses)))]
        return [*map(of_parse, annotation_of(parses).of_captions)]


def _checked_tuples(parse: Parse) -> tuple[Tuple, ...]:
    if parse.words and not parse.collapsed:
        raise ParameterError(
            "a scene graph needs collapsed dependencies, which this parse does not have",
            where=" ".join(parse.words),
            hint=f"spaCy pipelines do not produce them: use {setting('parser', 'corenlp')} or bundled, or a file of "
            "parses",
        )
    return tuples_of(parse)


# Scene graphs of captions as an annotation layer. The references of an image are merged once, for all candidates.


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
class SceneGraphLayer:
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
    names, values, ends = texts_of(arrays["names"]), arrays["items"], arrays["items_offsets"]
    check_words(np.maximum(-1 - values, 0), ends, n_words=max(1, len(names)), n_captions=len(ends) - 1, what="names")
    items: list[str | int] = [value if value >= 0 else names[-1 - value] for value in values.tolist()]
    concepts: list[Concept] = [frozenset(items[start:end]) for start, end in pairwise(ends.tolist())]
    images: list[dict[str, list[Fact]]] = [{} for _ in range(n)]
    for category, size in _SIZES.items():
        numbers, ends = arrays[category], arrays[f"{category}_offsets"]
        check_words(numbers, size * ends, n_words=len(concepts), n_captions=n, what=f"facts of {category}")
        flat = [concepts[number] for number in numbers.tolist()]
        facts: list[Fact] = [*zip(*(flat[k::size] for k in range(size)), strict=True)]
        for by_category, (start, end) in zip(images, pairwise(ends.tolist()), strict=True):
            by_category[category] = facts[start:end]
    return tuple(map(Facts, images))


# Explanation of a SPICE score: the tuples of both sides, which of them match, and by which words.

Names: TypeAlias = tuple[tuple[str, ...], ...]
"""The names of each part of (object,), (object, attribute) or (subject, relation, object); there may be several."""


@dataclass(frozen=True)
class SceneFact:
    """A tuple of the candidate's scene graph and its match.

    Args:
        kind: object, attribute or relation.
        names: the tuple.
        match: the first tuple of the references that matches, or None.
        status: how they match: ``same`` names or ``synonyms``; None without a match.
        through: if a synonym among several names matches, the name of the candidate and that of the references.
    """

    kind: str
    names: Names
    match: Names | None
    status: str | None
    through: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ReferenceFact:
    """A tuple of the references' scene graph.

    Args:
        names: the tuple.
        matched: whether a tuple of the candidate matches.
    """

    names: Names
    matched: bool


@dataclass(frozen=True)
class SceneExplanation:
    """The tuples of a candidate and those of its references.

    Args:
        candidate_tuples: tuples of the candidate, before merging.
        reference_tuples: the same for each reference.
        candidate: tuples of the candidate's scene graph.
        references: tuples of the references' scene graph.
        matched: number of the candidate's tuples that match.
        precision: share of the candidate's tuples that match, 0 to 1.
        recall: the same number over the number of reference tuples, 0 or more.
        score: their F1.
    """

    kind: ClassVar[str] = "scene"

    candidate_tuples: tuple[Tuple, ...]
    reference_tuples: tuple[tuple[Tuple, ...], ...]
    candidate: tuple[SceneFact, ...]
    references: tuple[ReferenceFact, ...]
    matched: int
    precision: float
    recall: float
    score: float


def explain(
    candidate: tuple[Tuple, ...], references: Sequence[tuple[Tuple, ...]], tables: MeteorTables
) -> SceneExplanation:
    """Match the tuples of a candidate with those of its references as in SPICE.

    Raises:
        ResourceError: METEOR's tables are damaged.
    """
    lexicon = synonyms(tables)
    candidate_tuples, reference_tuples = candidate, tuple(references)
    facts = Facts.of(SceneGraph(lexicon, candidate_tuples))
    reference_facts = Facts.of(SceneGraph(lexicon, (item for reference in reference_tuples for item in reference)))
    matches = [(kind, fact, reference_facts.find(fact, kind)) for kind in KINDS for fact in facts.by_category[kind]]
    matched = {match for _, _, match in matches}
    precision, recall, score = agreement(np.array(count(facts, reference_facts)[0], np.float64)).tolist()
    return SceneExplanation(
        candidate_tuples=candidate_tuples,
        reference_tuples=reference_tuples,
        candidate=tuple(_scene_fact(kind, fact, match, lexicon) for kind, fact, match in matches),
        references=tuple(
            ReferenceFact(_names(fact), fact in matched) for kind in KINDS for fact in reference_facts.by_category[kind]
        ),
        matched=sum(match is not None for _, _, match in matches),
        precision=precision,
        recall=recall,
        score=score,
    )


def _scene_fact(kind: str, fact: Fact, match: Fact | None, lexicon: Synonyms) -> SceneFact:
    if match is None:
        return SceneFact(kind, _names(fact), None, None, ())
    names, match_names = _names(fact), _names(match)
    pairs = [_common_names(concept, counterpart, lexicon) for concept, counterpart in zip(fact, match, strict=True)]
    through = dict.fromkeys(
        pair
        for pair, concept, counterpart in zip(pairs, names, match_names, strict=True)
        if pair[0] != pair[1] and (len(concept) > 1 or len(counterpart) > 1)
    )
    status = "same" if all(concept == counterpart for concept, counterpart in pairs) else "synonyms"
    return SceneFact(kind, names, match_names, status, tuple(through))


def _names(fact: Fact) -> Names:
    return tuple(tuple(names_of(concept)) for concept in fact)


def _common_names(concept: Concept, counterpart: Concept, lexicon: Synonyms) -> tuple[str, str]:
    """Return a name of each, the same if they have one in common, else two synonyms."""
    pairs = [(name, synonym) for name in names_of(concept) for synonym in names_of(counterpart)]
    common = [pair for pair in pairs if pair[0] == pair[1]]
    alike = (pair for pair in pairs if not lexicon.concept_of(pair[0]).isdisjoint(lexicon.concept_of(pair[1])))
    return common[0] if common else next(alike)
