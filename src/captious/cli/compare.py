"""captious compare: test the differences between systems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from captious.cli.image_groups import group_option, groups_of
from captious.cli.library_options import FILE
from captious.cli.options import (
    SectionedCommand,
    clean_option,
    harness_option,
    ids_option,
    logs_and_references,
    match_option,
    metric_options,
    no_references_option,
    reads_captions,
    resampling_options,
    several_option,
)
from captious.cli.outputs import Destination, output_options, warn
from captious.data import CaptionFile, absent_references, read_references, read_rows
from captious.errors import ParameterError
from captious.evaluation import by_group
from captious.evaluation import compare as compare_systems
from captious.evaluation.report import system_names
from captious.metrics.contract.settings import Settings
from captious.report.formats import FORMATS


@click.command(cls=SectionedCommand)
@click.argument("files", nargs=-1, type=FILE, metavar="A B... REFERENCES")
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Show the N images on which two systems differ most.",
)
@harness_option
@no_references_option
@group_option
@output_options(*FORMATS)
@metric_options
@several_option
@match_option
@ids_option
@clean_option
@reads_captions("files")
@resampling_options
def compare(
    files: tuple[Path, ...],
    settings: Settings,
    examples: int,
    harness: str | None,
    no_references: bool,
    group_by: str | None,
    destination: Destination,
    **options: Any,
) -> None:
    """Compare the captions of systems A and B: difference B - A, interval, effect size, p values.

    The interval and the first p value come from the paired bootstrap, the second p value from approximate
    randomization.

    More than two systems are compared in pairs: p values are then corrected for the number of pairs and metrics (Holm),
    and letters after each score stand for the systems that are significantly worse.

    Metrics that need no references are compared without REFERENCES, with --no-references.

    With --from, A and B are logs, which may contain references; those of the first are used unless REFERENCES are
    given.
    """
    if examples and destination.format in ("csv", "tex", "xlsx"):
        raise click.UsageError(
            f"--examples needs --format table, json, md or html; {destination.format} cannot contain them"
        )
    candidates: Sequence[Any]
    references: Any
    candidates, references = (files, None) if no_references else (files[:-1], files[-1])
    if harness is not None and files:
        has_columns = any(isinstance(file, CaptionFile) for file in files)
        candidates, of_logs = logs_and_references(files, harness, has_columns=has_columns)
        references = None if no_references else of_logs
    if harness is None and references is not None and len(candidates) < 2:
        raise click.UsageError("systems A and B, and REFERENCES, are needed; with --no-references, only A and B")
    if len(candidates) < 2:
        help = "give A and B, and nothing else with --no-references or --from"
        raise ParameterError("two systems are needed", hint=help)
    if len(candidates) > 2 and (examples or group_by):
        raise click.UsageError("--examples and --group-by compare two systems")
    names = system_names(candidates)
    given = None if references is None else read_references(references)
    answers = [read_rows(file, "candidates", several=bool(options["several"])) for file in candidates]
    table = absent_references(answers[0]) if given is None else given
    sources = [*([] if references is None else [references]), *candidates]
    groups = None if group_by is None else groups_of(group_by, sources, table, settings)
    systems: dict[str, Any] = dict(zip(names, answers, strict=True))
    comparison = compare_systems(systems, table, settings=settings, **options)
    result = comparison if groups is None else by_group(comparison, groups)
    destination.deliver(result.to_table(examples=examples))
    warn(result.warnings)
