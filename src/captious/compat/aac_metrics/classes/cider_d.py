"""CIDErD, ``aac_metrics.classes.cider_d``."""

from __future__ import annotations

from typing import Any

from captious.compat.aac_metrics.classes.base import CaptionsMetric
from captious.compat.aac_metrics.functional.cider_d import cider_d

__all__ = ["CIDErD"]


class CIDErD(CaptionsMetric):
    """CIDEr-D. The arguments are those of ``functional.cider_d``."""

    max_value = 10.0

    def __init__(self, return_all_scores: bool = True, **options: Any) -> None:
        super().__init__(cider_d, ("cider_d",), return_all_scores, **options)
