"""Captions that a system was trained on, by which novel captions are told from copies."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.data import KeyedByFields, References
from captious.native import Vocabulary
from captious.text import Tokenizer, Tokens, WordLayer

__all__ = ["KnownCaptions", "known_captions", "training_label"]


@dataclass(frozen=True, eq=False)
class KnownCaptions:
    """Captions as word ids of a vocabulary.

    Args:
        vocabulary: their words.
        captions: the ids of each caption, int32, as bytes.
    """

    vocabulary: Vocabulary
    captions: frozenset[bytes]

    def has(self, tokens: Tokens) -> NDArray[np.bool_]:
        """Whether each caption is one of them, bool[n_captions]."""
        same = tokens.vocabulary is self.vocabulary
        ids = tokens.ids if same else tokens.vocabulary.ids_in(self.vocabulary)[tokens.ids]  # -1: in none of them
        return np.fromiter((caption in self.captions for caption in _as_bytes(ids, tokens.offsets)), bool)


def known_captions(training: References, tokenizer: Tokenizer) -> KnownCaptions:
    """The captions of a table; the same object for the same table and tokenizer."""
    return training.layer(_KnownLayer(tokenizer))


@dataclass(frozen=True)
class _KnownLayer(KeyedByFields):
    """Known captions as a layer of references, so that they are tokenized once."""

    tokenizer: Tokenizer

    def of_references(self, references: References) -> KnownCaptions:
        tokens: Tokens = references.layer(WordLayer(self.tokenizer))
        return KnownCaptions(tokens.vocabulary, frozenset(_as_bytes(tokens.ids, tokens.offsets)))


def _as_bytes(ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[bytes]:
    raw = ids.astype(np.int32, copy=False).tobytes()
    return [raw[start:end] for start, end in pairwise((4 * offsets).tolist())]


def training_label(training: References) -> str:
    """What signatures call training captions: the file's name, number of captions and the start of a checksum."""
    import hashlib  # loads megabytes of OpenSSL

    digest = hashlib.sha256("\n".join(sorted(training.texts)).encode()).hexdigest()
    name = Path(training.name).name.partition(".")[0]
    return f"{name}-{len(training.texts)}-{digest[:8]}"
