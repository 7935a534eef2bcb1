"""``ObjectWords``: words for objects, and the mentions of objects in captions, for CHAIR.

A file of words is JSON, ``{object: [words]}``, or lines of words separated by commas, the object first, as in the
``synonyms.txt`` of CHAIR's authors. The words of the package also have pairs of words that are read as another word,
and words that are ignored if another word is in the same caption.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from captious.errors import ParameterError, ResourceError
from captious.files.checksum import checksum
from captious.files.decompression import user_text
from captious.resources.text_files import text_as_json

#: The words of the package for COCO's objects, with which CHAIR was published.
COCO = "coco"
_FILE = files("captious.resources") / "coco-objects.json"

#: Tokens to as many base forms.
BaseForms: TypeAlias = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True, eq=False)
class ObjectWords:
    """Words for objects, in lower case.

    Args:
        name: name in signatures.
        object_of: word, or words joined by single spaces -> the object.
        joined: words joined by single spaces -> the word that they are read as.
        dropped: word -> another word; the first is ignored if the second is in the same caption.
    """

    name: str
    object_of: Mapping[str, str]
    joined: Mapping[str, str] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def objects(self) -> frozenset[str]:
        """Objects that words name."""
        return frozenset(self.object_of.values())

    @cached_property
    def label(self) -> str:
        """The words in signatures; with a checksum, unless they are those of the package."""
        if self.name == COCO:
            return self.name
        content = json.dumps([sorted(table.items()) for table in (self.object_of, self.joined, self.dropped)])
        return f"{self.name}-{checksum(content)}"

    @cached_property
    def single_words(self) -> frozenset[str]:
        """All words in the lists, with multi-word expressions split."""
        return frozenset(word for words in (*self.object_of, *self.joined) for word in words.split())

    def named(self, names: Iterable[str]) -> dict[str, str]:
        """Convert names of objects, or words for them, to objects. Unknown names are left out."""
        object_of = {**self.object_of, **{name.lower(): name for name in self.objects}}
        words = {name: _spaced(name) for name in names}
        return {name: object_of[word] for name, word in words.items() if word in object_of}


@dataclass(frozen=True)
class Mention:
    """A mention of an object in a caption.

    Args:
        words: the word, in its base form; several words are joined by spaces.
        object: the object.
        start, end: its span of tokens in the caption.
    """

    words: str
    object: str
    start: int
    end: int


class MentionFinder:
    """Finds the mentions of objects in tokens.

    Args:
        words: the words that name objects.
        base_forms: converts the tokens of a caption to base forms.
    """

    def __init__(self, words: ObjectWords, base_forms: BaseForms) -> None:
        self._base_forms = base_forms
        self._object_of = words.object_of
        self._dropped = tuple(words.dropped.items())
        phrases = {phrase: phrase for phrase in words.object_of if " " in phrase} | dict(words.joined)
        self._joined = {tuple(phrase.split()): to for phrase, to in phrases.items()}
        self._first_words = frozenset(parts[0] for parts in self._joined)
        self._lengths = sorted({len(parts) for parts in self._joined}, reverse=True)

    def objects(self, tokens: Sequence[str]) -> list[str]:
        """Return the named objects, in order and with repetitions."""
        words: Sequence[str] = self._base_forms(tokens)
        if not self._first_words.isdisjoint(words):
            words = [word for word, _, _ in self._join_words(words)]
        for word, companion in self._dropped:
            if word in words and companion in words:
                words = [token for token in words if token != word]
        object_of = self._object_of
        return [object_of[word] for word in words if word in object_of]

    def words(self, tokens: Sequence[str]) -> list[str]:
        """Return the words of a caption in base form, with multi-word expressions joined."""
        return [word for word, _, _ in self._join_words(self._base_forms(tokens))]

    def mentions(self, tokens: Sequence[str]) -> list[Mention]:
        """Return the mentions, as in ``objects``, with the words that name them."""
        spans = self._word_spans(tokens)
        return [Mention(word, self._object_of[word], a, b) for word, a, b in spans if word in self._object_of]

    def _word_spans(self, tokens: Sequence[str]) -> list[tuple[str, int, int]]:
        words = self._join_words(self._base_forms(tokens))
        present = {word for word, _, _ in words}
        dropped = {word for word, companion in self._dropped if companion in present}
        return [(word, start, end) for word, start, end in words if word not in dropped]

    def _join_words(self, words: Sequence[str]) -> list[tuple[str, int, int]]:
        """Return words and their spans, with joined words in place of their parts."""
        positions = []
        start = 0
        while start < len(words):
            word, end = words[start], start + 1
            if word in self._first_words:
                for length in self._lengths:
                    together = tuple(words[start : start + length])
                    if together in self._joined:
                        word, end = self._joined[together], start + length
                        break
            positions.append((word, start, end))
            start = end
        return positions


def as_object_words(words: ObjectWords | Mapping[str, Iterable[str]] | str | os.PathLike[str]) -> ObjectWords:
    """Return words for objects: "coco", a file, or a mapping from objects to their words.

    Raises:
        ParameterError: another type.
        ResourceError: a file that cannot be read, or has other content.
    """
    if isinstance(words, ObjectWords):
        return words
    if isinstance(words, Mapping):
        return _parse_words(words, "own", "vocabulary")
    if not isinstance(words, str | os.PathLike):
        raise ParameterError(f"{words!r:.60} is not a vocabulary of objects", help="give a file, or {object: [words]}")
    return _coco() if os.fspath(words) == COCO else _read_words(Path(words))


@cache
def _coco() -> ObjectWords:
    return _parse_words(json.loads(_FILE.read_text(encoding="utf-8")), COCO, _FILE.name)


def _read_words(path: Path) -> ObjectWords:
    help = 'write {"dog": ["puppy", "hound"], ...} in a .json file, or lines such as: dog, puppy, hound'
    text = user_text(path, "the vocabulary", help)
    name = path.name.removesuffix(".gz").partition(".")[0]
    if not text.lstrip().startswith(("{", "[")):
        lines: dict[str, list[str]] = {}
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                words = line.split(",")
                lines.setdefault(words[0].strip(), []).extend(words)
        return _parse_words(lines, name, str(path))
    document = text_as_json(text, str(path), help)
    if not isinstance(document, Mapping):
        raise ResourceError("this JSON is not an object", where=str(path), help=help)
    return _parse_words(document, name, str(path))


def _parse_words(document: Mapping[str, Any], name: str, where: str) -> ObjectWords:
    """Read the words of ``{object: [words]}``, or of an object with this under "objects" and optional entries."""
    objects = document.get("objects")
    more = document if isinstance(objects, Mapping) else {}
    words_of = objects if isinstance(objects, Mapping) else document
    unnamed = more.get("unnamed", ())
    object_of: dict[str, str] = {}
    for named_object, words in words_of.items():
        if isinstance(words, str) or not isinstance(words, Iterable) or not all(isinstance(w, str) for w in words):
            raise ResourceError(
                f"{named_object!r:.60} is not followed by a list of words",
                where=where,
                help='write {"dog": ["puppy", "hound"]}',
            )
        names = [named_object] if named_object not in unnamed else []
        for word in dict.fromkeys(_spaced(word) for word in (*names, *words)):
            if word and object_of.setdefault(word, named_object) != named_object:
                raise ResourceError(
                    f"{word!r} names two objects",
                    where=f"{where}: {object_of[word]}, {named_object}",
                    help="give each word to one object",
                )
    if not object_of:
        raise ResourceError("the vocabulary is empty", where=where, help='write {"dog": ["puppy", "hound"]}')
    joined = {_spaced(words): _spaced(to) for words, to in more.get("joined", {}).items()}
    return ObjectWords(name, object_of, joined, dict(more.get("dropped", {})))


def _spaced(words: str) -> str:
    """Return text in lower case, with single spaces."""
    return " ".join(words.lower().split())
