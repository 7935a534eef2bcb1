"""Rewards: any metric as a training reward, one number per candidate, with references prepared once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import ImageId, References, read_references
from captious.data.ids import as_image_id
from captious.errors import CaptionTypeError, ParameterError, UnknownImageError, UnknownNameError
from captious.evaluation.scoring import add_reference_counts, reference_counts
from captious.metrics.contract import registry
from captious.metrics.contract.metric import BaseMetric, Metric, needs_several_error
from captious.metrics.contract.selection import ALL, MetricLike, select
from captious.metrics.contract.settings import Settings
from captious.words import counted, shortened


def reward(references: object, metric: MetricLike, *, settings: Settings | None = None) -> Reward:
    """Create a reward for training from a metric.

    Args:
        references: references of all images of the training set, in any form that ``captious.read_references`` reads. A
            metric that has to be fitted is fitted on them.
        metric: a metric, its name with parameters (``cider-d``, ``bleu-4``, ``rouge-s:gap=2``), or a function as for
            ``score``. Of several requested outputs, the one with the metric's name is the reward, or else the last.
        settings: tokenizer, document frequencies and so on, for a metric requested by name.

    Raises:
        UnknownNameError, ParameterError: as ``captious.score``.
        InputError: invalid references.
    """
    if isinstance(metric, str) and metric.strip().lower() == ALL:
        raise registry.unknown(metric)
    selection = select([metric], settings, several=True)
    (requested,) = selection
    outputs = [requested.metric.outputs[column] for column in requested.output_indices.values()]
    output = requested.metric.name if requested.metric.name in outputs else outputs[-1]
    return Reward(requested.metric, read_references(references), output, references_as=selection.settings.references_as)


class Reward:
    """Scores candidates for images whose references have been prepared.

    It is immutable, so threads may share it. Pickles hold the metric and the references, which are prepared again.

    Args:
        metric: a metric of captions.
        references: references of all images of the training set; a metric that has to be fitted is fitted on them.
        output: one of the metric's outputs.
        references_as: "each" reference separately, or all of an image concatenated into one ("cat").

    Attributes:
        signature: everything that the scores depend on besides the captions.

    Raises:
        UnknownNameError: the metric has no such output.
        ParameterError: the metric judges several candidates together.
    """

    def __init__(self, metric: BaseMetric, references: References, output: str, references_as: str = "each") -> None:
        if not isinstance(metric, Metric):
            raise needs_several_error(metric.name)
        if output not in metric.outputs:
            raise UnknownNameError(
                f"{metric.name} has no output {output!r}", hint=f"its outputs are {', '.join(metric.outputs)}"
            )
        self._arguments = metric, references, output, references_as
        counts = reference_counts(references)
        if references_as == "cat":
            references = references.concatenated
        state = metric.fit(references)
        self._column = metric.outputs.index(output)
        self._rows = ImageRows(references)
        self._scores = metric.row_scores(references, state)
        signatures = metric.signatures(state)
        if metric.needs_references:
            signatures = add_reference_counts(signatures, *counts, references_as=references_as)
        self.signature = signatures[self._column]

    def __repr__(self) -> str:
        metric, references, output, _ = self._arguments
        return f"<Reward {output + metric.suffix()}: {counted(len(references), 'image')}>"

    def __reduce__(self) -> tuple[object, ...]:
        return Reward, self._arguments

    def __call__(self, image_ids: Iterable[ImageId], captions: Iterable[str | Sequence[str]]) -> NDArray[np.float64]:
        """Return the scores of candidates, float64[n]; an image may occur any number of times.

        To maximize an output for which lower is better, negate its scores.

        Args:
            image_ids: n ids of images with references: a list, a numpy array, a tensor, a data frame column or a
                generator.
            captions: n candidates, one for each id, likewise. A list of words is also accepted as a caption; the words
                are joined by spaces.

        Raises:
            ParameterError: the numbers of ids and captions differ.
            CaptionTypeError: a caption that is neither a string nor a list of words, or a single string instead of a
                list.
            UnknownImageError: an id without references.
        """
        texts = _texts(captions)
        rows = self._rows.look_up(image_ids, len(texts))
        return self._scores(rows, texts)[:, self._column] if len(rows) else np.empty(0)


class ImageRows:
    """Index from images to rows of references."""

    def __init__(self, references: References) -> None:
        self._row_of = references.rows_by_id

    def look_up(self, image_ids: Iterable[ImageId], n_captions: int) -> NDArray[np.int64]:
        """Return the row of the image of each caption, int64[n_captions]. Errors are those of ``Reward``."""
        ids = _listed(image_ids)
        if not set(map(type, ids)) <= {int, str}:
            ids = [_image_id(image) for image in ids]
        if len(ids) != n_captions:
            raise ParameterError(
                f"{counted(len(ids), 'image id')} for {counted(n_captions, 'caption')}", hint="give one id per caption"
            )
        try:
            return np.array([self._row_of[image] for image in ids], np.int64)
        except KeyError as error:
            unknown = error.args[0]
            image_like = next((image for image in self._row_of if str(image) == str(unknown)), None)
            raise UnknownImageError(
                "a caption is for an image that has no references",
                where=f"image_id {unknown!r}",
                hint="create the reward with the references of all images of the training set"
                if image_like is None
                else f"ids are not converted: the references have {image_like!r}, not {unknown!r}",
            ) from None


def _image_id(value: Any) -> ImageId:
    """Convert an id of numpy or a tensor to Python's types."""
    image = as_image_id(value.item() if hasattr(value, "item") else value)
    if image is None:
        raise CaptionTypeError(
            f"an image id is a {type(value).__name__}", where=shortened(value), hint="give integers or strings"
        )
    return image


def _listed(values: Iterable[Any]) -> list[Any] | tuple[Any, ...]:
    """Return the values of a list, an array, a tensor, a data frame column or a generator as a list."""
    if isinstance(values, list | tuple):
        return values
    for convert in ("tolist", "to_list"):  # numpy, torch and pandas; polars
        if hasattr(values, convert):
            listed = getattr(values, convert)()
            return listed if isinstance(listed, list) else [listed]
    return list(values)


def _texts(captions: Iterable[Any]) -> Sequence[str]:
    """Return captions as strings."""
    if isinstance(captions, str):
        raise CaptionTypeError(
            "a single string was given instead of a list of captions", where=shortened(captions), hint="give [caption]"
        )
    texts = _listed(captions)
    return texts if set(map(type, texts)) <= {str} else [_text(text, place) for place, text in enumerate(texts)]


def _text(caption: object, place: int) -> str:
    if isinstance(caption, str):  # numpy's strings are strings
        return str(caption)
    if isinstance(caption, list | tuple) and all(isinstance(word, str) for word in caption):
        return " ".join(caption)
    raise CaptionTypeError(
        f"a caption is a {type(caption).__name__}, not a string",
        where=f"position {place}",
        hint='captions must be strings or lists of words; use "" for an empty caption, and decode token ids first',
    )
