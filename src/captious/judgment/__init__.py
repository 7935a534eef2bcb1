"""Evaluation of metrics by human judgments: benchmarks, protocols, correlations, significance, and studies.

``judge`` is the main function. benchmarks/ has the benchmarks, files.py reads them, scores.py has the scores that are
compared with them; judgments.py defines protocols and computes their statistics, items.py applies them to judged items.
studies/ has the experiments of the papers, papers/ files with their tables, which reproduction/ computes.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
