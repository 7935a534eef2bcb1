"""Word mover's distance under the name of the fork mtanti/coco-caption, ``pycocoevalcap.wmd.wmd.WMD``."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from captious.compat.pycocoevalcap.harness_input import Texts, captions
from captious.metrics import wmd
from captious.models import WordVectors
from captious.text import SPACES

__all__ = ["WMD"]


class WMD:
    """Word mover's distance as a similarity, as in the fork mtanti/coco-caption. ``COCOEvalCap`` does not run it.

    The fork reads a file of GoogleNews vectors from its own folder; here any vectors are given.

    Args:
        vectors: as ``captious.Wmd`` takes them; None for the default.

    Raises:
        MissingExtraError: there are no word vectors.
    """

    def __init__(self, vectors: WordVectors | str | os.PathLike[str] | None = None) -> None:
        self._metric = wmd.Wmd(vectors, tokenizer=SPACES)

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, NDArray[np.float64]]:
        """Score tokenized captions, split at single spaces.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.

        Returns:
            The mean, and float64[n_images] in the order of gts.

        Raises:
            InputError: invalid captions; the error names the image.
        """
        scores = self._metric.scores(captions(gts, res))
        return np.float64(scores.mean()), scores

    def method(self) -> str:
        """What the fork calls this scorer."""
        return "WMD"
