"""captious compare: test the difference between two systems."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from captious.cli.caption_files import reads_captions
from captious.cli.image_groups import group_option, groups_of
from captious.cli.library_options import FILE
from captious.cli.options import (
    clean_option,
    metric_options,
    no_references_option,
    of_k_option,
    resampling_options,
    several_option,
    subset_option,
)
from captious.cli.outputs import deliver, output_options, warn
from captious.data import References, absent_references, read_references
from captious.errors import ParameterError
from captious.evaluation import PairwiseComparison, Reports
from captious.evaluation import compare as compare_systems
from captious.evaluation import score as score_systems
from captious.evaluation.system_names import system_names
from captious.metrics.contract.settings import Settings
from captious.report.formats import FORMATS
from captious.report.presentation import Presentation

__all__ = ["compare"]


@click.command()
@click.argument("files", nargs=-1, type=FILE, metavar="A B... REFERENCES")
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Show the N images on which two systems differ most.",
)
@no_references_option
@group_option
@output_options(*FORMATS)
@metric_options
@several_option
@of_k_option
@subset_option
@clean_option
@reads_captions("files")
@resampling_options
def compare(
    files: tuple[Path, ...],
    settings: Settings,
    examples: int,
    no_references: bool,
    group_by: str | None,
    format_: str,
    output: Path | None,
    presentation: Presentation,
    **options: Any,
) -> None:
    """Compare the captions of systems A and B: difference B - A, interval, effect size, p values.

    The interval and the first p value come from the paired bootstrap, the second p value from approximate
    randomization.

    More than two systems are compared in pairs: p values are then corrected for the number of pairs and metrics (Holm),
    and letters mark each score with the systems that are significantly worse.

    Metrics that need no references are compared without REFERENCES, with --no-references.
    """
    if examples and format_ in ("csv", "latex", "xlsx"):
        raise click.UsageError(
            f"--examples needs --format table, json, markdown or html; {format_} cannot contain them"
        )
    candidates, references = (files, None) if no_references else (files[:-1], files[-1:])
    if not no_references and len(files) < 3:
        raise click.MissingParameter(param_hint="'REFERENCES'", param_type="argument")
    if len(candidates) < 2:
        raise ParameterError("two systems are needed", help="give A and B, and with --no-references nothing else")
    if len(candidates) > 2 and (examples or group_by):
        raise click.UsageError("--examples and --group-by compare two systems")
    names = system_names(candidates)
    table = read_references(references[0]) if references else absent_references(candidates[0])
    if len(candidates) > 2:
        result: Any = _pairwise(dict(zip(names, candidates, strict=True)), table, settings, **options)
        deliver(result.to_table(), output, format_, presentation)
        warn(result.warnings)
        return
    groups = groups_of(group_by, [*(references or ()), *candidates], table, settings)
    (a, b), (first, second) = candidates, names
    comparison = compare_systems(a, b, table, settings=settings, names=(first, second), **options)
    result = comparison if groups is None else comparison.by_group(groups)
    deliver(result.to_table(examples=examples), output, format_, presentation)
    warn(result.warnings)


def _pairwise(
    files: Mapping[str, Path],
    references: References,
    settings: Settings,
    resamples: int,
    seed: int,
    **options: Any,
) -> PairwiseComparison:
    """All pairs of several systems."""
    scored: Reports = score_systems(files, references, settings=settings, **options)
    return scored.compare(resamples=resamples, seed=seed)
