"""SPICE, ``aac_metrics.classes.spice``."""

from __future__ import annotations

from typing import Any

from captious.compat.aac_metrics.classes.base import CaptionsMetric
from captious.compat.aac_metrics.functional.spice import spice

__all__ = ["SPICE"]


class SPICE(CaptionsMetric):
    """SPICE. The arguments are those of ``functional.spice``."""

    def __init__(self, return_all_scores: bool = True, **options: Any) -> None:
        super().__init__(spice, ("spice",), return_all_scores, **options)
