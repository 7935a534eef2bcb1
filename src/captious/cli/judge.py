"""captious judge: agreement of metrics with human judgments, with intervals and tests of differences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from captious.cli.inputs import shared
from captious.cli.library_options import FILE, option_of
from captious.cli.options import SectionedCommand, repeated_command
from captious.cli.outputs import PRESENTATION, Destination, output_options
from captious.drawing import single_line
from captious.judgment import judge as judge_metrics
from captious.judgment.benchmarks.names import names


def _complete_benchmarks(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    found = [CompletionItem(name) for name in (*names(), "all") if name.startswith(incomplete.lower())]
    return found or [CompletionItem(incomplete, type="file")]


@click.command(cls=SectionedCommand)
@click.argument("benchmarks", nargs=-1, required=True, metavar="BENCHMARK...", shell_complete=_complete_benchmarks)
@option_of(judge_metrics, "scores", FILE, multiple=True)
@option_of(judge_metrics, "compare")
@option_of(judge_metrics, "test")
@output_options(pictures=True)
@shared("metrics", "settings", "data", "resamples", "seed")
def judge(
    benchmarks: tuple[str, ...],
    metrics: list[str] | None,
    scores: tuple[Path, ...],
    compare: bool,
    destination: Destination,
    **options: Any,
) -> None:
    """Measure how well metrics agree with human judgments: correlation with ratings, or accuracy on pairs.

    BENCHMARK is a name that 'captious data list' shows, such as composite; a name with a protocol, such as
    flickr8k-expert@yi2020; or a .jsonl file of your own judgments, with {"candidate", "references", "rating"} or
    {"better", "worse", "references"} on every line. The file name may be followed by a statistic for ratings:
    mine.jsonl@kendall-tau-b, kendall-tau-c (the default), spearman or pearson; or, with "system" on every line, by one
    that compares systems, such as mine.jsonl@system-pearson. 'all' selects every benchmark whose files are in the
    folder of judgments.
    """
    judgment = judge_metrics(benchmarks, metrics, scores=scores or None, compare=compare, **options)
    destination.deliver_result(judgment)
    several = any(len(result.agreements) > 1 for result in judgment.values())
    if destination.is_for_reading and several and not compare:
        command = repeated_command("captious judge", "--compare", without=("format_", "plot", *PRESENTATION))
        click.echo(f"Are the differences real? {single_line(command)}", err=True)
