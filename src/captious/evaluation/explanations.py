"""``explain``: explanations of caption scores, which print themselves in terminals and notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from captious import drawing
from captious.data import Captions, ImageId, read_captions
from captious.errors import CaptionTypeError, ParameterError, setting
from captious.layouts import drawn_values, explanation_values, kind_of, layout_values
from captious.metrics.chair import Chair, with_objects
from captious.metrics.contract import registry
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import BaseMetric, Metric, Result, State
from captious.metrics.contract.selection import MetricLike, Selection, check_order, names_metric, select_single
from captious.metrics.contract.settings import Settings, as_settings
from captious.plugins import answers_other_keywords
from captious.tables import json_document
from captious.words import shortened, with_article

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, repr=False)
class Explanation:
    """An explanation of a caption's score; ``print`` draws it, and a notebook shows it.

    Args:
        metric: name of the metric.
        candidate, references: the captions.
        explanation: the result of the metric's ``explain``; for METEOR and WMD, one for each reference.
        image: the image, if it is known.
        score: the caption's score within its file; None for a caption by itself.
        label: label of the output, if there is a score.
        signature: signature of the output.
    """

    metric: str
    candidate: str
    references: Sequence[str]
    explanation: Any
    image: ImageId | None = None
    score: float | None = None
    label: str = ""
    signature: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain JSON values, after the image and the caption if these are of a file."""
        about = {"id": self.image, "caption": self.candidate, "score": self.score} if self.label else {}
        return json_document({**about, **explanation_values(self.explanation)})

    def to_text(self, *, width: int | None = None) -> str:
        """Return the explanation as plain text, below its image and captions if these are of a file.

        Args:
            width: columns to wrap lines to; by default lines are as long as they need to be.
        """
        return drawing.as_text(self.picture(), width=width or drawing.ANY_WIDTH).rstrip("\n")

    def to_html(self, *, width: int = 100) -> str:
        """Return the text as HTML in the colors of a terminal, with its styles included.

        Args:
            width: columns to wrap lines to.
        """
        return drawing.as_html(self.picture(), width=width)

    def to_drawing(self) -> dict[str, Any]:
        """Return what the scripts of ``captious.drawing.SCRIPTS`` draw on pages: the layout, and the values."""
        layout = layout_values(kind_of(self.explanation))
        return json_document({"layout": layout, "values": drawn_values(self.explanation)})

    def picture(self) -> RenderableType:
        """Return the explanation for rich, below its image and captions if these are of a file."""
        from rich.console import Group
        from rich.text import Text

        from captious.explanation_text import explanation_text

        explanation = explanation_text(self.explanation)
        if not self.label:
            return explanation
        score = drawing.format_score(float("nan") if self.score is None else self.score)
        return Group(
            Text(f"image {self.image} · {self.label} {score}", "bold"),
            Text(f"  {drawing.single_line(self.candidate) or '(empty)'}"),
            *(Text(f"  · {drawing.single_line(reference)}", "dim") for reference in self.references),
            Text(""),
            explanation,
        )

    def __repr__(self) -> str:
        return self.to_text()

    def __rich__(self) -> RenderableType:
        return self.picture()

    def _repr_html_(self) -> str:
        return self.to_html()


@answers_other_keywords
def explain(
    candidate: str, references: str | Sequence[str], metric: MetricLike, *, settings: Settings | None = None
) -> Explanation:
    """Explain the score of a caption. ``report.explain`` explains those of a system.

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
    if not names_metric(metric):
        check_order("explain", {"candidate": candidate, "references": references}, metric, last="metric")
    if metric and isinstance(metric, list | tuple | set):
        raise ParameterError(
            "a caption is explained by one metric at a time",
            where=f"metric: {shortened(metric)}",
            hint="call it once for each metric",
        )
    texts = [references] if isinstance(references, str) else references
    if not isinstance(candidate, str) or not isinstance(texts, Iterable) or isinstance(texts, Mapping):
        raise CaptionTypeError(
            f"explain takes one caption and its references, not {with_article(type(candidate).__name__)} of captions"
            if not isinstance(candidate, str)
            else f"the references of a caption are {with_article(type(references).__name__)}",
            hint="write explain(candidate, references, metric); for a caption of a system, "
            "score(candidates, references, metric), then report.explain(metric, image)",
        )
    selection = explainable(metric, settings)
    selected_metric = selection[0].metric
    if selected_metric.needs_fit:
        raise ParameterError(
            f"{selected_metric.name} needs the document frequencies of many images",
            hint=f"give {setting('idf', 'coco')}, or explain a caption of a system by report.explain(metric, image)",
        )
    return explained_caption(selection, candidate, [*texts])


def explainable(metric: MetricLike, settings: Settings | None = None) -> Selection:
    """Return the selection of a metric; chair by name gets an empty table of objects if it has none.

    Raises:
        ParameterError: it cannot be explained.
    """
    if isinstance(metric, str):  # before what the metric needs is asked for
        kind = registry.get(registry.Request.from_text(metric).metric)
        if not kind.explanation and not issubclass(kind, Combined):
            raise _unexplained(metric)
    selection = select_single(metric, with_objects(metric, as_settings(settings)))
    _check_explainable(selection[0].metric, metric if isinstance(metric, str) else selection[0].metric.name)
    return selection


def _check_explainable(metric: BaseMetric, name: str) -> Metric:
    """Return a metric that can be explained.

    Raises:
        ParameterError: it cannot be.
    """
    if isinstance(metric, Metric) and metric.explanation:
        return metric
    if isinstance(metric, Combined) and (parts := [part.name for part in _explained_parts(metric)]):
        raise ParameterError(f"{name} is made of other metrics", hint=f"explain {' or '.join(parts)}")
    raise _unexplained(name)


def _unexplained(name: str) -> ParameterError:
    names = ", ".join(sorted(each.name for each in registry.usable() if each.explanation))
    return ParameterError(f"{name} cannot be explained yet", hint=f"supported: {names}")


def explained_parts(metric: BaseMetric, label: str) -> dict[str, BaseMetric]:
    """Return the metric, or the parts of a combined one, that explain a candidate by its references, with the names of
    their explanations on pages; that of the metric itself has its variant and parameters.

    Args:
        metric: the metric.
        label: label of one of its results, such as ``cider-d:sigma=3``.
    """
    output = max((name for name in metric.outputs if label.startswith(name)), key=len, default="")
    return {
        part.name + label[len(output) :] if part is metric else part.name: part for part in _explained_parts(metric)
    }


def _explained_parts(metric: BaseMetric) -> list[BaseMetric]:
    parts = metric.metrics if isinstance(metric, Combined) else [metric]
    return [part for part in parts if part.explanation and part.needs_references]


def explained_by(
    metric: BaseMetric, candidate: str, references: Sequence[str], *, state: State | None = None
) -> Explanation:
    """Return the explanation of a caption by itself, by a metric that has one.

    Args:
        metric: one of ``explained_parts``.
        candidate, references: the captions.
        state: what the metric was fitted to, if it needs that.
    """
    return Explanation(metric.name, candidate, references, _explanation(metric, candidate, references, None, state))


def explained_caption(
    selection: Selection, candidate: str, references: Sequence[str], image: ImageId | None = None
) -> Explanation:
    """Return the explanation of a caption by itself, by a metric that is ``explainable``."""
    if references:
        captions = read_captions({0: candidate}, {0: [*references]})
        references = captions.with_references_as(selection.settings.references_as).references.texts
    metric = selection[0].require_caption_metric()
    [*_, index] = selection[0].output_indices.values()
    explanation = _explanation(metric, candidate, references, image)
    signature = metric.signatures(None)[index]
    return Explanation(metric.name, candidate, references, explanation, image, signature=signature)


def explained_row(result: Result, captions: Captions, row: int) -> Explanation:
    """Return the explanation of the score of a caption in its file.

    Args:
        result: the result of the file.
        captions: the file.
        row: position of the caption.

    Raises:
        ParameterError: the metric cannot be explained.
    """
    metric = _check_explainable(result.statistics.metric, result.name)
    captions = captions.with_references_as("cat" if "|references:cat-" in result.signature else "each")
    start, end = captions.references.offsets[row : row + 2]
    candidate, references = captions.candidates[row], captions.references.texts[start:end]
    image, score = captions.ids[row], float(result.per_caption[row])
    explanation = _explanation(metric, candidate, references, image, metric.fit(captions.references))
    return Explanation(metric.name, candidate, references, explanation, image, score, result.name, result.signature)


def _explanation(
    metric: Any, candidate: str, references: Sequence[str], image: ImageId | None, state: State | None = None
) -> Any:
    """Return the explanation of a candidate with its references."""
    if isinstance(metric, Chair):
        objects = metric.objects_in(references)
        has_objects = image is not None and len(metric.objects)
        return metric.explain(candidate, objects | metric.objects_at(str(image)) if has_objects else objects)
    return metric.explain(candidate, references, **({} if state is None else {"state": state}))
