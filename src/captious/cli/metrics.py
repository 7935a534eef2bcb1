"""captious metrics: list the metrics, or describe one with its variants and parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from captious.cli.options import complete_metrics
from captious.cli.outputs import format_option, print_table
from captious.errors import CaptiousError, shown
from captious.metrics.contract.registry import TOOLKIT_NAMES, Request, get, metric_names
from captious.metrics.contract.selection import availability
from captious.version import __version__

_STATES = {"no model": "no model", "missing": "no", "broken": "no"}
_WIDEST = 60  # columns; what is longer is folded


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
    notes = dict.fromkeys(metric["lower_is_better"], "lower is better")
    notes |= dict.fromkeys(metric["no_direction"], "neither direction is better")
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
    print_table(Group(Text(f"{metric['name']}: {metric['summary']}{runs}\n"), facts))


def _list(described: list[dict[str, Any]]) -> None:
    """Show all metrics, a few lines each."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="", padding=(0, 2, 0, 0))
    for head in ("metric", "in the toolkit", "variants", "runs here", "what it is"):
        table.add_column(head, overflow="fold", max_width=_WIDEST if head == "runs here" else None)
    for metric in described:
        outputs = metric["outputs"]
        title = f"{metric['name']}\n  {outputs[0]} .. {outputs[-1]}" if len(outputs) > 1 else metric["name"]
        runs = "yes" if metric["runs"] else f"{_STATES[metric['state']]}: {metric['install']}"
        toolkit = _toolkit_names(metric["toolkit"])
        table.add_row(*map(Text, (title, toolkit, "\n".join(metric["variants"]), runs, metric["summary"])))
    print_table(table)


def _toolkit_names(names: Mapping[str, str]) -> str:
    """Return the COCO toolkit's names for the outputs of a metric: the first and the last."""
    toolkit_names = [*names.values()]
    return " .. ".join(dict.fromkeys((toolkit_names[0], toolkit_names[-1]))) if toolkit_names else ""


def _described(name: str) -> dict[str, Any]:
    """Return the JSON record of a metric; for a broken one of another package, only the reason."""
    try:
        metric = get(name)
    except CaptiousError as error:
        lists: dict[str, Any] = {"outputs": [], "lower_is_better": [], "no_direction": []}
        lists |= {"toolkit": {}, "variants": {}, "parameters": [], "summary": ""}
        return {
            "name": name,
            **lists,
            "runs": False,
            "state": "broken",
            "install": shown(error.message, "command line"),
        }
    readiness = availability(name)
    return {
        "name": name,
        "outputs": list(metric.outputs),
        "lower_is_better": [output for output in metric.outputs if output in metric.lower_is_better],
        "no_direction": [output for output in metric.outputs if output in metric.no_direction],
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
