"""SPIDEr: the mean of SPICE, which evaluates content, and CIDEr-D, which evaluates wording.

Liu, Zhu, Ye, Guadarrama and Murphy 2017, "Improved image captioning via policy gradient optimization of SPIDEr".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.metrics.cider import Cider
from captious.metrics.cider_d import CiderD
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.parameters import ChoiceParameter, NumberParameter, TokenizerParameter
from captious.metrics.shared.frequencies.frequencies_parameter import FrequenciesParameter
from captious.metrics.shared.parser_parameter import ParserParameter
from captious.metrics.spice import Spice


class Spider(Combined):
    """SPIDEr, 0 to 5.5, higher is better: half of SPICE plus half of CIDEr-D. The corpus score is the mean.

    Raises:
        MissingExtraError: METEOR's tables, which contain SPICE's synonyms, are not installed.
    """

    name = "spider"
    english_only = True
    fitted_resource = "document frequencies"
    summary = "mean of SPICE and CIDEr-D"
    variants: ClassVar[Mapping[str, str]] = {"official": "mean of spice and cider-d, both official, per caption"}
    part_classes = (Spice, CiderD)

    tokenizer: TokenizerParameter = Cider.tokenizer
    idf: FrequenciesParameter = Cider.idf
    sigma: NumberParameter[float] = CiderD.sigma
    parser: ParserParameter = Spice.parser
    split: ChoiceParameter = Spice.split

    def make_parts(self) -> Sequence[tuple[Metric, str]]:
        tokenizer = self.arguments.get("tokenizer")
        self.cider_d = CiderD(idf=self.idf, sigma=self.sigma, tokenizer=tokenizer)
        self.tokenizer = self.cider_d.tokenizer
        self.spice = Spice(parser=self.parser, split=self.split, tokenizer=self.tokenizer)
        return [(self.spice, "spice"), (self.cider_d, "cider-d")]

    def combine(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((scores[..., 0] + scores[..., 1]) / 2)
