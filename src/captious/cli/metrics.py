"""captious metrics: list the metrics and their variants, and whether they can run here."""

from __future__ import annotations

import json
from typing import Any

import click

from captious.cli.outputs import format_option, print_table
from captious.errors import CaptiousError
from captious.metrics.contract.catalogue import get, names
from captious.version import __version__

__all__ = ["metrics"]

_WIDEST = 60  # columns; what is longer is folded


@click.command()
@format_option("table", "json")
def metrics(format_: str) -> None:
    """List the metrics, their outputs and variants, what they need, and whether they can run here.

    The first variant is the default; select another with METRIC@VARIANT.
    """
    described = [_described(name) for name in names()]
    if format_ == "json":
        click.echo(json.dumps({"version": __version__, "metrics": described}, indent=2))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="", padding=(0, 2, 0, 0))
    for head in ("metric", "variants", "runs here", "what it is"):
        table.add_column(head, overflow="fold", max_width=_WIDEST if head == "runs here" else None)
    for metric in described:
        outputs = metric["outputs"]
        title = f"{metric['name']}\n  {outputs[0]} .. {outputs[-1]}" if len(outputs) > 1 else metric["name"]
        runs = "yes" if metric["runs"] else f"no: {metric['install']}"
        table.add_row(*map(Text, (title, "\n".join(metric["variants"]), runs, metric["summary"])))
    print_table(table)


def _described(name: str) -> dict[str, Any]:
    """What json says about a metric; of one of another package that is broken, only why it cannot run."""
    try:
        metric = get(name)
    except CaptiousError as error:
        lists: dict[str, Any] = {"outputs": [], "lower_is_better": [], "no_direction": []}
        return {"name": name, **lists, "variants": {}, "summary": "", "runs": False, "install": error.message}
    try:
        missing = metric.missing()
    except CaptiousError as error:  # what it needs is there, but damaged
        missing = error.message
    return {
        "name": name,
        "outputs": list(metric.outputs),
        "lower_is_better": [output for output in metric.outputs if output in metric.lower_is_better],
        "no_direction": [output for output in metric.outputs if output in metric.no_direction],
        "variants": dict(metric.variants),
        "summary": metric.summary,
        "runs": missing is None,
        "install": missing,
    }
