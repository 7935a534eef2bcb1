"""Corpus scores of captions that arrive in parts, such as the batches of an evaluation loop."""

from __future__ import annotations

from collections.abc import Iterable

from captious.data import Captions, CaptionSets, read_captions
from captious.errors import ParameterError
from captious.evaluation.exact_sums import ExactSums
from captious.evaluation.metric_run import check_needed_references
from captious.metrics.contract.metric import BaseMetric, Metric, State
from captious.metrics.contract.selection import MetricLike, select
from captious.metrics.contract.set_metrics import SetMetric
from captious.metrics.contract.settings import Settings
from captious.native import using_threads

__all__ = ["Stream"]


class Stream:
    """Metrics over captions that arrive in parts: ``update`` adds captions, ``compute`` gives corpus scores.

    Scores are those of ``captious.score`` for all captions together, to the last bit. A metric keeps a sum; one that
    must be fitted on all references, such as CIDEr-D without document frequencies, keeps the captions until
    ``compute``.

    Args:
        metrics, settings: as for ``captious.score``.

    Raises:
        UnknownNameError, ParameterError: as ``captious.score``; metrics of single captions together with metrics of
            several candidates per image, such as ``captious.OfK``.
    """

    def __init__(
        self,
        metrics: MetricLike | Iterable[MetricLike] | None = None,
        *,
        settings: Settings | None = None,
    ) -> None:
        self._selection = select(metrics, settings, several=True)
        of_sets = [item.metric.name for item in self._selection if isinstance(item.metric, SetMetric)]
        if 0 < len(of_sets) < len(self._selection):
            raise ParameterError(
                f"{of_sets[0]} judges several candidates per image together, and other metrics judge one caption",
                help="stream them separately, or give captious.OfK of the metrics of captions",
            )
        self._several = bool(of_sets)
        self.reset()

    def reset(self) -> None:
        """Forget all captions added so far."""
        self._sums: dict[int, ExactSums] = {}
        self._waiting: list[Captions | CaptionSets] = []  # for the metrics that are fitted on all references

    def update(self, candidates: object, references: object = None) -> None:
        """Add captions: any form that ``captious.read_captions`` reads, or what it returns."""
        captions = read_captions(candidates, references, several=self._several)
        check_needed_references(captions.references, self._selection)
        if self._selection.settings.references_as == "cat":
            captions = captions.concatenated
        if any(item.metric.needs_fit for item in self._selection):
            self._waiting.append(captions)
        with using_threads(self._selection.settings.threads):
            for index, item in enumerate(self._selection):
                if not item.metric.needs_fit:
                    self._add(self._sums, index, item.metric, captions, None)

    def compute(self) -> dict[str, float]:
        """Corpus scores of all captions added so far, by label.

        Raises:
            ParameterError: no captions were added yet.
        """
        sums = {**self._sums}
        with using_threads(self._selection.settings.threads):
            for index, item in enumerate(self._selection):
                if item.metric.needs_fit and self._waiting:
                    state = _merged([item.metric.fit(captions.references) for captions in self._waiting])
                    for captions in self._waiting:
                        self._add(sums, index, item.metric, captions, state)
        if not sums:
            names = ", ".join(item.metric.name for item in self._selection)
            raise ParameterError(f"no captions have been added to {names}", help="call update() before compute()")
        scores: dict[str, float] = {}
        for index, item in enumerate(self._selection):
            values = item.metric.aggregate(sums[index].values).tolist()
            scores |= {label: values[column] for label, column in item.output_indices.items()}
        return scores

    def merge(self, other: Stream) -> None:
        """Add the captions of another stream of the same metrics.

        Raises:
            ParameterError: the other stream computes something else.
        """
        if not isinstance(other, Stream):
            raise ParameterError(f"{other!r:.60} is not a stream", help="give another captious.Stream")
        ours, theirs = self._signatures, other._signatures
        if ours != theirs:
            differing = next((pair for pair in zip(theirs, ours, strict=False) if pair[0] != pair[1]), (theirs, ours))
            raise ParameterError(
                "a stream of other metrics cannot be merged",
                where=f"{differing[0]} into {differing[1]}",
                help="merge streams of the same metrics and parameters",
            )
        self._waiting += other._waiting
        for index, sums in other._sums.items():
            self._sums[index] = self._sums[index] + sums if index in self._sums else sums

    @property
    def _signatures(self) -> tuple[str, ...]:
        """Of each requested output, everything that scores depend on besides the captions."""
        references_as = self._selection.settings.references_as
        signatures = [
            item.metric.signatures()[column] for item in self._selection for column in item.output_indices.values()
        ]
        return (*signatures, f"references:{references_as}")

    @staticmethod
    def _add(
        sums: dict[int, ExactSums],
        index: int,
        metric: BaseMetric,
        captions: Captions | CaptionSets,
        state: State | None,
    ) -> None:
        if isinstance(metric, Metric) and isinstance(captions, Captions):
            rows = metric.statistics(captions, state)
        else:
            assert isinstance(metric, SetMetric) and isinstance(captions, CaptionSets)
            rows = metric.statistics(captions, state)
        more = ExactSums.of(rows)
        sums[index] = sums[index] + more if index in sums else more


def _merged(states: list[State | None]) -> State | None:
    total = states[0]
    for state in states[1:]:
        assert total is not None and state is not None
        total = total.merge(state)
    return total
