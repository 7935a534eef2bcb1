"""coverage: mutual coverage of the sentences of long captions and references, by the metric ``concur``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from captious.data import References
from captious.learned.caption_features import EncodedReferences, agreement, slips
from captious.learned.caption_weights import CaptionWeights
from captious.learned.concur import Concur
from captious.metrics.contract.metric import State
from captious.metrics.contract.parameters import ResourceParameter
from captious.metrics.shared.coverage import PairScores, SentenceCoverage
from captious.metrics.smurf import ConceptLayer, Concepts


class Coverage(SentenceCoverage):
    """Mutual coverage of the sentences of a candidate and of its references, 0 to 1, higher is better.

    ``coverage-p`` is the mean over the candidate's sentences of their best score with any sentence of the references;
    ``coverage-r`` is the mean over the sentences of a reference of their best score with any of the candidate's, and
    then over references; ``coverage`` is the harmonic mean. The corpus score is the mean.

    Raises:
        ResourceError: unusable weights.
    """

    name = "coverage"
    english_only = True
    outputs = ("coverage", "coverage-p", "coverage-r")
    summary = "sentences of long captions that are supported, and sentences of references that are covered"
    variants: ClassVar[Mapping[str, str]] = {"light": "pairs of sentences by concur@light"}

    weights: ResourceParameter[CaptionWeights | str | os.PathLike[str] | None, Any] = ResourceParameter(
        default=None, summary="weights of concur@light; none for those of the package"
    )

    def setup(self) -> None:
        self.concur = Concur(variant="light", tokenizer=self.tokenizer, weights=self.weights)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**self.concur.parameters, "variant": self.variant}

    def pair_scores(self, sentences: References, state: State | None) -> PairScores:
        weights = self.concur.weights
        encoded = sentences.layer(self.concur.layer).captions
        concepts: Concepts = sentences.layer(ConceptLayer())
        shape = (len(sentences.texts), max(concepts.n_concepts, 1))
        has_concept = csr_matrix((np.ones(len(concepts.ids)), (concepts.captions, concepts.ids)), shape)
        n_concepts = np.bincount(concepts.captions, minlength=shape[0])
        unsound = slips(encoded, weights)
        by_ngrams = self.concur.ngrams.row_scores(sentences, None)

        def of_pairs(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
            candidates = encoded.take(first)
            references = EncodedReferences(encoded.take(second), np.arange(len(second) + 1))
            cosine = np.einsum("ij,ij->i", candidates.vectors, references.captions.vectors)
            shared = np.asarray(has_concept[first].multiply(has_concept[second]).sum(axis=1)).ravel()
            sparcs = 2 * shared / np.maximum(n_concepts[first] + n_concepts[second], 1)
            ngrams = by_ngrams(second, [sentences.texts[row] for row in first.tolist()])[:, 0]
            # A single reference is the sum of all references, and the closest one.
            alone = np.column_stack([cosine, cosine, sparcs, unsound[first], ngrams])
            return self.concur.of_features(np.hstack([alone, agreement(candidates, references, weights)]))

        return of_pairs
