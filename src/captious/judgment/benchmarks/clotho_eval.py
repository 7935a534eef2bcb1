"""Clotho-Eval: which of two captions of a sound do people prefer? Zhou et al. 2022 (FENSE).

``fense_pairs`` describes the file and the protocols. The format was taken from the owners' program and from their file
of AudioCaps-Eval; the protocols have not been run on the file.
"""

from __future__ import annotations

from captious.judgment.fense_pairs import fense_benchmark

__all__ = ["CLOTHO_EVAL"]

CLOTHO_EVAL = fense_benchmark("clotho-eval", "fense/clotho_eval.json")
