"""CIDEr-D under the toolkit's name, ``pycocoevalcap.cider.cider.Cider``."""

from __future__ import annotations

from captious.compat.pycocoevalcap.mean_scorer import MeanScorer
from captious.errors import ParameterError
from captious.metrics import cider_d
from captious.text import WHITESPACE

__all__ = ["Cider"]


class Cider(MeanScorer):
    """CIDEr-D, which the toolkit calls CIDEr, with the document frequencies of the references that are scored against.

    Captions are split at white space; scores are 0 to 10.

    Args:
        test, refs: accepted and ignored, as in the toolkit.
        n: 4; the toolkit's scores with another n are wrong or an error.
        sigma: width of the length penalty, in words.
    """

    def __init__(self, test: object = None, refs: object = None, n: int = 4, sigma: float = 6.0) -> None:
        if n != 4:
            raise ParameterError(f"CIDEr-D up to order {n!r} is not supported", help="leave n at 4")
        self._metric = cider_d.CiderD(sigma=sigma, tokenizer=WHITESPACE)

    def method(self) -> str:
        """What the toolkit calls this scorer."""
        return "CIDEr"
