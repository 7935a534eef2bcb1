"""Heads on contextual encoders, for the variant ``full`` of the metric ``captious``: hidden states to caption vectors.

A head is trained for one encoder. Its file names the encoder and holds the encoder's output for a few captions, to
ensure that a head is never used with another encoder. Captions as such vectors are an annotation layer.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, KeyedByFields, References
from captious.errors import ParameterError
from captious.learned.caption_agreement.caption_features import centroids, unit_vectors
from captious.learned.caption_agreement.caption_weights import FEATURES
from captious.learned.weight_files import packed, read_weights, unpacked, write_weights
from captious.models import Encoder
from captious.models.encoding_layers import numbered
from captious.text import Tokenizer, Tokens, WordLayer

#: The head that the package ships.
BUNDLED_HEAD = Path(__file__).parents[1] / "weights" / "captious-full.safetensors"

#: Features of the variant ``full``, in the order of ``EncoderHead.coefficients``.
FULL_FEATURES = ("head-centroid", "head-closest", *FEATURES)

#: Poolings of a caption's hidden states, concatenated; "first" and "last" are those of tokens.
POOLS = ("mean", "largest", "first", "last")

#: The captions by which an encoder is recognized.
PROBES = ("a dog runs across the grass", "two people not far from a red bus", "plates of food on a table", "snow")

_ALIKE = 0.999  # cosine of vectors of one encoder on two machines or in two precisions
_HELP = "use weights that training/captious/train_head.py wrote"


@dataclass(frozen=True, eq=False)
class EncoderHead:
    """A head: maps the hidden states of one encoder to caption vectors, and features to a score.

    Args:
        encoder: the name of the encoder.
        probes: pooled states of ``PROBES``, float32[4, n].
        matrix: projection of pooled states to vectors, float32[n, width].
        light: the name of the weights of the variant ``light`` with which the coefficients were fitted.
        bias, coefficients: of the logistic function of ``FULL_FEATURES``.
        about: the training of the head.
        name: name in signatures.
    """

    encoder: str
    probes: NDArray[np.float32]
    matrix: NDArray[np.float32]
    light: str
    bias: float
    coefficients: NDArray[np.float64]
    about: Mapping[str, Any]
    name: str

    def vectors(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return caption vectors of length 1, float32[b, width], from hidden states, float32[b, tokens, d]."""
        return unit_vectors(pooled(states) @ self.matrix)

    def check(self, encoder: Encoder) -> None:
        """Check that an encoder is the one that the head was trained for.

        Raises:
            ParameterError: it is another.
        """
        if (encoder.width * len(POOLS),) != self.probes.shape[1:]:
            problem = f"its hidden states have {encoder.width} dimensions, not {self.probes.shape[1] // len(POOLS)}"
        elif (_cosines(probe(encoder), self.probes) < _ALIKE).any():
            problem = "its hidden states are different"
        else:
            return
        raise ParameterError(
            f"the weights {self.name} were trained for another encoder, {self.encoder}",
            where=f"{encoder.name}: {problem}",
            help="use that encoder, or train weights: python training/captious/train_head.py --model MODEL",
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the head as a safetensors file.

        Raises:
            OutputError: the file cannot be written.
        """
        matrix, scales = packed(self.matrix)
        tensors: dict[str, NDArray[Any]] = {
            "probes": np.ascontiguousarray(self.probes, np.float32),
            **{"matrix": matrix, "matrix.scales": scales},
            "score": np.array([self.bias, *self.coefficients]),
        }
        value = {"about": self.about, "encoder": self.encoder, "light": self.light}
        write_weights(path, tensors, value, "head")

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> EncoderHead:
        """Read a head; None for that of the package.

        Raises:
            ResourceError: the file cannot be read, or is not a head.
        """
        if path is None:
            return _bundled()
        return read_weights(path, _parse_tensors, entry="head", what="captious@full", help=_HELP)


def pooled(states: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the ``POOLS`` of the hidden states of captions, float32[b, 4 * d], from float32[b, tokens, d]."""
    return np.concatenate([states.mean(axis=1), states.max(axis=1), states[:, 0], states[:, -1]], axis=1)


def probe(encoder: Encoder) -> NDArray[np.float32]:
    """Return pooled hidden states of ``PROBES``, float32[4, n]."""
    layer = encoder.n_blocks
    states = np.empty((len(PROBES), len(POOLS) * encoder.width), np.float32)
    for batch in encoder.run(encoder.tokenize(PROBES), [layer]):
        states[batch.rows] = pooled(batch.hidden[layer])
    return states


def _cosines(a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    cosines: NDArray[np.float32] = np.einsum("ij,ij->i", a, b) / np.maximum(lengths, 1e-9)
    return cosines


@cache
def _bundled() -> EncoderHead:
    return EncoderHead.load(BUNDLED_HEAD)


def _parse_tensors(tensors: dict[str, NDArray[Any]], config: Any, name: str) -> EncoderHead:
    about, encoder, light = config["about"], config["encoder"], config["light"]
    matrix = unpacked(tensors["matrix"], tensors["matrix.scales"])
    probes, score = tensors["probes"], tensors["score"]
    sound = (
        probes.shape == (len(PROBES), len(matrix))
        and probes.dtype == np.float32
        and score.shape == (1 + len(FULL_FEATURES),)
        and all(np.isfinite(array).all() for array in (probes, matrix, score))
        and isinstance(about, dict)
        and isinstance(encoder, str)
        and isinstance(light, str)
    )
    if not sound:
        raise ValueError("shapes do not match")
    return EncoderHead(encoder, probes, matrix, light, float(score[0]), score[1:], about, name)


@dataclass(frozen=True, eq=False)
class HeadedCaptions:
    """Captions as vectors of length 1.

    Args:
        vectors: of the distinct captions, float32[n_distinct, width].
        rows: the distinct caption of each caption, int64[n_captions].
        numbers: of the distinct captions, by their words.
        offsets: for references, the rows of each image, int64[n_images + 1].
    """

    vectors: NDArray[np.float32]
    rows: NDArray[np.int64]
    numbers: Mapping[str, int]
    offsets: NDArray[np.int64] | None = None

    @cached_property
    def centroids(self) -> NDArray[np.float64]:
        """Normalized sum of the references of each image, float64[n_images, width]."""
        assert self.offsets is not None
        return centroids(self.vectors[self.rows], self.offsets)


@dataclass(frozen=True)
class HeadedLayer(KeyedByFields):
    """``HeadedCaptions`` of references and candidates.

    The encoder reads the tokens, joined by spaces, so that punctuation and capitals make no difference.
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
    """Return the words of each caption, joined by spaces."""
    words = tokens.vocabulary.words()
    ids, offsets = tokens.ids.tolist(), tokens.offsets.tolist()
    return [" ".join(map(words.__getitem__, ids[i:j])) for i, j in pairwise(offsets)]
