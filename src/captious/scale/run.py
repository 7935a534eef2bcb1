"""``score_shards``: execution of a plan by an engine, with progress, retries and a folder to resume from."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.data import ImageId
from captious.data.rows import ColumnNames
from captious.errors import (
    CaptiousError,
    Front,
    MissingExtraError,
    OutputError,
    ParameterError,
    ResourceError,
    ShardError,
    marked,
    needed_for,
    option,
    shown_in,
)
from captious.evaluation.checks import issue
from captious.files import whole_file
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.settings import Settings
from captious.progress import Progress
from captious.scale.engines import BATCH_ROWS, Engine, engine_named
from captious.scale.plan import (
    INDEX,
    Plan,
    ShardReport,
    ShardSums,
    States,
    load_states,
    plan,
    save_states,
)
from captious.scale.shards import Shard
from captious.tables import document_text
from captious.words import counted, counted_of, shortened

# The folder of a run, with files for the plan and for states and sums of each shard, so that runs can be resumed.
#
#     OUT/plan.json            the plan; another one is refused
#     OUT/fit/00017/           states of shard 17; OUT/fit/all has those of all shards
#     OUT/sums/00017.json      sums of shard 17
#     OUT/scores.json          the scores, once all shards are done
#
# Files are written atomically, so a killed run leaves only complete files. Several machines can share a folder.

_FORMAT = 2
_START_AGAIN = "give another folder, or remove this one to score everything again"
_RUN = b"captious run"  # in the metadata of files of caption scores: the run that they are of


class ResultFolder:
    """The folder of a run. Picklable.

    Args:
        folder: the folder, created if necessary.
        plan: the plan of the run.
        per_caption: also write caption scores, as parquet, into this folder.

    Raises:
        ParameterError: one of the folders holds the results of another plan.
        OutputError: it cannot be written to.
        MissingExtraError: caption scores are requested, and pyarrow is not installed.
    """

    def __init__(
        self, folder: str | os.PathLike[str], plan: Plan, per_caption: str | os.PathLike[str] | None = None
    ) -> None:
        self.folder = Path(os.path.abspath(folder))
        self.per_caption = None if per_caption is None else Path(os.path.abspath(per_caption))
        self._numbers = {shard.name: number for number, shard in enumerate(plan.shards)}
        if self.per_caption is not None:
            _check_parquet()
        try:
            for path in (self.folder / "fit", self.folder / "sums", self.per_caption):
                if path is not None:
                    path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"cannot write into {folder}", where=error.strerror or str(error), hint="name a new folder"
            ) from error
        self._run = self._checked_run(plan)
        if self.per_caption is not None:
            self._check_scores(self.per_caption)

    def _checked_run(self, plan: Plan) -> str:
        """Write the plan, or compare it with the existing one. Returns the identity of the run."""
        path = self.folder / "plan.json"
        plan_now = json.loads(json.dumps({"format": _FORMAT, **plan.identity}))
        run = hashlib.sha256(json.dumps(plan_now, sort_keys=True).encode()).hexdigest()[:16]
        # Looked for before the plan, as other machines may write it now, and results after it.
        has_results = any((self.folder / "sums").glob("*.json")) or any((self.folder / "fit").glob(f"*/{INDEX}"))
        if path.exists():
            plan_before = _read_json(path, help=_START_AGAIN)
            run = plan_before.pop("run", "") if isinstance(plan_before, dict) else ""
            if plan_before == plan_now:
                return run
            if not self._only_unused_changed(plan_before, plan_now):
                where = f"{self.folder}: {_difference(plan_before, plan_now)}"
                raise ParameterError("the folder holds the results of another run", where=where, hint=_START_AGAIN)
        elif has_results:
            problem = "the folder holds results, but no plan.json that says of what"
            raise ParameterError(problem, where=str(self.folder), hint=_START_AGAIN)
        with whole_file(path) as file:
            json.dump({**plan_now, "run": run}, file, indent=1, ensure_ascii=False)
        return run

    def _only_unused_changed(self, plan_before: Any, plan_now: dict[str, Any]) -> bool:
        """Return whether plans differ only in shards without results, such as failed ones that were corrected."""
        if not isinstance(plan_before, dict) or {**plan_before, "shards": None} != {**plan_now, "shards": None}:
            return False
        before, now = plan_before["shards"], plan_now["shards"]
        if (
            not isinstance(before, dict)
            or before.keys() != now.keys()
            or (self.folder / "fit" / "all" / INDEX).exists()
        ):
            return False
        names = [name for name in now if now[name] != before[name]]
        return not any(self.has_states(name) or self._sums_file(name).exists() for name in names)

    def _check_scores(self, folder: Path) -> None:
        """Refuse a folder with caption scores of another run."""
        for file in sorted(folder.glob("*.parquet")):
            if _run_of(file) not in (self._run, None):
                raise ParameterError(
                    "the folder holds caption scores of another run",
                    where=str(file),
                    hint="give another folder for caption scores, or remove this one",
                )

    # ---- states

    def has_states(self, shard: str) -> bool:
        """Return whether the folder has the states of a shard."""
        return (self._states_folder(shard) / INDEX).exists()

    def states_of(self, shard: str) -> States:
        """Return the states of a shard.

        Raises:
            ShardError: they are missing.
        """
        states = load_states(self._states_folder(shard))
        if states is None:
            raise ShardError("the shard has not been fitted yet", where=shard, hint="fit every shard first")
        return states

    def fit(self, plan: Plan, number: int) -> States | None:
        """Fit a shard and write its states, unless they exist; states that cannot be written are returned."""
        shard = plan.shards[number]
        if self.has_states(shard.name):
            return None
        states = plan.fit(shard)
        return None if save_states(self._states_folder(shard.name), states) else states

    def fitted(self, plan: Plan, states: Iterable[States] | None = None) -> Plan:
        """Return the plan with the states of all shards, which are merged and written at the first call.

        Args:
            plan: the plan.
            states: states of every shard; by default, those in the folder.

        Raises:
            ShardError: a shard has not been fitted yet.
        """
        if plan.references is not None:
            return plan.fitted()
        merged = load_states(self.folder / "fit" / "all")
        if merged is not None or not plan.needs_fit:
            return replace(plan, states=merged)
        fitted = plan.fitted((self.states_of(shard.name) for shard in plan.shards) if states is None else states)
        save_states(self.folder / "fit" / "all", fitted.states or ())
        return fitted

    def _states_folder(self, shard: str) -> Path:
        return self.folder / "fit" / f"{self._numbers[shard]:05}"

    # ---- sums

    def sums_of(self, shard: str) -> ShardSums | None:
        """Return the sums of a shard; None if they are missing.

        Raises:
            ResourceError: a damaged file.
        """
        path = self._sums_file(shard)
        if not path.exists() or (self.per_caption is not None and _run_of(self._scores_file(shard)) != self._run):
            return None
        try:
            sums = ShardSums.from_dict(_read_json(path))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ResourceError(
                f"these sums are damaged: {error}", where=str(path), hint="remove the file, and run again"
            ) from error
        if sums.shard != shard:
            problem = f"these are the sums of {sums.shard}, not of {shard}"
            raise ResourceError(problem, where=str(path), hint="remove the file, and run again")
        return sums

    def map(self, plan: Plan, number: int) -> ShardSums:
        """Map a shard and write its sums, or read them if they exist."""
        shard = plan.shards[number]
        if (done := self.sums_of(shard.name)) is not None:
            return done
        if self.per_caption is None:
            sums = plan.map(shard)
        else:
            with (
                whole_file(self._scores_file(shard.name), "wb") as file,
                closing(_CaptionWriter(file, self._run)) as writer,
            ):
                sums = plan.map(shard, writer.write)
        with whole_file(self._sums_file(shard.name)) as file:
            json.dump(sums.to_dict(), file, ensure_ascii=False)
        return sums

    def _sums_file(self, shard: str) -> Path:
        return self.folder / "sums" / f"{self._numbers[shard]:05}.json"

    def _scores_file(self, shard: str) -> Path:
        assert self.per_caption is not None
        return self.per_caption / f"{self._numbers[shard]:05}.parquet"


def _check_parquet() -> None:
    with needed_for("writing caption scores of shards as parquet", "parquet"):
        import pyarrow  # noqa: F401


class _CaptionWriter:
    """Writes caption scores of batches to a parquet file: columns id, candidate, and one per output."""

    def __init__(self, file: Any, run: str) -> None:
        self._file, self._run = file, run
        self._writer: Any = None

    def write(
        self, ids: Sequence[ImageId], candidates: Sequence[str], scores: Mapping[str, NDArray[np.float64]]
    ) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        # A column has one type, and its integers have 64 bits.
        others = [i for i in ids if not (isinstance(i, int) and abs(i) < 2**63)]
        if self._writer is None:
            types = [("id", pa.string() if others else pa.int64()), ("candidate", pa.string())]
            self._schema = pa.schema([*types, *((name, pa.float64()) for name in scores)], {_RUN: self._run})
            self._writer = pq.ParquetWriter(self._file, self._schema)
        if pa.types.is_string(self._schema.field("id").type):
            ids = [str(i) for i in ids]
        elif others:
            raise ParameterError(
                "ids of a shard are integers of 64 bits in one batch, and others in another",
                where=repr(others[0]),
                hint="write all ids as strings, or score without caption scores",
            )
        self._writer.write_table(pa.table([pa.array(ids), [*candidates], *scores.values()], schema=self._schema))

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _run_of(path: Path) -> str | None:
    """Return the run of a file of caption scores, "" if it has none; None for a missing or damaged file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return ((pq.read_schema(path).metadata or {}).get(_RUN) or b"").decode(errors="replace")
    except (OSError, pa.ArrowException):
        return None


def _read_json(path: Path, *, help: str = "remove it, and run again") -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ResourceError(f"this file is damaged: {error}", where=str(path), hint=help) from error


def _difference(plan_before: Any, plan_now: dict[str, Any]) -> str:
    """Describe the difference between two plans in a few words."""
    if not isinstance(plan_before, dict):
        return "plan.json is not a plan"
    key = next((key for key in plan_now if plan_before.get(key) != plan_now[key]), None)
    if key is None:
        return "it was written by another version of captious"
    before, now = plan_before.get(key), plan_now[key]
    if key == "shards" and isinstance(before, dict):
        name = next(name for name in before | now if before.get(name) != now.get(name))
        if name not in now:
            return f"it has sums of {name}, which is not among the shards now"
        changed = f"{name} has changed since ({before.get(name)}; now {now[name]})"
        return changed if name in before else f"{name} was not among its shards"
    if key == "metrics" and isinstance(before, list):
        # Signatures that both have say nothing about the difference.
        of_theirs, of_ours = ([text for signatures in side for text in signatures] for side in (before, now))
        gone = ", ".join(text for text in of_theirs if text not in of_ours)
        new = ", ".join(text for text in of_ours if text not in of_theirs)
        parts = [f"only then {gone:.200}"] * bool(gone) + [f"only now {new:.200}"] * bool(new)
        return f"other metrics: {'; '.join(parts) or 'another order'}"
    return f"{key.replace('_', ' ')} was {shortened(before, 200)}, and is {shortened(now, 200)} now"


# Execution of a plan.

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
    front: Front = "python",
) -> ShardReport:
    """Run a plan; see ``score_shards``. Warnings in the output folder are written for those who use ``front``."""
    runner = engine_named(engine)
    if workers is not None and not (isinstance(workers, int) and 1 <= workers <= 100_000):
        raise ParameterError(f"{workers!r} is not a number of workers", hint="give 1 or more")
    if not (isinstance(retries, int) and 0 <= retries <= 1000):
        raise ParameterError(f"{retries!r} is not a number of retries", hint="give 0 or more")
    if per_caption is not None and output is None:
        raise ParameterError(
            "caption scores of shards need an output folder for sums, too", hint=f"give {option('output', 'FOLDER')}"
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
            file.write(document_text(shown_in(report.to_table(intervals=plan.intervals).document, front)))
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
        where = marked(error.where).split("\n")[0] if isinstance(error, CaptiousError) else ""
        reason = marked(error.message) if isinstance(error, CaptiousError) else f"{type(error).__name__}: {error}"
        reasons.append(f"{where or plan.shards[task].name}: {reason}")
    more = f"and {len(failed) - 3:,} more" if len(failed) > 3 else ""
    return ShardError(
        f"{counted_of(len(failed), len(plan.shards), 'shard')} could not be scored, each tried {retries + 1} times",
        where="\n".join([*reasons, *filter(None, [more])]),
        hint="correct them and run again: with an output folder, shards that are done are not scored again",
    )
