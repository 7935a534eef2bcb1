"""SPIDEr: the mean of SPICE and CIDEr-D, of what captions say and of how people say it.

Liu, Zhu, Ye, Guadarrama and Murphy 2017, "Improved image captioning via policy gradient optimization of SPIDEr".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, References, read_references
from captious.metrics.cider import CiderScorer
from captious.metrics.cider_d import CiderD
from captious.metrics.contract.metric import State
from captious.metrics.shared.document_frequencies import DocumentFrequencies
from captious.metrics.spice import Spice
from captious.parsing.parse_sources import approximate
from captious.parsing.parsed_captions import ParseSource
from captious.text import Tokenizer

__all__ = ["Spider", "SpiderScorer"]


class Spider(CiderD):
    """SPIDEr, 0 to 5.5, higher is better: half of SPICE and half of CIDEr-D. The corpus score is the mean.

    Args:
        idf: document frequencies, or a file of them; None to count the references that are scored against.
        sigma: width of CIDEr-D's Gaussian length penalty, in words.
        parser: where SPICE has its parses from; see ``Spice``.
        variant: see ``variants``.
        tokenizer: see ``captious.text.as_tokenizer``.

    Raises:
        MissingExtraError: METEOR's tables, which have SPICE's synonyms, are not installed.
    """

    name = "spider"
    summary = "mean of SPICE and CIDEr-D"
    variants: ClassVar[Mapping[str, str]] = {"official": "mean of spice and cider-d, both official, per caption"}

    def __init__(
        self,
        idf: DocumentFrequencies | str | os.PathLike[str] | None = None,
        *,
        sigma: float = 6.0,
        parser: ParseSource | str | os.PathLike[str] | None = None,
        variant: str | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        super().__init__(idf, sigma=sigma, variant=variant, tokenizer=tokenizer)
        self.spice = Spice(parser=parser, tokenizer=self.tokenizer)
        self.parser = self.spice.parser

    @classmethod
    def missing(cls) -> str | None:
        return Spice.missing()

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**self.spice.parameters, **super().parameters}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return (super().scores(captions, state) + self.spice.statistics(captions)[:, 0]) / 2

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        return [*super().warnings(captions, state), *approximate(self.parser.label)]

    def scorer(self, references: object) -> SpiderScorer:  # type: ignore[override]
        """A reward for training: candidates against references that are prepared once.

        Args:
            references: any form that ``captious.data.read_references`` reads.
        """
        table = references if isinstance(references, References) else read_references(references)
        return SpiderScorer(self, table)


class SpiderScorer:
    """Scores captions of images whose references were prepared beforehand; made by ``Spider.scorer``.

    It may be called from several threads at once; nothing in it changes.
    """

    def __init__(self, metric: Spider, references: References) -> None:
        self._metric = metric
        self._references = references
        self._spice = metric.spice.scorer(references)
        self._cider_d = CiderScorer(metric, references)
        self.signature = self._cider_d.signature

    def __reduce__(self) -> tuple[object, ...]:
        return SpiderScorer, (self._metric, self._references)

    def __call__(self, image_ids: Sequence[ImageId], captions: Sequence[str]) -> NDArray[np.float64]:
        """Scores of candidates, float64[n]; an image may come any number of times. Raises as ``CiderScorer`` does."""
        return (self._cider_d(image_ids, captions) + self._spice(image_ids, captions)) / 2
