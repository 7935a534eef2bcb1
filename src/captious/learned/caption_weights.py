"""Weights of the metric ``concur``: word vectors, the junction model, and the coefficients of features.

Vectors are stored as 8-bit integers with one scale per word, in a safetensors file whose metadata describe the
training.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from captious.learned.files import Arrays, WeightsFile, of_package, packed, unpacked
from captious.native import subword_buckets
from captious.text import languages

#: Language of the weights that the package ships -> their name.
OF_PACKAGE = {"en": "concur", "de": "concur-de"}
LANGUAGES = tuple(OF_PACKAGE)

#: Rows of the model of junctions before those of the words.
UNKNOWN, START, END, FIRST_WORD = 0, 1, 2, 3

#: Features of a score, in the order of ``CaptionWeights.coefficients``: what adds to it, and what takes away from it.
REWARDS = ("agreement", "precision", "recall", "order")
PENALTIES = ("slips", "repetition", "contradiction", "exchange", "negation")
FEATURES = (*REWARDS, *PENALTIES)
#: Features that have other coefficients in the variant ``strict``.
STRICT = ("slips", "repetition")

_SUBWORDS = 3, 5  # characters
_MODIFIER, _HEAD = 3, 4  # characters of the parts of a compound, at least
_PACKED = ("vectors", "subwords", "left", "right")


@dataclass(frozen=True, eq=False)
class CaptionWeights(WeightsFile):
    """Weights of the metric ``concur``.

    Args:
        words: n distinct tokens.
        vectors: weighted vectors of the words, float32[n, width].
        subwords: vectors of the buckets of character n-grams, which compose all other words, float32[n_buckets, width].
        left, right: parameters of words for the junctions to their right and left, float32[n + 3, k + 1]: vectors, and
            a bias; the first rows are those of an unknown word, of the start and of the end.
        synonyms: int32[n_pairs, 2], numbers of words of one meaning.
        soundness: of human captions, ``caption_features.soundness``: its 5th percentile and standard deviation.
        bias, coefficients: of the logistic function of the features, float64[9].
        strict: coefficients of the features ``STRICT`` in the variant strict, float64[2].
        about: the training, and the language code of the captions.
        name: name in signatures.
    """

    entry = "about"
    what = "the metric concur"
    help = "use weights that training/concur/train.py wrote"

    words: tuple[str, ...]
    vectors: NDArray[np.float32]
    subwords: NDArray[np.float32]
    left: NDArray[np.float32]
    right: NDArray[np.float32]
    synonyms: NDArray[np.int32]
    soundness: tuple[float, float]
    bias: float
    coefficients: NDArray[np.float64]
    strict: NDArray[np.float64]
    about: Mapping[str, Any]
    name: str

    def spelled(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of words that have none of their own, composed of their subwords, float32[n, width].

        To a German compound, the vector of the word that it ends with is added: "Lampe" to "Tischlampe".
        """
        buckets, offsets = subwords_of(words, len(self.subwords))
        lengths = np.diff(offsets)
        shares = np.repeat(np.maximum(lengths, 1) ** np.float32(-0.5), lengths).astype(np.float32)
        spelling = csr_matrix((shares, buckets, offsets), shape=(len(words), len(self.subwords)))
        vectors = np.asarray(spelling @ self.subwords)
        if self.language == "de":
            for row, word in enumerate(words):
                ends = (word[i:] for i in range(_MODIFIER, len(word) - _HEAD + 1))
                if (head := next((end for end in ends if end in self.numbers), None)) is not None:
                    vectors[row] += self.vectors[self.numbers[head]]
        return vectors

    @property
    def language(self) -> str:
        """Language code of the captions, which determines the tokenizer and the forms of words."""
        return str(self.about["language"])

    @cached_property
    def typical_length(self) -> float:
        """Median length of the word vectors."""
        return float(np.median(np.linalg.norm(self.vectors, axis=1)))

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """Number of each word."""
        return {word: number for number, word in enumerate(self.words)}

    def _to_arrays(self) -> tuple[Arrays, Mapping[str, Any]]:
        tensors: dict[str, NDArray[Any]] = {"words": np.frombuffer("\n".join(self.words).encode(), np.uint8)}
        for name in _PACKED:
            tensors[name], tensors[f"{name}.scales"] = packed(getattr(self, name))
        tensors["synonyms"], tensors["soundness"] = self.synonyms, np.array(self.soundness)
        tensors["score"] = np.array([self.bias, *self.coefficients, *self.strict])
        return tensors, self.about

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None, language: str = "en") -> CaptionWeights:
        """Read weights; None for the package's weights of a language.

        Raises:
            ResourceError: the file cannot be read, or holds other weights.
        """
        return of_package(cls, OF_PACKAGE[language]) if path is None else super().load(path)

    @classmethod
    def _from_arrays(cls, tensors: Arrays, about: Any, name: str) -> CaptionWeights:
        words = tuple(tensors["words"].tobytes().decode().split("\n"))
        vectors, subwords, left, right = (unpacked(tensors[n], tensors[f"{n}.scales"]) for n in _PACKED)
        synonyms, soundness, score = tensors["synonyms"], tensors["soundness"], tensors["score"]
        rows = len(words) + FIRST_WORD
        sound = (
            len(set(words)) == len(words) == len(vectors)
            and vectors.ndim == left.ndim == right.ndim == 2
            and len(left) == len(right) == rows
            and left.shape == right.shape
            and subwords.shape[1:] == vectors.shape[1:]
            and len(subwords) > 0
            and synonyms.shape[1:] == (2,)
            and synonyms.dtype == np.int32
            and (synonyms >= 0).all()
            and (synonyms < len(words)).all()
            and soundness.shape == (2,)
            and score.shape == (1 + len(FEATURES) + len(STRICT),)
            and all(np.isfinite(array).all() for array in (vectors, subwords, left, right, soundness, score))
            and soundness[1] > 0
            and isinstance(about, dict)
            and about.get("language") in languages.LANGUAGES
        )
        if not sound:
            raise ValueError("shapes do not match")
        limits = float(soundness[0]), float(soundness[1])
        coefficients, strict = score[1 : 1 + len(FEATURES)], score[1 + len(FEATURES) :]
        return cls(
            words, vectors, subwords, left, right, synonyms, limits, float(score[0]), coefficients, strict, about, name
        )


def subwords_of(words: Sequence[str], n_buckets: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the buckets of the character n-grams of words, with a mark at each end: int32[n], offsets int64[n_words +
    1].
    """
    texts = [word.encode() for word in words]
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return subword_buckets(np.frombuffer(b"".join(texts), np.uint8), ends, *_SUBWORDS, n_buckets)
