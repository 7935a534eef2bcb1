"""BLEU under the name ``evaluation.bleu.bleu.Bleu``."""

from __future__ import annotations

from captious.compat.pycocoevalcap.bleu import bleu
from captious.compat.pycocoevalcap.harness_input import Texts

__all__ = ["Bleu"]


class Bleu(bleu.Bleu):
    """BLEU of order 1 to n, which prints nothing.

    Args:
        n: 1 to 4.
    """

    def compute_score(self, gts: Texts, res: Texts, verbose: int = 0) -> tuple[list[float], list[list[float]]]:
        """As in ``captious.compat.pycocoevalcap``."""
        return super().compute_score(gts, res, verbose)

    def __str__(self) -> str:
        return "BLEU"
