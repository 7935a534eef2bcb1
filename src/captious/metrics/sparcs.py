"""SPARCS, the semantic half of SMURF: F1 of concepts, those of references weighted by how many references have them.

Feinglass and Yang 2021, equations 9 to 11, with the tokens, stop words and stems of the authors' code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.text import SMURF, Tokenizer
from captious.text.concepts import ConceptLayer

__all__ = ["Sparcs"]


class Sparcs(MeanMetric):
    """F1 of the distinct concepts of a caption; 0 to 1. The corpus score is the mean.

    A concept that occurs in a share w of the references has weight w in precision and recall; a candidate's concept
    that occurs in no reference has weight 1.

    Args:
        variant: one of ``variants``.
        tokenizer: by default that of the authors' code; see ``captious.text.as_tokenizer``.
    """

    name = "sparcs"
    summary = "F1 of stemmed words without stop words, weighted by how many references contain them"
    variants: ClassVar[Mapping[str, str]] = {"official": "the authors' code, which agrees with the paper"}

    def __init__(
        self, *, variant: str | None = None, tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = SMURF
    ) -> None:
        super().__init__(variant=variant, tokenizer=tokenizer)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        # With counts in place of shares of references all sums are whole numbers: captions that tie have equal scores.
        candidates, references = captions.layer(ConceptLayer(self.tokenizer))
        size = candidates.n_concepts
        n_references = np.diff(captions.references.offsets)
        image_of = np.repeat(np.arange(len(captions)), n_references)
        known, having = np.unique(image_of[references.captions] * size + references.ids, return_counts=True)
        wanted = np.bincount(known // size, having, len(captions))
        said = candidates.captions * size + candidates.ids
        place = np.minimum(np.searchsorted(known, said), len(known) - 1)
        seen = known[place] == said if len(known) else np.zeros(len(said), bool)
        matched = np.bincount(candidates.captions[seen], having[place[seen]], len(captions))
        unseen = np.bincount(candidates.captions[~seen], minlength=len(captions)) * n_references
        return np.asarray(2 * matched / np.maximum(matched + unseen + wanted, 1))
