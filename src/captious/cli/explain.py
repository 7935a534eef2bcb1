"""captious explain: show why a caption got its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Unpack

import click

from captious.cli.inputs import Reading, SystemFile, shared
from captious.cli.library_options import option
from captious.cli.options import SectionedCommand, complete_metrics
from captious.cli.outputs import format_option, print_folded, warn, written
from captious.data import CaptionFile, read_captions
from captious.data.formats import CAPTION_FORMATS, is_stream
from captious.data.matching import MatchOptions
from captious.errors import ParameterError
from captious.evaluation import Explanation, evaluate
from captious.evaluation.explanations import explainable, explained_caption
from captious.metrics.chair import Chair
from captious.metrics.contract.settings import Settings
from captious.tables import document_text
from captious.version import __version__


@click.command(cls=SectionedCommand)
@click.argument("metric", shell_complete=complete_metrics)
@click.argument("candidate")
@click.argument("references", nargs=-1, metavar="REFERENCE...")
@option("image", metavar="ID")
@option("worst")
@format_option("text", "json")
@option("svg")
@written("svg")
@shared("reading", "match", "ids", "clean", "settings")
def explain(
    metric: str,
    candidate: str,
    references: tuple[str, ...],
    settings: Settings,
    format_: str,
    reading: Reading,
    image: str | None = None,
    worst: int | None = None,
    svg: Path | None = None,
    **matching: Any,
) -> None:
    """Show how METRIC compares a CANDIDATE with its REFERENCEs. METRIC is bleu, chair, cider, cider-d, cider-r,
    concur, coverage, meteor, rouge-l, spice or wmd, with an optional variant and parameters, such as meteor@paper.

    With --image or --worst, the captions come from a file of candidates and one of references, as for 'captious score';
    CIDEr then uses the document frequencies of all references.

    For METEOR, aligned words are marked with the number of their chunk and the kind of match. For SPICE, the output
    lists the tuples of the captions, and the words by which they match. For WMD, it lists the moves of the transport
    plan, one per line, with their share of the caption and their distance. For concur, it lists the words of the
    candidate with their contributions to the similarity with the references. For CHAIR, it marks the words that name
    objects; the objects in the image are those named in the references and, with --image, those of --objects. For BLEU,
    it lists the n-grams that match, for CIDEr the contribution of each n-gram to the score, for ROUGE-L the longest
    common subsequences. For coverage, it shows how well each sentence matches those of the references.

    Args:
        image: explain the caption of this image in a file of candidates, with its references in the second file. For
            chair with --objects: the image of a quoted caption.
        worst: explain the N worst captions in a file of candidates.
        svg: for spice: draw the scene graphs to a .svg, .png or .pdf file; matches are filled.
    """
    selection = explainable(metric, settings)
    selected_metric = selection[0].metric
    if svg is not None and selected_metric.explanation != "scene":
        raise ParameterError(f"--svg cannot draw {metric}", hint="remove --svg, or explain spice")
    has_objects = isinstance(selected_metric, Chair) and len(selected_metric.objects) > 0
    if worst is not None or (image is not None and (not has_objects or _is_file(candidate))):
        if svg is not None and worst not in (None, 1):
            raise ParameterError("--svg draws one caption", hint="give --image ID, or --worst 1")
        _check_files(metric, candidate, references, reading)
        files = reading.pair(SystemFile.of(candidate), Path(references[0]) if references else None)
        explained = _of_file(*files, metric, image, worst, settings, **matching)
    elif reading != Reading() or (matching["match"], matching["ids"]) != ("all", "exact") or matching["clean"]:
        raise ParameterError(
            "--from, --columns, --split, --match, --ids and --clean are for files",
            hint="leave them out, or give --image ID or --worst N",
        )
    else:
        _check_quoted(candidate, references, image, has_objects=has_objects)
        explained = [explained_caption(selection, candidate, references, image)]
    if svg is not None:
        from captious.report.plots import write_scenes

        write_scenes(svg, explained[0].explanation)
    if format_ == "json":
        _print_json(explained)
    else:
        _print(explained)
    if selected_metric.explanation == "scene":
        warn(
            selected_metric.warnings(read_captions({0: explained[0].candidate}, {0: [*explained[0].references]}), None)
        )
    if svg is not None:
        click.echo(f"drawn: {svg}", err=True)


def _of_file(
    candidates: Path | CaptionFile,
    references: Path | CaptionFile,
    metric: str,
    image: str | None,
    worst: int | None,
    settings: Settings,
    **reading: Unpack[MatchOptions],
) -> list[Explanation]:
    """Return the explanation of the image, or those of the worst captions, the worst first."""
    if image is not None and worst is not None:
        raise ParameterError("--image and --worst exclude each other", hint="give one of them")
    captions = read_captions(candidates, references, **reading)
    selection = explainable(metric, settings)
    chair = selection[0].metric
    if isinstance(chair, Chair) and not len(chair.objects):
        offsets, texts = captions.references.offsets.tolist(), captions.references.texts
        bounds = zip(captions.ids, pairwise(offsets), strict=True)
        named = chair.objects_of([{image: texts[start:end] for image, (start, end) in bounds}])
        selection = explainable(metric, replace(selection.settings, objects=named))
    report = evaluate(captions, selection, system=str(candidates))
    output = report.metrics[-1]
    return [report.explain(output, one) for one in (report.worst(output, worst or 1) if image is None else [image])]


def _check_quoted(candidate: str, references: Sequence[str], image: str | None, *, has_objects: bool) -> None:
    """Refuse arguments that are not quoted captions."""
    if image is None and has_objects:
        raise ParameterError("the objects of which image are meant?", hint="give --image ID, or leave --objects out")
    if not references and image is None:
        raise click.MissingParameter(param_hint="'REFERENCE...'", param_type="argument")
    if files := [text for text in (candidate, *references) if _is_file(text)]:
        raise ParameterError(
            f"{files[0]} is not a caption",
            hint="quote a caption and its references, or say which captions of the files: --image ID or --worst N",
        )


def _is_file(text: str) -> bool:
    return text.removesuffix(".gz").endswith(tuple(CAPTION_FORMATS)) or is_stream(text)


def _check_files(metric: str, candidates: str, references: Sequence[str], reading: Reading) -> None:
    """Refuse arguments other than a file of candidates and one of references, or a log."""
    if (len(references) != 1 and not (reading.layout and not references)) or not _is_file(candidates):
        raise ParameterError(
            "--image and --worst need a file of candidates and a file of references",
            hint=f"captious explain {metric} --image ID CANDIDATES.json REFERENCES.json; quoted captions "
            "have an image only for chair, with --objects FILE",
        )


def _print_json(explained: Sequence[Explanation]) -> None:
    first = explained[0]
    about = {"version": __version__, "signature": first.signature}
    values = {"images": [one.to_dict() for one in explained]} if first.label else first.to_dict()
    click.echo(document_text({**about, **values}), nl=False)


def _print(explained: Sequence[Explanation]) -> None:
    from rich.console import Group
    from rich.padding import Padding

    print_folded(Group(*(Padding(one.picture(), (int(place > 0), 0, 0, 0)) for place, one in enumerate(explained))))
