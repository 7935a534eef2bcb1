"""The result of scoring a shard, a few hundred bytes: exact sums of statistics, and the counts for warnings.

``ShardSums`` are added in one process; they can be written as JSON and read back without loss.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.evaluation.caption_checks.caption_findings import CaptionFindings
from captious.evaluation.inference.exact_sums import ExactSums


def products(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the products of all pairs of columns, float64[n, k] to float64[n, k * (k + 1) / 2]."""
    pairs = [*combinations_with_replacement(range(statistics.shape[1]), 2)]
    left, right = np.array(pairs).T
    return np.asarray(statistics[:, left] * statistics[:, right])


@dataclass
class ShardSums:
    """Sums over the rows of a shard.

    Args:
        shard: name of the shard.
        counts: numbers of captions, references and copies.
        sums: sums of the statistics of each metric.
        moments: sums of the products of their columns, for intervals; empty unless intervals were requested.
        warnings: for each warning of a metric, without its numbers: its first wording, the number of batches with the
            warning, and whether all of them had this wording.
        n_batches: number of batches.
    """

    shard: str
    counts: CaptionFindings = field(default_factory=CaptionFindings)
    sums: list[ExactSums] = field(default_factory=list)
    moments: list[ExactSums] = field(default_factory=list)
    warnings: dict[str, tuple[str, int, bool]] = field(default_factory=dict)
    n_batches: int = 0

    def add(self, other: ShardSums) -> None:
        """Add the sums of other rows."""
        self.counts = self.counts + other.counts
        self.sums = _added(self.sums, other.sums)
        self.moments = _added(self.moments, other.moments)
        self.n_batches += other.n_batches
        for key, (wording, times, same) in other.warnings.items():
            first, before, was_same = self.warnings.get(key, (wording, 0, True))
            self.warnings[key] = first, before + times, same and was_same and first == wording

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; sums as exact text."""
        return {
            "shard": self.shard,
            "counts": self.counts.to_dict(),
            "batches": self.n_batches,
            "sums": [sums.to_text() for sums in self.sums],
            "moments": [sums.to_text() for sums in self.moments],
            "warnings": {key: [*warning] for key, warning in self.warnings.items()},
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ShardSums:
        """Restore from the values of ``to_dict``.

        Raises:
            KeyError, TypeError, ValueError, AttributeError: other values.
        """
        return cls(
            str(document["shard"]),
            CaptionFindings.from_dict(document["counts"]),
            [ExactSums.from_text(texts) for texts in document["sums"]],
            [ExactSums.from_text(texts) for texts in document["moments"]],
            {
                str(key): (str(text), int(times), bool(same))
                for key, (text, times, same) in document["warnings"].items()
            },
            int(document["batches"]),
        )


def _added(a: Sequence[ExactSums], b: Sequence[ExactSums]) -> list[ExactSums]:
    return [x + y for x, y in zip(a, b, strict=True)] if a else list(b)


@dataclass(frozen=True)
class Covariance:
    """The sum of n rows of statistics, and its variation over samples of n rows.

    Args:
        mean: the sum itself, float64[k].
        covariance: covariance of the sum of n rows drawn with replacement, float64[k, k].
    """

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]

    @classmethod
    def of(cls, n: int, sums: ExactSums, moments: ExactSums) -> Covariance:
        """Compute from exact sums of n rows and of the products of their columns."""
        k = len(sums)
        covariance = np.zeros((k, k))
        one = 1126  # bits after the binary point
        for (i, j), units in zip(combinations_with_replacement(range(k), 2), moments.units, strict=True):
            # n times the covariance of a row is the sum of products less the product of sums over n.
            exact = ((n * units) << one) - sums.units[i] * sums.units[j]
            covariance[i, j] = covariance[j, i] = exact / (n << (2 * one))
        return cls(sums.values, covariance)

    def resampled(self, resamples: int, seed: int) -> NDArray[np.float64]:
        """Return sums of resampled rows, drawn from their asymptotic normal distribution: float64[resamples, k]."""
        values, vectors = np.linalg.eigh(self.covariance)
        noise = np.random.default_rng(seed).standard_normal((resamples, len(values)))
        return np.asarray(self.mean + (noise * np.sqrt(np.maximum(values, 0))) @ vectors.T)
