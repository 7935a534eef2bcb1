"""chrF and chrF++: F-score of character n-grams, and of word n-grams.

Popović 2015 and 2017. The official variant is sacrebleu 2's default; ``epsilon`` is the arithmetic of the author's
program, sacrebleu's ``eps_smoothing``.
"""

from __future__ import annotations

import string
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.parameters import FlagParameter, IntegerParameter, NumberParameter
from captious.metrics.shared.arithmetic import f_measure, first_best, share
from captious.native import ngram_matches, threads
from captious.text import NgramLayer, Tokenizer, WordLayer
from captious.text.tokenizers import CHARACTERS

_EPSILON = 1e-16
_MARKS = frozenset(string.punctuation)


def _trigrams(caption: str) -> list[str]:
    """Return overlapping pieces of three characters; n consecutive ones stand for n + 2 consecutive characters."""
    text = "".join(caption.split())
    return [text[i : i + 3] for i in range(len(text) - 2)]


def _words(caption: str) -> list[str]:
    """Return words, with a punctuation mark at the end of a word split off, or else one at its beginning: ``(hi)`` is
    ``(hi`` and ``)``.
    """
    words: list[str] = []
    for word in caption.split():
        if len(word) > 1 and word[-1] in _MARKS:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in _MARKS:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words


# Characters (orders 1 and 2), trigrams (orders 3 to 6 of characters), words; as they are, and in lower case.
_UNITS = (CHARACTERS, Tokenizer("char-trigrams", _trigrams), Tokenizer("chrf-words", _words))
_LOWER_CASE_UNITS = (
    Tokenizer("char-lower", lambda caption: CHARACTERS(caption.lower())),
    Tokenizer("char-trigrams-lower", lambda caption: _trigrams(caption.lower())),
    Tokenizer("chrf-words-lower", lambda caption: _words(caption.lower())),
)


class Chrf(Metric):
    """F-score of n-grams of 1 to 6 characters without white space, 0 to 1, higher is better; best reference.

    With ``word_order=2`` it is chrF++, which adds n-grams of 1 and 2 words.

    Statistics (k = 18, and 3 for each order of words): n-grams of the candidate, n-grams of the reference, and their
    matches, for each order. They are taken from the reference with the best caption score. Caption and corpus scores
    use the same formula, applied to one row and to the sum of rows.
    """

    name = "chrf"
    summary = "F-score of character n-grams; with word_order=2, chrF++"
    variants = {
        "official": "sacrebleu: precision and recall are means over the orders that both captions have",
        "epsilon": "the author's program: the mean of the F-scores of all orders, 1e-16 for missing ones",
    }
    without_parameters = frozenset({"tokenizer"})

    word_order: IntegerParameter[int] = IntegerParameter(
        default=0, most=4, summary="longest n-grams of words: 0 for chrF, 2 for chrF++"
    )
    beta: NumberParameter[float] = NumberParameter(
        default=2.0, least=0.001, summary="weight of recall relative to precision"
    )
    lowercase: FlagParameter = FlagParameter(default=False, summary="whether case is ignored")

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"variant": self.variant, "tokenizer": self.tokens, **super().parameters}

    @property
    def tokens(self) -> str:
        return "char"

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        counts = self._counts(captions)
        offsets = captions.references.offsets
        # As sacrebleu compares them, in percent: the first of the best.
        return counts[first_best(100 * self.aggregate(counts)[:, 0], offsets)]

    def _counts(self, captions: Captions) -> NDArray[np.float64]:
        """Return the statistics of every reference with the candidate of its image, float64[n_references, k]."""
        characters, trigrams, words = _LOWER_CASE_UNITS if self.lowercase else _UNITS
        units = [(characters, slice(0, 2)), (trigrams, slice(0, 4)), (words, slice(0, self.word_order))]
        counts = np.concatenate([_unit_counts(captions, unit)[:, orders] for unit, orders in units if orders.stop], 1)
        counts[..., 0] *= counts[..., 1] > 0  # n-grams count where the reference has any of that order
        return counts.reshape(len(counts), 3 * counts.shape[1])

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        *shape, k = np.shape(statistics)
        of_orders = np.asarray(statistics, np.float64).reshape(*shape, k // 3, 3)
        of_candidate, of_reference, matches = np.moveaxis(of_orders, -1, 0)
        missing = _EPSILON if self.variant == "epsilon" else 0.0
        precision, recall = share(matches, of_candidate, missing), share(matches, of_reference, missing)
        if self.variant == "epsilon":
            return np.asarray(_total(f_measure(precision, recall, self.beta, _EPSILON)) / matches.shape[-1])
        both = (of_candidate > 0) & (of_reference > 0)
        orders = np.maximum(both.sum(axis=-1, keepdims=True), 1)
        return f_measure(_total(precision * both) / orders, _total(recall * both) / orders, self.beta)


def _unit_counts(captions: Captions, unit: Tokenizer) -> NDArray[np.float64]:
    """Return n-grams of candidate and reference, and matches: float64[n_references, 4, 3], for orders 1 to 4."""
    candidates, index = captions.layer(NgramLayer(unit))
    references = captions.references
    lengths = np.repeat(candidates.lengths, np.diff(references.offsets)), references.layer(WordLayer(unit)).lengths
    ngrams = [np.maximum(of_side[:, None] - np.arange(4), 0) for of_side in lengths]
    matches = ngram_matches(index, candidates.ids, candidates.offsets, threads())
    return np.stack([*ngrams, matches], axis=-1).astype(np.float64)


def _total(of_orders: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum over orders, added in order: float64[..., orders] to float64[..., 1]."""
    return np.cumsum(of_orders, axis=-1)[..., -1:]
