"""Word vectors of any kind behind one interface: words to rows, from any file or array."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from captious.errors import ParameterError, ResourceError
from captious.phrases import counted
from captious.resources.vectors import named_vectors as resource
from captious.resources.vectors.compiled_vectors import INSTALL
from captious.resources.vectors.vector_index import Block, DuplicateWordError, VectorIndex, index_of

_SHOWN = 8  # digits of the checksum in signatures


def missing_vectors() -> str | None:
    """Return the command that adds word vectors, or None if there are any."""
    return None if resource.default() or resource.names() else INSTALL


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Word vectors. Create them with ``open`` or ``of``.

    Args:
        name: name in signatures.
        checksum: hexadecimal checksum of the content.
        index: looks words up.
        origin: human-readable origin.
        reopen: opens the same vectors in another process; None if they must be copied.
    """

    name: str
    checksum: str
    index: VectorIndex
    origin: str
    reopen: Callable[[], WordVectors] | None = None

    @classmethod
    def open(cls, what: WordVectors | str | os.PathLike[str] | None = None) -> WordVectors:
        """Return vectors by the name given to ``captious vectors add``, or from a file; None for the default.

        Open vectors are returned as they are.

        The default is named by ``CAPTIOUS_VECTORS``, or is the only one that was added.

        Raises:
            MissingExtraError, ParameterError, UnknownNameError, ResourceError: as ``named_vectors.find``.
        """
        if isinstance(what, WordVectors):
            return what
        match = resource.find(what)
        return cls(match.name, match.checksum, match.index, match.origin, partial(cls.open, what))

    @classmethod
    def of(cls, words: Sequence[str], vectors: ArrayLike, name: str = "own") -> WordVectors:
        """Create vectors from memory.

        Args:
            words: n words, each once.
            vectors: numbers [n, d], converted to single precision.
            name: name in signatures.

        Raises:
            ParameterError: not one row of finite numbers for each word, a duplicate word, or no words.
        """
        if not isinstance(name, str) or not resource.NAME.fullmatch(name):
            raise ParameterError(
                f"{name!r} is not a valid name for word vectors", help="use letters, digits, dots, - and _"
            )
        words = list(words) if isinstance(words, Iterable) else [words]
        if not all(isinstance(word, str) for word in words):
            raise ParameterError("the words must be strings", help='give them as ["dog", "cat"]')
        try:
            with np.errstate(over="ignore"):
                rows = np.ascontiguousarray(vectors, np.float32)
        except (OverflowError, TypeError, ValueError) as error:
            raise ParameterError(
                f"these are not vectors: {error}", help="give one row of finite numbers for each word"
            ) from error
        if rows.ndim == 2 and rows.size and not np.isfinite(rows).all():
            raise ParameterError("a vector contains a number that is not finite", help="remove that word")
        if rows.ndim != 2 or len(rows) != len(words) or not rows.size:
            raise ParameterError(
                f"an array of shape {rows.shape} does not match {counted(len(words), 'word')}",
                help="give one row of finite numbers for each word",
            )
        try:
            encoded = [word.encode() for word in words]
        except UnicodeEncodeError as error:
            raise ParameterError(
                f"{error.object!r:.100} contains a lone surrogate (half of a character)", help="remove that word"
            ) from error
        try:
            index = VectorIndex(index_of([Block.of(encoded, rows)]), rows)
        except DuplicateWordError as error:
            raise ParameterError(f"duplicate word {error.word!r}", help="give each word once") from error
        digest = hashlib.sha256(b"".join(b"%d:%s" % (len(word), word) for word in encoded) + b"\0" + rows.tobytes())
        return cls(name, digest.hexdigest()[:16], index, "memory")

    @property
    def label(self) -> str:
        """The vectors in signatures: name and checksum, and whether unknown words are composed of subwords."""
        subwords = "+subwords" if self.index.subwords is not None else ""
        return f"{self.name}-{self.checksum[:_SHOWN]}{subwords}"

    @property
    def width(self) -> int:
        """Length of a vector."""
        return self.index.width

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.index)

    def __repr__(self) -> str:
        return f"<WordVectors {self.label}: {counted(len(self), 'word')} x {self.width}>"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by reference, so that other processes map the same file instead of getting a copy."""
        if self.reopen is not None:
            return self.reopen, ()
        return WordVectors, (self.name, self.checksum, self.index, self.origin)

    def look_up(self, words: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Return which words have a vector, bool[n], and the vectors, float32[n, width]; zeros for words without.

        Words must match exactly, case included.

        Raises:
            ResourceError: the compiled file is damaged.
        """
        try:
            return self.index.look_up(words)
        except ValueError as error:
            raise ResourceError(
                f"the compiled word vectors are damaged: {error}",
                where=f"{self.label}, from {self.origin}",
                help="compile them again: captious vectors add FILE --name NAME --replace",
            ) from error
