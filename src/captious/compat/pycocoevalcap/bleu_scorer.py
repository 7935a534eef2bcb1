"""BLEU on counts of n-grams, under the toolkit's name ``pycocoevalcap.bleu.bleu_scorer.BleuScorer``."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any, Self, TypeAlias

import numpy as np

from captious.compat import counted
from captious.compat.counted import CountedImages, Counts, Ngram, filled
from captious.compat.reexports import is_changed
from captious.data import Captions
from captious.metrics.bleu import Bleu
from captious.text import WHITESPACE

_KERNEL_ORDER = 4  # the highest order of n-grams that kernels count
_TINY, _SMALL = 1e-15, 1e-9  # added to every numerator and every denominator

#: Counts of the references of an image: their lengths, or one length that stands for them; and how often
#: each n-gram occurs in the reference that has it most often.
CookedReferences: TypeAlias = tuple[Any, dict[Ngram, int]]


def precook(s: str, n: int = 4, out: bool = False) -> tuple[int, Counts]:
    """Return the number of words of a caption, split at white space, and the counts of its n-grams."""
    return len(s.split()), counted.precook(s, n)


def cook_refs(refs: Sequence[str], eff: str | None = None, n: int = 4) -> CookedReferences:
    """Return lengths and n-gram counts of the references of an image.

    With ``eff`` "shortest" or "average", there is one length instead of a list.
    """
    lengths: list[int] = []
    most: dict[Ngram, int] = {}
    for length, counts in (precook(reference, n) for reference in refs):
        lengths.append(length)
        for ngram, count in counts.items():
            if count > most.get(ngram, 0):
                most[ngram] = count
    return (_reference_length(lengths, eff) if eff in ("shortest", "average") else lengths), most


def cook_test(test: str, refs: CookedReferences, eff: str | None = None, n: int = 4) -> dict[str, Any]:
    """Return lengths and n-gram counts of a candidate, given the result of ``cook_refs``.

    These are ``reflen`` as in ``refs`` (one length if ``eff`` is "closest"), ``testlen``, and by order the n-grams,
    ``guess``, and the matching n-grams, ``correct``.
    """
    lengths, most = refs
    length, counts = precook(test, n)
    correct = [0] * n
    for ngram, count in counts.items():
        correct[len(ngram) - 1] += min(count, most.get(ngram, 0))
    return {
        "reflen": _reference_length(lengths, eff, length) if eff == "closest" else lengths,
        "testlen": length,
        "guess": [max(0, length - order) for order in range(n)],
        "correct": correct,
    }


#: Further names in the toolkits' modules with a ``BleuScorer``.
COOKING = (precook, cook_refs, cook_test)


class BleuScorer(CountedImages[CookedReferences, dict[str, Any]]):
    """BLEU of order 1 to n of images added with ``+=`` or ``cook_append``.

    Intended differences from the toolkit: ``compute_score`` always returns both corpus and image scores, whereas there
    a second call returns the corpus scores of the first; ``ratio`` and ``score_ratio``, which fail there, are left out.

    Args:
        test, refs: the first image.
        n: highest order.
        special_reflen: a reference length for every image that replaces that of its references.

    Attributes:
        crefs: the result of ``cook_refs`` for every image.
        ctest: the result of ``cook_test`` for every image, or None.
    """

    def __init__(
        self,
        test: str | None = None,
        refs: Sequence[str] | None = None,
        n: int = 4,
        special_reflen: float | None = None,
    ) -> None:
        super().__init__(n)
        self.special_reflen = special_reflen
        self._last: tuple[list[dict[str, Any] | None], int, str] = ([], 0, "")  # images, how many, option
        self.cook_append(test, refs)

    def __iadd__(self, other: Any) -> Self:
        """Add an image, as ``(test, refs)``, or those of another scorer.

        Raises:
            AssertionError: the other scorer has another n.
        """
        if not isinstance(other, tuple) and not self.compatible(other):
            raise AssertionError("incompatible BLEUs.")
        return super().__iadd__(other)

    def compatible(self, other: object) -> bool:
        """Return whether another object is a scorer with the same n."""
        return isinstance(other, BleuScorer) and other.n == self.n

    def retest(self, new_test: str | Sequence[str]) -> Self:
        """Replace all candidates; a single text is treated as a list of one.

        Raises:
            AssertionError: there are more or fewer candidates than images.
        """
        tests = [new_test] if isinstance(new_test, str) else new_test
        if len(tests) != len(self.crefs):
            raise AssertionError(tests)
        self.ctest = [cook_test(test, refs, n=self._counted) for test, refs in zip(tests, self.crefs, strict=True)]
        return self

    def rescore(self, new_test: str | Sequence[str]) -> tuple[list[float], list[list[float]]]:
        """Call ``compute_score`` with other candidates."""
        return self.retest(new_test).compute_score()

    def testlen(self, option: str | None = None) -> int:
        """Return the number of words of all candidates."""
        return sum(candidate["testlen"] for candidate in self._candidates())

    def reflen(self, option: str | None = None) -> float:
        """Return the sum of the images' reference lengths; ``option`` as in ``compute_score``."""
        return _added(self._lengths(self._length_option(option)))

    def single_reflen(self, option: str = "average") -> float:
        """Return the reference length of the first image."""
        return self._single_reflen(self.crefs[0][0], option)

    def _single_reflen(self, reflens: Sequence[int], option: str | None = None, testlen: int | None = None) -> float:
        """Return the reference length of an image; a program may replace this method of the toolkit."""
        return _reference_length(reflens, option, testlen)

    def recompute_score(self, option: str | None = None, verbose: int = 0) -> tuple[list[float], list[list[float]]]:
        """Call ``compute_score``, without an option for the default."""
        self._last = ([], 0, "")
        return self.compute_score(option, verbose)

    def compute_score(self, option: str | None = None, verbose: int = 0) -> tuple[list[float], list[list[float]]]:
        """Score all images.

        Args:
            option: the reference length of an image: that of the "closest" reference (the shorter of two), the
                "shortest", or their "average"; None for that of the last call with these images, at first for "average"
                with one image, and otherwise "closest".
            verbose: 1 to print lengths and counts of the corpus, 2 to print those of every image, too.

        Returns:
            Corpus scores by order, and by order the scores of every image.

        Raises:
            AssertionError: an unknown option.
            TypeError: an image without a candidate.
        """
        option = self._length_option(option)
        orders = range(self.n)
        candidates, lengths = self._candidates(), self._lengths(option)
        of_images = []
        for candidate, length in zip(candidates, lengths, strict=True):
            of_images.append(_scores(candidate["correct"], candidate["guess"], candidate["testlen"], length, self.n))
            if verbose > 1:
                print(candidate, length)
        totals = {
            "testlen": sum(candidate["testlen"] for candidate in candidates),
            "reflen": _added(lengths),
            "guess": [sum(candidate["guess"][k] for candidate in candidates) for k in orders],
            "correct": [sum(candidate["correct"][k] for candidate in candidates) for k in orders],
        }
        if verbose > 0:
            _print(totals)
        corpus = _scores(totals["correct"], totals["guess"], totals["testlen"], totals["reflen"], self.n)
        return corpus, [[scores[k] for scores in of_images] for k in orders]

    def _cooked(self, test: str | None, refs: Sequence[str]) -> tuple[CookedReferences, dict[str, Any] | None]:
        order = self._counted
        cooked = cook_refs(refs, n=order)
        return cooked, None if test is None else cook_test(test, cooked, n=order)

    @property
    def _counted(self) -> int:
        """The order up to which n-grams are counted: 4 even for a lower n, as in the toolkit."""
        return max(_KERNEL_ORDER, self.n)

    def _length_option(self, option: str | None) -> str:
        images, n_images, last = self._last
        if option is None and images is self.ctest and n_images == len(images):
            return last
        return option or ("average" if self.size() == 1 else "closest")

    def _lengths(self, option: str) -> list[float]:
        """Return the reference length of every image."""
        if self.special_reflen is not None:
            return [self.special_reflen] * len(self.ctest)
        lengths = [
            self._single_reflen(candidate["reflen"], option, candidate["testlen"]) for candidate in self._candidates()
        ]
        self._last = (self.ctest, len(lengths), option)
        return lengths


def scores_of(
    captions: Captions | None, n: int, option: str = "closest", verbose: int = 0
) -> tuple[list[float], list[list[float]]]:
    """Return what a ``BleuScorer`` returns for images, from text where kernels have the option and the program has not
    replaced methods of that class.

    Args:
        captions: None for no images.
        n: highest order.
        option, verbose: as in ``BleuScorer.compute_score``.
    """
    if captions is not None and (option != "closest" or n > _KERNEL_ORDER or is_changed(BleuScorer)):
        return filled(BleuScorer(n=n), captions).compute_score(option, verbose)
    metric = Bleu(tokenizer=WHITESPACE)
    statistics = np.zeros((0, 10)) if captions is None else metric.statistics(captions)
    total = statistics.sum(axis=0)
    if verbose:
        *counts, length, reference_length = total.astype(int).tolist()
        guess, correct = counts[_KERNEL_ORDER:][:n], counts[:n]
        _print({"testlen": length, "reflen": reference_length, "guess": guess, "correct": correct})
    of_images: list[list[float]] = metric.aggregate(statistics)[:, :n].T.tolist()
    return metric.aggregate(total)[:n].tolist(), of_images


def _reference_length(lengths: Sequence[int], option: str | None, length: int | None = None) -> float:
    if option == "shortest":
        return min(lengths)
    if option == "average":
        return float(sum(lengths)) / len(lengths)
    if option == "closest" and length is not None:
        return min(lengths, key=lambda n: (abs(n - length), n))
    raise AssertionError(f"unsupported reflen option {option}")


def _added(lengths: Sequence[float]) -> float:
    """Return the total of lengths, rounded after each addition, as in the toolkit; ``sum`` of Python 3.12 is not."""
    return functools.reduce(operator.add, lengths, 0)


def _print(totals: dict[str, Any]) -> None:
    print(totals)
    print("ratio:", _ratio(totals["testlen"], totals["reflen"]))


def _ratio(length: float, reference_length: float) -> float:
    return (length + _TINY) / (reference_length + _SMALL)


def _scores(correct: list[int], guess: list[int], length: int, reference_length: float, n: int) -> list[float]:
    ratio = _ratio(length, reference_length)
    penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    scores, product = [], 1.0
    for order in range(n):
        product *= (correct[order] + _TINY) / (guess[order] + _SMALL)
        scores.append(product ** (1 / (order + 1)) * penalty)
    return scores
