"""captious explain: show why a caption got its score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from captious.cli.options import settings_options
from captious.cli.outputs import format_option, warn, written
from captious.data import load
from captious.errors import ParameterError
from captious.learned.captious import Captious
from captious.metrics.chair import Chair
from captious.metrics.contract import registry
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.selection import select_one
from captious.metrics.contract.settings import Settings
from captious.metrics.contract.specification import Specification
from captious.metrics.meteor import Alignment, Meteor
from captious.metrics.shared.image_objects import ImageObjects
from captious.metrics.spice import Spice
from captious.metrics.wmd import Transport, Wmd
from captious.version import __version__

__all__ = ["explain"]

_NARROWEST = 24  # columns; on a terminal with less, lines run over


@click.command()
@click.argument("metric")
@click.argument("candidate")
@click.argument("references", nargs=-1, metavar="REFERENCE...")
@format_option("text", "json")
@click.option(
    "--svg",
    type=click.Path(path_type=Path),
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
    if settings.objects is None and registry.owner(Specification.from_text(metric).name) == Chair.name:
        settings = replace(settings, objects=ImageObjects({}))
    chosen = select_one(metric, settings)
    if not isinstance(chosen, Captious | Chair | Meteor | Spice | Wmd):
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
    if isinstance(chosen, Spice):
        _explain_spice(chosen, candidate, references, format_, svg)
    elif isinstance(chosen, Chair):
        _explain_mentions(chosen, candidate, references, image, format_)
    elif isinstance(chosen, Captious):
        _explain_words(chosen, candidate, references, format_)
    elif isinstance(chosen, Meteor):
        _explain_pairs(chosen, [chosen.align(candidate, reference) for reference in references], format_)
    else:
        _explain_pairs(chosen, [chosen.transport(candidate, reference) for reference in references], format_)


def _explain_pairs(metric: Metric, pairs: Sequence[Alignment | Transport], format_: str) -> None:
    """Show the candidate with each reference, the best of several marked."""
    best = max(range(len(pairs)), key=lambda i: (pairs[i].score, -i))
    if format_ == "json":
        _print_json(metric, {"score": pairs[best].score, "best": best, "references": [asdict(pair) for pair in pairs]})
        return
    from rich.console import Group

    from captious.report.alignment_text import AlignmentPicture
    from captious.report.word_texts import transport_legend, transport_text

    show: Any = AlignmentPicture if isinstance(metric, Meteor) else transport_text
    legend: Any = AlignmentPicture.legend if isinstance(metric, Meteor) else transport_legend
    parts = [part for i, pair in enumerate(pairs) for part in (show(pair, best=len(pairs) > 1 and i == best), "")]
    _print(Group(*parts, legend(pairs)))


def _explain_spice(metric: Spice, candidate: str, references: tuple[str, ...], format_: str, svg: Path | None) -> None:
    explanation = metric.explain(candidate, references)
    if svg is not None:
        from captious.report.scene_drawing import write_scenes

        write_scenes(svg, explanation)
    if format_ == "json":
        _print_json(metric, asdict(explanation))
    else:
        from captious.report.scene_text import scene_text

        _print(scene_text(explanation))
    warn(metric.warnings(load({0: candidate}, {0: list(references)}), None))
    if svg is not None:
        click.echo(f"drawn: {svg}", err=True)


def _explain_words(metric: Captious, candidate: str, references: tuple[str, ...], format_: str) -> None:
    agreement = metric.explain(candidate, references)
    if format_ == "json":
        _print_json(metric, asdict(agreement))
        return
    from captious.report.word_texts import agreement_text

    _print(agreement_text(agreement))


def _explain_mentions(
    metric: Chair, candidate: str, references: tuple[str, ...], image: str | None, format_: str
) -> None:
    objects = metric.objects_in(references)
    if image is not None:
        objects |= metric.objects_at(image)
    mentions = metric.explain(candidate, objects)
    if format_ == "json":
        _print_json(metric, asdict(mentions))
        return
    from captious.report.word_texts import mentions_text

    _print(mentions_text(mentions))


def _print(picture: Any) -> None:
    from rich.console import Console

    from captious.report.terminal import as_text

    terminal = Console()
    fold = {"width": max(terminal.width, _NARROWEST)} if terminal.is_terminal else {}  # in a file, lines stay whole
    click.echo(as_text(picture, color=terminal.is_terminal, **fold).rstrip("\n"))


def _print_json(metric: Metric, explanation: dict[str, Any]) -> None:
    document = {"version": __version__, "signature": metric.signatures()[0], **explanation}
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))
