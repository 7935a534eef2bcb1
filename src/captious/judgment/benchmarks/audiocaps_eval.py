"""AudioCaps-Eval: which of two captions of a sound do people prefer? Zhou et al. 2022 (FENSE).

``fense_pairs`` describes the file and the protocols. The format was taken from the owners' file; the protocols have not
been run on all of it.
"""

from __future__ import annotations

from captious.judgment.fense_pairs import fense_benchmark

__all__ = ["AUDIOCAPS_EVAL"]

AUDIOCAPS_EVAL = fense_benchmark("audiocaps-eval", "fense/audiocaps_eval.json")
