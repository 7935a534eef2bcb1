"""``Plan``: scoring at scale, with the states, sums and reports of shards."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, References, read_references
from captious.data.matching import missing_candidates
from captious.data.rows import ColumnNames
from captious.errors import (
    CaptionWarning,
    CaptiousError,
    DuplicateCandidateError,
    InputError,
    MissingExtraError,
    ParameterError,
    ResourceError,
    ShardError,
    UnknownNameError,
    marked,
)
from captious.evaluation.checks import CaptionFindings
from captious.evaluation.report import Report, no_captions
from captious.files import whole_file
from captious.metrics.contract.combined import CombinedState
from captious.metrics.contract.metric import (
    BaseMetric,
    Metric,
    Result,
    State,
    Statistics,
    run_signatures,
    statistics_of,
)
from captious.metrics.contract.selection import RequestedMetric, Selection, select
from captious.metrics.contract.settings import Settings
from captious.metrics.shared.frequencies import DocumentFrequencies, FrequencySum
from captious.native import using_threads
from captious.scale.engines import BATCH_ROWS
from captious.scale.shards import RowBatch, Shard, ShardColumns, as_shards
from captious.statistics import DEFAULT_RESAMPLES, ExactSums, Sampling
from captious.words import DEFAULT_SEED, counted

# States of metrics that are fitted shard by shard: merged, written to files and read back.
#
# Metrics often share a state: CIDEr, CIDEr-D and SPIDEr weight n-grams by the same document frequencies. The distinct
# states, and those of the parts of combined metrics, are the leaves of a tuple of states.

#: The state of each metric of a plan, None for those that need none.
States: TypeAlias = tuple[State | None, ...]

#: The file that says that all states of a folder are there.
INDEX = "states.json"


class MergedStates:
    """The states of all shards together. The result does not depend on the order in which they are added."""

    def __init__(self) -> None:
        self._total: tuple[Any, ...] | None = None

    def add(self, states: Sequence[State | None]) -> None:
        """Add the states of a part."""
        self._total = _mapped(_total, states) if self._total is None else _mapped(_plus, self._total, states)

    @property
    def states(self) -> States:
        """The merged states."""
        return _mapped(lambda leaf: leaf.total if isinstance(leaf, FrequencySum) else leaf, self._total or ())


def _total(leaf: State) -> State | FrequencySum:
    """Return an object to which leaves of other parts are added: document frequencies have a sum, which is faster."""
    if not isinstance(leaf, DocumentFrequencies):
        return leaf
    total = FrequencySum()
    total.add(leaf)
    return total


def _plus(total: State | FrequencySum, leaf: State) -> State | FrequencySum:
    if not isinstance(total, FrequencySum):
        return total.merge(leaf)
    total.add(leaf)
    return total


def _mapped(change: Callable[..., Any], *states: Sequence[Any], done: dict[int, Any] | None = None) -> tuple[Any, ...]:
    """Return what a function makes of the leaves at each place of states; what metrics share, they share afterwards."""
    done = {} if done is None else done
    return tuple(_changed(change, leaves, done) for leaves in zip(*states, strict=True))


def _changed(change: Callable[..., Any], leaves: Sequence[Any], done: dict[int, Any]) -> Any:
    first = leaves[0]
    if isinstance(first, CombinedState):
        return CombinedState(_mapped(change, *(state.states for state in leaves), done=done))
    if first is not None and id(first) not in done:
        done[id(first)] = change(*leaves)
    return done.get(id(first))


def compact_states(states: Sequence[State | None]) -> States:
    """Return equivalent states that take less memory, but can no longer be merged."""
    return _mapped(lambda leaf: leaf.without_singles() if isinstance(leaf, DocumentFrequencies) else leaf, states)


def save_states(folder: Path, states: Sequence[State | None]) -> bool:
    """Write states to a new folder, which is complete once it has an index.

    Returns:
        Whether they can be written: all are document frequencies.

    Raises:
        OutputError: a file cannot be written.
    """
    leaves: list[State] = []

    def numbered(leaf: State) -> int:
        leaves.append(leaf)
        return len(leaves) - 1

    shape = _mapped(numbered, states)
    frequencies = [leaf for leaf in leaves if isinstance(leaf, DocumentFrequencies)]
    if len(frequencies) < len(leaves):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    for number, leaf in enumerate(frequencies):
        leaf.save(folder / f"{number}.idf")
    with whole_file(folder / INDEX) as file:
        names = [leaf.name for leaf in frequencies]
        json.dump({"shape": shape, "names": names}, file, default=lambda combined: combined.states)
    return True


def load_states(folder: Path) -> States | None:
    """Read states that ``save_states`` wrote; None if they are incomplete.

    Raises:
        ResourceError: a damaged file.
    """
    index = folder / INDEX
    if not index.exists():
        return None
    try:
        document = json.loads(index.read_text())
        names = document["names"]
        leaves = [
            replace(DocumentFrequencies.load(folder / f"{i}.idf"), name=str(name)) for i, name in enumerate(names)
        ]
        return tuple(_state_of(part, leaves) for part in document["shape"])
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise ResourceError(
            f"these states are damaged: {error}", where=str(folder), hint="remove the folder; they are counted again"
        ) from error


def _state_of(part: Any, leaves: Sequence[State]) -> State | None:
    if isinstance(part, list):
        return CombinedState(tuple(_state_of(one, leaves) for one in part))
    return None if part is None else leaves[part]


# The result of scoring a shard, a few hundred bytes: exact sums of statistics, and the counts for warnings.
#
# ``ShardSums`` are added in one process; they can be written as JSON and read back without loss.


def moments_of(statistics: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the products of all pairs of columns, and their absolute values: float64[n, k] to
    float64[n, k * (k + 1) / 2 + k].
    """
    pairs = [*combinations_with_replacement(range(statistics.shape[1]), 2)]
    left, right = np.array(pairs).T
    return np.hstack([statistics[:, left] * statistics[:, right], np.abs(statistics)])


@dataclass
class ShardSums:
    """Sums over the rows of a shard.

    Args:
        shard: name of the shard.
        counts: numbers of captions, references and copies.
        sums: sums of the statistics of each metric.
        moments: sums of the products of their columns and of their absolute values, for intervals; empty unless
            intervals were requested.
        warnings: for each warning of a metric, without its numbers: its first wording, the number of batches with the
            warning, and whether all of them had this wording.
        n_batches: number of batches.
        images: the images of a separate table of references that have a candidate, a bit for each.
    """

    shard: str
    counts: CaptionFindings = field(default_factory=CaptionFindings)
    sums: list[ExactSums] = field(default_factory=list)
    moments: list[ExactSums] = field(default_factory=list)
    warnings: dict[str, tuple[str, int, bool]] = field(default_factory=dict)
    n_batches: int = 0
    images: int = 0

    def add(self, other: ShardSums) -> None:
        """Add the sums of other rows."""
        self.counts = self.counts + other.counts
        self.sums = _added(self.sums, other.sums)
        self.moments = _added(self.moments, other.moments)
        self.n_batches += other.n_batches
        self.images |= other.images
        for key, (wording, times, same) in other.warnings.items():
            first, before, was_same = self.warnings.get(key, (wording, 0, True))
            self.warnings[key] = first, before + times, same and was_same and first == wording

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; sums as exact text."""
        return {
            "shard": self.shard,
            "counts": self.counts.to_dict(),
            "batches": self.n_batches,
            "images": f"{self.images:x}",
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
            int(document["images"], 16),
        )


def _added(a: Sequence[ExactSums], b: Sequence[ExactSums]) -> list[ExactSums]:
    return [x + y for x, y in zip(a, b, strict=True)] if a else list(b)


@dataclass(frozen=True)
class Covariance:
    """The sum of n rows of statistics, and its variation over samples of n rows.

    Args:
        mean: the sum itself, float64[k].
        covariance: covariance of the sum of n rows drawn with replacement, float64[k, k].
        least: below which no sum can be, as no row is negative: 0, or else -inf; float64[k].
    """

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    least: NDArray[np.float64]

    @classmethod
    def of(cls, n: int, sums: ExactSums, moments: ExactSums) -> Covariance:
        """Compute from exact sums of n rows, and those of ``moments_of`` them."""
        k = len(sums)
        absolute = moments.units[-k:]
        least = [0 if one == other else -np.inf for one, other in zip(sums.units, absolute, strict=True)]
        covariance = np.zeros((k, k))
        one = 1126  # bits after the binary point
        for (i, j), units in zip(combinations_with_replacement(range(k), 2), moments.units[:-k], strict=True):
            # n times the covariance of a row is the sum of products less the product of sums over n.
            exact = ((n * units) << one) - sums.units[i] * sums.units[j]
            covariance[i, j] = covariance[j, i] = exact / (n << (2 * one))
        return cls(sums.values, covariance, np.array(least))

    def resampled(self, resamples: int, seed: int) -> NDArray[np.float64]:
        """Return sums of resampled rows, drawn from their asymptotic normal distribution: float64[resamples, k]."""
        values, vectors = np.linalg.eigh(self.covariance)
        noise = np.random.default_rng(seed).standard_normal((resamples, len(values)))
        draws = self.mean + (noise * np.sqrt(np.maximum(values, 0))) @ vectors.T
        return np.asarray(np.maximum(draws, self.least))


# The result of scoring shards: a ``Report`` without captions, whose intervals come from sums.

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
            raise ParameterError("what intervals need was not summed", hint="score with intervals, or over shards")
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
            raise ParameterError(f"{over!r} cannot be resampled", hint="give over='captions' or over='shards'")
        return sampling.interval(sums[:, self.column])


class ShardReport(Report):
    """Scores of all shards together, by output name: ``report["cider-d"].score``.

    Like the result of ``captious.score``, without caption scores.
    """

    resampled = "captions"
    interval_method = "normal approximation of the bootstrap"

    def __init__(
        self, system: str, counts: CaptionFindings, n_shards: int, results: dict[str, Result], warnings: Sequence[str]
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

    def to_dict(
        self, *, intervals: bool = False, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
    ) -> dict[str, Any]:
        """Return corpus scores as JSON values, see ``Report.to_dict``, and of what kind their intervals are."""
        document = super().to_dict(intervals=intervals, resamples=resamples, seed=seed)
        return {**document, "intervals": f"{self.interval_method} over {self.resampled}"} if intervals else document

    def few_captions(self) -> list[str]:
        """Return a warning if there are too few captions for intervals over captions."""
        if self.n_images >= _FEW_CAPTIONS:
            return []
        return [
            f"intervals of shards need about {_FEW_CAPTIONS:,} captions, and there are {self.n_images:,}: they are "
            "inaccurate and may exceed the range of the score; scoring without shards resamples images instead"
        ]


# The core of scoring at scale: a ``Plan`` describes the run, maps a shard to sums and reduces sums to a report.
#
#     plan = captious.scale.plan("data/part-*.parquet", ["bleu", "cider-d"])
#     states = [plan.fit(shard) for shard in plan.shards]      # only if plan.needs_fit
#     plan = plan.fitted(states)
#     sums = [plan.map(shard) for shard in plan.shards]        # anywhere, in any order, any number of times
#     report = plan.reduce(sums)
#
# Plans, states and sums are picklable. The result of ``map`` depends only on the plan and the shard, and sums are
# exact, so engines differ only in where shards are mapped.

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
            up by id. Images then have one candidate or more.
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
        raise ParameterError(f"{batch_rows!r} is not a number of rows", hint="give 1 to 1,048,576; 8,192 is usual")
    selection = select(metrics, settings)
    for item in selection:
        if "tokenizer" in item.metric.declared and item.metric.tokenizer.as_one_text:
            raise ParameterError(
                f"the tokens of {item.metric.tokenizer.name} depend on the captions that follow, so a corpus cannot be "
                "split into shards",
                where=item.metric.name,
                hint="use the tokenizer ptb, which differs in a few captions of a hundred thousand",
            )
    table = None if references is None else read_references(references)
    fields = replace(ShardColumns.of(columns), with_references=table is None)
    if table is not None and fields.references:
        raise ParameterError(
            "references come from a file, but a column of references was named", hint="leave out one of the two"
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
                "the plan has to be fitted before shards can be mapped", hint="call plan.fitted([plan.fit(shard), ...])"
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
            MissingCandidatesError: an image of separate references has no candidate in any shard.
        """
        by_name: dict[str, ShardSums] = {}
        images = 0
        for of_shard in sums:
            images |= of_shard.images
            name = of_shard.shard
            if name in by_name:
                raise ShardError("there are two sums of one shard", where=name, hint="give each shard once")
            by_name[name] = of_shard
        missing = [shard.name for shard in self.shards if shard.name not in by_name]
        if missing or len(by_name) > len(self.shards):
            strange = [*by_name.keys() - {shard.name for shard in self.shards}]
            raise ShardError(
                f"{counted(len(missing), 'shard', 'have')} no sums" if missing else "there are sums of other shards",
                where=", ".join((missing or strange)[:3]),
                hint="map every shard of the plan, and no other",
            )
        if self.references is not None:
            bits = f"{images:0{len(self.references)}b}"[::-1]
            if lacking := [image for image, bit in zip(self.references.ids, bits, strict=True) if bit == "0"]:
                hint = "do the shards contain every image? To score only some, give the references of these alone"
                raise missing_candidates(self.references, lacking, hint)
        return self._report([by_name[shard.name] for shard in self.shards])

    def _report(self, shards: Sequence[ShardSums]) -> ShardReport:
        """Return the report of the sums of all shards."""
        total = ShardSums("all shards")
        for shard in shards:
            total.add(shard)
        found = total.counts
        counts = found.n, found.references, found.most_references
        references_as = self.selection.settings.references_as
        results: dict[str, Result] = {}
        for number, (item, state) in enumerate(self._fitted_metrics):
            sums = total.sums[number]
            covariance = Covariance.of(found.n, sums, total.moments[number]) if total.moments else None
            statistics = ShardStatistics(item.metric, [shard.sums[number] for shard in shards], sums, covariance)
            signatures = run_signatures(item.metric, state, counts, (), references_as)
            for label, column in item.output_indices.items():
                results[label] = ShardResult(label, signatures[column], statistics, column)
        warnings = [*self.selection.warnings, *found.warnings_for(self.selection)]
        for wording, times, same in total.warnings.values():
            if same and times == total.n_batches:
                warnings.append(CaptionWarning(wording))
            else:
                such_as = "" if same else "such as "
                warnings.append(CaptionWarning(f"in {times:,} of {total.n_batches:,} batches: {such_as}{wording}"))
        return ShardReport(self.system, found, len(shards), results, warnings)

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
                            hint="give every row its own id; if images have several candidates, give references "
                            "separately",
                        )
                    first[image] = rows.place(row)

    def _captions(self, rows: RowBatch) -> Captions:
        return rows.captions if self.references is None else rows.joined(self.references)

    def _images_of(self, rows: RowBatch) -> int:
        """Return which images of separate references the rows are of; see ``ShardSums``."""
        if self.references is None:
            return 0
        are_there = np.zeros(len(self.references), bool)
        are_there[np.array(self.references.rows_of(rows.ids), np.int64)] = True
        return int.from_bytes(np.packbits(are_there, bitorder="little").tobytes(), "little")

    def _prepare_captions(self, captions: Captions) -> Captions:
        return captions.concatenated if self._concatenates else captions

    def _statistics(self, captions: Captions, rows: RowBatch) -> Iterator[NDArray[np.float64]]:
        """Return the statistics of each metric, float64[n, k]."""
        for item, state in self._fitted_metrics:
            statistics = statistics_of(item.require_caption_metric(), captions, state)
            if not np.isfinite(statistics).all():
                row = int(np.flatnonzero(~np.isfinite(statistics).all(axis=1))[0])
                raise ShardError(
                    f"{item.metric.name} has a statistic that is not finite", where=rows.place(row), hint=_REPORT_IT
                )
            yield statistics

    def _sums_of(self, name: str, rows: RowBatch, caption_scores: CaptionScores | None) -> ShardSums:
        """Return the sums of a batch."""
        sums = ShardSums(name, CaptionFindings(), n_batches=1)
        scores: dict[str, NDArray[np.float64]] = {}
        try:
            captions = self._captions(rows)
            sums.images = self._images_of(rows)
            sums.counts = CaptionFindings.of(captions)
            captions = self._prepare_captions(captions)
            for (item, state), statistics in zip(self._fitted_metrics, self._statistics(captions, rows), strict=True):
                sums.sums.append(ExactSums.of(statistics))
                if self.intervals:
                    sums.moments.append(ExactSums.of(moments_of(statistics)))
                for warning in item.require_caption_metric().warnings(captions, state):
                    sums.warnings[_NUMBER.sub("#", warning)] = marked(warning), 1, True
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
        if isinstance(error, CaptiousError):  # such as that of a function that failed
            places = "\n".join(filter(None, [where, error.where]))
            return ShardError(
                f"a row cannot be scored: {marked(error.message)}", where=places, hint=error.hint or _REPORT_IT
            )
        return ShardError(f"a row cannot be scored: {type(error).__name__}: {error}", where=where, hint=_REPORT_IT)


def _checksum(references: References) -> str:
    """Return the CRC-32 of ids and texts."""
    crc = 0
    for item in (*references.ids, *references.texts):
        crc = zlib.crc32(f"{item!r}\n".encode(), crc)
    return f"{len(references)} images, {crc:08x}"
