"""captious score: score one or more systems against references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from captious.cli.caption_files import caption_files, harness_logs, part_options
from captious.cli.image_groups import group_option, groups_of
from captious.cli.library_options import FILE
from captious.cli.options import (
    clean_option,
    harness_option,
    metric_options,
    no_references_option,
    of_k_option,
    repeated_command,
    several_option,
    subset_option,
)
from captious.cli.outputs import PRESENTATION, Destination, output_options, warn, written
from captious.cli.shards import check_shard_options, shard_options, sharded_report
from captious.data import absent_references, read_captions, read_references
from captious.data.harness_logs import HarnessLog
from captious.errors import ParameterError
from captious.evaluation.caption_warnings import few_images
from captious.evaluation.metric_run import evaluate_systems
from captious.evaluation.score_tables import grouped_score_table
from captious.evaluation.systems import system_names
from captious.metrics.contract.selection import select
from captious.metrics.contract.set_metrics import OfKChoice, check_of_k
from captious.metrics.contract.settings import Settings
from captious.progress import steps
from captious.report.caption_scores import check_caption_file, write_captions
from captious.report.formats import FORMATS
from captious.report.numbers import plain
from captious.table import Table


@click.command()
@click.argument("files", nargs=-1, type=FILE, metavar="CANDIDATES... REFERENCES")
@click.option("--ci", "intervals", is_flag=True, help="95% bootstrap intervals over images.")
@click.option(
    "--per-caption",
    type=FILE,
    metavar="FILE",
    help="Also write caption scores: .jsonl, .csv or .parquet; with --shards, a folder for parquet files.",
)
@harness_option
@no_references_option
@group_option
@written("output", "per_caption", folders_with="shards")
@output_options(*FORMATS, folders_with="shards")
@shard_options
@metric_options
@several_option
@of_k_option
@subset_option
@clean_option
@part_options
def score(
    files: tuple[Path, ...],
    metrics: list[str] | None,
    settings: Settings,
    several: bool,
    of_k: tuple[OfKChoice, ...],
    subset: bool,
    clean: str,
    intervals: bool,
    per_caption: Path | None,
    harness: str | None,
    no_references: bool,
    group_by: str | None,
    destination: Destination,
    columns: str | None,
    split: str | None,
    **of_shards: Any,
) -> None:
    """Score the captions of one or more systems against references.

    CANDIDATES are results files, one per system; REFERENCES, the last file, holds the human captions. Both may be
    COCO json, {id: caption} json, jsonl, csv, tsv or parquet, plain or .gz.

    With --from, files are logs of lmms-eval (--log_samples) or VLMEvalKit, which have answers and references.

    With --several, images have several candidates. Metrics such as div and self-cider judge them together; for the
    others, --of-k says how an image gets its score.

    With --shards, the captions of one system are read from any number of files with rows of an id, a candidate and
    its references, in bounded memory. REFERENCES may then be given to find references by id, and -o names a folder.
    """
    choices = check_of_k(of_k, several=several)
    if of_shards["shards"]:
        if split is not None and not files:
            raise ParameterError("--split cannot be used with shards", help="leave it out, or give REFERENCES")
        sharded = sharded_report(
            caption_files({"files": files}, None, split)["files"],
            metrics,
            settings,
            columns=columns,
            intervals=intervals,
            per_caption=per_caption,
            output=destination.file,
            **of_shards,
        )
        replace(destination, file=None).deliver(sharded.to_table(intervals=intervals))
        warn([*sharded.warnings, *(sharded.few_captions() if intervals else [])])
        return
    check_shard_options()
    if not files:
        raise click.UsageError("no candidates given")
    logs = harness_logs(files, harness, has_columns=columns is not None or split is not None)
    if len(files) < (1 if no_references or logs else 2):
        raise ParameterError(
            "no candidates given", help="give at least one file of candidates, followed by the file of references"
        )
    candidates: Sequence[Any]
    references: Any
    if logs:
        names = system_names(files)
        candidates, references = [log.candidates for log in logs], None if no_references else logs[0].references
    else:
        files = caption_files({"files": files}, columns, split)["files"]
        candidates, references = (files, None) if no_references else (files[:-1], files[-1])
        names = system_names(candidates)
    if per_caption is not None:
        check_caption_file(per_caption)
    selection = select(metrics, settings, several=several)
    table = absent_references(candidates[0]) if references is None else read_references(references)
    sources = [*candidates] if references is None else [references, *candidates]
    groups = groups_of(group_by, sources, table, settings)
    with steps(candidates, lambda file: f"reading {file}") as each:
        loaded = [read_captions(file, table, subset=subset, several=several, clean=clean) for file in each]
    by_system = evaluate_systems(dict(zip(names, loaded, strict=True)), selection, of_k=choices, announce=warn)
    reports = [*by_system.values()]
    if groups is None:
        table_of_scores, warnings = by_system.to_table(intervals=intervals), by_system.warnings
    else:
        grouped = [report.by_group(groups) for report in reports]
        table_of_scores = grouped_score_table(grouped, intervals=intervals)
        warnings = [warning for report in grouped for warning in report.warnings] + by_system.different_images
    destination.deliver(_with_prompts(table_of_scores, names, logs))
    if per_caption is not None:
        write_captions(per_caption, reports)
    if intervals:
        warnings += [warning for report in reports for warning in few_images(report.n_images)]
    warn(warnings)
    comparable = not (by_system.different_images or logs)
    if destination.is_for_reading and len(reports) == 2 and comparable:
        command = repeated_command(
            "captious compare",
            without=("intervals", "per_caption", "format_", *PRESENTATION),
        )
        click.echo(f"Is the difference real? {plain(command)}", err=True)


def _with_prompts(table: Table, names: Sequence[str], logs: Sequence[HarnessLog]) -> Table:
    """The table with what the models of logs were asked."""
    if not logs:
        return table
    notes = [log.note if len(logs) == 1 else f"{name}: {log.note}" for name, log in zip(names, logs, strict=True)]
    prompts = {name: list(log.prompts) for name, log in zip(names, logs, strict=True)}
    return replace(table, notes=[*table.notes, *dict.fromkeys(notes)], document={**table.document, "prompts": prompts})
