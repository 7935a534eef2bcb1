"""captious compare: test the differences between systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from captious.cli.inputs import Systems, shared, system_files
from captious.cli.library_options import option
from captious.cli.options import SectionedCommand
from captious.cli.outputs import Destination, output_options, warn
from captious.evaluation import by_group
from captious.evaluation import compare as compare_systems
from captious.metrics.contract.settings import Settings


@click.command(cls=SectionedCommand)
@option("examples", show_default=False)
@shared("group_by")
@output_options()
@shared("metrics", "settings", "several", "match", "ids", "clean", "resamples", "seed")
@system_files(least=2, metavar="A B... REFERENCES", optional=True)
def compare(
    systems: Systems,
    settings: Settings,
    group_by: str | None,
    destination: Destination,
    examples: int = 0,
    **options: Any,
) -> None:
    """Compare the captions of systems A and B: difference B - A, interval, effect size, p values.

    The interval and the first p value come from the paired bootstrap, the second p value from approximate
    randomization.

    More than two systems are compared in pairs: p values are then corrected for the number of pairs and metrics (Holm),
    and letters after each score stand for the systems that are significantly worse.

    Metrics that need no references are compared without REFERENCES, with --no-references.

    NAME=FILE names a system; by default, its name is the part of the path that differs. With --from, files may be logs
    with references of their own; those of the first are used.

    Args:
        examples: show the N images on which two systems differ most.
    """
    if examples and destination.format in ("csv", "tex", "xlsx"):
        raise click.UsageError(
            f"--examples needs --format table, json, md or html; {destination.format} cannot contain them"
        )
    if len(systems.sources) > 2 and (examples or group_by):
        given = "--examples" if examples else "--group-by"
        instead = "" if examples else ", or show the groups of all of them with captious score --group-by"
        raise click.UsageError(f"{given} compares two systems, not more: compare two of them{instead}")
    rows, table = systems.read(several=bool(options["several"]))
    named: Mapping[str, Any] = rows
    groups = systems.groups(group_by, table, settings)
    comparison = compare_systems(named, table, settings=settings, **options)
    result = comparison if groups is None else by_group(comparison, groups)
    destination.deliver(result.to_table(examples=examples))
    warn(result.warnings, said="grammar")
