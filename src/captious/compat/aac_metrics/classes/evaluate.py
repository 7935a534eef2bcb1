"""Several metrics at once, ``aac_metrics.classes.evaluate``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from captious.compat.aac_metrics.classes.base import AACMetric
from captious.compat.aac_metrics.classes.bleu import BLEU, BLEU1, BLEU2, BLEU3, BLEU4
from captious.compat.aac_metrics.classes.cider_d import CIDErD
from captious.compat.aac_metrics.classes.meteor import METEOR
from captious.compat.aac_metrics.classes.rouge_l import ROUGEL
from captious.compat.aac_metrics.classes.spice import SPICE
from captious.compat.aac_metrics.classes.spider import SPIDEr
from captious.compat.aac_metrics.functional.evaluate import DEFAULT_METRICS_SET_NAME, Preprocess, evaluate, named

__all__ = ["DCASE2023Evaluate", "DCASE2024Evaluate", "Evaluate", "metrics_of"]

_CLASSES: Mapping[str, Callable[[], AACMetric]] = {
    "bleu": BLEU,
    "bleu_1": BLEU1,
    "bleu_2": BLEU2,
    "bleu_3": BLEU3,
    "bleu_4": BLEU4,
    "cider_d": CIDErD,
    "meteor": METEOR,
    "rouge_l": ROUGEL,
    "spice": SPICE,
    "spider": SPIDEr,
}


class Evaluate(AACMetric):
    """``functional.evaluate`` of captions that are added bit by bit; a sequence of its metrics.

    Args:
        preprocess, metrics: as for ``functional.evaluate``.
        cache_path, java_path, tmp_path, device, verbose: ignored.
    """

    def __init__(
        self,
        preprocess: Preprocess = True,
        metrics: str | Iterable[str] | Iterable[AACMetric] = DEFAULT_METRICS_SET_NAME,
        cache_path: object = None,
        java_path: object = None,
        tmp_path: object = None,
        device: object = "cuda_if_available",
        verbose: int = 0,
    ) -> None:
        super().__init__()
        self._preprocess = preprocess
        self._metrics = metrics_of(metrics)
        self._candidates: list[str] = []
        self._mult_references: list[list[str]] = []

    def update(self, candidates: list[str], mult_references: list[list[str]]) -> None:
        """Add captions."""
        self._candidates += candidates
        self._mult_references += mult_references

    def compute(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Corpus scores and scores of sentences of all captions added so far, name -> tensor."""
        return evaluate(self._candidates, self._mult_references, self._preprocess, self._metrics)

    def reset(self) -> None:
        """Forget all captions."""
        self._candidates, self._mult_references = [], []

    def tolist(self) -> list[AACMetric]:
        """The metrics."""
        return list(self._metrics)

    def __iter__(self) -> Iterator[AACMetric]:
        return iter(self._metrics)

    def __len__(self) -> int:
        """Number of metrics."""
        return len(self._metrics)

    def __getitem__(self, index: int) -> AACMetric:
        return self._metrics[index]


class DCASE2023Evaluate(Evaluate):
    """The metrics of DCASE 2023: an error, as SPIDEr-FL is left to its model."""

    def __init__(self, preprocess: Preprocess = True, **ignored: Any) -> None:
        super().__init__(preprocess, "dcase2023")


class DCASE2024Evaluate(Evaluate):
    """The metrics of DCASE 2024: an error, as SPIDEr-FL and FENSE are left to their models."""

    def __init__(self, preprocess: Preprocess = True, **ignored: Any) -> None:
        super().__init__(preprocess, "dcase2024")


def metrics_of(metrics: str | Iterable[Any]) -> list[AACMetric]:
    """The metrics that names stand for, as objects.

    Raises:
        UnknownNameError, ParameterError: as ``functional.evaluate``.
    """
    return [_CLASSES[each]() if isinstance(each, str) else each for each in named(metrics)]
