"""Scoring of corpora larger than memory, or than a machine: shards are mapped to sums, and sums are added.

    report = captious.scale.score_shards("data/part-*.parquet", ["bleu", "cider-d"], engine="processes", output="out")

It is built on ``plan``: ``Plan.map`` turns a shard into sums and ``Plan.reduce`` turns sums into a report, so any
system that can run a function on many machines can score.

Public names are listed in ``__init__.pyi``. Each is imported on first use.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
