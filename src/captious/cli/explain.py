"""captious explain: why a caption got its score, as a picture."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeAlias

import click

from captious.cli.options import vectors_option
from captious.errors import ParameterError
from captious.evaluation import selections
from captious.metrics.base import Metric
from captious.metrics.meteor import Alignment, Meteor
from captious.metrics.wmd import Transport, Wmd
from captious.version import __version__

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["explain"]

#: What explaining a caption beside one reference gives.
Explained: TypeAlias = Alignment | Transport

_NARROWEST = 24  # columns; on a terminal with less, lines run over


@click.command()
@click.argument("metric")
@click.argument("candidate")
@click.argument("references", nargs=-1, required=True, metavar="REFERENCE...")
@click.option(
    "--tokenizer",
    type=click.Choice(["ptb", "ptb-raw", "whitespace"]),
    help="How captions become tokens. Default: ptb.",
)
@vectors_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What to print.",
)
def explain(
    metric: str,
    candidate: str,
    references: tuple[str, ...],
    tokenizer: str | None,
    vectors: str | None,
    format_: str,
) -> None:
    """Show what METRIC sees in a CANDIDATE beside its REFERENCEs. METRIC is meteor, wmd or a variant (meteor@paper).

    Under every word that METEOR has aligned stand the number of its chunk and a sign for how it matches. For WMD, every
    line is a move of the transport plan: which word goes to which, how much of the caption that is, and how far.
    """
    ((chosen),) = (selection.metric for selection in selections([metric], tokenizer=tokenizer, vectors=vectors))
    if not isinstance(chosen, Meteor | Wmd):
        raise ParameterError(f"{metric} cannot be explained yet", help="meteor and wmd can")
    if files := [text for text in (candidate, *references) if text.endswith((".json", ".jsonl", ".csv"))]:
        raise ParameterError(f"{files[0]} is no caption", help="explain takes captions, in quotes, not files")
    found = [_explained(chosen, candidate, reference) for reference in references]
    best = max(range(len(found)), key=lambda i: (found[i].score, -i))
    if format_ == "json":
        _print_json(chosen, found, best)
        return
    from rich.console import Console, Group

    from captious.report.tables import as_text

    pictures, legend = _pictures(found, best)
    parts = [part for picture in pictures for part in (picture, "")]
    terminal = Console()
    fold = {"width": max(terminal.width, _NARROWEST)} if terminal.is_terminal else {}  # in a file, lines stay whole
    click.echo(as_text(Group(*parts, legend), color=terminal.is_terminal, **fold).rstrip("\n"))


def _explained(metric: Meteor | Wmd, candidate: str, reference: str) -> Explained:
    if isinstance(metric, Meteor):
        return metric.align(candidate, reference)
    return metric.transport(candidate, reference)


def _pictures(found: list[Explained], best: int) -> tuple[list[RenderableType], RenderableType]:
    """A picture for every reference, and what their signs mean."""
    from captious.report.alignment import AlignmentPicture
    from captious.report.transport import TransportPicture

    alignments = [each for each in found if isinstance(each, Alignment)]
    transports = [each for each in found if isinstance(each, Transport)]
    several = len(found) > 1
    pictures: list[RenderableType] = [
        AlignmentPicture(each, best=several and i == best)
        if isinstance(each, Alignment)
        else TransportPicture(each, best=several and i == best)
        for i, each in enumerate(found)
    ]
    return pictures, AlignmentPicture.legend(alignments) if alignments else TransportPicture.legend(transports)


def _print_json(metric: Metric, found: list[Explained], best: int) -> None:
    described = {
        "version": __version__,
        "signature": metric.signatures()[0],
        "score": found[best].score,
        "best": best,
        "references": [asdict(each) for each in found],
    }
    click.echo(json.dumps(described, indent=2, ensure_ascii=False))
