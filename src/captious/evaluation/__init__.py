"""``score`` and ``compare``: metrics run over captions, with intervals, paired tests and the reports they return."""

from captious.evaluation.caption_warnings import CaptiousWarning
from captious.evaluation.comparison import Comparison, Difference, Example, compare, compare_reports
from captious.evaluation.groups import GroupDifference, GroupedComparison, GroupedReport, GroupScore, length_groups
from captious.evaluation.preparing import prepare
from captious.evaluation.reward import Reward, reward
from captious.evaluation.run_metrics import evaluate, score
from captious.evaluation.score_report import Report, Result
from captious.evaluation.stream import Stream

__all__ = [
    "CaptiousWarning",
    "Comparison",
    "Difference",
    "Example",
    "GroupDifference",
    "GroupScore",
    "GroupedComparison",
    "GroupedReport",
    "Report",
    "Result",
    "Reward",
    "Stream",
    "compare",
    "compare_reports",
    "evaluate",
    "length_groups",
    "prepare",
    "reward",
    "score",
]
