"""Corpus scores of captions that arrive in parts, such as the batches of an evaluation loop."""

from __future__ import annotations

from copy import copy
from functools import reduce
from typing import Any, Unpack

from captious.data import Captions, CaptionSets, ImageId, read_captions
from captious.data.matching import MatchOptions
from captious.errors import CaptionWarning, DuplicateCandidateError, EmptyInputError, ParameterError, as_warning
from captious.evaluation.checks import CaptionFindings, issue
from captious.evaluation.scoring import check_needed_references
from captious.metrics.contract.metric import SetMetric, State, reference_counts, run_signatures, statistics_of
from captious.metrics.contract.selection import Metrics, select
from captious.metrics.contract.settings import Settings
from captious.native import using_threads
from captious.plugins import answers_other_keywords
from captious.statistics import ExactSums
from captious.words import counted, shortened


class Stream:
    """Metrics over captions that arrive in parts: ``update`` adds captions, ``compute`` returns corpus scores.

    Scores are bit-identical to those of ``captious.score`` for all captions together. Most metrics keep only a sum;
    those that must be fitted on all references, such as CIDEr-D without document frequencies, keep the captions until
    ``compute``.

    Args:
        metrics, settings: as for ``captious.score``; "all" stands for metrics of single captions.

    Raises:
        UnknownNameError, ParameterError: as ``captious.score``; metrics of single captions together with metrics of
            several candidates per image, such as ``captious.OfK``.
    """

    @answers_other_keywords
    def __init__(
        self,
        metrics: Metrics | None = None,
        *,
        settings: Settings | None = None,
    ) -> None:
        self._selection = select(metrics, settings, several=None)
        of_sets = [item.metric.name for item in self._selection if isinstance(item.metric, SetMetric)]
        if 0 < len(of_sets) < len(self._selection):
            raise ParameterError(
                f"{of_sets[0]} judges several candidates per image together, and other metrics judge one caption",
                hint="stream them separately, or give captious.OfK of the metrics of captions",
            )
        self._several = bool(of_sets)
        self.reset()

    def __repr__(self) -> str:
        labels = ", ".join(label for item in self._selection for label in item.output_indices)
        return f"<Stream of {labels}: {self._counts[0]:,} images>"

    def reset(self) -> None:
        """Forget all captions added so far."""
        self._sums: list[ExactSums | None] = [None] * len(self._selection)
        self._waiting: list[Captions | CaptionSets] = []  # for the metrics that are fitted on all references
        self._ids: dict[str, ImageId] = {}  # by text, as an integer and its text are one image
        self._counts = (0, 0, 0)  # images, references, and the most references of an image
        self._findings = CaptionFindings()
        self._clean: tuple[str, ...] = ()
        self._metric_warnings: tuple[CaptionWarning, ...] = ()
        self._fitted: list[State | None] | None = None

    def update(
        self,
        candidates: object,
        references: object = None,
        **options: Unpack[MatchOptions],
    ) -> None:
        """Add captions, or none if there is an error.

        Args:
            candidates, references: any form that ``captious.read_captions`` reads, or its result.
            options: match, clean and ids, as for ``captious.score``.

        Raises:
            DuplicateCandidateError: an image that was added before. Lists without ids always have new images.
            EmptyInputError: no captions.
            InputError, ParameterError: as ``captious.score``.
        """
        captions = read_captions(candidates, references, several="mean" if self._several else None, **options)
        if not len(captions):
            raise EmptyInputError("there are no captions", hint="give the captions of at least one image")
        check_needed_references(captions.references, self._selection)
        part = copy(self)
        part.reset()
        if captions.references.id_form != "position":
            part._ids = {str(image): image for image in captions.ids}
        part._counts, part._clean = reference_counts(captions.references), captions.clean
        self._check_no_repeats(part)
        part._findings = CaptionFindings.of(captions)
        captions = captions.with_references_as(self._selection.settings.references_as)
        if any(item.metric.needs_fit for item in self._selection):
            part._waiting = [captions]
        with using_threads(self._selection.settings.threads):
            for index, item in enumerate(self._selection):
                if not item.metric.needs_fit:
                    part._sums[index] = ExactSums.of(statistics_of(item.metric, captions))
                    own = item.metric.warnings(captions, None)
                    part._metric_warnings += tuple(as_warning(text, item.metric.name) for text in own)
        self._add(part)

    def compute(self) -> dict[str, float]:
        """Return corpus scores of all captions added so far, by label, and issue ``warnings``.

        Raises:
            ParameterError: no captions were added yet.
        """
        sums = [*self._sums]
        with using_threads(self._selection.settings.threads):
            for index, (item, state) in enumerate(zip(self._selection, self._states(), strict=True)):
                for captions in self._waiting if item.metric.needs_fit else ():
                    sums[index] = _added(sums[index], ExactSums.of(statistics_of(item.metric, captions, state)))
        scores: dict[str, float] = {}
        for item, total in zip(self._selection, sums, strict=True):
            assert total is not None
            values = item.metric.aggregate(total.values).tolist()
            scores |= {label: values[column] for label, column in item.output_indices.items()}
        issue(self.warnings)
        return scores

    @property
    def signatures(self) -> dict[str, str]:
        """Everything that each score depends on besides the captions, by label, as in ``captious.score``.

        Raises:
            ParameterError: no captions were added yet.
        """
        signatures: dict[str, str] = {}
        for item, state in zip(self._selection, self._states(), strict=True):
            of_outputs = run_signatures(
                item.metric, state, self._counts, self._clean, self._selection.settings.references_as
            )
            signatures |= {label: of_outputs[column] for label, column in item.output_indices.items()}
        return signatures

    @property
    def warnings(self) -> list[CaptionWarning]:
        """Warnings about misleading scores of the captions added so far, one sentence each.

        Raises:
            ParameterError: no captions were added yet.
        """
        of_fitted = [
            as_warning(warning, item.metric.name)
            for item, state in zip(self._selection, self._states(), strict=True)
            for captions in (self._waiting if item.metric.needs_fit else ())
            for warning in item.metric.warnings(captions, state)
        ]
        of_captions = [*self._selection.warnings, *self._findings.warnings_for(self._selection)]
        return [*dict.fromkeys([*of_captions, *self._metric_warnings, *of_fitted])]

    def merge(self, other: Stream) -> None:
        """Add the captions of another stream of the same metrics.

        Raises:
            ParameterError: the other stream has different metrics.
            DuplicateCandidateError: an image that occurs in both.
        """
        if not isinstance(other, Stream):
            raise ParameterError(f"{shortened(other)} is not a stream", hint="give another captious.Stream")
        identities = other._identity, self._identity
        if identities[0] != identities[1]:
            differing = next((pair for pair in zip(*identities, strict=False) if pair[0] != pair[1]), identities)
            raise ParameterError(
                "a stream of other metrics cannot be merged",
                where=f"{differing[0]} into {differing[1]}",
                hint="merge streams of the same metrics and parameters",
            )
        if other._counts[0]:
            self._check_no_repeats(other)
            self._add(other)

    def _check_no_repeats(self, other: Stream) -> None:
        if repeated := self._ids.keys() & other._ids.keys():
            raise DuplicateCandidateError(
                f"{counted(len(repeated), 'image', 'were')} added before",
                where=f"image_id {', '.join(repr(other._ids[text]) for text in sorted(repeated)[:3])}",
                hint="add each image once; reset() starts again",
            )
        if self._counts[0] and self._clean != other._clean:
            raise ParameterError("other candidates were cleaned by other rules", hint="give the same clean each time")

    def _add(self, other: Stream) -> None:
        self._sums = [
            total if more is None else _added(total, more) for total, more in zip(self._sums, other._sums, strict=True)
        ]
        self._waiting += other._waiting
        self._ids |= other._ids
        (n, n_references, most), (n_more, more_references, most_of_more) = self._counts, other._counts
        self._counts = n + n_more, n_references + more_references, max(most, most_of_more)
        self._findings += other._findings
        self._clean = other._clean
        self._metric_warnings = tuple(dict.fromkeys(self._metric_warnings + other._metric_warnings))
        self._fitted = None

    def _states(self) -> list[State | None]:
        """Return the state of each metric."""
        if not self._counts[0]:
            names = ", ".join(item.metric.name for item in self._selection)
            raise ParameterError(f"no captions have been added to {names}", hint="call update() before compute()")
        if self._fitted is None:
            tables = [captions.references for captions in self._waiting]
            self._fitted = [
                _merged([item.metric.fit(references) for references in tables]) if item.metric.needs_fit else None
                for item in self._selection
            ]
        return self._fitted

    @property
    def _identity(self) -> tuple[str, ...]:
        """Everything that the scores of each requested output depend on besides the captions."""
        references_as = self._selection.settings.references_as
        signatures = [
            item.metric.signatures()[column] for item in self._selection for column in item.output_indices.values()
        ]
        return (*signatures, f"references:{references_as}")


def _added(total: ExactSums | None, more: ExactSums) -> ExactSums:
    return more if total is None else total + more


def _merged(states: list[Any]) -> State:
    merged: State = reduce(lambda total, state: total.merge(state), states)
    return merged
