"""captious explain: show why a caption got its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from captious.cli.fit import with_objects
from captious.cli.library_options import FILE
from captious.cli.options import settings_options
from captious.cli.outputs import format_option, warn, written
from captious.data import load
from captious.errors import ParameterError
from captious.learned.caption_agreement import Captious
from captious.metrics.chair import Chair
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.request import select_one
from captious.metrics.contract.settings import Settings
from captious.metrics.meteor import Meteor
from captious.metrics.spice import Spice
from captious.metrics.wmd import Wmd
from captious.table import document_text
from captious.version import __version__

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["explain"]

_EXPLAINED = (Captious, Chair, Meteor, Spice, Wmd)
_NARROWEST = 24  # columns; on a terminal with less, lines run over


@click.command()
@click.argument("metric")
@click.argument("candidate")
@click.argument("references", nargs=-1, metavar="REFERENCE...")
@format_option("text", "json")
@click.option(
    "--svg",
    type=FILE,
    metavar="FILE",
    help="For spice: draw the scene graphs to a .svg, .png or .pdf file; matches are filled.",
)
@click.option("--image", metavar="ID", help="For chair with --objects: the image of the caption.")
@written("svg")
@settings_options
def explain(
    metric: str,
    candidate: str,
    references: tuple[str, ...],
    settings: Settings,
    format_: str,
    svg: Path | None,
    image: str | None,
) -> None:
    """Show how METRIC compares a CANDIDATE with its REFERENCEs. METRIC is captious, chair, meteor, spice or wmd, with
    an optional variant and parameters, such as meteor@paper.

    For METEOR, aligned words are marked with the number of their chunk and the kind of match. For SPICE, the output
    lists the tuples of the captions, and the words through which they match. For WMD, it lists the moves of the
    transport plan, one per line, with their share of the caption and their distance. For captious, it lists the words
    of the candidate with what they add to its similarity to the references. For CHAIR, it marks the words that name
    objects; the objects in the image are those that the references name and, with --image, those of --objects.
    """
    chosen = select_one(metric, with_objects(metric, settings))
    if not isinstance(chosen, _EXPLAINED):
        raise ParameterError(f"{metric} cannot be explained yet", help="supported: captious, chair, meteor, spice, wmd")
    if image is not None and not (isinstance(chosen, Chair) and len(chosen.objects)):
        raise ParameterError("--image needs the objects of images", help="explain chair, and give --objects FILE")
    if image is None and isinstance(chosen, Chair) and len(chosen.objects):
        raise ParameterError("the objects of which image are meant?", help="give --image ID, or leave --objects out")
    if not references and image is None:
        raise click.MissingParameter(param_hint="'REFERENCE...'", param_type="argument")
    if files := [text for text in (candidate, *references) if text.endswith((".json", ".jsonl", ".csv"))]:
        raise ParameterError(f"{files[0]} is not a caption", help="explain takes quoted captions, not files")
    if svg is not None and not isinstance(chosen, Spice):
        raise ParameterError(f"--svg cannot draw {metric}", help="remove --svg, or explain spice")
    explanations = _explanations(chosen, candidate, references, image)
    if svg is not None:
        from captious.report.scene_drawing import write_scenes

        write_scenes(svg, explanations[0])
    if format_ == "json":
        values = asdict(explanations[0])
        if isinstance(chosen, Meteor | Wmd):
            best = _best(explanations)
            values = {"score": explanations[best].score, "best": best, "references": [*map(asdict, explanations)]}
        document = {"version": __version__, "signature": chosen.signatures()[0], **values}
        click.echo(document_text(document), nl=False)
    else:
        _print(_picture(chosen, explanations))
    if isinstance(chosen, Spice):
        warn(chosen.warnings(load({0: candidate}, {0: list(references)}), None))
    if svg is not None:
        click.echo(f"drawn: {svg}", err=True)


def _explanations(metric: Metric, candidate: str, references: Sequence[str], image: str | None) -> Sequence[Any]:
    """What METEOR and WMD say about the candidate and each reference, and others about all references together."""
    match metric:
        case Meteor():
            return [metric.align(candidate, reference) for reference in references]
        case Wmd():
            return [metric.transport(candidate, reference) for reference in references]
        case Chair():
            objects = metric.objects_in(references)
            return [metric.explain(candidate, objects if image is None else objects | metric.objects_at(image))]
        case Captious() | Spice():
            return [metric.explain(candidate, references)]
    raise TypeError(metric)


def _best(explanations: Sequence[Any]) -> int:
    """The position of the explanation with the highest score, the first one in a tie."""
    return max(range(len(explanations)), key=lambda i: (explanations[i].score, -i))


def _picture(metric: Metric, explanations: Sequence[Any]) -> RenderableType:
    from rich.console import Group

    from captious.report.alignment_text import AlignmentPicture
    from captious.report.scene_text import scene_text
    from captious.report.word_texts import agreement_text, mentions_text, transport_legend, transport_text

    if isinstance(metric, Meteor | Wmd):
        show: Any = AlignmentPicture if isinstance(metric, Meteor) else transport_text
        legend: Any = AlignmentPicture.legend if isinstance(metric, Meteor) else transport_legend
        best = _best(explanations) if len(explanations) > 1 else None
        pictures = [(show(explanation, best=i == best), "") for i, explanation in enumerate(explanations)]
        return Group(*chain(*pictures), legend(explanations))
    (explanation,) = explanations
    if isinstance(metric, Spice):
        return scene_text(explanation)
    return mentions_text(explanation) if isinstance(metric, Chair) else agreement_text(explanation)


def _print(picture: RenderableType) -> None:
    from rich.console import Console

    from captious.report.terminal import as_text

    terminal = Console()
    fold = {"width": max(terminal.width, _NARROWEST)} if terminal.is_terminal else {}  # in a file, lines stay whole
    click.echo(as_text(picture, color=terminal.is_terminal, **fold).rstrip("\n"))
