"""Scoring corpora that are larger than memory, or than a machine: shards mapped to sums, and sums added.

    report = captious.scale.score_shards("data/part-*.parquet", ["bleu", "cider-d"], engine="processes", output="out")

``plan`` is the core below it: ``Plan.map`` turns a shard into sums and ``Plan.reduce`` turns sums into a report, so
that any system that can run a function on many machines can score.

Public names are listed in ``__init__.pyi``. Each is imported when it is first used.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
