"""The result of scoring shards: a ``Report`` without captions, whose intervals come from sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError
from captious.evaluation.caption_checks.caption_findings import CaptionFindings
from captious.evaluation.inference.exact_sums import ExactSums
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES, Sampling
from captious.evaluation.metric_run import add_reference_counts
from captious.evaluation.score_report import Report, Result, Statistics, no_captions
from captious.metrics.contract.metric import BaseMetric
from captious.metrics.contract.selection import Selection
from captious.random_seed import DEFAULT_SEED
from captious.scale.sums import Covariance, ShardSums

#: The units that intervals resample.
Unit = Literal["captions", "shards"]

#: Sums of fewer captions than these are not close to normal.
_FEW_CAPTIONS = 1000


class ShardStatistics(Statistics):
    """Statistics of one metric, one row per shard; sums are exact. The covariance is that of sums over captions."""

    def __init__(
        self, metric: BaseMetric, shards: Sequence[ExactSums], total: ExactSums, covariance: Covariance | None
    ) -> None:
        super().__init__(metric, np.array([sums.values for sums in shards]))
        self._total = total
        self._covariance = covariance

    @property
    def scores(self) -> NDArray[np.float64]:
        """Corpus scores, float64[m]."""
        return self.metric.aggregate(self._total.values)

    def resampled_captions(self, resamples: int, seed: int) -> NDArray[np.float64]:
        """Return scores of resampled captions, float64[resamples, m]; see ``ShardResult.confidence_interval``."""
        if self._covariance is None:
            raise ParameterError("what intervals need was not summed", help="score with intervals, or over shards")
        return self.metric.aggregate(self._covariance.resampled(resamples, seed))


class ShardResult(Result):
    """One output of one metric over all shards."""

    statistics: ShardStatistics

    @property
    def per_caption(self) -> NDArray[np.float64]:
        """Caption scores are not in memory.

        Raises:
            ParameterError: always.
        """
        raise no_captions()

    def confidence_interval(
        self,
        level: float = 0.95,
        *,
        resamples: int = DEFAULT_RESAMPLES,
        seed: int = DEFAULT_SEED,
        over: Unit = "captions",
    ) -> tuple[float, float]:
        """Return a bootstrap interval of the corpus score. Document frequencies are held fixed.

        Args:
            level: confidence level, in (0, 1).
            resamples: number of bootstrap samples.
            seed: random seed; the same seed gives the same interval.
            over: "captions" draws sums of resampled captions from their asymptotic normal distribution, with the mean
                and covariance of the statistics; captions are assumed to be independent. "shards" draws whole shards
                with replacement, which allows for dependence between captions of a shard; it needs at least about 20
                shards of similar size that are samples of one population.

        Raises:
            ParameterError: a parameter out of range, or the sums for the interval are missing.
        """
        sampling = Sampling(resamples, seed, level)
        if over == "captions":
            sums = self.statistics.resampled_captions(sampling.resamples, sampling.seed)
        elif over == "shards":
            sums = self.statistics.resampled(sampling.resamples, sampling.seed)
        else:
            raise ParameterError(f"{over!r} cannot be resampled", help="give over='captions' or over='shards'")
        return sampling.interval(sums[:, self.column])


class ShardReport(Report):
    """Scores of all shards together, by output name: ``report["cider-d"].score``.

    Like the result of ``captious.score``, without caption scores.
    """

    def __init__(
        self, system: str, counts: CaptionFindings, n_shards: int, results: dict[str, Result], warnings: list[str]
    ) -> None:
        super().__init__(system, None, results, warnings)
        self.counts = counts
        self.n_shards = n_shards

    @property
    def n_images(self) -> int:
        return self.counts.n

    @property
    def n_references(self) -> int:
        return self.counts.references

    def few_captions(self) -> list[str]:
        """Return a warning if there are too few captions for intervals over captions."""
        if self.n_images >= _FEW_CAPTIONS:
            return []
        return [
            f"intervals of shards need about {_FEW_CAPTIONS:,} captions, and there are {self.n_images:,}: they are "
            "inaccurate and may exceed the range of the score; scoring without shards resamples images instead"
        ]


def reduced(
    selection: Selection, signatures: Sequence[Sequence[str]], shards: Sequence[ShardSums], system: str
) -> ShardReport:
    """Return the report of the sums of shards, with the signatures of each metric's outputs."""
    total = ShardSums("all shards")
    for shard in shards:
        total.add(shard)
    counts = total.counts
    references_as = selection.settings.references_as
    results: dict[str, Result] = {}
    for number, item in enumerate(selection):
        moments = total.moments[number] if total.moments else None
        covariance = None if moments is None else Covariance.of(total.counts.n, total.sums[number], moments)
        statistics = ShardStatistics(
            item.metric, [shard.sums[number] for shard in shards], total.sums[number], covariance
        )
        of_outputs = signatures[number]
        if item.metric.needs_references:
            of_outputs = add_reference_counts(
                of_outputs, counts.n, counts.references, counts.most_references, references_as=references_as
            )
        for label, column in item.output_indices.items():
            results[label] = ShardResult(label, of_outputs[column], statistics, column)
    warnings = [*selection.warnings]
    if any(item.metric.needs_references for item in selection):
        warnings += total.counts.warnings_for(item.metric.tokens for item in selection)
    for wording, times, same in total.warnings.values():
        if same and times == total.n_batches:
            warnings.append(wording)
        else:
            such_as = "" if same else "such as "
            warnings.append(f"in {times:,} of {total.n_batches:,} batches: {such_as}{wording}")
    return ShardReport(system, total.counts, len(shards), results, warnings)
