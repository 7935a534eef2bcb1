"""Self-CIDEr: the spread of an image's candidates, by their CIDEr with each other.

Wang and Chan 2019 ("Describing like humans: on diversity in image captioning", CVPR). The official variant is
`eval_self_cider` of self-critical.pytorch, which compares captions by CIDEr; the authors' own code, DiversityMetrics,
compares them by CIDEr-D.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import CaptionSets, References
from captious.metrics.cider import Cider
from captious.metrics.cider_d import CiderD
from captious.metrics.contract.metric import State
from captious.metrics.contract.parameters import TokenizerParameter
from captious.metrics.contract.set_metrics import SetMeanMetric
from captious.metrics.shared.frequencies.document_frequencies import DocumentFrequencies
from captious.metrics.shared.frequencies.frequencies_parameter import FrequenciesParameter
from captious.metrics.shared.spectra import check_candidates, spread
from captious.native import threads

_BATCH = 4_000_000  # similarities that are in memory at a time as matrices


class SelfCider(SetMeanMetric):
    """Self-CIDEr, 0 to 1, higher is more diverse. The corpus score is the mean over images.

    With the eigenvalues l of the matrix of similarities between the m candidates of an image, the score is
    -ln(max sqrt(l) / sum sqrt(l)) / ln m: 0 if all candidates are the same, 1 if no two share an n-gram. Images with
    one candidate, or without any n-gram that has a weight, have no score.

    Statistics (k = 2): the score or 0, and whether there is one.

    """

    name = "self-cider"
    summary = "spread of the CIDEr similarities between an image's candidates"
    variants: ClassVar[Mapping[str, str]] = {
        "official": "self-critical.pytorch: CIDEr, negative eigenvalues taken as 0",
        "cider-d": "DiversityMetrics: CIDEr-D of each pair, the earlier caption as candidate; singular values",
    }
    needs_two = True

    tokenizer: TokenizerParameter = Cider.tokenizer
    idf: FrequenciesParameter = Cider.idf

    def setup(self) -> None:
        pair_metric = CiderD if self.variant == "cider-d" else Cider
        self._pairs = pair_metric(idf=self.idf, tokenizer=self.arguments.get("tokenizer"))
        self.tokenizer = self._pairs.tokenizer
        self.needs_fit = self._pairs.needs_fit
        self.needs_references = self.idf is None  # they are only counted

    def fit(self, references: References) -> DocumentFrequencies | None:
        return self._pairs.fit(references)

    def fitted_parameters(self, state: State | None) -> Mapping[str, object]:
        return self._pairs.fitted_parameters(state)

    def scores(self, sets: CaptionSets, state: State | None = None) -> NDArray[np.float64]:
        check_candidates(self.name, sets)
        idf = state if isinstance(state, DocumentFrequencies) else self._pairs.frequencies(sets.references)
        similarities = sets.candidates.layer(self._pairs.weights(idf)).score_within(threads())
        counts = sets.counts
        first = np.concatenate([[0], np.cumsum(counts**2)])[:-1]
        scores = np.full(len(sets), np.nan)
        for m in np.unique(counts[counts > 1]).tolist():
            rows = np.flatnonzero(counts == m)
            step = max(1, _BATCH // m**2)
            for part in (rows[at : at + step] for at in range(0, len(rows), step)):
                kernels = similarities[first[part, None] + np.arange(m * m)].reshape(-1, m, m)
                # The upper triangle: CIDEr-D is not symmetric, and the earlier caption is the candidate.
                values = np.linalg.eigvalsh(kernels, UPLO="U")
                values = np.abs(values) if self.variant == "cider-d" else np.maximum(values, 0.0)
                scores[part] = spread(np.sqrt(values), m)
        return scores

    def warnings(self, sets: CaptionSets, state: State | None) -> list[str]:
        few = self._pairs.warnings(sets.slots[0].captions, state) if len(sets) else []
        pair_warnings = [warning.replace(self._pairs.name, self.name, 1) for warning in few]
        return [*super().warnings(sets, state), *pair_warnings]
