"""``score_shards``: execution of a plan by an engine, with progress, retries and a folder to resume from."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from captious.data.reading.caption_file import ColumnNames
from captious.errors import CaptiousError, MissingExtraError, ParameterError, ShardError
from captious.evaluation.caption_checks.caption_warnings import issue
from captious.files.atomic_write import whole_file
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.settings import Settings
from captious.phrases import counted, counted_of
from captious.progress import Progress
from captious.results.table import document_text
from captious.scale.engines import Engine, engine_named
from captious.scale.result_folder import ResultFolder
from captious.scale.scoring_plan import Plan, plan
from captious.scale.shard_report import ShardReport
from captious.scale.shard_rows import BATCH_ROWS
from captious.scale.shards import Shard
from captious.scale.states import States
from captious.scale.sums import ShardSums

R = TypeVar("R")

_PAUSE = 0.5  # seconds before a shard that could not be read is read again; doubled every time


def score_shards(
    shards: str | os.PathLike[str] | Shard | Sequence[str | os.PathLike[str] | Shard],
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    *,
    references: object = None,
    settings: Settings | None = None,
    columns: ColumnNames | None = None,
    engine: str = "stream",
    workers: int | None = None,
    output: str | os.PathLike[str] | None = None,
    per_caption: str | os.PathLike[str] | None = None,
    intervals: bool = False,
    retries: int = 2,
    batch_rows: int = BATCH_ROWS,
    system: str = "candidates",
) -> ShardReport:
    """Score a corpus in shards, in bounded memory.

    Scores are bit-identical for any engine, any number of workers, and any order of shards.

    Args:
        shards, metrics, references, settings, columns, intervals, batch_rows, system: see ``captious.scale.plan``.
        engine: "stream" (in this process), "processes" (of this machine), or "ray" (a cluster).
        workers: number of shards to score concurrently; None for the number of cores. "stream" has one.
        output: folder for the results of each shard. An interrupted run resumes from it.
        per_caption: folder for caption scores, a parquet file for each shard; needs ``output``.
        retries: number of retries of a shard that fails.

    Returns:
        Corpus scores. Misleading results are listed in ``warnings`` and issued as CaptiousWarning, once per process.

    Raises:
        InputError, UnknownNameError, ParameterError: as ``captious.scale.plan``.
        ShardError: shards that could not be scored; names them and the reasons.
        ParameterError: the output folder holds the results of another plan.
    """
    planned = plan(
        shards,
        metrics,
        references=references,
        settings=settings,
        columns=columns,
        intervals=intervals,
        batch_rows=batch_rows,
        system=system,
    )
    report = run(planned, engine=engine, workers=workers, output=output, per_caption=per_caption, retries=retries)
    issue(report.warnings)
    return report


def run(
    plan: Plan,
    *,
    engine: str = "stream",
    workers: int | None = None,
    output: str | os.PathLike[str] | None = None,
    per_caption: str | os.PathLike[str] | None = None,
    retries: int = 2,
) -> ShardReport:
    """Run a plan; see ``score_shards``."""
    runner = engine_named(engine)
    if workers is not None and not (isinstance(workers, int) and 1 <= workers <= 100_000):
        raise ParameterError(f"{workers!r} is not a number of workers", help="give 1 or more")
    if not (isinstance(retries, int) and 0 <= retries <= 1000):
        raise ParameterError(f"{retries!r} is not a number of retries", help="give 0 or more")
    if per_caption is not None and output is None:
        raise ParameterError(
            "caption scores of shards need an output folder for sums, too", help="give output=FOLDER (-o FOLDER)"
        )
    folder = None if output is None else ResultFolder(output, plan, per_caption)
    do = partial(_outcomes, engine=runner, workers=workers, retries=retries, keep_going=folder is not None)
    with runner.session():
        plan = _fitted(plan, folder, do)
        sums = {} if folder is None else {shard.name: folder.sums_of(shard.name) for shard in plan.shards}
        todo = [number for number, shard in enumerate(plan.shards) if sums.get(shard.name) is None]
        scored = do(partial(_map, plan, folder), todo, plan, "scoring")
        report = plan.reduce([*filter(None, sums.values()), *scored])
    if folder is not None:
        with whole_file(folder.folder / "scores.json") as file:
            file.write(document_text(report.to_table(intervals=plan.intervals).document))
    return report


def _fitted(plan: Plan, folder: ResultFolder | None, do: Callable[..., Iterator[Any]]) -> Plan:
    """Return the plan after the pass over references; states already in the folder are not computed again."""
    if plan.references is not None:
        return plan.fitted()
    if not plan.needs_fit:
        return plan
    todo = [n for n, shard in enumerate(plan.shards) if folder is None or not folder.has_states(shard.name)]
    fitted = do(partial(_fit, plan, folder), todo, plan, "counting references of")
    if folder is None:
        return plan.fitted(fitted)
    before = (shard.name for number, shard in enumerate(plan.shards) if number not in {*todo})
    states = (folder.states_of(part) if isinstance(part, str) else part for part in chain(before, fitted))
    return folder.fitted(plan, states)


def _map(plan: Plan, folder: ResultFolder | None, number: int) -> ShardSums:
    return plan.map(plan.shards[number]) if folder is None else folder.map(plan, number)


def _fit(plan: Plan, folder: ResultFolder | None, number: int) -> States | str:
    """Return the states of a shard, or its name if they were written to the folder."""
    shard = plan.shards[number]
    states = plan.fit(shard) if folder is None else folder.fit(plan, number)
    return shard.name if states is None else states


def _outcomes(
    work: Callable[[int], R],
    tasks: Sequence[int],
    plan: Plan,
    what: str,
    *,
    engine: Engine,
    workers: int | None,
    retries: int,
    keep_going: bool,
) -> Iterator[R]:
    """Yield the results of tasks; tasks that fail despite retries are reported at the end, or at once if nothing is
    stored.

    Raises:
        ShardError: tasks that failed.
    """
    failed: dict[int, Exception] = {}
    with Progress(len(plan.shards)) as progress:
        done = len(plan.shards) - len(tasks)
        progress.reach(done, f"{what} {counted(len(plan.shards), 'shard')}")
        for task, result in engine.run(partial(_tried, work, retries), tasks, workers):
            if not isinstance(result, Exception):
                yield result
                done += 1
                progress.reach(done, f"{what} {plan.shards[task].name}")
                continue
            failed[task] = result
            if not keep_going or isinstance(result, MissingExtraError):
                break
    if failed:
        raise _failure(failed, plan, retries) from failed[min(failed)]


def _tried(work: Callable[[int], R], retries: int, task: int) -> R:
    """Run work, and retry it if it fails."""
    for attempt in range(retries):
        try:
            return work(task)
        except MissingExtraError:  # trying again does not install it
            raise
        except Exception as error:
            if isinstance(error.__cause__ or error, OSError):  # disks and stores recover, rows do not
                time.sleep(_PAUSE * 2**attempt)
    return work(task)


def _failure(failed: Mapping[int, Exception], plan: Plan, retries: int) -> Exception:
    """Return the error for shards that failed: the shard's own if it is a single one."""
    first = failed[min(failed)]
    if len(failed) == 1 and isinstance(first, CaptiousError):
        return first
    reasons = []
    for task in sorted(failed)[:3]:
        error = failed[task]
        where = error.where.split("\n")[0] if isinstance(error, CaptiousError) else ""
        reason = error.message if isinstance(error, CaptiousError) else f"{type(error).__name__}: {error}"
        reasons.append(f"{where or plan.shards[task].name}: {reason}")
    more = f"and {len(failed) - 3:,} more" if len(failed) > 3 else ""
    return ShardError(
        f"{counted_of(len(failed), len(plan.shards), 'shard')} could not be scored, each tried {retries + 1} times",
        where="\n".join([*reasons, *filter(None, [more])]),
        help="correct them and run again: with an output folder, shards that are done are not scored again",
    )
