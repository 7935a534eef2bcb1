"""captious metrics: list the metrics, or describe one with its variants and parameters."""

from __future__ import annotations

import json
import math
from typing import Any

import click

from captious.cli.options import complete_metrics
from captious.cli.outputs import format_option, print_folded
from captious.errors import CaptiousError, shown
from captious.metrics.contract.registry import TOOLKIT_NAMES, Request, get, metric_names
from captious.metrics.contract.selection import availability, info_of_request
from captious.version import __version__

_STATES = {"no model": "no model", "missing": "no", "broken": "no"}
_WIDE = 120  # columns of a terminal that has room for all columns of the table
_DIRECTIONS = {"higher": "", "lower": "lower is better", "neither": "neither direction is better"}


@click.command()
@click.argument("metric", required=False, shell_complete=complete_metrics)
@format_option("table", "json")
def metrics(metric: str | None, format_: str) -> None:
    """List the metrics, their outputs and variants, their requirements, and whether they are available here.

    With METRIC, describe that metric and its parameters. The first variant is the default; select another with
    METRIC@VARIANT, and set a parameter with METRIC:PARAMETER=VALUE (several are separated by commas).
    """
    described = [
        _described(name) for name in (metric_names() if metric is None else [Request.from_text(metric).metric])
    ]
    if format_ == "json":
        click.echo(json.dumps({"version": __version__, "metrics": described}, indent=2))
    elif metric is None:
        _list(described)
    else:
        _describe(described[0])


def _describe(metric: dict[str, Any]) -> None:
    """Show everything that a metric declares."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    facts = Table.grid(padding=(0, 2, 0, 0))
    notes = {name: _DIRECTIONS[direction] for name, direction in metric["direction"].items()}
    toolkit = {name: f"{toolkit_name} in the COCO toolkit" for name, toolkit_name in metric["toolkit"].items()}
    rows = [
        ("outputs", name, "; ".join(filter(None, (toolkit.get(name), notes.get(name))))) for name in metric["outputs"]
    ]
    rows += [("variants", f"@{name}", line) for name, line in metric["variants"].items()]
    for parameter in metric["parameters"]:
        text = f"{parameter['meaning']}: {parameter['values']}" if parameter["values"] else parameter["meaning"]
        rows.append(("parameters", f"{parameter['name']}={parameter['default']}", text))
    heading = ""
    for title, name, line in rows:
        facts.add_row(*map(Text, (title if title != heading else "", name, line)))
        heading = title
    runs = "" if metric["runs"] else f"\nDoes not run here ({metric['state']}): {metric['install']}"
    print_folded(Group(Text(f"{metric['name']}: {metric['summary']}{runs}\n"), facts))


def _list(described: list[dict[str, Any]]) -> None:
    """Show all metrics, one row each; on narrow terminals without what they need."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = Console()
    is_narrow = terminal.is_terminal and terminal.width < _WIDE
    table = Table(box=None, header_style="", padding=(0, 2, 0, 0))
    for metric in described:
        bounds = " to ".join("any" if end is None else f"{end:.3g}" for end in metric["range"])
        install = f": {metric['install']}" if metric["install"] and not is_narrow else ""
        row = {
            "metric": metric["name"],
            "range": bounds,
            "better": "/".join(dict.fromkeys(metric["direction"].values())),
            "needs": ", ".join(metric["needs"]),
            "language": ", ".join(metric["languages"] or ["any"]),
            "runs here": "yes" if metric["runs"] else f"{_STATES[metric['state']]}{install}",
            "what it is": metric["summary"],
        }
        names = [name for name in row if not (is_narrow and name in ("needs", "language"))]
        if not table.columns:
            for name in names:
                table.add_column(name, overflow="fold", no_wrap=name in ("metric", "range", "better"))
        table.add_row(*(Text(row[name]) for name in names))
    print_folded(table)


def _described(name: str) -> dict[str, Any]:
    """Return the JSON record of a metric; for a broken one of another package, only the reason."""
    info = info_of_request(Request(name))
    about: dict[str, Any] = {
        "name": name,
        "outputs": [*info.outputs],
        "range": [],
        "direction": {
            output: "neither" if is_lower is None else "lower" if is_lower else "higher"
            for output, is_lower in info.lower_is_better.items()
        },
        "needs": [*info.needs],
        "languages": info.languages and [*info.languages],
    }
    try:
        metric = get(name)
    except CaptiousError as error:
        lists: dict[str, Any] = {"toolkit": {}, "variants": {}, "parameters": [], "summary": ""}
        return {**about, **lists, "runs": False, "state": "broken", "install": shown(error.message, "command line")}
    readiness = availability(name)
    return {
        **about,
        "range": [end if math.isfinite(end) else None for end in metric.bounds],
        "toolkit": {output: TOOLKIT_NAMES[output] for output in metric.outputs if output in TOOLKIT_NAMES},
        "variants": dict(metric.variants),
        "parameters": [
            {
                "name": parameter,
                "default": declaration.to_text(declaration.default),
                "values": declaration.values,
                "meaning": declaration.summary,
            }
            for parameter, declaration in metric.declared.items()
            if parameter != "variant"
        ],
        "summary": metric.summary,
        "runs": readiness.runs,
        "state": readiness.state,
        "install": shown(readiness.help, "command line") or None,
    }
