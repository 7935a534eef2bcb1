"""Statistics of scores: exact sums, intervals and p values by resampling of images, effect sizes, and ranks.

sampling = Sampling(resamples=1000, seed=12345, level=0.95)
low, high = sampling.interval_of_mean(caption_scores)
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from captious.errors import ParameterError
from captious.words import DEFAULT_SEED, checked_seed, shortened

__all__ = [
    "DEFAULT_RESAMPLES",
    "DEFAULT_SEED",
    "MOST_RESAMPLES",
    "ExactSums",
    "Sampling",
    "bootstrap_p_value",
    "bootstrap_sums",
    "can_vary",
    "column_sums",
    "effect_interval",
    "effect_size",
    "exchange_sums",
    "holm",
    "interval",
    "permutation_p_value",
    "ranks",
]

# Exact sums of statistics: bit-identical for any order of rows and any division into parts.
#
# Floating-point sums depend on the order of addition, and so on how a corpus is split. Here, a sum is an integer
# multiple of the smallest unit of a float64. Integers are added without rounding; only the final sum is rounded, once,
# to the nearest float64.

_DIGITS = 53  # bits of a float64's mantissa
_UNIT = 1126  # every float64 is a multiple of 2**-1126: the smallest exponent of frexp is -1073
_HALF = 27  # bits of the lower half of a mantissa
_ROWS = 1 << 25  # sums of this many halves fit a float64
_WHOLE = 2.0**53  # whole numbers up to this are exact
_TEXT = re.compile(r"(-?[0-9a-f]{1,1000})(?:p(-[0-9]{1,4}))?")


@dataclass(frozen=True)
class ExactSums:
    """Sums of k columns, each an integer multiple of 2**-1126, or nan or infinity if the column contains such numbers.

    Sums are added with ``+``; addition is exactly associative and commutative.
    """

    units: tuple[Any, ...]

    @classmethod
    def of(cls, rows: NDArray[np.float64]) -> ExactSums:
        """Return the sum of rows, float64[n, k]."""
        finite = [bool(column) for column in np.atleast_1d(np.isfinite(rows).all(axis=0))]
        if not all(finite):
            exact = iter(cls.of(rows[:, finite]).units)
            return cls(
                tuple(next(exact) if is_finite else float(rows[:, j].sum()) for j, is_finite in enumerate(finite))
            )
        units = [0] * rows.shape[1]
        for start in range(0, len(rows), _ROWS):
            part = rows[start : start + _ROWS]
            whole = _are_whole(part)
            sums = part.sum(axis=0)
            for j in range(rows.shape[1]):
                units[j] += int(sums[j]) << _UNIT if whole[j] else _units(part[:, j])
        return cls(tuple(units))

    def __add__(self, other: ExactSums) -> ExactSums:
        return ExactSums(tuple(_added(a, b) for a, b in zip(self.units, other.units, strict=True)))

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self.units)

    @property
    def values(self) -> NDArray[np.float64]:
        """The sums, each rounded once to the nearest float64: float64[k]."""
        one = 1 << _UNIT
        return np.array([units if isinstance(units, float) else units / one for units in self.units], np.float64)

    def to_text(self) -> list[str]:
        """Return the sums as exact text, such as "1b" for 27 and "3p-2" for 0.75: hexadecimal digits and a power of 2.

        Raises:
            ValueError: a sum that is not finite.
        """
        return [_text(units) for units in self.units]

    @classmethod
    def from_text(cls, texts: Iterable[str]) -> ExactSums:
        """Parse the result of ``to_text``.

        Raises:
            ValueError: invalid text.
        """
        return cls(tuple(map(_parse_sum, texts)))


def column_sums(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return correctly rounded sums of rows, float64[n, k] to float64[k], which do not depend on the order of rows."""
    return ExactSums.of(rows).values


def _added(a: Any, b: Any) -> Any:
    """Add two columns; numbers that are not finite are floats, and absorb all integers."""
    if isinstance(a, float) or isinstance(b, float):
        return (a if isinstance(a, float) else 0.0) + (b if isinstance(b, float) else 0.0)
    return a + b


def _are_whole(rows: NDArray[np.float64]) -> Sequence[bool]:
    """Return a mask of the columns of whole numbers whose sums are exact in any order."""
    if not len(rows):
        return [True] * rows.shape[1]
    whole = (rows[:100] == np.rint(rows[:100])).all(axis=0)  # spares a longer look at most columns that are not
    columns = rows[:, whole]
    whole[whole] = (columns == np.rint(columns)).all(axis=0) & (np.abs(columns).max(axis=0) * len(rows) <= _WHOLE)
    return whole.tolist()  # type: ignore[no-any-return]


def _units(numbers: NDArray[np.float64]) -> int:
    """Return the exact sum of at most ``_ROWS`` numbers."""
    mantissas, exponents = np.frexp(numbers)
    digits = np.ldexp(mantissas, _DIGITS).astype(np.int64)
    lowest = int(exponents.min())
    at = exponents - lowest
    high = np.bincount(at, weights=digits >> _HALF)
    low = np.bincount(at, weights=digits & ((1 << _HALF) - 1))
    total = 0
    for place in np.flatnonzero((high != 0) | (low != 0)).tolist():
        total += ((int(high[place]) << _HALF) + int(low[place])) << place
    shift = lowest - _DIGITS + _UNIT
    return total << shift if shift >= 0 else total >> -shift


def _text(units: Any) -> str:
    if isinstance(units, float):
        raise ValueError(f"{units} has no exact text")
    if units == 0:
        return "0"
    zeros = (units & -units).bit_length() - 1
    if zeros >= _UNIT:
        return f"{units >> _UNIT:x}"
    return f"{units >> zeros:x}p{zeros - _UNIT}"


def _parse_sum(text: str) -> int:
    match = _TEXT.fullmatch(text)
    if match is None or (power := int(match[2] or 0)) < -_UNIT:
        raise ValueError(f"{shortened(text)} is not an exact sum")
    return int(match[1], 16) << (power + _UNIT)


# Resampling of images: bootstrap and random exchange as matrix products with statistics.
#
# A corpus score is a function of summed statistics, so a resampled corpus is a row of counts times the matrix of
# statistics. Resamples are determined by the seed and the number of images, so two systems on the same images share
# them. This part also has p values, their correction for several tests, and ranks.

Name = TypeVar("Name", bound=Hashable)

DEFAULT_RESAMPLES = 1000
#: The largest number of resamples: all are in memory at once, a few hundred bytes each.
MOST_RESAMPLES = 1_000_000

#: Scores that differ by less than this share of their size are equal: their sums were taken in another order, or
#: divided by a little more than their number, as BLEU's are.
_EQUAL = 1e-9
_ROUNDING = 1e-12  # the same of variances
_BLOCK_ELEMENTS = 4_000_000  # elements of the matrix of counts in memory at a time
_MOST_KEPT = 64_000_000  # elements of a whole matrix of counts, a byte each, that is kept for the next metric


@dataclass(frozen=True)
class Sampling:
    """Parameters of intervals and tests.

    Args:
        resamples: number of resamples, from 1 to ``MOST_RESAMPLES``.
        seed: random seed.
        level: confidence level of intervals, between 0 and 1.

    Raises:
        ParameterError: a value out of range.
    """

    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED
    level: float = 0.95

    def __post_init__(self) -> None:
        resamples: Any = self.resamples
        level: Any = self.level
        if not isinstance(level, Real) or isinstance(level, bool) or not 0 < float(level) < 1:
            raise ParameterError(
                f"{shortened(level)} is not a confidence level", hint="give a level between 0 and 1, such as 0.95"
            )
        if (
            not isinstance(resamples, Integral)
            or isinstance(resamples, bool)
            or not 1 <= int(resamples) <= MOST_RESAMPLES
        ):
            raise ParameterError(
                f"{shortened(resamples)} is not a number of resamples",
                hint=f"give 1 to {MOST_RESAMPLES:,}; 1,000 is usual",
            )
        object.__setattr__(self, "seed", checked_seed(self.seed))
        object.__setattr__(self, "level", float(level))
        object.__setattr__(self, "resamples", int(resamples))

    @property
    def settings(self) -> dict[str, int]:
        """Settings to state in results: resamples and seed."""
        return {"resamples": self.resamples, "seed": self.seed}

    def interval(self, values: NDArray[np.float64]) -> tuple[float, float]:
        """Return the percentile interval of resampled values float64[resamples]."""
        low, high = interval(values, self.level).tolist()
        return low, high

    def interval_of_mean(self, values: NDArray[np.float64]) -> tuple[float, float]:
        """Return the bootstrap interval of the mean of values float64[n], one per image."""
        return self.interval(bootstrap_sums(values[:, None], **self.settings)[:, 0] / len(values))


def differences(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """Return b - a of scores, or zeros if all of them are equal but for rounding errors; undefined ones stay nan."""
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    difference = second - first
    scale = np.maximum(np.abs(first), np.abs(second))
    differ = np.abs(difference) >= _EQUAL * (scale + 1e-3)
    return difference if differ.any() else np.abs(difference) * 0


def bootstrap_sums(statistics: NDArray[np.float64], *, resamples: int, seed: int) -> NDArray[np.float64]:
    """Return sums of statistics over images drawn with replacement (Efron 1979).

    Args:
        statistics: float64[n, k].

    Returns:
        float64[resamples, k].
    """
    n = len(statistics)
    counts = _all_counts(n, resamples, seed) if n * resamples <= _MOST_KEPT else _counts(n, resamples, seed)
    return _weighted_sums(statistics, resamples, iter(counts))


def _counts(n: int, resamples: int, seed: int) -> Iterator[NDArray[np.integer[Any]]]:
    """Yield the counts of n images in each resample."""
    rng = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.bincount(rng.integers(0, n, n, dtype=np.int32), minlength=n)


@lru_cache(maxsize=1)
def _all_counts(n: int, resamples: int, seed: int) -> NDArray[np.uint8]:
    """Return all counts, uint8[resamples, n], cached because several metrics are usually resampled in turn."""
    matrix = np.empty((resamples, n), np.uint8)  # no image is drawn more than 255 times
    for row, counts in zip(matrix, _counts(n, resamples, seed), strict=True):
        row[:] = counts
    return matrix


def exchange_sums(difference: NDArray[np.float64], *, resamples: int, seed: int) -> NDArray[np.float64]:
    """Return sums of statistics differences over random images (approximate randomization, Noreen 1989).

    Each image is chosen with probability one half. Adding a row of the result to system A's sum, and subtracting it
    from B's, exchanges the two systems' candidates on the images chosen for that row.

    Args:
        difference: statistics of B minus those of A, float64[n, k].

    Returns:
        float64[resamples, k].
    """
    n = len(difference)
    rng = np.random.default_rng(seed)
    halves = (np.unpackbits(np.frombuffer(rng.bytes((n + 7) // 8), np.uint8), count=n) for _ in range(resamples))
    return _weighted_sums(difference, resamples, halves)


def _weighted_sums(
    rows: NDArray[np.float64], resamples: int, weights: Iterator[NDArray[np.integer[Any]]]
) -> NDArray[np.float64]:
    """Return sums of rows, each times its weight in a resample: float64[n, k] to float64[resamples, k]."""
    sums = np.empty((resamples, rows.shape[1]))
    step = max(1, _BLOCK_ELEMENTS // len(rows))
    block = np.empty((min(step, resamples), len(rows)))
    for begin in range(0, resamples, step):
        part = block[: min(step, resamples - begin)]
        for row in part:
            row[:] = next(weights)
        sums[begin : begin + len(part)] = part @ rows
    return sums


def interval(values: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Return the percentile interval of resampled values: float64[resamples, ...] to float64[2, ...].

    Resamples in which no image has a score (nan) are ignored.
    """
    tail = (1 - level) / 2
    if not np.isnan(values).any():
        return np.asarray(np.quantile(values, [tail, 1 - tail], axis=0))
    if values.ndim > 1:
        return np.stack([interval(values[:, i], level) for i in range(values.shape[1])], axis=1)
    defined = values[~np.isnan(values)]
    return interval(defined, level) if len(defined) else np.full(2, np.nan)


def permutation_p_value(observed: float, permuted: NDArray[np.float64], *, scale: float) -> float:
    """Return the two-sided p value: the share of values at least as far from zero as the observed one, which is counted
    as well.

    Args:
        observed: a difference.
        permuted: the difference under the null hypothesis, float64[n]; undefined values (nan) are ignored.
        scale: the magnitude of the values subtracted, to distinguish rounding errors from differences.
    """
    if not np.isfinite(observed):
        return float("nan")
    permuted = permuted[~np.isnan(permuted)]
    as_far = np.count_nonzero(np.abs(permuted) >= abs(observed) - _EQUAL * scale)
    return float((as_far + 1) / (len(permuted) + 1))


def can_vary(n_images: int | None) -> bool:
    """Return whether resampling so many images says anything; None stands for more than one.

    Every resample of a single image is the same, so it is no evidence of a difference.
    """
    return n_images != 1


def bootstrap_p_value(
    difference: float,
    resampled: NDArray[np.float64],
    *,
    scale: float,
    n_images: int | None = None,
    method: Literal["counted", "normal"] = "counted",
) -> float:
    """Return the two-sided p value of a difference between two systems or metrics by the paired bootstrap (Koehn 2004).

    Under the null hypothesis the difference varies around zero as the resampled one varies around itself. If it does
    not vary, the p value is the minimum of the method, or 1 if there is no difference; rounding errors count as
    neither. A single image cannot vary and is no evidence, so the p value is 1, as in a permutation test.

    Args:
        difference: the difference between two scores.
        resampled: the difference in each resample, float64[resamples]; undefined values (nan) are ignored.
        scale: the larger of the two scores in absolute value, to distinguish rounding errors from differences.
        n_images: number of images, or of other units of resampling; None for more than one.
        method: "counted" for the share of resamples that vary by as much, at least 1 / (resamples + 1); "normal" for
            the normal distribution with the standard deviation of the resamples, which can approach 0: with Holm's
            correction for many pairs, a counted p value would never be significant.
    """
    if not can_vary(n_images) and np.isfinite(difference):
        return 1.0
    if method == "counted":
        return permutation_p_value(difference, resampled - difference, scale=scale)
    if not np.isfinite(difference):
        return float("nan")
    from scipy.special import ndtr  # only needed here

    resampled = resampled[np.isfinite(resampled)]
    rounding = _EQUAL * scale
    if abs(difference) <= rounding or len(resampled) < 2:
        return 1.0
    deviation = float(resampled.std(ddof=1))
    return float(2 * ndtr(-abs(difference) / deviation)) if deviation > rounding else 0.0


def effect_size(differences: NDArray[np.float64]) -> float:
    """Return Cohen's d of paired caption scores, from their differences, float64[n_images]; nan if they do not vary."""
    center, moments = _moments(differences)
    return float(_effect_size(moments.sum(axis=0), center))


def effect_interval(differences: NDArray[np.float64], sampling: Sampling) -> tuple[float, float]:
    """Return the paired bootstrap interval of ``effect_size``."""
    center, moments = _moments(differences)
    sums = bootstrap_sums(moments, **sampling.settings)
    return sampling.interval(_effect_size(sums, center))


def _moments(differences: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the mean of differences, and their powers 0, 1 and 2 about it: float64[n, 3]."""
    has_score = ~np.isnan(differences)  # an output may have no score for some captions
    center = float(differences[has_score].mean()) if has_score.any() else np.nan
    # About the mean, so that the variance is not a difference of large numbers.
    from_center = np.where(has_score, differences - center, 0.0)
    return center, np.stack([has_score.astype(np.float64), from_center, from_center**2], axis=1)


def _effect_size(moments: NDArray[np.float64], center: float) -> NDArray[np.float64]:
    """Return Cohen's d of paired differences from sums of powers 0, 1, 2 about a center: float64[..., 3] to
    float64[...].
    """
    n: NDArray[np.float64] = np.where(moments[..., 0] > 0, moments[..., 0], np.nan)
    from_center = moments[..., 1] / n
    mean = center + from_center
    square = moments[..., 2] / n
    variance = square - from_center**2
    varies = variance > _ROUNDING * square  # else it consists of rounding errors
    deviation = np.sqrt(np.where(varies, variance, 0.0) * n / np.maximum(n - 1, 1))
    varies &= deviation > _EQUAL * (np.abs(mean) + 1e-3)
    return np.divide(mean, deviation, out=np.full_like(mean, np.nan), where=varies)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values with Holm's correction for their number (Holm 1979); undefined values (nan) are not counted."""
    order = sorted((i for i, p in enumerate(p_values) if not np.isnan(p)), key=lambda i: p_values[i])
    corrected = [np.nan] * len(p_values)
    largest = 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - place) * p_values[i]))
        corrected[i] = largest
    return corrected


def ranks(values: Mapping[Name, float], p_values: Mapping[tuple[Name, Name], float], alpha: float) -> dict[Name, int]:
    """Return ranks with ties: 1 plus the number of values that are significantly higher.

    Args:
        values: name -> value.
        p_values: pair of names -> p value of their difference.
        alpha: significance level.
    """
    better = dict.fromkeys(values, 0)
    for (a, b), p in p_values.items():
        if p <= alpha and values[a] != values[b]:
            better[a if values[a] < values[b] else b] += 1
    return {name: 1 + n for name, n in better.items()}
