"""A state-split PCFG with its lexicon, as arrays for the constituency parser.

One is part of the package: the bundled grammar of captions, which ``training/grammar`` creates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import ResourceError
from captious.resources.cache import Arrays, open_arrays

#: In place of a tag or a word of the lexicon: a total over all of them.
ANY = -1

#: Name of the bundled grammar.
BUNDLED = "bundled"
#: Its name in signatures; it counts up when the grammar is trained again.
VERSION = f"{BUNDLED}-5"
#: Its file.
FILE = Path(__file__).parent / "bundled.grammar"
#: The version of its format.
FORMAT = "captious grammar 2"


@dataclass(frozen=True, eq=False)
class Grammar:
    """Rules over split symbols (Klein and Manning 2003, "Accurate Unlexicalized Parsing"), and a lexicon.

    The lexicon holds counts of tagged words, from which the scores of a word's tags are computed, or these scores
    themselves.

    Args:
        name: name in signatures.
        fingerprint: fingerprint of its content, in hexadecimal digits.
        states: names of the split symbols, numbered by position; those with ``@`` are from binarization.
        tags: the symbols that are parts of speech.
        words: the words of the lexicon, and the signatures of unknown words, as ``seen`` and ``unseen`` number them.
        binary_rules: int32[n, 3]: parent, left child and right child, states.
        binary_scores: float32[n], natural logarithms.
        unary_rules: int32[m, 2]: parent and child, states.
        unary_scores: float32[m], natural logarithms.
        seen: int32[k, 2]: tag and word, or ``ANY`` for one or both, of ``seen_counts``.
        seen_counts: float64[k].
        unseen: int32[j, 2]: tag and signature of unknown words, or ``ANY``.
        unseen_counts: float64[j].
        lexical_rules: int32[l, 2]: state and word or signature; empty if scores are computed from counts.
        lexical_scores: float32[l], natural logarithms.
    """

    name: str
    fingerprint: str
    states: tuple[str, ...]
    tags: tuple[str, ...]
    words: tuple[str, ...]
    binary_rules: NDArray[np.int32]
    binary_scores: NDArray[np.float32]
    unary_rules: NDArray[np.int32]
    unary_scores: NDArray[np.float32]
    seen: NDArray[np.int32]
    seen_counts: NDArray[np.float64]
    unseen: NDArray[np.int32]
    unseen_counts: NDArray[np.float64]
    lexical_rules: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    lexical_scores: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))

    def arrays(self) -> Arrays:
        """Return all fields except name and fingerprint as one-dimensional arrays, for ``write_arrays``.

        Raises:
            ValueError: a name with a line break in it.
        """
        names = {key: _packed(getattr(self, key)) for key in _NAMES}
        return names | {key: getattr(self, key).reshape(-1) for key in (*_TABLES, *_NUMBERS)}

    @classmethod
    def from_arrays(cls, arrays: Arrays, name: str, fingerprint: str) -> Grammar:
        """Restore a grammar from its ``arrays``; memory-mapped arrays remain mapped, except for names."""
        parts: dict[str, Any] = {key: _unpacked(arrays[key]) for key in _NAMES}
        parts |= {key: arrays[key].reshape(-1, width) for key, width in _TABLES.items()}
        parts |= {key: arrays[key] for key in _NUMBERS}
        return cls(name=name, fingerprint=fingerprint, **parts)


@cache
def bundled_grammar() -> Grammar:
    """Return the bundled grammar.

    Raises:
        ResourceError: the file of the package is damaged.
    """
    return Grammar.from_arrays(bundled_arrays(), VERSION, VERSION)


@cache
def bundled_arrays() -> Arrays:
    """Return all arrays in the bundled grammar's file, including its bounds. Raises as ``bundled_grammar``."""
    arrays = open_arrays(FILE, FORMAT)
    if arrays is None:
        raise ResourceError("the bundled grammar is damaged", where=str(FILE), hint="reinstall captious")
    return arrays


_NAMES = ("states", "tags", "words")
#: Columns of each table.
_TABLES = {"binary_rules": 3, "unary_rules": 2, "seen": 2, "unseen": 2, "lexical_rules": 2}
_NUMBERS = ("binary_scores", "unary_scores", "seen_counts", "unseen_counts", "lexical_scores")


def _packed(names: Sequence[str]) -> NDArray[np.uint8]:
    """Encode names in UTF-8, each followed by a line break."""
    if any("\n" in name for name in names):
        raise ValueError("a name with a line break")
    return np.frombuffer("".join(f"{name}\n" for name in names).encode(), np.uint8)


def _unpacked(names: NDArray[np.uint8]) -> tuple[str, ...]:
    return tuple(names.tobytes().decode().split("\n")[:-1])
