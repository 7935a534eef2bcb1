"""captious score: one or more systems against references, side by side."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
from rich.console import RenderableType

from captious.cli.options import check_outputs, choose, deliver, output_options, run_options, system_names, warn
from captious.data import load, read_references, same_images
from captious.evaluation import Report, evaluate
from captious.evaluation.cautions import few_images
from captious.progress import Progress
from captious.report.machine_readable import check_caption_file, reports_csv, reports_json, write_captions
from captious.report.numbers import plain

__all__ = ["score"]


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="CANDIDATES... REFERENCES")
@run_options
@click.option("--ci", "intervals", is_flag=True, help="95% bootstrap intervals over images.")
@click.option(
    "--per-caption",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write caption scores: .jsonl, .csv or .parquet.",
)
@output_options
def score(
    files: tuple[Path, ...],
    metrics: tuple[str, ...],
    subset: bool,
    idf: Path | None,
    tokenizer: str | None,
    images: Path | None,
    model: str | None,
    parses: Path | None,
    vectors: str | None,
    references_as: str,
    intervals: bool,
    per_caption: Path | None,
    format_: str,
    output: Path | None,
) -> None:
    """Score the captions of one or more systems against references.

    CANDIDATES are results files, one per system; REFERENCES, the last file, holds the human captions. Both may be
    COCO json, {id: caption} json, jsonl, csv, tsv or parquet, plain or .gz.
    """
    if len(files) < 2:
        raise click.UsageError("give at least one file of candidates and, last, the file of references")
    *candidates, references = files
    check_outputs([output, per_caption], [*files, idf, parses])
    if per_caption is not None:
        check_caption_file(per_caption)
    names = system_names(candidates)
    chosen = choose(metrics, idf=idf, tokenizer=tokenizer, images=images, model=model, parses=parses, vectors=vectors)
    reports: list[Report] = []
    with Progress(1 + len(candidates) * (1 + len(chosen) + intervals)) as progress:
        progress.step(f"reading {references.name}")
        table = read_references(references)
        for name, file in zip(names, candidates, strict=True):
            progress.step(f"reading {file.name}")
            captions = load(file, table, subset=subset)
            report = evaluate(captions, chosen, system=name, references_as=references_as, on_step=progress.step)
            if intervals:
                progress.step(f"{name}: intervals")
                for result in report.values():
                    result.confidence_interval()
            reports.append(report)
    deliver(_content(reports, intervals=intervals, format_=format_), output)
    if per_caption is not None:
        write_captions(per_caption, reports)
    warnings = [warning for report in reports for warning in report.warnings]
    if intervals:
        warnings += [warning for report in reports for warning in few_images(report.n_images)]
    comparable = all(same_images(report.ids, reports[0].ids) for report in reports)
    if not comparable:
        warnings.append("the systems were scored on different images, so their scores cannot be compared.")
    warn(warnings)
    if format_ == "table" and output is None and len(reports) == 2 and comparable:
        given = [f"-m {metric}" for metric in metrics] + ["--subset"] * subset
        given += [f"--idf {shlex.quote(str(idf))}"] * (idf is not None) + [f"--tokenizer {tokenizer}"] * bool(tokenizer)
        given += [f"--images {shlex.quote(str(images))}"] * (images is not None)
        given += [f"--model {shlex.quote(model or '')}"] * bool(model)
        given += [f"--parses {shlex.quote(str(parses))}"] * (parses is not None)
        given += [f"--vectors {shlex.quote(vectors or '')}"] * bool(vectors)
        given += [f"--references-as {references_as}"] * (references_as != "each")
        command = " ".join(["captious compare", *(shlex.quote(str(file)) for file in files), *given])
        click.echo(f"Is the difference real? {plain(command)}", err=True)


def _content(reports: list[Report], *, intervals: bool, format_: str) -> str | RenderableType:
    if format_ == "json":
        return reports_json(reports, intervals=intervals)
    if format_ == "csv":
        return reports_csv(reports, intervals=intervals)
    from captious.report.tables import report_table

    return report_table(reports, intervals=intervals)
