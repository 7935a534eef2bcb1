"""captious report: write the scores and captions of systems as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from captious.cli.inputs import Systems, shared, system_files
from captious.cli.library_options import option_of
from captious.cli.options import SectionedCommand, output_file
from captious.cli.outputs import warn, write_text
from captious.data.matching import on_shared_images
from captious.evaluation.checks import few_images_warning
from captious.evaluation.scoring import evaluate_systems, read_systems
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious.report.images import image_source
from captious.report.page import check_page, report_page, write_report


@click.command(cls=SectionedCommand)
@output_file(metavar="FILE.html", help="The page, written atomically.")
@option_of(write_report, "title")
@option_of(write_report, "image_url", metavar="TEMPLATE_OR_FOLDER")
@option_of(write_report, "explain", click.IntRange(min=0))
@option_of(write_report, "percent")
@option_of(write_report, "naming")
@shared("group_by", "metrics", "settings", "match", "ids", "clean", "resamples", "seed")
@system_files()
def report(
    systems: Systems,
    metrics: list[str] | None,
    settings: Settings,
    output: Path,
    image_url: str | None,
    group_by: str | None,
    **options: Any,
) -> None:
    """Write a page about one or more systems: scores with intervals, tests between systems, distributions, and every
    caption with its scores and explanations.

    Each SYSTEM is a results file; REFERENCES, the last file, holds the human captions. The page is one HTML file that
    opens in a browser without a server or a network.
    """
    check_page(output)
    urls = None if image_url is None else image_source(image_url, output.parent)
    selection = select(metrics, settings)
    rows, table = systems.read()
    groups = systems.groups(group_by, table, settings)
    matching = {name: options.pop(name) for name in ("match", "ids", "clean")}
    tables = read_systems(rows, table, **matching)
    if matching["match"] == "common":
        tables = on_shared_images(tables)
    images = next(iter(tables.values())).ids
    if urls is not None:
        urls.check(images)
    reports = evaluate_systems(tables, selection, announce=warn)
    page = report_page(
        reports, image_url=image_url, groups=groups, folder=output.parent, front="command line", **options
    )
    write_text(output, page)
    warn(reports.warnings + few_images_warning(len(images)))
