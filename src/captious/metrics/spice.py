"""SPICE: objects, attributes and relations that a candidate shares with its references, synonyms included.

Anderson, Fernando, Johnson and Gould 2016. The official variant is the authors' program, SPICE 1.0, as the COCO caption
toolkit runs it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, References, read_references
from captious.metrics.contract.image_rows import ImageRows
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.scorer import output_of
from captious.parsing.parse_sources import approximate, as_parse_source
from captious.parsing.parsed_captions import ParseSource
from captious.resources import meteor_tables as meteor
from captious.scenes.facts import CATEGORIES, Facts, agreement, count
from captious.scenes.scene_graph_layer import SceneGraphLayer
from captious.scenes.spice_explanation import SceneExplanation, explain
from captious.text import Tokenizer

__all__ = ["Spice", "SpiceScorer", "approximate"]

_ALWAYS = 3  # outputs for which every caption has a score


class Spice(Metric):
    """SPICE, 0 to 1, higher is better. The corpus score is the mean.

    ``spice`` is the F1 of precision ``spice-p`` and recall ``spice-r`` over all tuples; where several tuples of the
    candidate match one of the references, recall may exceed 1, and so may the F1. The others are the F1 over tuples of
    one kind. A caption whose references have no such tuple has no score of that kind (nan),
    and the corpus score is the mean of the captions that have one.

    Statistics (k = 18): for each output the score of the caption, or 0, and whether it has one, 0 or 1.

    Args:
        parser: where parses come from: the grammar "corenlp" or "bundled", a file of
            parses, or a source of your own; None for the best grammar available.
        variant: see ``variants``.
        tokenizer: see ``captious.text.as_tokenizer``.

    Raises:
        MissingExtraError: METEOR's tables, which have the synonyms, are not installed.
        CaptionFileError: a file of parses that cannot be read.
    """

    name = "spice"
    outputs = ("spice", "spice-p", "spice-r", *(f"spice-{category}" for category in CATEGORIES[1:]))
    summary = "objects, attributes and relations shared by candidate and references"
    variants: ClassVar[Mapping[str, str]] = {"official": "the authors' program, SPICE 1.0"}

    def __init__(
        self,
        *,
        parser: ParseSource | str | os.PathLike[str] | None = None,
        variant: str | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "ptb",
    ) -> None:
        super().__init__(variant=variant, tokenizer=tokenizer)
        self.tables = meteor.tables()
        self.parser = as_parse_source(parser)

    @classmethod
    def missing(cls) -> str | None:
        return None if meteor.find() is not None else meteor.INSTALL

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "parser": self.parser.label, "synonyms": f"meteor-{self.tables.label}"}

    @property
    def layer(self) -> SceneGraphLayer:
        """The annotation of captions that it scores."""
        return SceneGraphLayer(self.tokenizer, self.parser, self.tables)

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(self.layer)
        return statistics_of(candidates, references)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        m = len(self.outputs)
        with np.errstate(divide="ignore", invalid="ignore"):
            return statistics[..., :m] / statistics[..., m:]

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        return approximate(self.parser.label)

    def explain(self, candidate: str, references: Sequence[str]) -> SceneExplanation:
        """Which tuples of a candidate match which of its references, and through which words."""
        parses = self.layer.parses.of_texts([candidate, *references]).of_captions
        return explain(parses[0], parses[1:], self.tables)

    def scorer(self, references: object, output: str | None = None) -> SpiceScorer:
        table = read_references(references)
        return SpiceScorer(self, table, output_of(self, output))


class SpiceScorer:
    """Scores captions of images whose references were prepared beforehand; made by ``Spice.scorer``.

    It may be called from several threads at once; nothing in it changes.
    """

    def __init__(self, metric: Spice, references: References, output: str = "spice") -> None:
        self._metric = metric
        self._references = references
        self._output = output
        self._images = references.layer(metric.layer)
        self._rows = ImageRows(references)
        self._column = metric.outputs.index(output)
        self.signature = metric.signatures()[self._column]

    def __reduce__(self) -> tuple[object, ...]:
        return SpiceScorer, (self._metric, self._references, self._output)

    def __call__(self, image_ids: Sequence[ImageId], captions: Sequence[str]) -> NDArray[np.float64]:
        """Scores of candidates, float64[n]; an image may come any number of times. Raises as ``ImageRows.of`` does."""
        rows = self._rows.of(image_ids, captions)
        images = [self._images[row] for row in rows.tolist()]
        statistics = statistics_of(self._metric.layer.of_texts(captions), images)
        return self._metric.aggregate(statistics)[:, self._column]


def statistics_of(candidates: Sequence[Facts], references: Sequence[Facts]) -> NDArray[np.float64]:
    """Statistics of n candidates against the merged references of their images, float64[n, 18]."""
    counts = np.array([count(ours, theirs) for ours, theirs in zip(candidates, references, strict=True)], np.float64)
    counts = counts.reshape(-1, len(CATEGORIES), 3)
    precision, recall, f1 = np.moveaxis(agreement(counts), -1, 0)
    scores = np.column_stack([f1[:, 0], precision[:, 0], recall[:, 0], f1[:, 1:]])
    has_score = np.column_stack([np.ones((len(scores), _ALWAYS)), counts[:, 1:, 2] > 0])
    return np.hstack([scores, has_score])
