"""Metrics against human judgments: benchmarks, protocols, correlations, significance, and studies of metrics.

``judge`` is the main job. benchmarks/ has a file per benchmark, protocols.py says what a protocol chooses,
judged_items.py applies it, evidence.py computes the statistics, and studies/ holds the experiments of the papers.
"""

from captious.judgment.benchmarks.benchmark import Benchmark, Figure, Files
from captious.judgment.judged_items import (
    CaptionPair,
    PairReferences,
    RankedSystem,
    RatedCaption,
    caption_pairs,
    ranked_systems,
    rated_captions,
)
from captious.judgment.judging import judge, load_evidence
from captious.judgment.judgment_files import DataFolder
from captious.judgment.protocols import Choice, Protocol
from captious.judgment.study import Study
from captious.judgment.verdict import Agreement, Judgment, Verdict

__all__ = [
    "Agreement",
    "Benchmark",
    "CaptionPair",
    "Choice",
    "DataFolder",
    "Figure",
    "Files",
    "Judgment",
    "PairReferences",
    "Protocol",
    "RankedSystem",
    "RatedCaption",
    "Study",
    "Verdict",
    "caption_pairs",
    "judge",
    "load_evidence",
    "ranked_systems",
    "rated_captions",
]
