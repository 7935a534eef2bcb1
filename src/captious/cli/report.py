"""captious report: write the scores and captions of systems as one HTML file."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.grouping import group_option, groups_of
from captious.cli.options import (
    metric_option,
    resampling_options,
    settings_options,
    subset_option,
    system_names,
)
from captious.cli.outputs import takes_anything, warn, written
from captious.data import load, read_references, same_images
from captious.errors import ParameterError
from captious.evaluation import Report, evaluate
from captious.evaluation.caption_warnings import few_images
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious.progress import steps
from captious.report.image_urls import ImageUrls

__all__ = ["report"]


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SYSTEM... REFERENCES")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE.html",
    help="The page, written atomically.",
)
@click.option("--title", default="", help="Title of the page. Default: the names of the systems.")
@click.option(
    "--image-url",
    metavar="TEMPLATE",
    help="Where the page finds images: an address such as https://images.example.org/{id:012d}.jpg, or a path relative "
    "to the page, such as images/{id}.jpg. Default: no images.",
)
@click.option(
    "--explain",
    type=click.IntRange(min=0),
    metavar="N",
    help="Put alignments, scene graphs and transport plans of only N images into the page: those with the largest "
    "differences between systems, or the worst scores of one system. Default: all images.",
)
@group_option
@written("output")
@metric_option
@subset_option
@settings_options
@resampling_options
def report(
    files: tuple[Path, ...],
    metrics: list[str] | None,
    settings: Settings,
    subset: bool,
    output: Path,
    title: str,
    image_url: str | None,
    explain: int | None,
    group_by: str | None,
    resamples: int,
    seed: int,
) -> None:
    """Write a page about one or more systems: scores with intervals, tests between systems, distributions, and every
    caption with its scores and explanations.

    Each SYSTEM is a results file; REFERENCES, the last file, holds the human captions. The page is one HTML file that
    opens in a browser without a server or a network.
    """
    if len(files) < 2:
        raise ParameterError(
            "no candidates given", help="give at least one file of candidates, followed by the file of references"
        )
    if output.suffix.lower() not in (".html", ".htm") and not takes_anything(output):
        raise ParameterError(
            f"{output.name} is not the name of a page", where=str(output), help=f"name it {output.stem}.html"
        )
    *candidates, references = files
    names = system_names(candidates)
    urls = None if image_url is None else ImageUrls(image_url)
    selection = select(metrics, settings)
    table = read_references(references)
    groups = groups_of(group_by, [references, *candidates], table, settings)
    tables = [load(file, table, subset=subset) for file in candidates]
    if urls is not None:
        urls.check(tables[0].ids)
    different = next(
        (name for name, each in zip(names, tables, strict=True) if not same_images(each.ids, tables[0].ids)), None
    )
    if different is not None:
        raise ParameterError(
            f"{names[0]} and {different} do not have captions of the same images",
            help="a report shows systems on the same images; remove the others from both files",
        )
    reports: list[Report] = []
    with steps([*zip(names, tables, strict=True)], lambda system: f"scoring {system[0]}") as systems:
        for name, captions in systems:
            reports.append(evaluate(captions, selection, system=name))
    from captious.report.write_report import write_report

    write_report(
        output,
        reports,
        title=title,
        image_url=image_url,
        explain=explain,
        groups=groups,
        resamples=resamples,
        seed=seed,
    )
    warn([warning for each in reports for warning in each.warnings] + few_images(reports[0].n_images))
