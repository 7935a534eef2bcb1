"""Document frequencies of a model's tokens, for the token weights of metrics with contextual encoders."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.data import KeyedByFields, References, Stored, stored_key
from captious.errors import ParameterError
from captious.files.checksum import checksum
from captious.metrics.contract.metric import State
from captious.models import Encoder
from captious.models.encoding_layers import numbered


@dataclass(frozen=True, eq=False)
class TokenFrequencies:
    """The number of captions in a corpus that contain each token, duplicates included.

    Args:
        counts: int64[size of the vocabulary], captions by token id.
        n_captions: number of captions of the corpus.
        model: label of the encoder of the tokens.
        name: name of the corpus in signatures.
    """

    counts: NDArray[np.int64]
    n_captions: int
    model: str
    name: str = "references"

    @classmethod
    def of(cls, captions: Iterable[str], encoder: Encoder, name: str = "captions") -> TokenFrequencies:
        """Count captions. Special tokens are counted like others."""
        texts, rows = numbered(captions)
        times = np.bincount(rows, minlength=len(texts))
        counts = np.zeros(len(encoder.tokenizer), np.int64)
        for sequence, n in zip(encoder.tokenize(texts), times.tolist(), strict=True):
            counts[list(set(sequence))] += n
        return cls(counts, len(rows), encoder.label, name)

    @property
    def label(self) -> str:
        """Name and size of the corpus."""
        return f"{self.name}-{self.n_captions}"

    @property
    def checksum(self) -> str:
        """CRC-32 of the counts, eight hexadecimal digits."""
        return checksum(self.counts)

    def merge(self, other: State) -> TokenFrequencies:
        """Return the frequencies of both corpora together; a caption in both counts twice.

        Raises:
            ParameterError: the models differ, or the other object is not token frequencies.
        """
        if not isinstance(other, TokenFrequencies) or other.model != self.model:
            raise ParameterError(
                "these frequencies cannot be merged",
                where=f"{self.label} and {getattr(other, 'label', repr(other))}",
                help="merge frequencies that were counted with the same model",
            )
        name = self.name if self.name == other.name else f"{self.name}+{other.name}"
        return TokenFrequencies(self.counts + other.counts, self.n_captions + other.n_captions, self.model, name)


@dataclass(frozen=True)
class TokenFrequencyLayer(KeyedByFields):
    """Frequencies as a layer of references, so that they are counted once."""

    encoder: Encoder

    @property
    def stored_as(self) -> str | None:
        return stored_key("token-frequencies-1", self.encoder.label)

    def to_stored(self, annotation: TokenFrequencies, references: References) -> Stored:
        return Stored({"counts": annotation.counts})

    def from_stored(self, stored: Stored, references: References) -> TokenFrequencies:
        counts = stored.arrays["counts"]
        if counts.shape != (len(self.encoder.tokenizer),) or counts.dtype != np.int64 or counts.min(initial=0) < 0:
            raise ValueError("counts of other tokens")
        return TokenFrequencies(counts, len(references.texts), self.encoder.label)

    def of_references(self, references: References) -> TokenFrequencies:
        return TokenFrequencies.of(references.texts, self.encoder, "references")
