"""BLEU under the toolkit's name, ``pycocoevalcap.bleu.bleu.Bleu``."""

from __future__ import annotations

import numpy as np

from captious.compat.pycocoevalcap.bleu.bleu_scorer import BleuScorer
from captious.compat.pycocoevalcap.harness_input import Texts, captions, is_nothing
from captious.errors import ParameterError
from captious.metrics import bleu
from captious.text import WHITESPACE

__all__ = ["Bleu", "BleuScorer"]


class Bleu:
    """BLEU of order 1 to n.

    Args:
        n: 1 to 4.
    """

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
        metric = bleu.Bleu(tokenizer=WHITESPACE)
        statistics = np.zeros((0, 10)) if is_nothing(gts, res) else metric.statistics(captions(gts, res))
        total = statistics.sum(axis=0)
        if verbose:
            self._print(*total.astype(int).tolist())
        corpus: list[float] = metric.aggregate(total)[: self._n].tolist()
        per_image: list[list[float]] = metric.aggregate(statistics)[:, : self._n].T.tolist()
        return corpus, per_image

    def _print(self, *total: int) -> None:
        """The toolkit's two lines; ``total`` is the sum of the statistics."""
        correct, guess, (length, reference_length) = total[0:4], total[4:8], total[8:10]
        counts = {
            "testlen": length,
            "reflen": reference_length,
            "guess": list(guess[: self._n]),
            "correct": list(correct[: self._n]),
        }
        print(counts)
        print("ratio:", (length + 1e-15) / (reference_length + 1e-9))  # the constants of the score itself

    def method(self) -> str:
        """What the toolkit calls this scorer."""
        return "Bleu"
