"""captious compare: two systems on the same images, with intervals and tests of the difference."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import RenderableType

from captious.cli.options import check_outputs, choose, deliver, output_options, run_options, system_names, warn
from captious.data import load, read_references
from captious.evaluation import Comparison, compare_reports, evaluate
from captious.evaluation.report import DEFAULT_RESAMPLES, DEFAULT_SEED
from captious.evaluation.resampling import MOST_RESAMPLES
from captious.progress import Progress
from captious.report.files import comparison_csv, comparison_json

__all__ = ["compare"]


@click.command()
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.argument("references", type=click.Path(path_type=Path))
@run_options
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Show the N images on which the systems differ most.",
)
@click.option(
    "--resamples",
    type=click.IntRange(1, MOST_RESAMPLES),
    default=DEFAULT_RESAMPLES,
    show_default=True,
    help="Number of resamples.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True, help="Of the random numbers."
)
@output_options
def compare(
    a: Path,
    b: Path,
    references: Path,
    metrics: tuple[str, ...],
    subset: bool,
    idf: Path | None,
    tokenizer: str | None,
    images: Path | None,
    model: str | None,
    parses: Path | None,
    vectors: str | None,
    references_as: str,
    examples: int,
    resamples: int,
    seed: int,
    format_: str,
    output: Path | None,
) -> None:
    """Compare the captions of systems A and B: difference B - A, interval, effect size, p values.

    The interval and the first p value are those of the paired bootstrap, the second p value that of approximate
    randomisation.
    """
    if examples and format_ == "csv":
        raise click.UsageError("--examples goes with --format table or json; a csv has no place for them")
    check_outputs([output], [a, b, references, idf, parses])
    names = system_names([a, b])
    chosen = choose(metrics, idf=idf, tokenizer=tokenizer, images=images, model=model, parses=parses, vectors=vectors)
    n_outputs = sum(len(selection.columns) for selection in chosen)
    with Progress(3 + 2 * len(chosen) + n_outputs) as progress:
        progress.step(f"reading {references.name}")
        table = read_references(references)
        reports = []
        for name, file in zip(names, (a, b), strict=True):
            progress.step(f"reading {file.name}")
            captions = load(file, table, subset=subset)
            report = evaluate(captions, chosen, system=name, references_as=references_as, on_step=progress.step)
            reports.append(report)
        comparison = compare_reports(*reports, resamples=resamples, seed=seed, on_step=progress.step)
    deliver(_content(comparison, examples=examples, format_=format_), output)
    warn(comparison.warnings)


def _content(comparison: Comparison, *, examples: int, format_: str) -> str | RenderableType:
    if format_ == "json":
        return comparison_json(comparison, examples=examples)
    if format_ == "csv":
        return comparison_csv(comparison)
    from captious.report.tables import comparison_table

    return comparison_table(comparison, examples=examples)
