"""SPIDEr, the mean of SPICE and CIDEr-D; and SPIDEr-FL, which is reduced by fluency errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.errors import ParameterError
from captious.metrics.cider import Cider, CiderD
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import Metric, RowScores, State
from captious.metrics.contract.parameters import ChoiceParameter, NumberParameter, TokenizerParameter
from captious.metrics.fense import DetectorParameter, Fense, has_error
from captious.metrics.shared.frequencies import FrequenciesParameter
from captious.metrics.shared.scene_encoder import ParserParameter
from captious.metrics.spice import Spice
from captious.models.pretrained import missing_extra

# SPIDEr: the mean of SPICE, which evaluates content, and CIDEr-D, which evaluates wording.
#
# Liu, Zhu, Ye, Guadarrama and Murphy 2017, "Improved image captioning via policy gradient optimization of SPIDEr".


class Spider(Combined):
    """SPIDEr, 0 to 5.5, higher is better: half of SPICE plus half of CIDEr-D. The corpus score is the mean.

    Raises:
        MissingExtraError: METEOR's tables, which contain SPICE's synonyms, are not installed.
        ParameterError: ``sigma`` with the variant lceval.
    """

    name = "spider"
    english_only = True
    fitted_resource = "document frequencies"
    bounds = (0.0, 5.5)
    summary = "mean of SPICE and CIDEr-D"
    variants = {
        "official": "mean of spice and cider-d, both official, per caption",
        "lceval": "LCEval: mean of spice and cider",
    }
    part_classes = (Spice, CiderD)

    tokenizer: TokenizerParameter = Cider.tokenizer
    idf: FrequenciesParameter = Cider.idf
    sigma: NumberParameter[float] = CiderD.sigma
    parser: ParserParameter = Spice.parser
    split: ChoiceParameter = Spice.split

    def make_parts(self) -> Sequence[tuple[Metric, str]]:
        given = {name: self.arguments[name] for name in ("idf", "sigma", "tokenizer") if name in self.arguments}
        if self.variant == "lceval" and "sigma" in given:
            hint = "leave it out, or use another variant"
            raise ParameterError(f"{self.name}@lceval has no parameter 'sigma', as its CIDEr has none", hint=hint)
        cider = Cider(**given) if self.variant == "lceval" else CiderD(**given)
        self.tokenizer = cider.tokenizer
        spice = Spice(parser=self.parser, split=self.split, tokenizer=self.tokenizer)
        return [(spice, "spice"), (cider, cider.name)]

    def combine(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((scores[..., 0] + scores[..., 1]) / 2)


# SPIDEr-FL: SPIDEr, reduced if the candidate has a fluency error; the ranking metric of DCASE challenges.
#
# The error detector is that of Zhou et al. 2022 (FENSE). The official variant is the code of aac-metrics.


class SpiderFl(Spider):
    """SPIDEr-FL, 0 to 5.5, higher is better: ``spider``, reduced to a tenth by an error.

    The corpus score is the mean of caption scores.

    Raises:
        ParameterError: no error detector.
        MissingExtraError: METEOR's tables, which contain SPICE's synonyms, are not installed.
        ResourceError: a detector that cannot be read.
    """

    name = "spider-fl"
    english_only = True
    _requirements = (missing_extra,)
    summary = "SPIDEr, cut where the candidate has a fluency error"
    variants = {"official": "SPIDEr, less nine tenths for an error of FENSE's detector"}

    detector: DetectorParameter = Fense.detector
    threshold: NumberParameter[float] = Fense.threshold
    penalty: NumberParameter[float] = Fense.penalty

    @property
    def parameters(self) -> Mapping[str, object]:
        fluency = {"detector": self.detector.label, "threshold": self.threshold, "penalty": self.penalty}
        return {**super().parameters, **fluency}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return np.asarray(super().scores(captions, state) * self._shares(captions.candidates))

    def row_scores(self, references: References, state: State | None) -> RowScores:
        spider = super().row_scores(references, state)

        def scores(rows: NDArray[np.int64], candidates: Sequence[str]) -> NDArray[np.float64]:
            return spider(rows, candidates) * self._shares(candidates)[:, None]

        return scores

    def _shares(self, candidates: Sequence[str]) -> NDArray[np.float64]:
        """Return the share of each candidate's score that remains: 1, or less after an error, float64[n]."""
        return 1 - self.penalty * has_error(self.detector, self.threshold, candidates)
