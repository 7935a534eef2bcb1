"""Studies of metrics, as the papers make them.

    reference_counts     does a metric need many references?
    robustness           does it notice corrupted captions?
    critical_failures    how often is it plainly wrong?
    metric_correlations  which metrics agree with each other?
    systems              do metrics rank systems alike, and as people do?
    timing               what does a metric cost?
    human_agreement      how do human captions score?
    word_agreement       which words do people agree on?
    smurf_analysis       how do systems differ from people in meaning and in style?

Each gives a table, and its pictures if there are any, as a ``Study``.
"""

from captious.judgment.studies.critical_failures import critical_failures
from captious.judgment.studies.human_agreement import human_agreement
from captious.judgment.studies.metric_correlations import metric_correlations
from captious.judgment.studies.reference_counts import reference_counts
from captious.judgment.studies.robustness import robustness
from captious.judgment.studies.smurf_analysis import smurf_analysis
from captious.judgment.studies.systems import systems
from captious.judgment.studies.timing import timing
from captious.judgment.studies.word_agreement import word_agreement

__all__ = [
    "critical_failures",
    "human_agreement",
    "metric_correlations",
    "reference_counts",
    "robustness",
    "smurf_analysis",
    "systems",
    "timing",
    "word_agreement",
]
