"""CIDEr-D under the toolkit's name, ``pycocoevalcap.cider.cider.Cider``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.compat.pycocoevalcap.harness_input import Texts, captions
from captious.errors import ParameterError
from captious.metrics import cider_d
from captious.text import WHITESPACE

__all__ = ["Cider"]


class Cider:
    """CIDEr-D, which the toolkit calls CIDEr, with the document frequencies of the references that are scored against.

    Args:
        test, refs: accepted and ignored, as in the toolkit.
        n: 4; the toolkit's scores with another n are wrong or an error.
        sigma: width of the length penalty, in words.
    """

    def __init__(self, test: object = None, refs: object = None, n: int = 4, sigma: float = 6.0) -> None:
        if n != 4:
            raise ParameterError(f"CIDEr-D up to order {n!r} is not supported", help="leave n at 4")
        self._metric = cider_d.CiderD(sigma=sigma, tokenizer=WHITESPACE)

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, NDArray[np.float64]]:
        """Score tokenized captions, split at white space.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.

        Returns:
            The mean, and float64[n_images] in the order of gts; 0 to 10.

        Raises:
            InputError: invalid captions; the error names the image.
        """
        scores = self._metric.scores(captions(gts, res))
        return np.float64(scores.mean()), scores

    def method(self) -> str:
        """What the toolkit calls this scorer."""
        return "CIDEr"
