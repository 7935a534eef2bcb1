"""captious explain: show why a caption got its score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from captious.cli.caption_files import part_options
from captious.cli.fit import with_objects
from captious.cli.library_options import COUNT, FILE
from captious.cli.options import settings_options, subset_option
from captious.cli.outputs import format_option, warn, written
from captious.data import Captions, read_captions
from captious.data.file_contents import EXTENSIONS, LINE_FORMATS
from captious.errors import ParameterError, UnknownImageError
from captious.evaluation import evaluate
from captious.metrics.chair import Chair
from captious.metrics.contract import catalogue
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.selection import select, select_one
from captious.metrics.contract.settings import Settings
from captious.report.explanations import explained_parts
from captious.table import document_text
from captious.version import __version__

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["explain"]

_NARROWEST = 24  # columns; on a terminal with less, lines run over


@dataclass(frozen=True)
class _Captions:
    """A candidate with its references, and what is known of them where they come from files."""

    candidate: str
    references: Sequence[str]
    image: object = None
    score: float | None = None
    label: str = ""
    state: State | None = None


@click.command()
@click.argument("metric")
@click.argument("candidate")
@click.argument("references", nargs=-1, metavar="REFERENCE...")
@click.option(
    "--image",
    metavar="ID",
    help="Explain the caption of this image in a file of candidates, with its references in the second file. For chair "
    "with --objects: the image of a quoted caption.",
)
@click.option("--worst", type=COUNT, metavar="N", help="Explain the N worst captions in a file of candidates.")
@format_option("text", "json")
@click.option(
    "--svg",
    type=FILE,
    metavar="FILE",
    help="For spice: draw the scene graphs to a .svg, .png or .pdf file; matches are filled.",
)
@written("svg")
@subset_option
@part_options
@settings_options
def explain(
    metric: str,
    candidate: str,
    references: tuple[str, ...],
    settings: Settings,
    format_: str,
    svg: Path | None,
    image: str | None,
    worst: int | None,
    subset: bool,
    columns: str | None,
    split: str | None,
) -> None:
    """Show how METRIC compares a CANDIDATE with its REFERENCEs. METRIC is bleu, captious, chair, cider, cider-d,
    cider-r, coverage, meteor, rouge-l, spice or wmd, with an optional variant and parameters, such as meteor@paper.

    With --image or --worst, the captions come from a file of candidates and one of references, as for 'captious score';
    CIDEr then has the document frequencies of all references.

    For METEOR, aligned words are marked with the number of their chunk and the kind of match. For SPICE, the output
    lists the tuples of the captions, and the words through which they match. For WMD, it lists the moves of the
    transport plan, one per line, with their share of the caption and their distance. For captious, it lists the words
    of the candidate with what they add to its similarity to the references. For CHAIR, it marks the words that name
    objects; the objects in the image are those that the references name and, with --image, those of --objects. For
    BLEU, it lists the n-grams that match, for CIDEr what each n-gram adds to the score, for ROUGE-L the longest common
    subsequences. For coverage, it shows how well each sentence agrees with those of the references.
    """
    chosen = select_one(metric, with_objects(metric, settings))
    if isinstance(chosen, Combined) and (parts := explained_parts(chosen)):
        raise ParameterError(
            f"{metric} is made of other metrics", help=f"explain {' or '.join(part.name for part in parts)}"
        )
    if not isinstance(chosen, Metric) or not chosen.explanation:
        known = ", ".join(sorted(name for name in catalogue.names() if catalogue.get(name).explanation))
        raise ParameterError(f"{metric} cannot be explained yet", help=f"supported: {known}")
    if svg is not None and chosen.explanation != "scene":
        raise ParameterError(f"--svg cannot draw {metric}", help="remove --svg, or explain spice")
    has_objects = isinstance(chosen, Chair) and len(chosen.objects) > 0
    if worst is not None or (image is not None and not has_objects) or (image is not None and _is_file(candidate)):
        if svg is not None and worst not in (None, 1):
            raise ParameterError("--svg draws one caption", help="give --image ID, or --worst 1")
        table = _table(metric, candidate, references, subset=subset, columns=columns, split=split)
        if isinstance(chosen, Chair) and not has_objects:
            settings = replace(settings, objects=chosen.objects_of([_texts_by_image(table)]))
            chosen = select([metric], settings)[0].require_caption_metric()
        captions = _of_files(metric, settings, table, candidate, image, worst)
    elif columns is not None or split is not None or subset:
        raise ParameterError(
            "--columns, --split and --subset are for files", help="leave them out, or give --image ID or --worst N"
        )
    else:
        _check_quoted(candidate, references, image, has_objects=has_objects)
        captions = [_Captions(candidate, references, image)]
    explained = [(one, _explanation(chosen, one)) for one in captions]
    if svg is not None:
        from captious.report.scene_drawing import write_scenes

        write_scenes(svg, explained[0][1])
    if format_ == "json":
        _print_json(chosen, explained)
    else:
        _print([*_pictures(explained)])
    if chosen.explanation == "scene":
        warn(chosen.warnings(read_captions({0: captions[0].candidate}, {0: list(captions[0].references)}), None))
    if svg is not None:
        click.echo(f"drawn: {svg}", err=True)


def _check_quoted(candidate: str, references: Sequence[str], image: str | None, *, has_objects: bool) -> None:
    """Refuse what are not quoted captions."""
    if image is None and has_objects:
        raise ParameterError("the objects of which image are meant?", help="give --image ID, or leave --objects out")
    if not references and image is None:
        raise click.MissingParameter(param_hint="'REFERENCE...'", param_type="argument")
    if files := [text for text in (candidate, *references) if _is_file(text)]:
        raise ParameterError(
            f"{files[0]} is not a caption",
            help="quote a caption and its references, or say which captions of the files: --image ID or --worst N",
        )


def _is_file(text: str) -> bool:
    return text.removesuffix(".gz").endswith((*EXTENSIONS, *LINE_FORMATS))


def _table(metric: str, candidates: str, references: Sequence[str], **read_options: Any) -> Captions:
    """The captions of a file of candidates and one of references."""
    if len(references) != 1 or not _is_file(candidates):
        raise ParameterError(
            "--image and --worst need a file of candidates and a file of references",
            help=f"captious explain {metric} --image ID CANDIDATES.json REFERENCES.json; quoted captions "
            "have an image only for chair, with --objects FILE",
        )
    captions: Captions = read_captions(candidates, references[0], **read_options)
    return captions


def _texts_by_image(captions: Captions) -> dict[Any, Sequence[str]]:
    """The references of each image."""
    texts, offsets = captions.references.texts, captions.references.offsets.tolist()
    return {image: texts[a:b] for image, (a, b) in zip(captions.ids, pairwise(offsets), strict=True)}


def _of_files(
    metric: str, settings: Settings, captions: Captions, file: str, image: str | None, worst: int | None
) -> list[_Captions]:
    """The captions of one image, or the worst."""
    selection = select([metric], with_objects(metric, settings))
    report = evaluate(captions, selection)
    label, result = [*report.items()][-1]
    if image is not None:
        rows = [row for row, known in enumerate(captions.ids) if str(known) == image]
        if not rows:
            raise UnknownImageError(
                f"there is no image {image}", where=file, help="give an image id of this file, or --worst N"
            )
    else:
        scores = -result.per_caption if result.lower_is_better else result.per_caption
        rows = np.argsort(np.nan_to_num(scores, nan=np.inf), kind="stable")[:worst].tolist()
    chosen = selection[0].require_caption_metric()
    state = chosen.fit(captions.references)
    offsets, texts = captions.references.offsets, captions.references.texts
    return [
        _Captions(
            captions.candidates[row],
            texts[offsets[row] : offsets[row + 1]],
            captions.ids[row],
            float(result.per_caption[row]),
            label,
            state,
        )
        for row in rows
    ]


def _explanation(metric: Any, captions: _Captions) -> Any:
    """What the metric says about a candidate and its references; METEOR and WMD, about each reference."""
    if isinstance(metric, Chair):
        objects = metric.objects_in(captions.references)
        known = captions.image is not None and len(metric.objects)
        return metric.explain(
            captions.candidate, objects | metric.objects_at(str(captions.image)) if known else objects
        )
    state = {} if captions.state is None else {"state": captions.state}
    return metric.explain(captions.candidate, captions.references, **state)


def _print_json(metric: Metric, explained: Sequence[tuple[_Captions, Any]]) -> None:
    from captious.report.explanations import explanation_values

    documents = []
    for captions, explanation in explained:
        of_image = {"id": captions.image, "caption": captions.candidate} if captions.label else {}
        documents.append({**of_image, **explanation_values(explanation)})
    about = {"version": __version__, "signature": metric.signatures(explained[0][0].state)[0]}
    of_files = bool(explained[0][0].label)
    click.echo(document_text({**about, "images": documents} if of_files else {**about, **documents[0]}), nl=False)


def _pictures(explained: Sequence[tuple[_Captions, Any]]) -> Iterator[RenderableType]:
    """Each explanation, below its image and captions where these come from files."""
    from rich.text import Text

    from captious.report import numbers
    from captious.report.explanation_text import explanation_text

    for place, (captions, explanation) in enumerate(explained):
        if captions.label:
            score = numbers.score(captions.score if captions.score is not None else float("nan"))
            yield Text(f"{'' if place == 0 else chr(10)}image {captions.image} · {captions.label} {score}", "bold")
            yield Text(f"  {numbers.plain(captions.candidate) or '(empty)'}")
            for reference in captions.references:
                yield Text(f"  · {numbers.plain(reference)}", "dim")
            yield Text("")
        yield explanation_text(explanation)


def _print(pictures: Sequence[RenderableType]) -> None:
    from rich.console import Console, Group

    from captious.report.terminal import as_text

    terminal = Console()
    fold = {"width": max(terminal.width, _NARROWEST)} if terminal.is_terminal else {}  # in a file, lines stay whole
    click.echo(as_text(Group(*pictures), color=terminal.is_terminal, **fold).rstrip("\n"))
