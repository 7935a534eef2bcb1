"""SPIDEr, ``aac_metrics.classes.spider``."""

from __future__ import annotations

from typing import Any

from captious.compat.aac_metrics.classes.base import CaptionsMetric
from captious.compat.aac_metrics.functional.spider import spider

__all__ = ["SPIDEr"]


class SPIDEr(CaptionsMetric):
    """SPIDEr. The arguments are those of ``functional.spider``."""

    max_value = 5.5

    def __init__(self, return_all_scores: bool = True, **options: Any) -> None:
        super().__init__(spider, ("cider_d", "spice", "spider"), return_all_scores, **options)
