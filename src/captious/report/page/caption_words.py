"""Captions inside a page: as word numbers over one vocabulary, with tokens derived from words.

A caption is split at single spaces, so that joining its words restores the text, byte for byte. For nearly every
caption, its tokens are those of its words, concatenated; exceptions are listed. So a page has the tokens of every
caption at little more than the cost of the captions themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from captious.data import References
from captious.data.captions import ReferenceLayer
from captious.native import Vocabulary
from captious.report.page.packed_columns import Column, Columns


class TokenIds(Protocol):
    """Captions as ids over a vocabulary, as in token layers."""

    @property
    def ids(self) -> NDArray[np.int32]:
        """int32[n_tokens]."""
        ...

    @property
    def offsets(self) -> NDArray[np.int64]:
        """int64[n_captions + 1]."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens."""
        ...


@dataclass(frozen=True, eq=False)
class CaptionWords:
    """Lists of captions as words.

    Args:
        words: distinct words of all lists, the most frequent first.
        ids: for each list, int32[n_words].
        offsets: for each list, int64[n_captions + 1].
    """

    words: Sequence[str]
    ids: Sequence[NDArray[np.int32]]
    offsets: Sequence[NDArray[np.int64]]

    def pack(self, columns: Columns) -> dict[str, Any]:
        """Pack them, and return their manifest entries."""
        lists = [
            {"counts": columns.integers(np.diff(offsets)), "values": columns.integers(ids)}
            for ids, offsets in zip(self.ids, self.offsets, strict=True)
        ]
        return {"words": columns.strings(self.words), "lists": lists}


def caption_words(lists: Sequence[Sequence[str]]) -> CaptionWords:
    """Split lists of captions at single spaces."""
    cut = [[text.split(" ") for text in texts] for texts in lists]
    counts = Counter(chain.from_iterable(chain.from_iterable(cut)))
    words = sorted(counts, key=lambda word: (-counts[word], word))
    numbers = {word: number for number, word in enumerate(words)}
    ids, offsets = [], []
    for texts in cut:
        bounds = np.cumsum([0, *map(len, texts)])
        flat = chain.from_iterable(texts)
        ids.append(np.fromiter(map(numbers.__getitem__, flat), np.int32, int(bounds[-1])))
        offsets.append(bounds)
    return CaptionWords(words, ids, offsets)


class TokenTable:
    """Tokens of captions, given their words.

    Args:
        captions: the captions as words.
        layer: the annotation that tokenizes references.
    """

    def __init__(self, captions: CaptionWords, layer: ReferenceLayer[TokenIds]) -> None:
        self._captions = captions
        of_words = References(
            ids=tuple(range(len(captions.words))),
            texts=tuple(captions.words),
            offsets=np.arange(len(captions.words) + 1),
        )
        tokens = layer.of_references(of_words) if captions.words else None
        #: Distinct tokens, by number.
        self.tokens: dict[str, int] = {}
        self._of_words = np.empty(0, np.int32) if tokens is None else self.numbered(tokens)
        self._bounds = np.zeros(1, np.int64) if tokens is None else np.asarray(tokens.offsets)
        self._layers: list[dict[str, Any]] = []

    def numbered(self, tokens: TokenIds) -> NDArray[np.int32]:
        """Convert ids over a vocabulary to numbers of this table, int32[n_tokens]; new tokens are added."""
        ids, places = np.unique(tokens.ids, return_inverse=True)
        words = [tokens.vocabulary.word(i) for i in ids.tolist()]
        numbers = [self.tokens.setdefault(word, len(self.tokens)) for word in words]
        return np.array(numbers, np.int32)[places] if numbers else np.empty(0, np.int32)

    def number(self, token: str) -> int:
        """Return the number of a token, which is added if it is new."""
        return self.tokens.setdefault(token, len(self.tokens))

    def add(self, which: int, tokens: TokenIds) -> None:
        """Record the captions of list ``which`` whose tokens are not those of their words."""
        ids, bounds = self.numbered(tokens), np.asarray(tokens.offsets)
        words, offsets = self._captions.ids[which], self._captions.offsets[which]
        lengths = np.diff(self._bounds)[words]
        guess = self._of_words[ragged(self._bounds[words], lengths)]
        starts = np.concatenate([[0], np.cumsum(lengths)])[offsets]
        wrong = np.diff(starts) != np.diff(bounds)
        equal_rows = np.flatnonzero(~wrong)
        n = np.diff(bounds)[equal_rows]
        differ = guess[ragged(starts[equal_rows], n)] != ids[ragged(bounds[equal_rows], n)]
        wrong[np.unique(np.repeat(equal_rows, n)[differ])] = True
        rows = np.flatnonzero(wrong)
        counts = np.diff(bounds)[rows]
        self._layers.append(
            {"list": which, "rows": rows, "counts": counts, "values": ids[ragged(bounds[rows], counts)]}
        )

    def pack(self, columns: Columns) -> dict[str, Any]:
        """Pack them, and return their manifest entries."""
        layers: list[Column] = [
            {name: value if name == "list" else columns.integers(value) for name, value in layer.items()}
            for layer in self._layers
        ]
        return {
            "tokens": columns.strings([*self.tokens]),
            "of_words": {"counts": columns.integers(np.diff(self._bounds)), "values": columns.integers(self._of_words)},
            "others": layers,
        }


def ragged(starts: NDArray[Any], lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return the indices of spans, concatenated: start, start + 1, ... of each."""
    ends = np.cumsum(lengths)
    shift = np.repeat(np.asarray(starts) - (ends - lengths), lengths)
    return np.asarray(shift + np.arange(len(shift)), np.int64)
