"""captious metrics: what exists, in which variants, and whether it can run here."""

from __future__ import annotations

import json

import click

from captious.cli.options import print_table
from captious.metrics.registry import get, names
from captious.version import __version__

__all__ = ["metrics"]


@click.command()
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="What to print.",
)
def metrics(format_: str) -> None:
    """List the metrics, their outputs and variants, what they need, and whether they can run here.

    The first variant is the default; another is asked for as METRIC@VARIANT.
    """
    found = [
        {
            "name": name,
            "outputs": list(get(name).outputs),
            "variants": dict(get(name).variants),
            "summary": get(name).summary,
            "runs": get(name).missing() is None,
            "install": get(name).missing(),
        }
        for name in names()
    ]
    if format_ == "json":
        click.echo(json.dumps({"version": __version__, "metrics": found}, indent=2))
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="", padding=(0, 2, 0, 0))
    for head in ("metric", "variants", "runs here", "what it is"):
        table.add_column(head, overflow="fold")
    for name in names():
        metric = get(name)
        several = metric.outputs != (name,)
        title = f"{name}\n  {metric.outputs[0]} .. {metric.outputs[-1]}" if several else name
        missing = metric.missing()
        runs = "yes" if missing is None else f"no: {missing}"
        table.add_row(*map(Text, (title, "\n".join(metric.variants), runs, metric.summary)))
    print_table(table)
