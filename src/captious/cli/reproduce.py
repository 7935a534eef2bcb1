"""captious reproduce: the tables of papers, ours beside the published figures."""

from __future__ import annotations

from pathlib import Path

import click

from captious.cli.options import data_option, resampling_options, settings_options
from captious.cli.outputs import deliver_result, output_options
from captious.errors import ParameterError
from captious.judgment.papers import paper_names
from captious.judgment.reproduction import reproduce as reproduce_tables
from captious.judgment.reproduction_result import PaperIndex
from captious.metrics.contract.settings import Settings
from captious.report.formats import FORMATS
from captious.report.presentation import Presentation

_LIST = "list"


@click.command()
@click.argument("paper")
@click.argument("table", required=False)
@output_options(*FORMATS, pictures=True, presentation=("names",))
@settings_options
@data_option
@resampling_options
def reproduce(
    paper: str,
    table: str | None,
    settings: Settings,
    data: Path | None,
    resamples: int,
    seed: int,
    format_: str,
    output: Path | None,
    plot: Path | None,
    presentation: Presentation,
) -> None:
    """Compute the tables of a paper on metrics, and compare every figure with the published one.

    PAPER is lceval, wembsim, leic, yi2020, smurf, coco, or one that another package brings; TABLE one of its tables, by
    default all. 'captious reproduce list' shows all tables and figures, and what each needs; 'captious reproduce list
    PAPER' those of one paper. What an absent file, model or vector prevents is named in its place.
    """
    if paper == _LIST:
        deliver_result(PaperIndex([paper_names.get(table)] if table else None), format_, output, plot, presentation)
        return
    if table == _LIST:
        raise ParameterError("a paper has no table 'list'", help=f"captious reproduce list {paper}")
    result = reproduce_tables(paper, table, data=data, settings=settings, resamples=resamples, seed=seed)
    deliver_result(result, format_, output, plot, presentation)
