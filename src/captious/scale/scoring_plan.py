"""The core of scoring at scale: a ``Plan`` describes the run, maps a shard to sums and reduces sums to a report.

    plan = captious.scale.plan("data/part-*.parquet", ["bleu", "cider-d"])
    states = [plan.fit(shard) for shard in plan.shards]      # only if plan.needs_fit
    plan = plan.fitted(states)
    sums = [plan.map(shard) for shard in plan.shards]        # anywhere, in any order, any number of times
    report = plan.reduce(sums)

Plans, states and sums are picklable. The result of ``map`` depends only on the plan and the shard, and sums are exact,
so engines differ only in where shards are mapped.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, References, read_references
from captious.data.reading.caption_file import ColumnNames
from captious.errors import (
    CaptiousError,
    DuplicateCandidateError,
    InputError,
    MissingExtraError,
    ParameterError,
    ResourceError,
    ShardError,
    UnknownNameError,
)
from captious.evaluation.caption_checks.caption_findings import CaptionFindings
from captious.evaluation.inference.exact_sums import ExactSums
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.selection import RequestedMetric, Selection, select
from captious.metrics.contract.settings import Settings
from captious.native import using_threads
from captious.phrases import counted
from captious.scale.shard_report import ShardReport, reduced
from captious.scale.shard_rows import BATCH_ROWS, RowBatch, ShardColumns
from captious.scale.shards import Shard, as_shards
from captious.scale.states import MergedStates, States, compact_states
from captious.scale.sums import ShardSums, products

#: Receives ids, candidates and caption scores by output of one batch.
CaptionScores = Callable[[Sequence[ImageId], Sequence[str], Mapping[str, NDArray[np.float64]]], None]

_NUMBER = re.compile(r"[\d,.]*\d")

#: Errors that say by themselves where they are, or that every row would have.
_NOT_OF_A_ROW = (MemoryError, InputError, MissingExtraError, ResourceError, UnknownNameError, ShardError)

_REPORT_IT = "correct or remove the row, and run again: shards that are done are kept"


def plan(
    shards: str | os.PathLike[str] | Shard | Sequence[str | os.PathLike[str] | Shard],
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    references: object = None,
    settings: Settings | None = None,
    columns: ColumnNames | None = None,
    intervals: bool = False,
    batch_rows: int = BATCH_ROWS,
    system: str = "candidates",
) -> Plan:
    """Plan the scoring of shards.

    Args:
        shards: patterns, paths or shards; see ``captious.scale.as_shards``.
        metrics: as in ``captious.score``.
        references: None if every row has its references; otherwise any form that ``captious.score`` takes, to be looked
            up by id. Images may then have any number of candidates.
        settings: as in ``captious.score``.
        columns: names of the columns ``id``, ``candidate`` and ``references`` other than the usual ones:
            ``"id=key,candidate=text,references=ref1,references=ref2"`` or a mapping.
        intervals: also compute the sums for intervals over captions.
        batch_rows: number of rows in memory at a time, for each worker.
        system: name of the system in the report.

    Raises:
        InputError: missing or invalid shards or references.
        UnknownNameError, ParameterError: as ``captious.score``; also a tokenizer that does not treat rows
            independently.
    """
    if not isinstance(batch_rows, int) or not 1 <= batch_rows <= 1 << 20:
        raise ParameterError(f"{batch_rows!r} is not a number of rows", help="give 1 to 1,048,576; 8,192 is usual")
    selection = select(metrics, settings)
    for item in selection:
        if "tokenizer" in item.metric.declared and item.metric.tokenizer.as_one_text:
            raise ParameterError(
                f"the tokens of {item.metric.tokenizer.name} depend on the captions that follow, so a corpus cannot be "
                "split into shards",
                where=item.metric.name,
                help="use the tokenizer ptb, which differs in a few captions of a hundred thousand",
            )
    table = None if references is None else read_references(references)
    fields = replace(ShardColumns.of(columns), with_references=table is None)
    if table is not None and fields.references:
        raise ParameterError(
            "references come from a file, but a column of references was named", help="leave out one of the two"
        )
    return Plan(as_shards(shards), selection, fields, table, intervals, batch_rows, system)


@dataclass(frozen=True)
class Plan:
    """A plan for scoring shards, created by ``plan``.

    Args:
        shards: shards in the order in which their sums are added.
        selection: the metrics.
        columns: columns of the rows.
        references: None if rows have their own.
        intervals: whether products of statistics are summed, too.
        batch_rows: number of rows in memory at a time.
        system: name of the system.
        states: fitted states of the metrics; None before fitting.
    """

    shards: tuple[Shard, ...]
    selection: Selection
    columns: ShardColumns
    references: References | None
    intervals: bool
    batch_rows: int
    system: str
    states: States | None = None

    @property
    def needs_fit(self) -> bool:
        """Whether a pass over the references is needed first, as for CIDEr without given document frequencies."""
        return self.states is None and any(item.metric.needs_fit for item in self.selection)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything that sums depend on: plans with equal identity have the same sums for a shard."""
        references = None if self.references is None else _checksum(self.references)
        return {
            "metrics": [list(item.metric.signatures()) for item in self.selection],
            "references_as": self.selection.settings.references_as,
            "columns": [self.columns.id, *([*self.columns.texts(role)] for role in ("candidates", "references"))],
            "references": references,
            "intervals": self.intervals,
            "batch_rows": self.batch_rows,
            "shards": {shard.name: shard.fingerprint for shard in self.shards},
        }

    # ---- the three functions, and the pass before them

    def fit(self, shard: Shard) -> States:
        """Return the states of one shard: what each metric needs from its references; None for most metrics.

        Raises:
            InputError: rows that are not captions.
        """
        merged = MergedStates()
        with using_threads(self.selection.settings.threads):
            for rows in self._batches(shard):
                references = self._prepare_captions(self._captions(rows)).references
                metrics = [item.metric for item in self.selection]
                merged.add([metric.fit(references) if metric.needs_fit else None for metric in metrics])
        return merged.states

    def fitted(self, states: Iterable[States] = ()) -> Plan:
        """Return the plan with the states of all shards, in any order.

        Args:
            states: results of ``fit`` for each shard; none if references were passed separately, as these are fitted at
                once.
        """
        if self.references is not None:
            references = self.references.concatenated if self._concatenates else self.references
            with using_threads(self.selection.settings.threads):
                return replace(self, states=tuple(item.metric.fit(references) for item in self.selection))
        merged = MergedStates()
        for of_shard in states:
            merged.add(of_shard)
        return replace(self, states=compact_states(merged.states))

    def map(self, shard: Shard, caption_scores: CaptionScores | None = None) -> ShardSums:
        """Return the sums of one shard.

        Args:
            shard: one of the plan's shards, or any other.
            caption_scores: called with the scores of every batch.

        Raises:
            InputError: rows that are not captions.
            ShardError: a metric failed on a row; names the row.
            ParameterError: the plan has to be fitted first.
        """
        if self.needs_fit:
            raise ParameterError(
                "the plan has to be fitted before shards can be mapped", help="call plan.fitted([plan.fit(shard), ...])"
            )
        total = ShardSums(shard.name)
        with using_threads(self.selection.settings.threads):
            for rows in self._batches(shard):
                total.add(self._sums_of(shard.name, rows, caption_scores))
        return total

    def reduce(self, sums: Iterable[ShardSums]) -> ShardReport:
        """Return the scores from the sums of all shards, in any order.

        Raises:
            ShardError: a shard is missing or occurs twice.
        """
        by_name: dict[str, ShardSums] = {}
        for of_shard in sums:
            name = of_shard.shard
            if name in by_name:
                raise ShardError("there are two sums of one shard", where=name, help="give each shard once")
            by_name[name] = of_shard
        missing = [shard.name for shard in self.shards if shard.name not in by_name]
        if missing or len(by_name) > len(self.shards):
            strange = [*by_name.keys() - {shard.name for shard in self.shards}]
            raise ShardError(
                f"{counted(len(missing), 'shard', 'have')} no sums" if missing else "there are sums of other shards",
                where=", ".join((missing or strange)[:3]),
                help="map every shard of the plan, and no other",
            )
        signatures = [item.metric.signatures(state) for item, state in self._fitted_metrics]
        return reduced(self.selection, signatures, [by_name[shard.name] for shard in self.shards], self.system)

    # ---- parts of map

    @property
    def _concatenates(self) -> bool:
        return self.selection.settings.references_as == "cat"

    @property
    def _fitted_metrics(self) -> Iterator[tuple[RequestedMetric, State | None]]:
        return zip(self.selection, self.states or (None,) * len(self.selection), strict=True)

    def _batches(self, shard: Shard) -> Iterator[RowBatch]:
        """Yield the rows of a shard; at the end, duplicate ids are refused, unless references come from elsewhere.

        Detecting them takes eight bytes of memory per row.
        """
        if self.references is not None:
            yield from shard.batches(self.columns, self.batch_rows)
            return
        hashes: list[NDArray[np.int64]] = []
        for rows in shard.batches(self.columns, self.batch_rows):
            hashes.append(np.fromiter(map(hash, rows.ids), np.int64, len(rows)))
            yield rows
        values, counts = np.unique(np.concatenate(hashes or [np.zeros(0, np.int64)]), return_counts=True)
        suspects = {*values[counts > 1].tolist()}
        if not suspects:
            return
        first: dict[ImageId, str] = {}
        for rows in shard.batches(self.columns, self.batch_rows):
            for row, image in enumerate(rows.ids):
                if hash(image) in suspects:
                    if image in first:
                        raise DuplicateCandidateError(
                            "two rows have the same id",
                            where=f"{first[image]} and {rows.unit} {rows.numbers[row]:,}",
                            help="give every row its own id; if images have several candidates, give references "
                            "separately",
                        )
                    first[image] = rows.place(row)

    def _captions(self, rows: RowBatch) -> Captions:
        return rows.captions if self.references is None else rows.joined(self.references)

    def _prepare_captions(self, captions: Captions) -> Captions:
        return captions.concatenated if self._concatenates else captions

    def _statistics(self, captions: Captions, rows: RowBatch) -> Iterator[NDArray[np.float64]]:
        """Return the statistics of each metric, float64[n, k]."""
        for item, state in self._fitted_metrics:
            statistics = item.require_caption_metric().statistics(captions, state)
            if not np.isfinite(statistics).all():
                row = int(np.flatnonzero(~np.isfinite(statistics).all(axis=1))[0])
                raise ShardError(
                    f"{item.metric.name} has a statistic that is not finite", where=rows.place(row), help=_REPORT_IT
                )
            yield statistics

    def _sums_of(self, name: str, rows: RowBatch, caption_scores: CaptionScores | None) -> ShardSums:
        """Return the sums of a batch."""
        sums = ShardSums(name, CaptionFindings(), n_batches=1)
        scores: dict[str, NDArray[np.float64]] = {}
        try:
            captions = self._captions(rows)
            sums.counts = CaptionFindings.of(captions)
            captions = self._prepare_captions(captions)
            for (item, state), statistics in zip(self._fitted_metrics, self._statistics(captions, rows), strict=True):
                sums.sums.append(ExactSums.of(statistics))
                if self.intervals:
                    sums.moments.append(ExactSums.of(products(statistics)))
                for warning in item.require_caption_metric().warnings(captions, state):
                    sums.warnings[_NUMBER.sub("#", warning)] = warning, 1, True
                if caption_scores is not None:
                    values = item.metric.aggregate(statistics)
                    scores |= {label: values[:, column] for label, column in item.output_indices.items()}
        except _NOT_OF_A_ROW:
            raise
        except Exception as error:
            raise self._first_failure(rows, error) from error
        if caption_scores is not None:
            caption_scores(rows.ids, rows.candidates, scores)
        return sums

    def _first_failure(self, rows: RowBatch, error: Exception) -> ShardError:
        """Return the error of a batch, with the first row that causes it, found by bisection."""

        def failure(start: int, stop: int) -> Exception | None:
            part = rows.select(start, stop)
            try:
                for _ in self._statistics(self._prepare_captions(self._captions(part)), part):
                    pass
            except Exception as error:
                return error
            return None

        start, stop = 0, len(rows)
        while stop - start > 1:
            middle = (start + stop) // 2
            if (cause := failure(start, middle)) is None:
                start = middle
            else:
                error, stop = cause, middle
        where = rows.place(start)
        if (cause := failure(start, stop)) is None:  # rows that only fail together
            where = f"{rows.source}: {rows.unit}s {rows.numbers[0]:,} to {rows.numbers[-1]:,}"
        error = cause or error
        what = error.message if isinstance(error, CaptiousError) else f"{type(error).__name__}: {error}"
        return ShardError(f"a row cannot be scored: {what}", where=where, help=_REPORT_IT)


def _checksum(references: References) -> str:
    """Return the CRC-32 of ids and texts."""
    crc = 0
    for item in (*references.ids, *references.texts):
        crc = zlib.crc32(f"{item!r}\n".encode(), crc)
    return f"{len(references)} images, {crc:08x}"
