"""Features of the metric ``concur``: vectors of captions, support of words, order, junctions, heads on encoders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from captious.data import Captions, References
from captious.errors import ParameterError
from captious.learned.caption_weights import END, FEATURES, FIRST_WORD, START, UNKNOWN, CaptionWeights
from captious.learned.contradictions import (
    ARTICLES,
    SYMMETRIC,
    Contradictions,
    Lexicon,
    Side,
    contradictions,
    supports,
)
from captious.learned.files import Arrays, WeightsFile, of_package, packed, unpacked
from captious.learned.plain_captions import PlainWords
from captious.models import Encoder
from captious.models.encoders import numbered
from captious.native import lcs_lengths, threads
from captious.text import Tokenizer, Tokens
from captious.text.stems import negations
from captious.text.tokens import ranges

Real = TypeVar("Real", np.float32, np.float64)

_ROWS_AT_ONCE = 1 << 14
_UNIT = 1 << 24  # parts that importance is counted in
_DIMENSIONS = 128  # in which words are compared; each half of all dimensions is trained to do
_JUNCTIONS = 5  # neighboring junctions, the least sound of which count


@dataclass(frozen=True, eq=False)
class KnownWords:
    """Properties of the words of a vocabulary.

    Args:
        vectors: float32[n_words, width], composed of subwords for words without a vector of their own.
        numbers: int32[n_words], numbers of the words in the weights, -1 for words without a vector.
        kinds: bool[n_words, 3], whether a word is a negation, an article, or may stand between exchanged words.
    """

    vectors: NDArray[np.float32]
    numbers: NDArray[np.int32]
    kinds: NDArray[np.bool_]

    def lexicon(self, weights: CaptionWeights) -> Lexicon:
        """Return a lexicon with directions in part of the dimensions, and importance."""
        lengths = np.sqrt(np.einsum("ij,ij->i", self.vectors, self.vectors))
        directions = unit_vectors(np.ascontiguousarray(self.vectors[:, :_DIMENSIONS]))
        return Lexicon(directions, lengths / np.float32(weights.typical_length), self.numbers >= 0, *self.kinds.T)

    @classmethod
    def of(cls, words: list[str], weights: CaptionWeights) -> KnownWords:
        numbers = np.array([weights.numbers.get(word, -1) for word in words], np.int32)
        new = np.flatnonzero(numbers < 0)
        vectors = weights.vectors[numbers]
        vectors[new] = weights.spelled([words[i] for i in new.tolist()])
        language = weights.language
        kinds = negations(language), ARTICLES.get(language, ()), SYMMETRIC.get(language, ())
        of_words = np.array([[word in kind for kind in kinds] for word in words], bool)
        return cls(vectors, numbers, of_words.reshape(-1, len(kinds)))

    def and_of(self, words: list[str], weights: CaptionWeights) -> KnownWords:
        """Return these words, followed by others."""
        new = KnownWords.of(words, weights)
        pairs = zip(vars(self).values(), vars(new).values(), strict=True)
        return KnownWords(*map(np.concatenate, pairs))


@dataclass(frozen=True, eq=False)
class EncodedCaptions:
    """Captions as vectors.

    Args:
        vectors: float32[n_captions, width], of length 1, or 0 for a caption without words.
        tokens: their words.
        words: properties of the words of their vocabulary.
    """

    vectors: NDArray[np.float32]
    tokens: Tokens
    words: KnownWords

    @classmethod
    def of(cls, tokens: Tokens, words: KnownWords) -> EncodedCaptions:
        """Compute the normalized sums of word vectors."""
        ones = np.ones(len(tokens.ids), np.float32)
        shape = len(tokens.lengths), len(words.vectors)
        # In double precision: sums do not depend on the order of the words.
        summed = csr_matrix((ones, tokens.ids, tokens.offsets), shape=shape) @ words.vectors.astype(np.float64)
        return cls(unit_vectors(np.asarray(summed, np.float32)), tokens, words)

    def take(self, rows: NDArray[np.int64]) -> EncodedCaptions:
        """Select captions, which may repeat."""
        return EncodedCaptions(self.vectors[rows], self.tokens.take(rows), self.words)

    @property
    def numbers(self) -> NDArray[np.int32]:
        """Numbers of the words in the weights, int32[n_tokens], -1 for those without a vector of their own."""
        return self.words.numbers[self.tokens.ids]

    def in_words_of(self, references: EncodedReferences, weights: CaptionWeights) -> EncodedCaptions:
        """Replace each word that none of the references of its image has by a synonym that one of them has."""
        places = np.full(len(weights.words), -1)
        is_known = self.words.numbers >= 0
        places[self.words.numbers[is_known]] = np.flatnonzero(is_known)
        pairs = np.concatenate([weights.synonyms, weights.synonyms[:, ::-1]])
        pairs = places[pairs[np.argsort(-pairs[:, 1], kind="stable")]]  # the most frequent synonym is the last
        pairs = pairs[(pairs >= 0).all(axis=1)]
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        n_words, (left, right) = len(self.words.numbers), sides(self, references)
        theirs = np.unique(right.keys(n_words))
        tokens = np.flatnonzero(np.isin(left.ids, pairs[:, 0]))
        tokens = tokens[~np.isin(left.keys(n_words)[tokens], theirs)]
        first, last = (np.searchsorted(pairs[:, 0], left.ids[tokens], side) for side in ("left", "right"))
        of, others = np.repeat(tokens, last - first), pairs[ranges(first, last - first), 1]
        has = np.isin(left.image_of_token[of] * n_words + others, theirs)
        if not has.any():
            return self
        ids, vectors, rows = self.tokens.ids.copy(), self.vectors.copy(), np.unique(left.captions[of[has]])
        ids[of[has]] = others[has]
        replaced = Tokens(ids, self.tokens.offsets, self.tokens.vocabulary)
        vectors[rows] = EncodedCaptions.of(replaced.take(rows), self.words).vectors
        return EncodedCaptions(vectors, replaced, self.words)


@dataclass(frozen=True, eq=False)
class EncodedReferences:
    """References as vectors; ``offsets`` has the boundaries of the images."""

    captions: EncodedCaptions
    offsets: NDArray[np.int64]

    @property
    def with_words(self) -> EncodedReferences:
        """Those that have words; of an image without any, one."""
        rows, offsets = with_words(self.captions.tokens, self.offsets)
        return self if len(rows) == self.offsets[-1] else EncodedReferences(self.captions.take(rows), offsets)


@dataclass(frozen=True)
class EncodedLayer:
    """``EncodedReferences`` of references, ``EncodedCaptions`` of candidates."""

    weights: CaptionWeights
    tokenizer: Tokenizer

    def of_references(self, references: References) -> EncodedReferences:
        tokens: Tokens = references.layer(PlainWords(self.tokenizer))
        words = KnownWords.of(tokens.vocabulary.words(), self.weights)
        return EncodedReferences(EncodedCaptions.of(tokens, words), references.offsets)

    def of_candidates(self, captions: Captions, references: EncodedReferences) -> EncodedCaptions:
        tokens: Tokens = captions.layer(PlainWords(self.tokenizer))[0]
        words = references.captions.words
        return EncodedCaptions.of(tokens, words.and_of(tokens.vocabulary.words(len(words.numbers)), self.weights))


def with_words(tokens: Tokens, offsets: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of references that have words, int64[k], and their offsets; an image without any keeps one."""
    kept, first = np.diff(tokens.offsets) > 0, offsets[:-1]
    counts = np.add.reduceat(kept, first, dtype=np.int64) if len(first) else np.zeros(0, np.int64)
    kept[first[counts == 0]] = True
    return np.flatnonzero(kept), np.concatenate([[0], np.cumsum(np.maximum(counts, 1))])


def unit_vectors(vectors: NDArray[Real]) -> NDArray[Real]:
    """Divide rows by their lengths; zeros remain zeros."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    scaled: NDArray[Real] = vectors / np.maximum(lengths, lengths.dtype.type(1e-9))[:, None]
    return scaled


def features(
    candidates: EncodedCaptions, references: EncodedReferences, weights: CaptionWeights
) -> NDArray[np.float64]:
    """Return the features of candidates, float64[n, k], in the order of ``FEATURES``.

    Except for recall, contradictions and repetitions, none gets worse with another reference.
    """
    return Comparison.of(candidates, references, weights).features


@dataclass(frozen=True, eq=False)
class Comparison:
    """What candidates have in common with their references.

    Args:
        candidates: the candidates, with synonyms replaced by the words of their references.
        lexicon: properties of words.
        left, right: the words of candidates and references.
        support, coverage: float64[n_tokens], how well each word of a candidate is supported by its references, and each
            word of a reference by its candidate.
        found: the contradictions.
        features: float64[n, k].
    """

    candidates: EncodedCaptions
    lexicon: Lexicon
    left: Side
    right: Side
    support: NDArray[np.float64]
    coverage: NDArray[np.float64]
    found: Contradictions
    features: NDArray[np.float64]

    @classmethod
    def of(cls, candidates: EncodedCaptions, references: EncodedReferences, weights: CaptionWeights) -> Comparison:
        references = references.with_words
        unsound = -soundness(candidates, weights), -soundness(references.captions, weights)
        candidates = candidates.in_words_of(references, weights)
        lexicon, (left, right) = candidates.words.lexicon(weights), sides(candidates, references)
        n, n_words, first = len(left.images), len(lexicon), references.offsets[:-1]
        support, coverage = (
            supports(one, np.unique(other.keys(n_words)), lexicon) for one, other in ((left, right), (right, left))
        )
        plain_left, plain_right = (side.only(~lexicon.is_article[side.ids]) for side in (left, right))
        bounds = np.searchsorted(right.images, np.arange(n + 1))
        in_order = lcs_lengths(
            *(plain_left.ids, plain_left.offsets, plain_right.ids, plain_right.offsets, bounds), threads()
        )
        lengths = np.diff(plain_left.offsets)[right.images] + np.diff(plain_right.offsets)
        found = contradictions(plain_left, plain_right, lexicon, in_order)

        def best(of_references: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.maximum.reduceat(of_references, first) if n else np.zeros(0)

        repeated = repetitions(left, lexicon), repetitions(right, lexicon)
        limit, deviation = weights.soundness
        columns = [
            agreement(candidates.vectors, references.captions.vectors, references.offsets)[0],
            _mean(support, left, lexicon),
            best(_mean(coverage, right, lexicon)),
            best(2 * in_order / np.maximum(lengths, 1)),
            np.maximum(0, unsound[0] - np.maximum(-limit, best(unsound[1]))) / deviation,
            np.maximum(0, repeated[0] - best(repeated[1])),
            np.bincount(plain_left.image_of_token, found.differences, n) / np.maximum(np.diff(plain_left.offsets), 1),
            found.exchanged,
            found.denied,
        ]
        comparison = cls(candidates, lexicon, left, right, support, coverage, found, np.column_stack(columns))
        comparison._leave_confirmed_out(candidates, references, weights)
        return comparison

    def _leave_confirmed_out(
        self, candidates: EncodedCaptions, references: EncodedReferences, weights: CaptionWeights
    ) -> None:
        """Let agreement and order be those without the words that another reference confirms, if they are higher."""
        confirmed = np.zeros(len(self.left.ids), bool)
        confirmed[~self.lexicon.is_article[self.left.ids]] = self.found.confirmed
        rows = np.unique(self.left.captions[confirmed])
        if not len(rows):
            return
        shorter, vocabulary = self.left.only(~confirmed), candidates.tokens.vocabulary
        tokens = Tokens(shorter.ids, shorter.offsets, vocabulary).take(rows)
        counts = np.diff(references.offsets)[rows]
        own = references.captions.take(ranges(references.offsets[rows], counts))
        offsets = np.concatenate([[0], np.cumsum(counts)])
        others = Comparison.of(EncodedCaptions.of(tokens, candidates.words), EncodedReferences(own, offsets), weights)
        for name in ("agreement", "order"):
            column = FEATURES.index(name)
            self.features[rows, column] = np.maximum(self.features[rows, column], others.features[:, column])


def _mean(values: NDArray[np.float64], side: Side, lexicon: Lexicon) -> NDArray[np.float64]:
    """Return the mean of values of the words of each caption, weighted by importance, float64[n_captions]."""
    n = len(side.images)
    # Whole numbers, whose sums do not depend on the order of the words.
    shares = np.rint(lexicon.importance[side.ids].astype(np.float64) * _UNIT)
    weighted = np.bincount(side.captions, np.rint(shares * values), n)
    return np.asarray(weighted / np.maximum(np.bincount(side.captions, shares, n), 1))


def repetitions(side: Side, lexicon: Lexicon) -> NDArray[np.float64]:
    """Return the share of the words of content of each caption that it had before, by importance, 0 to 1."""
    content = side.only(lexicon.is_content[side.ids])
    again = np.ones(len(content.ids))
    again[np.unique(content.captions * len(lexicon) + content.ids, return_index=True)[1]] = 0
    return _mean(again, content, lexicon)


def agreement(
    candidates: NDArray[np.float32], references: NDArray[np.float32], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the cosine of each candidate with the sum of its closest references, float64[n], and the normalized sum.

    As many of the closest references are summed as make the cosine largest, so that another reference hardly ever
    lowers it.

    Args:
        candidates: vectors of length 1, float32[n, width].
        references: vectors of all references, float32[n_references, width].
        offsets: the references of each candidate, int64[n + 1].
    """
    counts = np.diff(offsets)
    images = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((-_row_products(candidates, references, images), images))
    largest = np.full(len(counts), -1.0)
    summed = np.zeros((len(counts), candidates.shape[1]))
    best = np.zeros_like(summed)
    rows = np.arange(len(counts))
    for place in range(counts.max(initial=0)):
        rows = rows[counts[rows] > place]
        summed[rows] += references[order[offsets[rows] + place]]
        units = unit_vectors(summed[rows])
        cosines = np.einsum("ij,ij->i", units, candidates[rows])
        better = cosines > largest[rows]
        largest[rows[better]], best[rows[better]] = cosines[better], units[better]
    return largest, best


def _row_products(
    candidates: NDArray[np.float32], references: NDArray[np.float32], images: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the product of each reference with its candidate, float64[n_references]."""
    products = np.empty(len(images))
    for start in range(0, len(images), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        # In double precision: of equal products, the first would count, whatever the sums that they lead to.
        products[rows] = np.einsum("ij,ij->i", candidates[images[rows]], references[rows], dtype=np.float64)
    return products


def sides(candidates: EncodedCaptions, references: EncodedReferences) -> tuple[Side, Side]:
    """Return the words of candidates and of references."""
    n, tokens = len(candidates.vectors), references.captions.tokens
    return (
        Side(candidates.tokens.ids, candidates.tokens.offsets, np.arange(n)),
        Side(tokens.ids, tokens.offsets, np.repeat(np.arange(n), np.diff(references.offsets))),
    )


def soundness(captions: EncodedCaptions, weights: CaptionWeights) -> NDArray[np.float64]:
    """Return the mean log-probability that the least sound neighboring junctions of each caption are sound.

    Returns:
        float64[n], 0 or less. Junctions with unknown words count as sound.
    """
    logits, offsets = junctions(captions, weights)
    if len(offsets) < 2:
        return logits
    sizes = np.repeat(np.minimum(np.diff(offsets), _JUNCTIONS), np.diff(offsets))
    starts = np.minimum(np.arange(len(logits)), np.repeat(offsets[1:], np.diff(offsets)) - sizes)
    sound, total = -np.logaddexp(0, -logits), np.zeros(len(logits))
    for place in range(_JUNCTIONS):
        total += np.where(place < sizes, sound[np.minimum(starts + place, len(sound) - 1)], 0)
    return np.minimum.reduceat(total / sizes, offsets[:-1])


def junctions(captions: EncodedCaptions, weights: CaptionWeights) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the logits of all junctions, infinite next to unknown words, and the offsets of those of each caption."""
    offsets, numbers = captions.tokens.offsets, captions.numbers
    rows = np.where(numbers < 0, UNKNOWN, numbers + FIRST_WORD)
    left = np.insert(rows, offsets[:-1], START)
    right = np.insert(rows, offsets[1:], END)
    width = weights.left.shape[1] - 1
    # Most pairs of neighbors occur in many captions.
    pairs, place = np.unique(left.astype(np.int64) * len(weights.right) + right, return_inverse=True)
    left_rows, right_rows = np.divmod(pairs, len(weights.right))
    logits = np.einsum("ij,ij->i", weights.left[left_rows, :width], weights.right[right_rows, :width])
    logits = logits + weights.left[left_rows, width] + weights.right[right_rows, width]
    logits[(left_rows == UNKNOWN) | (right_rows == UNKNOWN)] = np.inf
    return logits.astype(np.float64)[place], offsets + np.arange(len(offsets))


# Heads on contextual encoders, for the variant ``full`` of the metric ``concur``: hidden states to caption vectors.
#
# A head is trained for one encoder. Its file names the encoder and holds the encoder's output for a few captions, to
# ensure that a head is never used with another encoder. Captions as such vectors are an annotation layer.

#: Features of the variant ``full``, in the order of ``EncoderHead.coefficients``.
FULL_FEATURES = ("head-agreement", *FEATURES)

#: Poolings of a caption's hidden states, concatenated; "first" and "last" are those of tokens.
POOLS = ("mean", "largest", "first", "last")

#: The captions by which an encoder is recognized.
PROBES = ("a dog runs across the grass", "two people not far from a red bus", "plates of food on a table", "snow")

_ALIKE = 0.999  # cosine of vectors of one encoder on two machines or in two precisions


@dataclass(frozen=True, eq=False)
class EncoderHead(WeightsFile):
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

    entry = "head"
    what = "concur@full"
    help = "use weights that training/concur/train_head.py wrote"

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
        elif ((unit_vectors(probe(encoder)) * unit_vectors(self.probes)).sum(axis=1) < _ALIKE).any():
            problem = "its hidden states are different"
        else:
            return
        raise ParameterError(
            f"the weights {self.name} were trained for another encoder, {self.encoder}",
            where=f"{encoder.name}: {problem}",
            hint="use that encoder, or train weights: python training/concur/train_head.py --model MODEL",
        )

    def _to_arrays(self) -> tuple[Arrays, Mapping[str, Any]]:
        matrix, scales = packed(self.matrix)
        tensors: dict[str, NDArray[Any]] = {
            "probes": np.ascontiguousarray(self.probes, np.float32),
            **{"matrix": matrix, "matrix.scales": scales},
            "score": np.array([self.bias, *self.coefficients]),
        }
        value = {"about": self.about, "encoder": self.encoder, "light": self.light}
        return tensors, value

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> EncoderHead:
        """Read a head; None for that of the package.

        Raises:
            ResourceError: the file cannot be read, or is not a head.
        """
        return of_package(cls, "concur-full") if path is None else super().load(path)

    @classmethod
    def _from_arrays(cls, tensors: Arrays, config: Any, name: str) -> EncoderHead:
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
        return cls(encoder, probes, matrix, light, float(score[0]), score[1:], about, name)


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


@dataclass(frozen=True, eq=False)
class HeadedCaptions:
    """Captions as vectors of length 1.

    Args:
        vectors: of the distinct captions, float32[n_distinct, width].
        rows: the distinct caption of each caption, int64[n_captions].
        numbers: of the distinct captions, by their words.
    """

    vectors: NDArray[np.float32]
    rows: NDArray[np.int64]
    numbers: Mapping[str, int]


@dataclass(frozen=True)
class HeadedLayer:
    """``HeadedCaptions`` of references and candidates.

    The encoder reads the tokens, joined by spaces, so that punctuation and capitals make no difference.
    """

    head: EncoderHead
    encoder: Encoder
    tokenizer: Tokenizer

    def of_references(self, references: References) -> HeadedCaptions:
        return self._encoded(references.layer(PlainWords(self.tokenizer)))

    def of_candidates(self, captions: Captions, references: HeadedCaptions) -> HeadedCaptions:
        return self._encoded(captions.layer(PlainWords(self.tokenizer))[0], references)

    def _encoded(self, tokens: Tokens, references: HeadedCaptions | None = None) -> HeadedCaptions:
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
        return HeadedCaptions(vectors, rows, {text: row for row, text in enumerate(distinct)})


def joined_words(tokens: Tokens) -> list[str]:
    """Return the words of each caption, joined by spaces."""
    words = tokens.vocabulary.words()
    ids, offsets = tokens.ids.tolist(), tokens.offsets.tolist()
    return [" ".join(map(words.__getitem__, ids[i:j])) for i, j in pairwise(offsets)]
