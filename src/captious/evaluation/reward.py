"""Rewards: any metric as a training reward, one number per candidate, with references prepared once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.data import ImageId, References, read_references
from captious.errors import CaptionTypeError, ParameterError, UnknownImageError, UnknownNameError
from captious.evaluation.metric_run import reference_counts, with_references
from captious.metrics.contract import catalogue
from captious.metrics.contract.metric import BaseMetric, Metric
from captious.metrics.contract.request import ALL, select
from captious.metrics.contract.set_metrics import needs_several_error
from captious.metrics.contract.settings import Settings

__all__ = ["ImageRows", "Reward", "reward"]


def reward(
    metric: str | BaseMetric, references: object, output: str | None = None, *, settings: Settings | None = None
) -> Reward:
    """A metric as a reward for training.

    Args:
        metric: a metric, or the request of one: ``cider-d``, ``bleu-4``, ``rouge-s:gap=2``.
        references: those of all images of the training set, in any form that ``captious.read_references`` reads. A
            metric that has to be fitted is fitted on them.
        output: which of the metric's outputs; None for the requested one, the one with the metric's name, or else the
            last.
        settings: tokenizer, document frequencies and so on, for a metric that is requested by name.

    Raises:
        UnknownNameError, ParameterError: as ``captious.score``; no such output.
        InputError: invalid references.
    """
    if isinstance(metric, str) and metric.strip().lower() == ALL:
        raise catalogue.unknown(metric)
    selection = select([metric], settings, several=True)
    (requested,) = selection
    if output is None:
        outputs = [requested.metric.outputs[column] for column in requested.columns.values()]
        output = requested.metric.name if requested.metric.name in outputs else outputs[-1]
    return Reward(requested.metric, read_references(references), output, references_as=selection.settings.references_as)


class Reward:
    """Scores candidates for images whose references were prepared beforehand.

    Threads may share it: nothing in it changes. Pickles hold metric and references, which are prepared again.

    Args:
        metric: a metric of captions.
        references: references of all images of the training set; a metric that has to be fitted is fitted on them.
        output: which of the metric's outputs.
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
                f"{metric.name} has no output {output!r}", help=f"its outputs are {', '.join(metric.outputs)}"
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
            signatures = with_references(signatures, *counts, references_as=references_as)
        self.signature = signatures[self._column]

    def __reduce__(self) -> tuple[object, ...]:
        return Reward, self._arguments

    def __call__(self, image_ids: Sequence[ImageId], captions: Sequence[str]) -> NDArray[np.float64]:
        """Scores of candidates, float64[n]; an image may come any number of times.

        They are as the metric gives them: to maximize an output of which lower scores are better, negate them.

        Args:
            image_ids: n ids of images that have references.
            captions: n candidates, one for each id.

        Raises:
            ParameterError: not as many ids as captions.
            CaptionTypeError: a caption that is not a string, or one string in place of a list.
            UnknownImageError: an id without references.
        """
        rows = self._rows.of(image_ids, captions)
        return self._scores(rows, captions)[:, self._column] if len(rows) else np.empty(0)


class ImageRows:
    """The rows of images among references."""

    def __init__(self, references: References) -> None:
        self._row_of = references.rows_by_id

    def of(self, image_ids: Sequence[ImageId], captions: Sequence[str]) -> NDArray[np.int64]:
        """The row of each caption's image, int64[n]. Arguments and errors are those of ``Reward``."""
        if isinstance(captions, str) or not set(map(type, captions)) <= {str}:
            raise _not_strings(image_ids, captions)
        if len(image_ids) != len(captions):
            raise ParameterError(
                f"{len(image_ids):,} image ids for {len(captions):,} captions", help="give one id per caption"
            )
        try:
            return np.array([self._row_of[image] for image in image_ids], np.int64)
        except KeyError as error:
            raise UnknownImageError(
                "a caption is for an image that has no references",
                where=f"image_id {error.args[0]!r}",
                help="create the reward with the references of all images of the training set",
            ) from None


def _not_strings(image_ids: Sequence[ImageId], captions: Sequence[object]) -> CaptionTypeError:
    if isinstance(captions, str):
        return CaptionTypeError(
            "a single string was given instead of a list of captions", where=repr(captions[:60]), help="give [caption]"
        )
    position, caption = next((i, caption) for i, caption in enumerate(captions) if type(caption) is not str)
    image = repr(image_ids[position]) if position < len(image_ids) else "none"
    return CaptionTypeError(
        f"a caption is a {type(caption).__name__}, not a string",
        where=f"position {position}, image_id {image}",
        help='captions must be strings; use "" for an empty caption',
    )
