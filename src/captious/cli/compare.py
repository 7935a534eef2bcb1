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
    harness_logs,
    harness_option,
    match_option,
    metric_options,
    no_references_option,
    reads_captions,
    resampling_options,
    several_option,
)
from captious.cli.outputs import Destination, output_options, warn
from captious.data import CaptionFile, absent_references, read_references
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

    With --from, files are logs of a harness, which contain answers and references; the references of the first are
    used.
    """
    if examples and destination.format in ("csv", "latex", "xlsx"):
        raise click.UsageError(
            f"--examples needs --format table, json, markdown or html; {destination.format} cannot contain them"
        )
    logs = harness_logs(files, harness, has_columns=any(isinstance(file, CaptionFile) for file in files))
    candidates, references = (files, None) if no_references or logs else (files[:-1], files[-1:])
    if references is not None and len(candidates) < 2:
        raise click.UsageError("systems A and B, and REFERENCES, are needed; with --no-references, only A and B")
    if len(candidates) < 2:
        help = "give A and B, and nothing else with --no-references or --from"
        raise ParameterError("two systems are needed", hint=help)
    if len(candidates) > 2 and (examples or group_by):
        raise click.UsageError("--examples and --group-by compare two systems")
    names = system_names(candidates)
    answers: Sequence[Any] = [log.candidates for log in logs] or candidates
    if logs and not no_references:
        table = read_references(logs[0].references)
    else:
        table = read_references(references[0]) if references else absent_references(answers[0])
    groups = None if group_by is None else groups_of(group_by, [*(references or ()), *answers], table, settings)
    comparison = compare_systems(dict(zip(names, answers, strict=True)), table, settings=settings, **options)
    result = comparison if groups is None else by_group(comparison, groups)
    destination.deliver(result.to_table(examples=examples))
    warn(result.warnings)
