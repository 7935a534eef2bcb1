"""AllSPICE: the merged scene graph of all candidates of an image, compared with that of its references.

Luo and Shakhnarovich 2020 ("Analysis of diversity-accuracy tradeoff in image captioning"). The official variant is
their fork of the COCO toolkit, ruotianluo/coco-caption, which passes several candidates to SPICE 1.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import CaptionSets
from captious.metrics.contract.metric import State
from captious.metrics.contract.set_metrics import SetMetric
from captious.metrics.shared.parser_parameter import ParserParameter
from captious.metrics.spice import Spice, approximate, statistics_of


class AllSpice(SetMetric):
    """AllSPICE, 0 to 1, higher is better. The corpus score is the mean.

    The scene graphs of the candidates of an image are merged as SPICE merges those of references; the score is SPICE's
    for the merged graph. Outputs, statistics (k = 18) and errors are those of ``Spice``.
    """

    name = "allspice"
    english_only = True
    outputs = tuple(output.replace("spice", "allspice") for output in Spice.outputs)
    summary = "SPICE of all candidates of an image together"
    variants: ClassVar[Mapping[str, str]] = {"official": "ruotianluo/coco-caption: SPICE 1.0 of merged candidates"}

    parser: ParserParameter = Spice.parser

    def setup(self) -> None:
        self._spice = Spice(parser=self.parser, tokenizer=self.tokenizer)

    @classmethod
    def missing(cls) -> str | None:
        return Spice.missing()

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**self._spice.parameters, **super().parameters}

    def statistics(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        layer = self._spice.layer
        return statistics_of(sets.candidates.layer(layer), sets.references.layer(layer))

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._spice.aggregate(statistics)

    def warnings(self, sets: CaptionSets, state: State | None) -> list[str]:
        return approximate(self.parser.label)
