"""Parts of speech: spaCy's taggers, by the name or folder of a pipeline (extra ``[parse]``)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, TypeAlias

from captious.parsing.spacy_pipelines import label_of, load_pipeline

__all__ = ["SpacyTagger", "Tagger", "load_tagger"]

#: Captions as lists of words to a part of speech for every word, as Universal Dependencies name them (NOUN, VERB, ...).
Tagger: TypeAlias = Callable[[Sequence[Sequence[str]]], Sequence[Sequence[str]]]

_NOT_NEEDED = ("parser", "ner", "lemmatizer", "senter", "textcat")


class SpacyTagger:
    """A spaCy pipeline as a tagger. Words stay as they were cut.

    Attributes:
        name: the pipeline's own name with its version.
    """

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self.name = label_of(pipeline)

    def __call__(self, captions: Sequence[Sequence[str]]) -> list[list[str]]:
        doc = import_module("spacy.tokens").Doc
        docs = (doc(self._pipeline.vocab, words=list(words)) for words in captions)
        return [[token.pos_ for token in done] for done in self._pipeline.pipe(docs)]


def load_tagger(name: str | os.PathLike[str]) -> SpacyTagger:
    """A tagger by the name or folder of a pipeline, as ``captious.parsing.spacy_pipelines`` finds it.

    Raises:
        MissingExtraError: spaCy is not installed.
        ResourceError: there is no such pipeline, or it does not assign parts of speech.
    """
    return SpacyTagger(
        load_pipeline(name, for_what="parts of speech", any_of=("tagger", "morphologizer"), without=_NOT_NEEDED)
    )
