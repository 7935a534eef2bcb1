"""METEOR under the toolkit's name, ``pycocoevalcap.meteor.meteor.Meteor``."""

from __future__ import annotations

from captious.compat.pycocoevalcap.harness_input import Texts, captions
from captious.metrics import meteor
from captious.text import SPACES

__all__ = ["Meteor"]


class Meteor:
    """METEOR 1.5, with the toolkit's settings.

    Raises:
        MissingExtraError: METEOR's tables are not installed.
    """

    def __init__(self) -> None:
        self._metric = meteor.Meteor(tokenizer=SPACES)

    def compute_score(self, gts: Texts, res: Texts) -> tuple[float, list[float]]:
        """Score tokenized captions, which METEOR normalises further.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.

        Returns:
            The corpus score, and the scores of every image, in the order of gts.

        Raises:
            InputError: invalid captions; the error names the image.
        """
        statistics = self._metric.statistics(captions(gts, res))
        corpus = float(self._metric.aggregate(statistics.sum(axis=0))[0])
        per_image: list[float] = self._metric.aggregate(statistics)[:, 0].tolist()
        return corpus, per_image

    def method(self) -> str:
        """What the toolkit calls this scorer."""
        return "METEOR"
