"""``explain``: explanations of caption scores, as pictures and values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from captious.data import Captions, ImageId, read_captions
from captious.data.matching import MatchOptions
from captious.errors import CaptionTypeError, ParameterError, UnknownImageError, setting
from captious.evaluation import Result, evaluate
from captious.metrics.chair import Chair, with_objects
from captious.metrics.contract import registry
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.selection import MetricLike, Selection, names_metric, select_single
from captious.metrics.contract.settings import Settings, answers_other_keywords
from captious.report import numbers
from captious.report.layouts import explained_parts, explanation_values

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class CaptionExplanation:
    """An explanation of a caption's score; ``print`` draws it.

    Args:
        metric: the metric.
        candidate, references: the captions.
        explanation: the result of the metric's ``explain``; for METEOR and WMD, one for each reference.
        image: the image, if it is known.
        score: the caption's score within its file; None for a caption by itself.
        label: label of the output, if there is a score.
        signature: signature of the output.
    """

    metric: Metric
    candidate: str
    references: Sequence[str]
    explanation: Any
    image: ImageId | None = None
    score: float | None = None
    label: str = ""
    signature: str = field(default="", repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values, after the image and the caption if these are of a file."""
        about = {"id": self.image, "caption": self.candidate, "score": self.score} if self.label else {}
        return {**about, **explanation_values(self.explanation)}

    def picture(self) -> RenderableType:
        """Return the explanation for rich, below its image and captions if these are of a file."""
        from rich.console import Group
        from rich.text import Text

        from captious.report.explanation_drawing import explanation_text

        explanation = explanation_text(self.explanation)
        if not self.label:
            return explanation
        score = numbers.format_score(float("nan") if self.score is None else self.score)
        return Group(
            Text(f"image {self.image} · {self.label} {score}", "bold"),
            Text(f"  {numbers.single_line(self.candidate) or '(empty)'}"),
            *(Text(f"  · {numbers.single_line(reference)}", "dim") for reference in self.references),
            Text(""),
            explanation,
        )

    def __str__(self) -> str:
        from captious.report.terminal import as_text

        return as_text(self.picture(), color=False).rstrip("\n")


@answers_other_keywords
def explain(
    candidate: str, references: str | Sequence[str], metric: MetricLike, *, settings: Settings | None = None
) -> CaptionExplanation:
    """Explain the score of a caption.

    Args:
        candidate: the caption.
        references: the references of its image; a string is one reference.
        metric: one that can be explained, such as "cider-d:idf=coco" or "meteor@paper".
        settings: settings of the metric; for chair, the objects in images, by default those named in the references.

    Raises:
        ParameterError: a metric that cannot be explained, or that needs the document frequencies of many images;
            arguments in another order.
        InputError: invalid captions.

    >>> explain("a dog runs", ["a dog runs fast"], "rouge-l").to_dict()["score"]  # doctest: +ELLIPSIS
    0.81...
    """
    if names_metric(candidate) and not names_metric(metric) and not callable(metric):
        raise ParameterError(
            "the candidate comes first, then its references, then the metric",
            where=f"candidate: {candidate!r:.60}",
            hint=f"write explain(candidate, references, {candidate!r:.60})",
        )
    texts = [references] if isinstance(references, str) else references
    if not isinstance(candidate, str) or not isinstance(texts, Iterable) or isinstance(texts, Mapping):
        raise CaptionTypeError(
            f"explain takes one caption and its references, not a {type(candidate).__name__} of captions"
            if not isinstance(candidate, str)
            else f"the references of a caption are a {type(references).__name__}",
            hint="write explain(candidate, references, metric); for a caption of a system, "
            "captious.score(candidates, references, metric), then report.explain(metric, image)",
        )
    selection = explainable(metric, settings)
    selected_metric = selection[0].metric
    if selected_metric.needs_fit:
        raise ParameterError(
            f"{selected_metric.name} needs the document frequencies of many images",
            hint=f"give {setting('idf', 'coco')}, or explain a caption of a system by report.explain(metric, image)",
        )
    return explained_caption(selection, candidate, [*texts])


def explain_captions(
    candidates: object,
    references: object,
    metric: MetricLike,
    *,
    image: ImageId | None = None,
    worst: int | None = None,
    settings: Settings | None = None,
    **options: Unpack[MatchOptions],
) -> list[CaptionExplanation]:
    """Explain the scores of captions of a system.

    Args:
        candidates, references: a path, mapping, sequence or data frame, as for ``captious.score``.
        metric: as for ``explain``.
        image: id of the image whose caption to explain; text may also stand for a number.
        worst: the number of captions to explain, those with the worst scores; one without ``image``.
        settings: as for ``explain``.
        options: match, ids and clean, as for ``captious.score``.

    Returns:
        The explanation of the image, or those of the worst captions, the worst first. Document frequencies are those
        of all references.

    Raises:
        ParameterError: a metric that cannot be explained; both ``image`` and ``worst``, or ``worst`` below 1.
        UnknownImageError: an unknown image.
        InputError: invalid captions.

    >>> [worst] = explain_captions({1: "a dog runs", 2: "a cat"}, {1: ["a dog runs fast"], 2: ["a cat"]}, "rouge-l")
    >>> worst.image
    1
    """
    if image is not None and worst is not None:
        raise ParameterError("image and worst exclude each other", hint="give one of them")
    if worst is not None and worst < 1:
        raise ParameterError(f"worst is {worst}", hint="give a number of captions, 1 or more")
    captions = read_captions(candidates, references, **options)
    selection = explainable(metric, settings)
    chair = selection[0].metric
    if isinstance(chair, Chair) and isinstance(metric, str) and not len(chair.objects):
        settings = replace(selection.settings, objects=chair.objects_of([_texts_by_image(captions)]))
        selection = explainable(metric, settings)
    selected_metric = selection[0].require_caption_metric()
    result = [*evaluate(captions, selection).values()][-1]
    if image is not None:
        rows = [row for row, id in enumerate(captions.ids) if str(id) == str(image)]
        if not rows:
            raise UnknownImageError(
                f"there is no image {image}",
                where=os.fspath(candidates) if isinstance(candidates, str | os.PathLike) else "candidates",
                hint="give an image id of the candidates, or how many of the worst captions to explain",
            )
    else:
        scores = -result.per_caption if result.lower_is_better else result.per_caption
        rows = np.argsort(np.nan_to_num(scores, nan=np.inf), kind="stable")[: worst or 1].tolist()
    captions = captions.with_references_as(selection.settings.references_as)
    state = selected_metric.fit(captions.references)
    return [_explain_row(selected_metric, captions, row, state, result) for row in rows]


def explainable(metric: MetricLike, settings: Settings | None = None) -> Selection:
    """Return the selection of a metric; chair by name gets an empty table of objects if it has none.

    Raises:
        ParameterError: it cannot be explained.
    """
    selection = select_single(metric, with_objects(metric, Settings() if settings is None else settings))
    selected_metric = selection[0].metric
    if isinstance(selected_metric, Metric) and selected_metric.explanation:
        return selection
    name = metric if isinstance(metric, str) else selected_metric.name
    if isinstance(selected_metric, Combined) and (parts := [part.name for part in explained_parts(selected_metric)]):
        raise ParameterError(f"{name} is made of other metrics", hint=f"explain {' or '.join(parts)}")
    names = ", ".join(sorted(name for name in registry.metric_names() if registry.get(name).explanation))
    raise ParameterError(f"{name} cannot be explained yet", hint=f"supported: {names}")


def explained_caption(
    selection: Selection, candidate: str, references: Sequence[str], image: ImageId | None = None
) -> CaptionExplanation:
    """Return the explanation of a caption by itself, by a metric that is ``explainable``."""
    if references:
        captions = read_captions({0: candidate}, {0: [*references]})
        references = captions.with_references_as(selection.settings.references_as).references.texts
    metric = selection[0].require_caption_metric()
    [*_, index] = selection[0].output_indices.values()
    explanation = _explanation(metric, candidate, references, image)
    signature = metric.signatures(None)[index]
    return CaptionExplanation(metric, candidate, references, explanation, image, signature=signature)


def _texts_by_image(captions: Captions) -> dict[ImageId, Sequence[str]]:
    """Return the references of each image."""
    texts, offsets = captions.references.texts, captions.references.offsets.tolist()
    return {image: texts[start:end] for image, (start, end) in zip(captions.ids, pairwise(offsets), strict=True)}


def _explain_row(
    metric: Metric, captions: Captions, row: int, state: State | None, result: Result
) -> CaptionExplanation:
    offsets, texts = captions.references.offsets, captions.references.texts
    candidate, references = captions.candidates[row], texts[offsets[row] : offsets[row + 1]]
    image = captions.ids[row]
    explanation = _explanation(metric, candidate, references, image, state)
    score = float(result.per_caption[row])
    return CaptionExplanation(
        metric, candidate, references, explanation, image, score, result.name, signature=result.signature
    )


def _explanation(
    metric: Any, candidate: str, references: Sequence[str], image: ImageId | None, state: State | None = None
) -> Any:
    """Return the explanation of a candidate with its references."""
    if isinstance(metric, Chair):
        objects = metric.objects_in(references)
        has_objects = image is not None and len(metric.objects)
        return metric.explain(candidate, objects | metric.objects_at(str(image)) if has_objects else objects)
    return metric.explain(candidate, references, **({} if state is None else {"state": state}))
