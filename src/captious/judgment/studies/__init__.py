"""Studies of metrics, as in the papers.

    reference_counts     does a metric need many references?
    robustness           does it notice corrupted captions?
    critical_failures    how often does it fail where another metric does not?
    metric_correlations  which metrics agree with each other?
    system_correlations  do metrics rank systems alike, and as people do?
    scoring_time         what does a metric cost?
    human_agreement      how do human captions score?
    word_agreement       which words do people agree on?
    word_frequencies     do systems use words as often as people do?
    collection_rules     do captions follow the rules by which COCO's were collected?
    smurf_analysis       how do systems differ from people in meaning and in style?
    smurf_scores         the same, from scores of SMURF's authors
    item_scores          how do single captions score?
    score_distributions  does a metric tell human from machine captions?
    sentence_scores      how do metrics score sentences without references?
    feature_ablation     which features does a learned metric need?
    network_depth        does it need hidden layers?
    training_size        how many examples does it need?
    training_epochs      how does it improve as it is trained?
    critique_grid        what does a critique of LEIC need?

Each returns a ``Study``: a table, and pictures if there are any.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
