"""METEOR under the toolkit's name, ``pycocoevalcap.meteor.meteor.Meteor``."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from captious.compat.pycocoevalcap.harness_input import Texts, captions
from captious.compat.pycocoevalcap.meteor.meteor_protocol import Process, scores_of, statistics_line
from captious.compat.pycocoevalcap.scorer import Scorer
from captious.metrics import meteor
from captious.text import SPACES

__all__ = ["Meteor"]


class Meteor(Scorer):
    """METEOR 1.5, with the toolkit's settings, in this process.

    METEOR's tables are looked for when the first caption is scored, so that a program that makes all scorers before it
    uses one runs without them.

    Attributes:
        lock: for code that uses ``_stat`` or ``meteor_p`` from several threads; nothing here needs it.
        meteor_p: answers the lines of METEOR's protocol like the toolkit's process, by ``stdin.write`` and
            ``stdout.readline``; other attributes of a process are an ``AttributeError``.
    """

    _name = "METEOR"

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.meteor_p = Process(self)

    @cached_property
    def _metric(self) -> meteor.Meteor:
        return meteor.Meteor(tokenizer=SPACES)

    def compute_score(self, gts: Texts, res: Texts) -> tuple[float, list[float]]:
        """Score tokenized captions, which METEOR normalises further.

        Args:
            gts: image id -> list of references; a tuple or an array, too, as in the toolkit's METEOR.
            res: image id -> list of one candidate; likewise.

        Returns:
            The corpus score, and the scores of every image, in the order of gts.

        Raises:
            InputError: invalid captions; the error names the image. No images are a ``ValueError``, too.
            MissingExtraError: METEOR's tables are not installed.
        """
        table = captions(_with_lists(gts), _with_lists(res))
        statistics = self._metric.statistics(table)
        corpus = float(self._metric.aggregate(statistics.sum(axis=0))[0])
        per_image: list[float] = self._metric.aggregate(statistics)[:, 0].tolist()
        return corpus, per_image

    def close(self) -> None:
        """Does nothing; forks end their process with it."""

    def _stat(self, hypothesis_str: str, reference_list: Sequence[str]) -> str:
        """METEOR's statistics of a candidate: 23 numbers."""
        return statistics_line(self._metric, hypothesis_str, reference_list)

    def _score(self, hypothesis_str: str, reference_list: Sequence[str]) -> float:
        """The score of a candidate; in Python 3, the toolkit's fails."""
        return scores_of(self._metric, [self._stat(hypothesis_str, reference_list)])[1]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("lock", "meteor_p")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.lock = threading.Lock()
        self.meteor_p = Process(self)


def _with_lists(texts_of: Any) -> Any:
    """Captions in lists; anything that is not a tuple or an array is left to the check of the input."""
    if not isinstance(texts_of, Mapping):
        return texts_of
    return {image: [*texts] if isinstance(texts, tuple | np.ndarray) else texts for image, texts in texts_of.items()}
