"""METEOR, ``aac_metrics.classes.meteor``."""

from __future__ import annotations

from typing import Any

from captious.compat.aac_metrics.classes.base import CaptionsMetric
from captious.compat.aac_metrics.functional.meteor import meteor

__all__ = ["METEOR"]


class METEOR(CaptionsMetric):
    """METEOR. The arguments are those of ``functional.meteor``."""

    def __init__(self, return_all_scores: bool = True, **options: Any) -> None:
        super().__init__(meteor, ("meteor",), return_all_scores, **options)
