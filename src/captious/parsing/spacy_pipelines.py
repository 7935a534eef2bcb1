"""spaCy pipelines by name or folder (extra ``[parse]``), as sources of parses and as taggers, in any language."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from captious.errors import ResourceError, needed_for
from captious.parsing.parses import Parse

#: Captions as lists of words to a part of speech for every word, as Universal Dependencies name them (NOUN, VERB, ...).
Tagger: TypeAlias = Callable[[Sequence[Sequence[str]]], Sequence[Sequence[str]]]


@dataclass(frozen=True)
class SpacyParser:
    """A pipeline as a source of parses. Its dependencies follow the conventions of its language; none are collapsed.

    Args:
        label: name in signatures: "spacy:", its own name and its version.
        pipeline: the spaCy pipeline.
    """

    label: str
    pipeline: Any = field(compare=False, repr=False)

    def parse(self, captions: Sequence[str], words: Sequence[tuple[str, ...]]) -> list[Parse]:
        """Yield the parses of n captions, from their words joined with spaces, which spaCy tokenizes again."""
        texts = (" ".join(of_caption) for of_caption in words)
        return [
            Parse(
                tuple(token.text for token in doc),
                tuple(token.tag_ for token in doc),
                tuple(token.lemma_ for token in doc),
                tuple(0 if token.head.i == token.i else token.head.i + 1 for token in doc),
                tuple(token.dep_ for token in doc),
                (),
                tuple(token.pos_ for token in doc),
            )
            for doc in self.pipeline.pipe(texts)
        ]


class SpacyTagger:
    """A pipeline as a tagger, which keeps the given tokenization.

    Attributes:
        name: the pipeline's own name with its version.
    """

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        self.name = _label(pipeline)

    def __call__(self, captions: Sequence[Sequence[str]]) -> list[list[str]]:
        doc = import_module("spacy.tokens").Doc
        docs = (doc(self._pipeline.vocab, words=list(words)) for words in captions)
        return [[token.pos_ for token in tagged] for tagged in self._pipeline.pipe(docs)]


@cache
def load_parser(name: str) -> SpacyParser:
    """Return a parser by the name or folder of a pipeline.

    A package that contains the folder of a pipeline, without being one itself, works as well.

    Raises:
        MissingExtraError: spaCy is not installed.
        ResourceError: there is no such pipeline, or it has no parser.
    """
    pipeline = _load(name, purpose="parsing with spaCy", any_of=("parser",), without=("ner", "textcat"))
    return SpacyParser(f"spacy:{_label(pipeline)}", pipeline)


def load_tagger(name: str | os.PathLike[str]) -> SpacyTagger:
    """Return a tagger by the name or folder of a pipeline, as for ``load_parser``.

    Raises:
        MissingExtraError: spaCy is not installed.
        ResourceError: there is no such pipeline, or it does not assign parts of speech.
    """
    unneeded = ("parser", "ner", "lemmatizer", "senter", "textcat")
    return SpacyTagger(
        _load(name, purpose="tagging parts of speech", any_of=("tagger", "morphologizer"), without=unneeded)
    )


def _load(name: str | os.PathLike[str], *, purpose: str, any_of: Collection[str], without: Collection[str]) -> Any:
    """Load a pipeline that has one of some components, and without others."""
    with needed_for(purpose, "parse"):
        spacy: Any = import_module("spacy")
    try:
        pipeline = spacy.load(_folder(str(name)) or name, exclude=list(without))
    except (OSError, ValueError, TypeError, AttributeError, ImportError) as error:  # any other object of that name
        raise ResourceError(
            f"spaCy cannot load the pipeline {name}",
            where=str(error).splitlines()[0] if str(error) else "",
            hint="give an installed pipeline or its folder; to get one: python -m spacy download en_core_web_sm",
        ) from error
    if not set(any_of) & set(pipeline.pipe_names):
        raise ResourceError(
            f"the pipeline {name} has no {' or '.join(any_of)}, which {purpose} needs",
            where=f"it has {', '.join(pipeline.pipe_names) or 'nothing'}",
            hint="choose one that does, such as en_core_web_sm",
        )
    return pipeline


def _label(pipeline: Any) -> str:
    meta = pipeline.meta
    return f"{meta['lang']}_{meta['name']}-{meta['version']}"


def _folder(name: str) -> Path | None:
    """Return the folder of a pipeline in a package that is not itself a pipeline; None otherwise."""
    if Path(name).exists() or not name.isidentifier():
        return None
    package = importlib.util.find_spec(name)
    if package is None or not package.submodule_search_locations:
        return None
    folder = Path(package.submodule_search_locations[0])
    if (folder / "meta.json").is_file():  # as in spaCy's own packages
        return None
    inside = sorted(meta.parent for meta in folder.glob("*/meta.json") if (meta.parent / "config.cfg").is_file())
    return inside[0] if len(inside) == 1 else None
