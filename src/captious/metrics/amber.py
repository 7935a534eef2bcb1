"""AMBER, generative part: existing and hallucinated objects in long answers of models.

Wang et al. 2023, as computed by the authors' program (inference.py of junyangwang0410/AMBER).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import MissingExtraError, ResourceError, either, setting
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.parameters import ChoiceParameter, NumberParameter, ResourceParameter
from captious.metrics.shared.arithmetic import share
from captious.metrics.shared.objects import AmberLists, ImageWords, as_amber_lists, check_known_images
from captious.metrics.shared.scene_encoder import ParserParameter
from captious.metrics.shared.word_vectors import VectorsParameter
from captious.models import WordVectors
from captious.parsing.sources import ParsedCaptions, ParseSource
from captious.text.stems import nouns as nltk_nouns
from captious.text.tokenizers import PTB, sentences
from captious.words import counted_of


class Amber(Metric):
    """Objects in answers: amber-chair, amber-hal and amber-cog, where lower is better, and amber-cover.

    amber-chair is the share of hallucinated objects among all objects named; amber-cover the share of the objects in
    the images that are named; amber-hal the share of answers with a hallucinated object; amber-cog the share of the
    objects that models tend to invent that are named. All are 0 to 1. References are not used.

    Raises:
        ParameterError: no word lists.
        ResourceError: word lists that cannot be read, or NLTK without its data.
        MissingExtraError: tagger nltk without NLTK, or no parser.
    """

    name = "amber"
    english_only = True
    outputs = ("amber-chair", "amber-cover", "amber-hal", "amber-cog")
    lower_is_better = frozenset({"amber-chair", "amber-hal", "amber-cog"})
    summary = "objects of long answers that are in the image or not, by AMBER's lists, without references"
    variants = {
        "official": "the authors' program",
        "fixed": "words in lower case, and objects that are listed twice count once",
    }
    needs_references = False
    without_parameters = frozenset({"tokenizer"})

    lists: ResourceParameter[AmberLists | Mapping[str, Any] | str | os.PathLike[str] | None, AmberLists] = (
        ResourceParameter(
            default=None,
            read=as_amber_lists,
            needs="AMBER's word lists",
            hint="give the folder of annotations.json, relation.json and safe_words.txt: "
            + either(python="captious.Amber(lists=FOLDER)", command="-m amber:lists=FOLDER"),
            in_labels=False,
            summary="folder of annotations.json, relation.json and safe_words.txt",
        )
    )
    tagger: ChoiceParameter = ChoiceParameter(
        default="auto",
        choices=("auto", "nltk", "parser"),
        summary="what finds nouns: nltk, as in the authors' program; parser; or auto: nltk if its data are here",
    )
    parser: ParserParameter = ParserParameter(default=None)
    vectors: VectorsParameter = VectorsParameter(
        default=None,
        optional=True,
        summary="word vectors, by which similar words count as equal; none to compare words",
    )
    similarity: NumberParameter[float] = NumberParameter(
        default=0.8, least=-1, most=1, summary="cosine above which words are similar"
    )

    def setup(self) -> None:
        if self.tagger == "auto":
            self.tagger = "nltk" if _has_nltk() else "parser"

    @property
    def parameters(self) -> Mapping[str, object]:
        unused = {"parser" if self.tagger == "nltk" else "", "similarity" if self.vectors is None else ""}
        return {name: value for name, value in super().parameters.items() if name not in unused}

    @property
    def tokens(self) -> str:
        return f"nouns of {self.tagger}"

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Return counts: answers; hallucinated and all mentioned objects; named and all objects of the image; named and
        all of those that models tend to invent; answers with a hallucination.
        """
        source = self.parser if self.tagger == "parser" else None
        nouns_of = captions.own_layer(_NounLayer(self.tagger, source, self.variant == "fixed"))
        rows = np.zeros((len(captions), 8))
        for row, (nouns, words) in enumerate(zip(nouns_of, self._words(captions), strict=True)):
            if words is not None:
                rows[row] = self._counts(nouns, words)
        return rows

    def _counts(self, nouns: Iterable[str], words: ImageWords) -> tuple[float, ...]:
        unique = self.variant == "fixed"
        truth, invented = (
            _Named(tuple(dict.fromkeys(mentions)) if unique else mentions, self.lists.related)
            for mentions in (words.truth, words.hallucinations)
        )
        objects = [noun for noun in nouns if noun in self.lists.counted]
        wrong = 0
        for noun in objects:
            if noun in self.lists.safe or truth.mark(noun.__eq__):
                continue
            # As in the program, a similar word is marked even where an equal one was.
            invented.mark(noun.__eq__)
            invented.mark(self._similar_to(noun))
            wrong += not truth.mark(self._similar_to(noun))
        marks = (len(truth.marked), len(truth.words), len(invented.marked), len(invented.words))
        return (1, wrong, len(objects), *marks, wrong > 0)

    def _similar_to(self, noun: str) -> Callable[[str], bool]:
        if self.vectors is None:
            return noun.__eq__
        vectors, least = self.vectors, self.similarity
        return lambda word: _cosine(vectors, noun, word) > least

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        answers, wrong, objects, covered, present, invented, listed, with_any = np.moveaxis(
            np.asarray(statistics), -1, 0
        )
        nothing = np.where(answers > 0, 0.0, np.nan)
        pairs = ((wrong, objects), (covered, present), (with_any, answers), (invented, listed))
        return np.stack([share(*pair, nothing) for pair in pairs], axis=-1)

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        messages = []
        if missing := sum(words is None for words in self._words(captions)):
            images = counted_of(missing, len(captions), "image")
            messages.append(f"amber leaves out {images}, for which there are no lists.")
        if self.vectors is None:
            messages.append(
                "amber compares words by equality alone; the authors' program also counts words of similar vectors "
                f"as equal: give {setting('vectors', 'NAME')}."
            )
        return messages

    def _words(self, captions: Captions) -> list[ImageWords | None]:
        """Return the words of each caption's image; None for images without words, in a subset."""
        lists = [self.lists.words_of(image) for image in captions.references.images]
        help = "images are called 1 to 1004 or AMBER_1.jpg"
        check_known_images(captions, lists, "AMBER's words of", self.lists.name, help)
        return lists


class _Named:
    """Words of an image, and which of them a text names, directly or by related words.

    Args:
        words: the words.
        related: word -> words that stand for it.

    Attributes:
        marked: positions of the words that were named.
    """

    def __init__(self, words: Sequence[str], related: Mapping[str, Sequence[str]]) -> None:
        self.words = words
        self.marked: set[int] = set()
        stand_ins = [(stand_in, place) for place, word in enumerate(words) for stand_in in related.get(word, ())]
        self._places = [*stand_ins, *((word, place) for place, word in enumerate(words))]

    def mark(self, is_named: Callable[[str], bool]) -> bool:
        """Mark the first word that is named, related words first, and return whether there is one."""
        place = next((place for word, place in self._places if is_named(word)), None)
        if place is not None:
            self.marked.add(place)
        return place is not None


@dataclass(frozen=True)
class _NounLayer:
    """The lemmas of the nouns of each candidate, in order and with repetitions."""

    tagger: str
    source: ParseSource | None
    lower: bool

    def of_candidates(self, captions: Captions) -> list[list[str]]:
        if self.source is None:
            texts = (text.lower() if self.lower else text for text in captions.candidates)
            return [nltk_nouns(text) for text in texts]
        parts = [sentences(text.lower()) for text in captions.candidates]
        every = [sentence for of_text in parts for sentence in of_text]
        parses = ParsedCaptions(PTB, self.source).of_texts(every).of_captions
        of_sentences = iter(
            [lemma for lemma, tag in zip(parse.lemmas, parse.tags, strict=True) if tag.startswith("NN")]
            for parse in parses
        )
        return [[noun for _ in of_text for noun in next(of_sentences)] for of_text in parts]


@lru_cache(1 << 18)
def _cosine(vectors: WordVectors, a: str, b: str) -> float:
    """Return the cosine of the mean vectors of the pieces of two words; 0 if one has none."""
    means = []
    for text in (a, b):
        has_vector, rows = vectors.look_up(text.split())
        if not has_vector.any():
            return 0.0
        means.append(rows.astype(np.float64).mean(axis=0))
    norms = np.linalg.norm(means[0]) * np.linalg.norm(means[1])
    return float(means[0] @ means[1] / norms) if norms > 0 else 0.0


def _has_nltk() -> bool:
    try:
        nltk_nouns("")
    except (MissingExtraError, ResourceError):
        return False
    return True
