"""AllSPICE: what all candidates of an image say together, compared with what its references say.

Luo and Shakhnarovich 2020 ("Analysis of diversity-accuracy tradeoff in image captioning"). The official variant is the
fork of the COCO toolkit that goes with it, ruotianluo/coco-caption, which gives SPICE 1.0 several candidates.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, CaptionSets
from captious.metrics.contract.metric import State
from captious.metrics.contract.set_metric import SetMetric
from captious.metrics.spice import Spice, approximate, statistics_of
from captious.parsing.parsed_captions import ParseSource
from captious.text import Tokenizer

__all__ = ["AllSpice"]


class AllSpice(SetMetric):
    """AllSPICE, 0 to 1, higher is better. The corpus score is the mean.

    The scene graphs of the candidates of an image are merged as SPICE merges those of references; the score is SPICE's
    for the merged graph. Outputs, statistics (k = 18) and errors are those of ``Spice``.

    Args:
        parser, variant, tokenizer: as for ``Spice``.
    """

    name = "allspice"
    outputs = tuple(output.replace("spice", "allspice") for output in Spice.outputs)
    summary = "SPICE of all candidates of an image together"
    variants: ClassVar[Mapping[str, str]] = {"official": "ruotianluo/coco-caption: SPICE 1.0 of merged candidates"}

    def __init__(
        self,
        *,
        parser: ParseSource | str | os.PathLike[str] | None = None,
        variant: str | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "ptb",
    ) -> None:
        super().__init__(variant=variant, tokenizer=tokenizer)
        self._spice = Spice(parser=parser, tokenizer=self.tokenizer)
        self.parser = self._spice.parser

    @classmethod
    def missing(cls) -> str | None:
        return Spice.missing()

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**self._spice.parameters, **super().parameters}

    def set_statistics(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        layer = self._spice.layer
        return statistics_of(sets.candidates.layer(layer), sets.references.layer(layer))

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._spice.aggregate(statistics)

    def warnings(self, captions: Captions | CaptionSets, state: State | None) -> list[str]:
        return approximate(self.parser.label)
