"""BLEU under the toolkit's name, ``pycocoevalcap.bleu.bleu.Bleu``."""

from __future__ import annotations

from captious.compat.pycocoevalcap.bleu.bleu_scorer import BleuScorer, scores_of
from captious.compat.pycocoevalcap.harness_input import Texts, captions, is_nothing
from captious.compat.pycocoevalcap.scorer import Scorer
from captious.errors import ParameterError

__all__ = ["Bleu", "BleuScorer"]


class Bleu(Scorer):
    """BLEU of order 1 to n.

    Args:
        n: 1 to 4.
    """

    _name = "Bleu"

    def __init__(self, n: int = 4) -> None:
        if n not in (1, 2, 3, 4):
            raise ParameterError(f"BLEU of order {n!r} is not supported", help="n must be 1, 2, 3 or 4")
        self._n = n

    def compute_score(self, gts: Texts, res: Texts, verbose: int = 1) -> tuple[list[float], list[list[float]]]:
        """Score tokenized captions, split at white space.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.
            verbose: print lengths and counts of the corpus; 0 to print nothing.

        Returns:
            Corpus scores by order, and by order the scores of every image, in the order of gts. Without any images, the
            corpus scores are 0.

        Raises:
            InputError: invalid captions; the error names the image.
        """
        return scores_of(None if is_nothing(gts, res) else captions(gts, res), self._n, verbose)
