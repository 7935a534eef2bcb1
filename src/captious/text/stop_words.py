"""Named lists of stop words: NLTK's English list, a file, or any words."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from captious.errors import ParameterError
from captious.files import checksum, sections, user_text


@dataclass(frozen=True)
class StopWords:
    """Words to leave out, compared exactly.

    Args:
        name: name of the list in signatures.
        words: the words.
    """

    name: str
    words: frozenset[str]

    def __contains__(self, word: object) -> bool:
        return word in self.words

    @property
    def stored_as(self) -> str:
        """Identifier in files of prepared references: the name and a checksum of the words."""
        return f"{self.name}@{checksum(chr(0).join(sorted(self.words)))}"


#: The 179 English stop words of NLTK's corpus, as it was when SMURF and LCEval were written (2017 to 2024).
NLTK_STOP_WORDS = StopWords("nltk", frozenset(sections(Path(__file__).with_name("words.txt"))["stop words"].split()))


def as_stop_words(words: StopWords | str | os.PathLike[str] | Iterable[str] | None) -> StopWords:
    """Return stop words from a file, plain or .gz, with one word per line; from words; or, for None, NLTK's.

    A user-defined list is named after its file, or "own", with a checksum of its words.

    Raises:
        ResourceError: a file that cannot be read, or that is not text.
        ParameterError: words that are not strings.
    """
    if words is None:
        return NLTK_STOP_WORDS
    if isinstance(words, StopWords):
        return words
    if isinstance(words, str | os.PathLike):
        path = Path(words)
        text = user_text(path, "stop words", "give a text file (UTF-8) with one word per line")
        return _named(path.name.removesuffix(".gz").rsplit(".", 1)[0], text.split())
    own_words = list(words) if isinstance(words, Iterable) else [words]
    if not all(isinstance(word, str) for word in own_words):
        raise ParameterError("stop words must be strings", hint="give words, or a file with one word per line")
    return _named("own", own_words)


def _named(name: str, words: Iterable[str]) -> StopWords:
    distinct = frozenset(words)
    text = "\n".join(sorted(distinct))
    safe = "".join(c if c.isalnum() or c in ".-_" else "_" for c in name)
    return StopWords(f"{safe}-{checksum(text)}", distinct)
