"""captious score: one or more systems against references, side by side."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.options import choose, output_options, print_table, run_options, system_names, warn
from captious.cli.progress import Progress
from captious.data import load, read_references
from captious.evaluation import Report, evaluate
from captious.report.files import check_caption_file, reports_csv, reports_json, write_captions, write_text

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
    if per_caption is not None:
        check_caption_file(per_caption)
    chosen = choose(metrics, idf=idf, tokenizer=tokenizer)
    reports: list[Report] = []
    with Progress(1 + len(candidates) * (1 + len(chosen) + intervals)) as progress:
        progress.step(f"reading {references.name}")
        table = read_references(references)
        for name, file in zip(system_names(candidates), candidates, strict=True):
            progress.step(f"reading {file.name}")
            captions = load(file, table, subset=subset)
            report = evaluate(captions, chosen, system=name, on_step=progress.step)
            if intervals:
                progress.step(f"{name}: intervals")
                for result in report.values():
                    result.confidence_interval()
            reports.append(report)
    _print(reports, intervals=intervals, format_=format_, output=output)
    if per_caption is not None:
        write_captions(per_caption, reports)
    warn([warning for report in reports for warning in report.warnings])
    if format_ == "table" and output is None and len(reports) == 2:
        click.echo(f"Is the difference real? captious compare {' '.join(str(file) for file in files)}", err=True)


def _print(reports: list[Report], *, intervals: bool, format_: str, output: Path | None) -> None:
    if format_ == "table":
        from captious.report.tables import as_text, report_table

        table = report_table(reports, intervals=intervals)
        if output is None:
            print_table(table)
        else:
            write_text(output, as_text(table))
        return
    text = (reports_json if format_ == "json" else reports_csv)(reports, intervals=intervals)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_text(output, text)
