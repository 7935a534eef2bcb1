"""CAPTURE: objects, attributes and relations of detailed captions, matched exactly, by synonyms, and by similarity.

Dong, Jiang, Wang, Wang, Li and Yu 2024, "Benchmarking and improving detail image caption". The official variant is the
arithmetic of the package capture_metric 0.1, applied to the tuples of SPICE's rules instead of that package's own
parser.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import chain
from operator import eq
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import State
from captious.metrics.contract.parameters import ResourceParameter
from captious.metrics.shared.arithmetic import combine_references
from captious.metrics.shared.scene_encoder import SceneEncoderMetric
from captious.models.sentences import phrase_vectors
from captious.parsing.parses import Parse
from captious.parsing.sources import ParsedSentences
from captious.progress import Progress
from captious.resources import meteor_tables as meteor
from captious.scenes.graphs import LemmaNames, lemma_names
from captious.scenes.tuples import Tuple
from captious.text.stop_words import StopWords, as_stop_words

_KINDS = ("object", "attribute", "relation")
_WEIGHTS = np.array([0.5, 0.5, 0.2])
_TINY = 1e-6

_ABSTRACT = files("captious.resources") / "abstract-nouns.txt"
#: Nouns that say nothing about what is to be seen. The official list, of some 500 nouns, is a file of its authors.
ABSTRACT_NOUNS = StopWords("captious-abstract", frozenset(_ABSTRACT.read_text("utf-8").split()))

#: Objects, attributes and relations of a caption, of one or of three elements, each in order of first occurrence.
_Contents: TypeAlias = tuple[Sequence[tuple[str, ...]], ...]


@dataclass
class _Match:
    """Matches of strings or triples of one kind between a candidate and a reference, with unmatched items."""

    n: tuple[int, int]
    left: tuple[list[str], list[str]]


class Capture(SceneEncoderMetric):
    """CAPTURE, 0 to 1, higher is better: F1 of objects, attributes and relations, weighted 5 : 5 : 2.

    ``capture-p`` and ``capture-r`` are precision and recall with the same weights; the other outputs are the F1 of one
    kind. A caption's score is the mean over its references, the corpus score the mean of the captions.

    Raises:
        MissingExtraError: METEOR's tables, which contain the synonyms, are not installed.
        ResourceError: a model that cannot be read, or that is not a sentence encoder.
    """

    name = "capture"
    english_only = True
    outputs = ("capture", "capture-p", "capture-r", *(f"capture-{kind}" for kind in _KINDS))
    summary = "objects, attributes and relations of detailed captions: exact, synonyms, then cosine"
    variants = {"official": "arithmetic of capture_metric 0.1, on SPICE's rules"}
    default_models = ("sentence-transformers/all-mpnet-base-v2",)
    _requirements = (*SceneEncoderMetric._requirements, meteor.missing_tables)
    without_parameters = frozenset({"split"})
    abstract_nouns: ResourceParameter[StopWords | str | os.PathLike[str] | Iterable[str] | None, StopWords] = (
        ResourceParameter(
            default=None,
            read=lambda words: ABSTRACT_NOUNS if words is None else as_stop_words(words),
            show=lambda words: words.name,
            summary="nouns that do not count as objects: a file, such as the official list; none for ours",
        )
    )

    def setup(self) -> None:
        self.tables = meteor.tables()
        self.split = "sentences"

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "synonyms": f"meteor-{self.tables.label}"}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = self._contents(captions)
        names = lemma_names(self.tables)
        offsets = captions.references.offsets
        matches: list[list[_Match]] = []
        with Progress(max(1, len(references))) as progress:
            for row in range(len(captions)):
                progress.reach(int(offsets[row]), "matching objects, attributes and relations")
                of_image = references[offsets[row] : offsets[row + 1]]
                matches += [_matches(candidates[row], reference, names) for reference in of_image]
        phrases = dict.fromkeys(phrase for kinds in matches for match in kinds for phrase in chain(*match.left))
        numbers = {phrase: number for number, phrase in enumerate(phrases)}
        vectors = phrase_vectors(self.encoder, [*phrases], captions.references)
        scores = [_scores([_credits(match, vectors, numbers) for match in kinds]) for kinds in matches]
        return combine_references("mean", np.array(scores).reshape(-1, len(self.outputs)), offsets)

    def _contents(self, captions: Captions) -> tuple[list[_Contents], list[_Contents]]:
        """Return the contents of candidates and of references."""
        layer = self.tuples
        parses = [*chain(*captions.layer(ParsedSentences(layer.parses)))]
        tuples = chain(layer.of_candidates(captions), layer.of_references(captions.references))
        by_parse: dict[int, _Contents] = {}  # equal captions share their parses
        for sentences, of_caption in zip(parses, tuples, strict=True):
            if id(sentences) not in by_parse:
                by_parse[id(sentences)] = _contents_of(of_caption, _nouns(sentences), self.abstract_nouns)
        contents = [by_parse[id(sentences)] for sentences in parses]
        return contents[: len(captions)], contents[len(captions) :]


def _nouns(sentences: Iterable[Parse]) -> frozenset[str]:
    """Return the nouns of a text, lemmatized."""
    return frozenset(
        lemma.lower()
        for parse in sentences
        for lemma, tag in zip(parse.lemmas, parse.tags, strict=True)
        if tag.startswith("NN")
    )


def _contents_of(tuples: Iterable[Tuple], nouns: frozenset[str], abstract: StopWords) -> _Contents:
    """Return the tuples whose objects are nouns of the text. Abstract nouns are left out; their attributes and
    relations are kept.
    """
    in_text: dict[str, bool] = {}

    def occurs(noun: str) -> bool:
        if noun not in in_text:
            in_text[noun] = noun in nouns or all(piece in nouns for piece in noun.split())
        return in_text[noun]

    objects: dict[str, None] = {}
    attributes: dict[str, dict[str, None]] = {}
    relations: dict[tuple[str, str, str], None] = {}
    for item in tuples:
        if len(item) == 3:
            subject, noun, relation = item
            objects |= dict.fromkeys((subject, noun))
            relations[subject, relation, noun] = None
            continue
        objects[item[0]] = None
        if len(item) == 2 and " of" not in item[1]:
            attributes.setdefault(item[0], {})[item[1]] = None
    return (
        [(noun,) for noun in objects if occurs(noun) and noun not in abstract],
        [(attribute,) for noun, of_noun in attributes.items() if occurs(noun) for attribute in of_noun],
        [item for item in relations if occurs(item[0]) and occurs(item[2])],
    )


def _matches(candidate: _Contents, reference: _Contents, names: LemmaNames) -> list[_Match]:
    """Return the matches of each kind that need no encoder."""
    return [_match(*kinds, names) for kinds in zip(candidate, reference, strict=True)]


def _match(candidate: Sequence[tuple[str, ...]], reference: Sequence[tuple[str, ...]], names: LemmaNames) -> _Match:
    """Match items one by one and in order: first equal ones, then synonyms, element by element."""
    differing, unmatched = [*candidate], [*reference]
    ways: tuple[Callable[..., bool], ...] = (eq, partial(_are_alike, names))
    for are_alike in ways:
        differing = [item for item in differing if not _takes(item, unmatched, are_alike)]
    return _Match((len(candidate), len(reference)), ([*map(" ".join, differing)], [*map(" ".join, unmatched)]))


def _takes(item: tuple[str, ...], unmatched: list[tuple[str, ...]], are_alike: Callable[..., bool]) -> bool:
    """Remove the first match of an item, and return whether there is one."""
    place = next((k for k, counterpart in enumerate(unmatched) if are_alike(item, counterpart)), None)
    if place is not None:
        del unmatched[place]
    return place is not None


def _are_alike(names: LemmaNames, item: tuple[str, ...], counterpart: tuple[str, ...]) -> bool:
    """Return whether each pair of elements contains the other as a string, or shares a lemma of its synonym sets."""
    return all(
        one in two or two in one or not names.lemmas(one).isdisjoint(names.lemmas(two))
        for one, two in zip(item, counterpart, strict=True)
    )


def _credits(match: _Match, vectors: NDArray[np.float32], numbers: Mapping[str, int]) -> tuple[float, float]:
    """Return precision and recall of one kind: exact matches, and the best cosines of unmatched items."""
    candidate_rows, reference_rows = ([numbers[phrase] for phrase in phrases] for phrases in match.left)
    soft = np.zeros(2)
    if candidate_rows and reference_rows:
        cosines = vectors[candidate_rows] @ vectors[reference_rows].T
        soft = np.array([cosines.max(axis=1).sum(dtype=float), cosines.max(axis=0).sum(dtype=float)])
    precision, recall = (match.n[0] - len(candidate_rows) + soft) / (np.array(match.n) + _TINY)
    return float(precision), float(recall)


def _scores(kinds: Sequence[tuple[float, float]]) -> NDArray[np.float64]:
    """Return the outputs from precision and recall of each kind."""
    precision, recall = np.array(kinds).T
    f1 = 2 * precision * recall / (precision + recall + _TINY)
    weighted = [float(numbers @ _WEIGHTS) / _WEIGHTS.sum() for numbers in (f1, precision, recall)]
    return np.array([*weighted, *f1])
