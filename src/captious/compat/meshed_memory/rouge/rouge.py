"""ROUGE-L under the name ``evaluation.rouge.rouge.Rouge``."""

from __future__ import annotations

from captious.compat.pycocoevalcap.rouge import rouge
from captious.compat.pycocoevalcap.rouge.rouge import my_lcs

__all__ = ["Rouge", "my_lcs"]


class Rouge(rouge.Rouge):
    """ROUGE-L, as in ``captious.compat.pycocoevalcap``."""

    def __str__(self) -> str:
        return "ROUGE"
