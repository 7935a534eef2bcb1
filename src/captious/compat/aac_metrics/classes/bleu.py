"""BLEU, ``aac_metrics.classes.bleu``."""

from __future__ import annotations

from typing import Any

from captious.compat.aac_metrics.classes.base import CaptionsMetric
from captious.compat.aac_metrics.functional.bleu import bleu

__all__ = ["BLEU", "BLEU1", "BLEU2", "BLEU3", "BLEU4"]


class BLEU(CaptionsMetric):
    """BLEU of order n. The arguments are those of ``functional.bleu``."""

    def __init__(self, return_all_scores: bool = True, *, n: int = 4, **options: Any) -> None:
        super().__init__(bleu, (f"bleu_{n}",), return_all_scores, n=n, **options)


class BLEU1(BLEU):
    """BLEU of order 1."""

    def __init__(self, return_all_scores: bool = True, **options: Any) -> None:
        super().__init__(return_all_scores, n=1, **options)


class BLEU2(BLEU):
    """BLEU of order 2."""

    def __init__(self, return_all_scores: bool = True, **options: Any) -> None:
        super().__init__(return_all_scores, n=2, **options)


class BLEU3(BLEU):
    """BLEU of order 3."""

    def __init__(self, return_all_scores: bool = True, **options: Any) -> None:
        super().__init__(return_all_scores, n=3, **options)


class BLEU4(BLEU):
    """BLEU of order 4."""

    def __init__(self, return_all_scores: bool = True, **options: Any) -> None:
        super().__init__(return_all_scores, n=4, **options)
