"""captious reproduce: the tables of papers, computed and compared with the published figures."""

from __future__ import annotations

from typing import Any

import click

from captious.cli.inputs import shared
from captious.cli.outputs import Destination, output_options
from captious.errors import ParameterError
from captious.judgment.papers import paper as paper_names
from captious.judgment.reproduction.reproduce import PaperIndex
from captious.judgment.reproduction.reproduce import reproduce as reproduce_tables

_LIST = "list"


@click.command()
@click.argument("paper")
@click.argument("table", required=False)
@output_options(pictures=True, presentation=("naming",))
@shared("settings", "data", "seed")
def reproduce(
    paper: str,
    table: str | None,
    destination: Destination,
    **options: Any,
) -> None:
    """Compute the tables of a paper on metrics, and compare every figure with the published one.

    PAPER is lceval, wembsim, leic, yi2020, smurf, coco, or one from another package; TABLE one of its tables, by
    default all. 'captious reproduce list' shows all tables and figures with their requirements; 'captious reproduce
    list PAPER' those of one paper. Figures that need a missing file, model or vectors say so.
    """
    if paper == _LIST:
        destination.deliver_result(PaperIndex([paper_names.get(table)] if table else None))
        return
    if table == _LIST:
        raise ParameterError("a paper has no table 'list'", hint=f"captious reproduce list {paper}")
    destination.deliver_result(reproduce_tables(paper, table, **options))
