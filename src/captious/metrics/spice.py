"""SPICE and AllSPICE: F1 of the objects, attributes and relations that captions name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, CaptionSets, References
from captious.errors import requesting
from captious.metrics.contract.metric import Metric, RowScores, SetMetric, State, mean_of_scored
from captious.metrics.contract.parameters import ChoiceParameter
from captious.metrics.shared.scene_encoder import ParserParameter, n_long_captions, parsed_in_pieces, slow_parses
from captious.parsing.sources import approximate
from captious.resources import meteor_tables as meteor
from captious.scenes.graphs import CATEGORIES, Facts, agreement, count
from captious.scenes.layers import SPLITS, SceneGraphLayer, explain
from captious.text.sentences import LONG_SENTENCE
from captious.words import counted

if TYPE_CHECKING:
    from captious.scenes.layers import SceneExplanation

__all__ = ["Spice", "approximate", "statistics_of"]


# SPICE: F1 of the objects, attributes and relations of a candidate and its references, with synonyms.
#
# Anderson, Fernando, Johnson and Gould 2016. The official variant is the authors' program, SPICE 1.0, as the COCO
# caption toolkit runs it.

_SEVERAL = 10  # long captions from which it is worth a warning that they are slow
_ALWAYS = 3  # outputs for which every caption has a score


class Spice(Metric):
    """SPICE, 0 to 1, higher is better. The corpus score is the mean.

    ``spice`` is the F1 of precision ``spice-p`` and recall ``spice-r`` over all tuples; if several tuples of the
    candidate match one of the references, recall and F1 may exceed 1. The other outputs are the F1 over tuples of one
    kind. A caption whose references have no such tuple has no score of that kind (nan), and the corpus score is the
    mean of the captions that have one. With ``split="sentences"``, candidates and references are parsed sentence by
    sentence.

    Statistics (k = 18): for each output the score of the caption, or 0, and whether it has one, 0 or 1.

    Raises:
        MissingExtraError: METEOR's tables, which contain the synonyms, are not installed.
        CaptionFileError: a file of parses that cannot be read.
    """

    name = "spice"
    english_only = True
    explanation = "scene"
    _requirements = (meteor.missing_tables,)
    outputs = ("spice", "spice-p", "spice-r", *(f"spice-{category}" for category in CATEGORIES[1:]))
    summary = "objects, attributes and relations shared by candidate and references"
    variants = {"official": "the authors' program, SPICE 1.0"}

    parser: ParserParameter = ParserParameter(default=None)
    split: ChoiceParameter = ChoiceParameter(
        default="none",
        choices=SPLITS,
        summary='"sentences": parse captions sentence by sentence, and unite the tuples',
        signature_key="",
    )

    def setup(self) -> None:
        self.tables = meteor.tables()

    @property
    def parameters(self) -> Mapping[str, object]:
        split = {} if self.split == "none" else {"split": self.split}
        return {**super().parameters, **split, "synonyms": f"meteor-{self.tables.label}"}

    @property
    def layer(self) -> SceneGraphLayer:
        """The annotation of captions that it scores."""
        return SceneGraphLayer(self.tokenizer, self.parser, self.tables, self.split)

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(self.layer)
        return statistics_of(candidates, references)

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        return mean_of_scored(statistics)

    def warnings(self, captions: Captions, state: State | None) -> Sequence[str]:
        return [*self.reference_warnings(captions.references, state), *self._long_sentences(captions)]

    def reference_warnings(self, references: References, state: State | None) -> Sequence[str]:
        return approximate(self.parser.label)

    def _long_sentences(self, captions: Captions) -> list[str]:
        if self.split != "none":
            return []
        cut = parsed_in_pieces(captions, self.tokenizer, self.parser)
        n = n_long_captions(captions, self.tokenizer)
        if n < _SEVERAL:
            return cut
        return [
            *cut,
            f"{counted(n, 'caption', 'have')} more than {LONG_SENTENCE} words, and SPICE parses each as one "
            "sentence, as the official program does: "
            f"{requesting(f'{self.name}:split=sentences')} parses sentence by sentence.",
        ]

    def slow(self, captions: Captions) -> str:
        return "" if self.split != "none" else slow_parses(captions, self.tokenizer, self.parser)

    def explain(self, candidate: str, references: Sequence[str]) -> SceneExplanation:
        """Return the tuples of a candidate that match those of its references, and the words by which they match."""
        candidate_facts, *reference_facts = self.layer.tuples.of_texts([candidate, *references])
        return explain(candidate_facts, reference_facts, self.tables)

    def row_scores(self, references: References, state: State | None) -> RowScores:
        images = references.layer(self.layer)

        def scores(rows: NDArray[np.int64], candidates: Sequence[str]) -> NDArray[np.float64]:
            of_images = [images[row] for row in rows.tolist()]
            return self.aggregate(statistics_of(self.layer.of_texts(candidates), of_images))

        return scores


def statistics_of(candidates: Sequence[Facts], references: Sequence[Facts]) -> NDArray[np.float64]:
    """Return statistics of n candidates with the merged references of their images, float64[n, 18]."""
    counts = np.array([count(*pair) for pair in zip(candidates, references, strict=True)], np.float64)
    counts = counts.reshape(-1, len(CATEGORIES), 3)
    precision, recall, f1 = np.moveaxis(agreement(counts), -1, 0)
    scores = np.column_stack([f1[:, 0], precision[:, 0], recall[:, 0], f1[:, 1:]])
    has_score = np.column_stack([np.ones((len(scores), _ALWAYS)), counts[:, 1:, 2] > 0])
    return np.hstack([scores, has_score])


# AllSPICE: the merged scene graph of all candidates of an image, compared with that of its references.
#
# Luo and Shakhnarovich 2020 ("Analysis of diversity-accuracy tradeoff in image captioning"). The official variant is
# their fork of the COCO toolkit, ruotianluo/coco-caption, which passes several candidates to SPICE 1.0.


class AllSpice(SetMetric):
    """AllSPICE, 0 to 1, higher is better. The corpus score is the mean.

    The scene graphs of the candidates of an image are merged as SPICE merges those of references; the score is SPICE's
    for the merged graph. Outputs, statistics (k = 18) and errors are those of ``Spice``.
    """

    name = "allspice"
    english_only = True
    _requirements = (meteor.missing_tables,)
    outputs = tuple(output.replace("spice", "allspice") for output in Spice.outputs)
    summary = "SPICE of all candidates of an image together"
    variants = {"official": "ruotianluo/coco-caption: SPICE 1.0 of merged candidates"}

    parser: ParserParameter = Spice.parser

    def setup(self) -> None:
        self._spice = Spice(parser=self.parser, tokenizer=self.tokenizer)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**self._spice.parameters, **super().parameters}

    def statistics(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        layer = self._spice.layer
        return statistics_of(sets.candidates.layer(layer), sets.references.layer(layer))

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._spice.aggregate(statistics)

    def warnings(self, sets: CaptionSets, state: State | None) -> Sequence[str]:
        return approximate(self.parser.label)
