"""Evaluation of metrics by human judgments: benchmarks, protocols, correlations, significance, and studies.

``judge`` is the main function. benchmarks/ has the benchmarks, files.py reads them, scores.py has the scores that are
compared with them; judgments.py defines protocols and computes their statistics, items.py applies them to judged items.
studies/ has the experiments of the papers, papers/ files with their tables, which reproduction/ computes.
"""

from captious.judgment.benchmarks.benchmark import Benchmark, Figure, Files
from captious.judgment.files import DataFolder
from captious.judgment.items import CaptionPair, PairReferences, RankedSystem, RatedCaption
from captious.judgment.judging import judge, load_judgments
from captious.judgment.judgments import HumanJudgments, Protocol, Rule
from captious.judgment.papers.paper import Paper, PaperTable
from captious.judgment.reproduction.reproduce import reproduce
from captious.judgment.results import Agreement, BenchmarkResult, Judgment, Study

__all__ = [
    "Agreement",
    "Benchmark",
    "BenchmarkResult",
    "CaptionPair",
    "DataFolder",
    "Figure",
    "Files",
    "HumanJudgments",
    "Judgment",
    "PairReferences",
    "Paper",
    "PaperTable",
    "Protocol",
    "RankedSystem",
    "RatedCaption",
    "Rule",
    "Study",
    "judge",
    "load_judgments",
    "reproduce",
]
