"""captious score: score one or more systems against references, from files or from shards."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from captious import scale
from captious.cli.inputs import SYSTEM, Reading, SystemFile, named_systems, shared, systems_of
from captious.cli.library_options import option
from captious.cli.options import SectionedCommand, repeated_command
from captious.cli.outputs import PRESENTATION, Destination, output_options, warn
from captious.data import CaptionRows, OfSeveral
from captious.data.formats import is_stream
from captious.data.matching import ways_of
from captious.drawing import single_line
from captious.errors import CaptionWarning, ParameterError
from captious.evaluation.checks import few_images_warning
from captious.evaluation.scoring import evaluate_systems, read_systems
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious.report.formats import check_caption_file, write_captions
from captious.scale.engines import BATCH_ROWS, ENGINES
from captious.tables import Table
from captious.words import counted_of

_OF_SHARDS = ("engine", "workers", "retries", "batch_rows")
_NOT_OF_SHARDS = ("layout", "match", "ids", "no_references", "group_by", "several", "clean")


@click.command(cls=SectionedCommand)
@click.argument("files", nargs=-1, type=SYSTEM, metavar="CANDIDATES... REFERENCES")
@option("intervals", flags=("--ci",))
@option("per_caption")
@shared("reading", "no_references", "group_by")
@output_options(also=["per_caption"])
@option("shards", multiple=True, metavar="GLOB")
@option("engine", click.Choice(ENGINES))
@option("workers")
@option("retries", click.IntRange(min=0))
@option("batch_rows", click.IntRange(1, 1 << 20))
@shared("metrics", "settings", "several", "match", "ids", "clean")
def score(
    files: tuple[SystemFile, ...],
    reading: Reading,
    metrics: list[str] | None,
    settings: Settings,
    several: tuple[OfSeveral, ...] | None,
    no_references: bool,
    group_by: str | None,
    destination: Destination,
    intervals: bool = False,
    per_caption: Path | None = None,
    shards: tuple[str, ...] = (),
    engine: str = "stream",
    workers: int | None = None,
    retries: int = 2,
    batch_rows: int = BATCH_ROWS,
    **matching: Any,
) -> None:
    """Score the captions of one or more systems against references.

    CANDIDATES are results files, one per system; REFERENCES, the last file, holds the human captions. Both may be
    COCO json, {id: caption} json, jsonl, csv, tsv or parquet, plain or .gz.

    NAME=FILE names a system; by default, its name is the part of the path that differs. With --from, files are logs of
    another program; those of lmms-eval (--log_samples) and VLMEvalKit contain answers and references.

    With --several, images have several candidates. Metrics such as div and self-cider judge them together; other
    metrics score an image by the mean of its candidates or the best one.

    With --shards, the captions of one system are read from any number of files with rows of an id, a candidate and
    its references, in bounded memory. REFERENCES may then be passed to look up references by id, and -o names a folder.

    Args:
        intervals: 95% bootstrap intervals over images.
        per_caption: also write caption scores: .jsonl, .csv or .parquet; with --shards, a folder for parquet files.
        shards: score files of rows {"id", "candidate", "references"} one at a time: .jsonl, .parquet, .csv, .tsv or
            .json, plain or .gz, on disk or in an object store. Quote the pattern. May be repeated. With it, -o names a
            folder.
        engine: where shards are scored: in this process, in several processes, or on a Ray cluster.
        workers: shards scored at a time. Default: one per core.
        retries: retries of a shard.
        batch_rows: rows of shards that are in memory at a time, for each worker.
    """
    if shards:
        plan = _plan(
            files, shards, reading, metrics=metrics, settings=settings, intervals=intervals, batch_rows=batch_rows
        )
        of_run: Any = {"engine": engine, "workers": workers, "retries": retries, "front": "command line"}
        sharded = scale.run(plan, output=destination.file, per_caption=per_caption, **of_run)
        replace(destination, file=None).deliver(sharded.to_table(intervals=intervals))
        warn([*sharded.warnings, *(sharded.few_captions() if intervals else [])])
        return
    if of_shards_only := _options_given(_OF_SHARDS):
        first = of_shards_only[0]
        raise ParameterError(f"{first} is for shards only", hint=f"leave it out, or give --shards 'GLOB' {first}")
    systems = systems_of(files, reading, no_references=no_references)
    if per_caption is not None:
        check_caption_file(per_caption)
    selection = select(metrics, settings, several=bool(several))
    rows, table = systems.read(several=bool(several))
    groups = systems.groups(group_by, table, settings)
    loaded = read_systems(rows, table, several=several, **matching)
    by_system = evaluate_systems(loaded, selection, several=ways_of(several), announce=warn)
    reports = [*by_system.values()]
    result: Any = by_system
    if groups is not None:
        from captious.evaluation import by_group

        result = by_group(by_system, groups)
    destination.deliver(_with_prompts(result.to_table(intervals=intervals), rows))
    if per_caption is not None:
        write_captions(per_caption, reports)
    warnings = [*result.warnings, *(_cut_warning(captions) for captions in rows.values() if captions.n_cut)]
    if intervals:
        warnings += [warning for report in reports for warning in few_images_warning(report.n_images)]
    warn(warnings, said="grammar")
    comparable = not (by_system.different_images or reading.layout or any(map(is_stream, files)))
    if destination.is_for_reading and len(reports) == 2 and comparable:
        without = ("intervals", "per_caption", "format_", *PRESENTATION)
        command = repeated_command("captious compare", without=without)
        click.echo(f"Is the difference real? {single_line(command)}", err=True)


def _cut_warning(rows: CaptionRows) -> CaptionWarning:
    """Return the warning about answers of a log that ended at the limit of tokens."""
    cut = counted_of(rows.n_cut, len(rows.ids), "answer", "were")
    return CaptionWarning(f"{rows.name}: {cut} cut at the limit of tokens: raise it, and ask again.", "cut")


def _with_prompts(table: Table, systems: Mapping[str, CaptionRows]) -> Table:
    """Add the prompts of logs to the table, if any system is a log."""
    prompts = {name: list(rows.prompts) for name, rows in systems.items()}
    if not any(prompts.values()):
        return table
    notes = [_prompt_note(of_log, name if len(prompts) > 1 else "") for name, of_log in prompts.items()]
    return replace(table, notes=[*table.notes, *dict.fromkeys(notes)], document={**table.document, "prompts": prompts})


def _prompt_note(prompts: Sequence[str], system: str) -> str:
    """Return a sentence about the prompts of the log of a system."""
    start = f"{system}: " if system else ""
    if not prompts:
        return f"{start}The log has no prompt."
    more = f", and {len(prompts) - 1:,} more" if len(prompts) > 1 else ""
    return f"{start}Prompt: {prompts[0]!r:.200}{more}."


def _options_given(names: Sequence[str]) -> list[str]:
    """Return the options on the command line for these parameters."""
    source = click.get_current_context().get_parameter_source
    return [f"--{name.replace('_', '-')}" for name in names if source(name) is ParameterSource.COMMANDLINE]


def _plan(files: tuple[SystemFile, ...], shards: tuple[str, ...], reading: Reading, **of_plan: Any) -> scale.Plan:
    """Return the plan for shards, with parameters as in the command."""
    if not_of_shards := _options_given(_NOT_OF_SHARDS):
        first = not_of_shards[0]
        raise ParameterError(f"{first} cannot be used with shards", hint=f"leave out {first}, or --shards")
    if len(files) > 1:
        raise ParameterError(
            "several files were given with --shards",
            hint="quote the pattern, as in --shards 'part-*.jsonl'; give at most one file, of references",
        )
    if reading.split is not None and not files:
        raise ParameterError("--split cannot be used with shards", hint="leave it out, or give REFERENCES")
    pattern, *others = map(SystemFile.of, shards)
    references = replace(reading, columns=None).sources({"references": files[0] if files else None})["references"]
    return scale.plan(
        [os.fspath(pattern), *map(str, others)],
        references=references,
        columns=reading.columns,
        system=_system_name(pattern),
        **of_plan,
    )


def _system_name(pattern: SystemFile) -> str:
    """Return the name of the system of these shards: the one given, that of the file, or that of its folder if the
    pattern matches all files.
    """
    [name] = named_systems([pattern])
    return name if any(map(str.isalnum, name)) else pattern.path.parent.name or "candidates"
