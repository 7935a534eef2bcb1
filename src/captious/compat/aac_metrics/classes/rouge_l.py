"""ROUGEL, ``aac_metrics.classes.rouge_l``."""

from __future__ import annotations

from typing import Any

from captious.compat.aac_metrics.classes.base import CaptionsMetric
from captious.compat.aac_metrics.functional.rouge_l import rouge_l

__all__ = ["ROUGEL"]


class ROUGEL(CaptionsMetric):
    """ROUGE-L. The arguments are those of ``functional.rouge_l``."""

    def __init__(self, return_all_scores: bool = True, **options: Any) -> None:
        super().__init__(rouge_l, ("rouge_l",), return_all_scores, **options)
