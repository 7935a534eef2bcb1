"""captious score --shards: options, and the call of ``captious.scale``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from captious.cli.library_options import COUNT, Command
from captious.errors import ParameterError
from captious.evaluation.systems import system_names
from captious.metrics.contract.settings import Settings
from captious.scale.batches import BATCH_ROWS
from captious.scale.engines import ENGINES

if TYPE_CHECKING:
    from captious.scale import ShardReport

_OPTIONS = (
    click.option(
        "--shards",
        multiple=True,
        metavar="GLOB",
        help='Score files of rows {"id", "candidate", "references"} one at a time: .jsonl, .parquet, .csv, .tsv or '
        ".json, plain or .gz, on disk or in an object store. Quote the pattern. May be repeated. With it, -o names a "
        "folder.",
    ),
    click.option(
        "--engine",
        type=click.Choice(ENGINES),
        default="stream",
        show_default=True,
        help="Where shards are scored: in this process, in several processes, or on a Ray cluster.",
    ),
    click.option("--workers", type=COUNT, metavar="N", help="Shards scored at a time. Default: one per core."),
    click.option("--retries", type=click.IntRange(min=0), default=2, show_default=True, help="Retries of a shard."),
    click.option(
        "--batch-rows",
        type=click.IntRange(1, 1 << 20),
        default=BATCH_ROWS,
        show_default=True,
        help="Rows of shards that are in memory at a time, for each worker.",
    ),
)
_OF_SHARDS = ("engine", "workers", "retries", "batch_rows")
_NOT_OF_SHARDS = ("subset", "no_references", "group_by", "several", "clean")


def shard_options(command: Command) -> Command:
    """Give a command the options of shards."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_shard_options() -> None:
    """Refuse options of shards without shards.

    Raises:
        ParameterError: one of them was given.
    """
    for option in _given(_OF_SHARDS):
        raise ParameterError(f"{option} is for shards only", help=f"leave it out, or give --shards 'GLOB' {option}")


def _given(names: Sequence[str]) -> Iterator[str]:
    """The options on the command line, of the parameters with these names."""
    source = click.get_current_context().get_parameter_source
    return (f"--{name.replace('_', '-')}" for name in names if source(name) is ParameterSource.COMMANDLINE)


def sharded_report(
    files: tuple[Path, ...],
    metrics: list[str] | None,
    settings: Settings,
    *,
    shards: tuple[str, ...],
    columns: str | None,
    batch_rows: int,
    intervals: bool,
    **of_run: Any,
) -> ShardReport:
    """Score shards, with parameters as the command has them; ``of_run`` are those of ``captious.scale.run``."""
    from captious import scale

    for option in _given(_NOT_OF_SHARDS):
        raise ParameterError(f"{option} cannot be used with shards", help=f"leave out {option}, or --shards")
    if len(files) > 1:
        raise ParameterError(
            "several files were given with --shards",
            help="quote the pattern, as in --shards 'part-*.jsonl'; give at most one file, of references",
        )
    plan = scale.plan(
        shards,
        metrics,
        references=files[0] if files else None,
        settings=settings,
        columns=columns,
        intervals=intervals,
        batch_rows=batch_rows,
        system=_system_name(shards[0]),
    )
    return scale.run(plan, **of_run)


def _system_name(pattern: str) -> str:
    """Name of the system with these shards: that of the file, or of its folder if the pattern takes all files."""
    path = Path(pattern)
    name: str = system_names([path])[0]
    return name if any(map(str.isalnum, name)) else path.parent.name or "candidates"
