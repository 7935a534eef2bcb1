"""Captions as vectors of a head on a contextual encoder: the annotation layer of the variant ``full`` of captious."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, KeyedByFields, References
from captious.learned.caption_features import centroids
from captious.learned.encoder_heads import EncoderHead
from captious.models import Encoder
from captious.models.encoding_layers import numbered
from captious.text import Tokenizer, Tokens, WordLayer

__all__ = ["HeadedCaptions", "HeadedLayer", "joined_words"]


@dataclass(frozen=True, eq=False)
class HeadedCaptions:
    """Captions as vectors of length 1.

    Args:
        vectors: of the distinct captions, float32[n_distinct, width].
        rows: which of them each caption is, int64[n_captions].
        numbers: of the distinct captions, by their words.
        offsets: for references, the rows of each image, int64[n_images + 1].
    """

    vectors: NDArray[np.float32]
    rows: NDArray[np.int64]
    numbers: Mapping[str, int]
    offsets: NDArray[np.int64] | None = None

    @cached_property
    def centroids(self) -> NDArray[np.float64]:
        """The normalized sum of the references of each image, float64[n_images, width]."""
        assert self.offsets is not None
        return centroids(self.vectors[self.rows], self.offsets)


@dataclass(frozen=True)
class HeadedLayer(KeyedByFields):
    """``HeadedCaptions`` of references and candidates.

    The encoder reads the tokens, joined by blanks, so that punctuation and capitals make no difference.
    """

    head: EncoderHead
    encoder: Encoder
    tokenizer: Tokenizer

    def of_references(self, references: References) -> HeadedCaptions:
        tokens: Tokens = references.layer(WordLayer(self.tokenizer))
        return self._encoded(tokens, references.offsets, None)

    def of_candidates(self, captions: Captions, references: HeadedCaptions) -> HeadedCaptions:
        tokens: Tokens = captions.layer(WordLayer(self.tokenizer))[0]
        return self._encoded(tokens, None, references)

    def _encoded(
        self, tokens: Tokens, offsets: NDArray[np.int64] | None, references: HeadedCaptions | None
    ) -> HeadedCaptions:
        distinct, rows = numbered(joined_words(tokens))
        vectors = np.zeros((len(distinct), self.head.matrix.shape[1]), np.float32)
        new = []
        for row, text in enumerate(distinct):
            if references is not None and text in references.numbers:
                vectors[row] = references.vectors[references.numbers[text]]
            elif text:
                new.append(row)
        layer = self.encoder.n_blocks
        for batch in self.encoder.run(self.encoder.tokenize([distinct[row] for row in new]), [layer]):
            vectors[[new[place] for place in batch.rows.tolist()]] = self.head.vectors(batch.hidden[layer])
        return HeadedCaptions(vectors, rows, {text: row for row, text in enumerate(distinct)}, offsets)


def joined_words(tokens: Tokens) -> list[str]:
    """The words of each caption, joined by blanks."""
    words = tokens.vocabulary.words()
    ids, offsets = tokens.ids.tolist(), tokens.offsets.tolist()
    return [" ".join(map(words.__getitem__, ids[i:j])) for i, j in pairwise(offsets)]
