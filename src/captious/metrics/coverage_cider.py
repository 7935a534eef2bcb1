"""coverage-cider: mutual coverage of the sentences of long captions and references, by CIDEr-D."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.metrics.cider import Cider, CiderD
from captious.metrics.contract.metric import State
from captious.metrics.contract.parameters import NumberParameter, TokenizerParameter
from captious.metrics.shared.coverage import PairScores, SentenceCoverage
from captious.metrics.shared.frequencies import DocumentFrequencies, FrequenciesParameter


class CoverageCider(SentenceCoverage):
    """Coverage of sentences by CIDEr-D divided by 10: F1, precision and recall, 0 to 1, higher is better.

    Document frequencies are those of whole references. The corpus score is the mean.
    """

    name = "coverage-cider"
    outputs = ("coverage-cider", "coverage-cider-p", "coverage-cider-r")
    fitted_resource = "document frequencies"
    summary = "sentences that candidate and references share, by CIDEr-D of each pair of sentences"
    variants = {"official": "of this package"}

    tokenizer: TokenizerParameter = Cider.tokenizer
    idf: FrequenciesParameter = Cider.idf
    sigma: NumberParameter[float] = CiderD.sigma

    def setup(self) -> None:
        self.cider_d = CiderD(**{name: value for name, value in self.arguments.items() if name != "variant"})
        self.tokenizer = self.cider_d.tokenizer
        self.needs_fit = self.cider_d.needs_fit

    def fit(self, references: References) -> DocumentFrequencies | None:
        return self.cider_d.fit(references)

    def fitted_parameters(self, state: State | None) -> Mapping[str, object]:
        return self.cider_d.fitted_parameters(state)

    def warnings(self, captions: Captions, state: State | None) -> Sequence[str]:
        return self.cider_d.warnings(captions, state)

    def reference_warnings(self, references: References, state: State | None) -> Sequence[str]:
        return self.cider_d.reference_warnings(references, state)

    def pair_scores(self, sentences: References, state: State | None) -> PairScores:
        idf = self.cider_d.idf or state
        assert isinstance(idf, DocumentFrequencies)
        metric = CiderD(idf=idf, sigma=self.sigma, tokenizer=self.tokenizer)
        score = metric.row_scores(sentences, None)

        def of_pairs(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
            return score(second, [sentences.texts[row] for row in first.tolist()])[:, 0] / metric.scale

        return of_pairs
