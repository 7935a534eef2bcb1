"""Word mover's distance under the name of the fork mtanti/coco-caption, ``pycocoevalcap.wmd.wmd.WMD``."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from captious.compat.pycocoevalcap.harness_input import Texts, captions
from captious.compat.pycocoevalcap.scorer import MeanScorer
from captious.metrics import wmd
from captious.models import WordVectors
from captious.text import SPACES

__all__ = ["WMD"]


class WMD(MeanScorer):
    """Word mover's distance as a similarity, as in the fork mtanti/coco-caption. ``COCOEvalCap`` does not run it.

    Captions are split at single spaces. The fork reads a file of GoogleNews vectors from its own folder; here any
    vectors are given.

    Args:
        vectors: as ``captious.Wmd`` takes them; None for the default.

    Raises:
        MissingExtraError: there are no word vectors.
    """

    _name = "WMD"

    def __init__(self, vectors: WordVectors | str | os.PathLike[str] | None = None) -> None:
        self._metric = wmd.Wmd(vectors, tokenizer=SPACES)

    def _scores(self, gts: Texts, res: Texts) -> NDArray[np.float64]:
        return self._metric.scores(captions(gts, res))
