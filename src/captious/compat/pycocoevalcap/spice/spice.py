"""SPICE under the toolkit's name, ``pycocoevalcap.spice.spice.Spice``."""

from __future__ import annotations

import warnings
from functools import cached_property

import numpy as np

from captious.compat.pycocoevalcap.harness_input import Texts, captions_of_several, is_nothing
from captious.compat.pycocoevalcap.scorer import Scorer
from captious.errors import CaptiousWarning
from captious.metrics import spice
from captious.scenes.facts import CATEGORIES, agreement, count
from captious.text import WHITESPACE

__all__ = ["Spice"]


class Spice(Scorer):
    """SPICE, with the best grammar on this machine.

    METEOR's tables, which have SPICE's synonyms, are looked for when the first caption is scored, so that a program
    that makes all scorers before it uses one runs without them.
    """

    _name = "SPICE"

    @cached_property
    def _metric(self) -> spice.Spice:
        return spice.Spice(tokenizer=WHITESPACE)

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, list[dict[str, dict[str, float]]]]:
        """Score tokenized captions, split at white space.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate, or of several: what they say together is scored, as with the
                metric AllSPICE.

        Returns:
            The mean, and for every image, in the order of gts, a category (All, Object, Relation, Attribute, Color,
            Cardinality, Size) -> pr, re, f (nan where the references have nothing of the category), tp, fp, fn (which
            may be below 0) and numImages, which is 1.

        Raises:
            InputError: invalid captions; the error names the image.
            MissingExtraError: METEOR's tables are not installed.
        """
        if is_nothing(gts, res):
            return np.float64(np.mean([])), []
        references, candidates = (table.layer(self._metric.layer) for table in captions_of_several(gts, res))
        for warning in spice.approximate(self._metric.parser.label):
            warnings.warn(warning, CaptiousWarning, stacklevel=2)
        counts = [count(ours, theirs) for ours, theirs in zip(candidates, references, strict=True)]
        scores = agreement(np.array(counts, np.float64).reshape(-1, len(CATEGORIES), 3)).tolist()
        per_image = [
            {
                category.capitalize(): _of_category(category, *row)
                for category, *row in zip(CATEGORIES, *of_image, strict=True)
            }
            for of_image in zip(counts, scores, strict=True)
        ]
        return np.float64(np.mean([scores["All"]["f"] for scores in per_image])), per_image


def _of_category(category: str, counts: tuple[int, int, int], scores: list[float]) -> dict[str, float]:
    """What the toolkit reports of a category of an image."""
    matched, ours, theirs = counts
    precision, recall, f1 = scores if theirs or category == CATEGORIES[0] else (np.nan, np.nan, np.nan)
    return {
        "pr": precision,
        "re": recall,
        "f": f1,
        "tp": float(matched),
        "fp": float(ours - matched),
        "fn": float(theirs - matched),
        "numImages": 1.0,
    }
