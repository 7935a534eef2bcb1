"""The core of scoring at scale: a ``Plan`` says what is scored, maps a shard to sums and reduces sums to a report.

    plan = captious.scale.plan("data/part-*.parquet", ["bleu", "cider-d"])
    states = [plan.fit(shard) for shard in plan.shards]      # only if plan.needs_fit
    plan = plan.fitted(states)
    sums = [plan.map(shard) for shard in plan.shards]        # anywhere, in any order, any number of times
    report = plan.reduce(sums)

Plans, states and sums are picklable. What ``map`` returns for a shard depends on nothing but the plan and the shard,
and sums are exact, so engines differ in where shards are mapped and in nothing else.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, References, read_references
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
from captious.evaluation.caption_warnings import CaptionCounts
from captious.evaluation.run_metrics import with_references
from captious.metrics.contract.exact_sums import ExactSums
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.selection import Selection, select
from captious.metrics.contract.settings import Settings
from captious.native import using_threads
from captious.scale.batches import BATCH_ROWS, Columns, Rows
from captious.scale.shard_report import ShardReport, reduced
from captious.scale.shards import Shard, as_shards
from captious.scale.states import MergedStates, States, for_scoring
from captious.scale.sums import ShardSums, products

__all__ = ["CaptionScores", "Plan", "plan"]

#: Receives ids, candidates and caption scores by output of one batch.
CaptionScores = Callable[[Sequence[ImageId], Sequence[str], Mapping[str, NDArray[np.float64]]], None]

_NUMBER = re.compile(r"[\d,.]*\d")


def plan(
    shards: str | os.PathLike[str] | Shard | Sequence[str | os.PathLike[str] | Shard],
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    references: object = None,
    settings: Settings | None = None,
    columns: str | Mapping[str, str | Sequence[str]] | Columns | None = None,
    intervals: bool = False,
    batch_rows: int = BATCH_ROWS,
    system: str = "candidates",
) -> Plan:
    """Plan the scoring of shards.

    Args:
        shards: patterns, paths or shards; see ``captious.scale.as_shards``.
        metrics: as in ``captious.score``.
        references: None if every row has its references; otherwise any form that ``captious.score`` takes, in which
            rows find theirs by id. Images may then have any number of candidates.
        settings: as in ``captious.score``.
        columns: names of the columns ``id``, ``candidate`` and ``references``, if they are not the usual ones:
            ``"id=key,candidate=text,references=ref1,references=ref2"`` or a mapping.
        intervals: also sum what intervals over captions need.
        batch_rows: number of rows that are in memory at a time, for each worker.
        system: name of the system in the report.

    Raises:
        InputError: no such shards or references.
        UnknownNameError, ParameterError: as ``captious.score``; and a tokenizer for which rows are not independent.
    """
    if not isinstance(batch_rows, int) or not 1 <= batch_rows <= 1 << 20:
        raise ParameterError(f"{batch_rows!r} is not a number of rows", help="give 1 to 1,048,576; 8,192 is usual")
    selection = select(metrics, settings)
    for each in selection:
        if each.metric.tokenizer.as_one_text:
            raise ParameterError(
                f"the tokenizer {each.metric.tokenizer.name} cuts captions by those that follow, so a corpus cannot be "
                "split into shards",
                where=each.metric.name,
                help="use the tokenizer ptb, which differs in a few captions of a hundred thousand",
            )
    table = None if references is None else read_references(references)
    named = replace(Columns.of(columns), with_references=table is None)
    if table is not None and named.references:
        raise ParameterError(
            "references come from a file, but a column of references was named", help="leave out one of the two"
        )
    return Plan(as_shards(shards), selection, named, table, intervals, batch_rows, system)


@dataclass(frozen=True)
class Plan:
    """What is scored, and how. Made by ``plan``.

    Args:
        shards: in the order in which their sums are added.
        selection: the metrics.
        columns: where rows have their values.
        references: None if rows have their own.
        intervals: whether products of statistics are summed, too.
        batch_rows: number of rows that are in memory at a time.
        system: name of the system.
        states: what the metrics were fitted to; None before.
    """

    shards: tuple[Shard, ...]
    selection: Selection
    columns: Columns
    references: References | None
    intervals: bool
    batch_rows: int
    system: str
    states: States | None = None
    _cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": {}}

    @property
    def needs_fit(self) -> bool:
        """Whether a pass over the references has to come first, as for CIDEr without given document frequencies."""
        return self.states is None and any(each.metric.needs_fit for each in self.selection)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything that sums depend on: two plans of equal identity give the same sums for a shard."""
        references = None if self.references is None else _checksum(self.references)
        return {
            "metrics": [list(each.metric.signatures()) for each in self.selection],
            "references_as": self.selection.settings.references_as,
            "columns": [self.columns.id, self.columns.candidate, list(self.columns.references)],
            "references": references,
            "intervals": self.intervals,
            "batch_rows": self.batch_rows,
            "shards": {shard.name: shard.fingerprint for shard in self.shards},
        }

    # ---- the three functions, and the pass before them

    def fit(self, shard: Shard) -> States:
        """The states of one shard: what each metric has to know of its references; None for most metrics.

        Raises:
            InputError: rows that are not captions.
        """
        merged = MergedStates()
        hashes: list[NDArray[np.int64]] = []
        with self._threads():
            for rows in shard.batches(self.columns, self.batch_rows):
                hashes.append(_hashes(rows))
                seen = self._seen(self._captions(rows)).references
                merged.add([each.metric.fit(seen) if each.metric.needs_fit else None for each in self.selection])
        self._refuse_duplicates(shard, hashes)
        return merged.states

    def fitted(self, states: Iterable[States] = ()) -> Plan:
        """The plan with the states of all shards, in whatever order they come.

        Args:
            states: what ``fit`` returned for each shard; none if references were given apart from rows, as these are
                then fitted at once.
        """
        if self.references is not None:
            references = self.references.concatenated if self._concatenates else self.references
            with self._threads():
                found: States = tuple(each.metric.fit(references) for each in self.selection)
            return replace(self, states=found)
        merged = MergedStates()
        for each in states:
            merged.add(each)
        return replace(self, states=for_scoring(merged.states))

    def map(self, shard: Shard, caption_scores: CaptionScores | None = None) -> ShardSums:
        """The sums of one shard.

        Args:
            shard: one of the plan's, or any other.
            caption_scores: is called with the scores of every batch.

        Raises:
            InputError: rows that are not captions.
            ShardError: a metric failed on a row; says on which.
            ParameterError: the plan has to be fitted first.
        """
        if self.needs_fit:
            raise ParameterError(
                "the plan has to be fitted before shards can be mapped", help="call plan.fitted([plan.fit(shard), ...])"
            )
        total = ShardSums(shard.name)
        hashes: list[NDArray[np.int64]] = []
        with self._threads():
            for rows in shard.batches(self.columns, self.batch_rows):
                total.add(self._sums_of(shard.name, rows, caption_scores))
                if self.references is None:
                    hashes.append(_hashes(rows))
        self._refuse_duplicates(shard, hashes)
        return total

    def reduce(self, sums: Iterable[ShardSums]) -> ShardReport:
        """Scores from the sums of all shards, in whatever order they come.

        Raises:
            ShardError: a shard is missing, or there twice.
        """
        by_name: dict[str, ShardSums] = {}
        for each in sums:
            if each.shard in by_name:
                raise ShardError("the sums of a shard are there twice", where=each.shard, help="give each shard once")
            by_name[each.shard] = each
        missing = [shard.name for shard in self.shards if shard.name not in by_name]
        if missing or len(by_name) > len(self.shards):
            strange = [*by_name.keys() - {shard.name for shard in self.shards}]
            raise ShardError(
                f"{len(missing):,} shards have no sums" if missing else "there are sums of other shards",
                where=", ".join((missing or strange)[:3]),
                help="map every shard of the plan, and no other",
            )
        states = self.states or (None,) * len(self.selection)
        signatures = [
            [with_references(text, self.selection.settings.references_as) for text in each.metric.signatures(state)]
            for each, state in zip(self.selection, states, strict=True)
        ]
        return reduced(self.selection, signatures, [by_name[shard.name] for shard in self.shards], self.system)

    # ---- parts of map

    @property
    def _concatenates(self) -> bool:
        return self.selection.settings.references_as == "cat"

    def _threads(self) -> AbstractContextManager[None]:
        number = self.selection.settings.threads
        return nullcontext() if number is None else using_threads(number)

    def _captions(self, rows: Rows) -> Captions:
        if self.references is None:
            return rows.captions
        key = "rows of text ids" if rows.ids_are_text else "rows"
        if key not in self._cache:
            self._cache[key] = _rows_by_id(self.references, as_text=rows.ids_are_text)
        return rows.joined(self.references, self._cache[key])

    def _seen(self, captions: Captions) -> Captions:
        return captions.concatenated if self._concatenates else captions

    def _statistics(self, rows: Rows) -> Iterator[tuple[Metric, Captions, NDArray[np.float64]]]:
        """Statistics of each metric, float64[n, k]."""
        seen = self._seen(self._captions(rows))
        states = self.states or (None,) * len(self.selection)
        for each, state in zip(self.selection, states, strict=True):
            statistics = each.metric.statistics(seen, state)
            if not np.isfinite(statistics).all():
                row = int(np.flatnonzero(~np.isfinite(statistics).all(axis=1))[0])
                raise ShardError(
                    f"{each.metric.name} has a statistic that is not finite", where=rows.place(row), help=_REPORT_IT
                )
            yield each.metric, seen, statistics

    def _sums_of(self, name: str, rows: Rows, caption_scores: CaptionScores | None) -> ShardSums:
        """The sums of a batch."""
        found = ShardSums(name, CaptionCounts(), n_batches=1)
        scores: dict[str, NDArray[np.float64]] = {}
        states = self.states or (None,) * len(self.selection)
        try:
            found.counts = CaptionCounts.of(self._captions(rows))
            for each, state, (metric, seen, statistics) in zip(
                self.selection, states, self._statistics(rows), strict=True
            ):
                found.sums.append(ExactSums.of(statistics))
                if self.intervals:
                    found.moments.append(ExactSums.of(products(statistics)))
                for warning in metric.warnings(seen, state):
                    found.warnings[_NUMBER.sub("#", warning)] = warning, 1, True
                if caption_scores is not None:
                    values = metric.aggregate(statistics)
                    scores |= {label: values[:, column] for label, column in each.columns.items()}
        except _NOT_OF_A_ROW:
            raise
        except Exception as error:
            raise self._located(rows, error) from error
        if caption_scores is not None:
            caption_scores(rows.ids, rows.candidates, scores)
        return found

    def _located(self, rows: Rows, error: Exception) -> ShardError:
        """The error of a batch, with the first row that causes it, found by halving the batch."""
        start, stop = 0, len(rows)
        while stop - start > 1:
            middle = (start + stop) // 2
            try:
                for _ in self._statistics(rows.select(start, middle)):
                    pass
                start = middle
            except Exception as found:
                error, stop = found, middle
        where = rows.place(start)
        try:
            for _ in self._statistics(rows.select(start, stop)):
                pass
            where = f"{rows.source}: {rows.unit}s {rows.numbers[0]:,} to {rows.numbers[-1]:,}"  # together only
        except Exception as found:
            error = found
        what = error.message if isinstance(error, CaptiousError) else f"{type(error).__name__}: {error}"
        return ShardError(f"a row cannot be scored: {what}", where=where, help=_REPORT_IT)

    def _refuse_duplicates(self, shard: Shard, hashes: Sequence[NDArray[np.int64]]) -> None:
        """Refuse an id that a shard has twice. Eight bytes for each row are kept to see it."""
        if not hashes:
            return
        values, counts = np.unique(np.concatenate(hashes), return_counts=True)
        if (counts == 1).all():
            return
        suspects = {*values[counts > 1].tolist()}
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


def _hashes(rows: Rows) -> NDArray[np.int64]:
    return np.fromiter(map(hash, rows.ids), np.int64, len(rows))


#: Errors that say by themselves where they are, or that every row would have.
_NOT_OF_A_ROW = (MemoryError, InputError, MissingExtraError, ResourceError, UnknownNameError, ShardError)

_REPORT_IT = "correct or remove the row, and run again: shards that are done are kept"


def _rows_by_id(references: References, *, as_text: bool) -> dict[ImageId, int]:
    """Rows of references by the ids that shards may have for them; as text in formats that have no numbers."""
    if as_text and all(isinstance(image, int) for image in references.ids):
        return {str(image): row for row, image in enumerate(references.ids)}
    rows: dict[ImageId, int] = {image: row for row, image in enumerate(references.ids)}
    if references.id_form == "text":  # a format that cannot tell "12" from 12
        rows |= {image: row for row, image in enumerate(references.with_numbers_for_ids.ids)}
    return rows


def _checksum(references: References) -> str:
    """CRC-32 of ids and texts."""
    crc = 0
    for item in (*references.ids, *references.texts):
        crc = zlib.crc32(f"{item!r}\n".encode(), crc)
    return f"{len(references)} images, {crc:08x}"
