"""SPARCS, the semantic half of SMURF: F1 of concepts, those of references weighted by how many references have them.

Feinglass and Yang 2021, equations 9 to 11, with the tokens, stop words and stems of the authors' code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import TokenizerParameter
from captious.text import SMURF
from captious.text.concepts import ConceptLayer

__all__ = ["Sparcs"]


class Sparcs(MeanMetric):
    """F1 of the distinct concepts of a caption; 0 to 1. The corpus score is the mean.

    A concept that occurs in a share w of the references has weight w in precision and recall; a candidate's concept
    that occurs in no reference has weight 1.
    """

    name = "sparcs"
    summary = "F1 of stemmed words without stop words, weighted by how many references contain them"
    variants: ClassVar[Mapping[str, str]] = {"official": "the authors' code, which agrees with the paper"}

    tokenizer: TokenizerParameter = TokenizerParameter(default=SMURF)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        # With counts in place of shares of references all sums are whole numbers: captions that tie have equal scores.
        candidates, references = captions.layer(ConceptLayer(self.tokenizer))
        size = candidates.n_concepts
        n_references = np.diff(captions.references.offsets)
        image_of = np.repeat(np.arange(len(captions)), n_references)
        concepts, n_having = np.unique(image_of[references.captions] * size + references.ids, return_counts=True)
        expected = np.bincount(concepts // size, n_having, len(captions))
        ours = candidates.captions * size + candidates.ids
        place = np.minimum(np.searchsorted(concepts, ours), len(concepts) - 1)
        is_shared = concepts[place] == ours if len(concepts) else np.zeros(len(ours), bool)
        matched = np.bincount(candidates.captions[is_shared], n_having[place[is_shared]], len(captions))
        unmatched = np.bincount(candidates.captions[~is_shared], minlength=len(captions)) * n_references
        return np.asarray(2 * matched / np.maximum(matched + unmatched + expected, 1))
