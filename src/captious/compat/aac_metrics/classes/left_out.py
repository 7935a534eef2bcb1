"""The classes of aac-metrics that captious does not have: an error when an object is made."""

from __future__ import annotations

from typing import Any, ClassVar

from captious.compat.aac_metrics.classes.base import AACMetric
from captious.compat.aac_metrics.functional.left_out import left_out

__all__ = ["FENSE", "FER", "MACE", "BERTScoreMRefs", "CLAPSim", "SBERTSim", "SPIDErFL", "SPIDErMax", "Vocab"]


class _LeftOut(AACMetric):
    metric: ClassVar[str]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        raise left_out(self.metric)


class BERTScoreMRefs(_LeftOut):
    """BERTScore."""

    metric = "bert_score"


class CLAPSim(_LeftOut):
    """Similarity by CLAP."""

    metric = "clap_sim"


class FENSE(_LeftOut):
    """FENSE."""

    metric = "fense"


class FER(_LeftOut):
    """Rate of fluency errors."""

    metric = "fer"


class MACE(_LeftOut):
    """MACE."""

    metric = "mace"


class SBERTSim(_LeftOut):
    """Similarity by Sentence-BERT."""

    metric = "sbert_sim"


class SPIDErFL(_LeftOut):
    """SPIDEr-FL."""

    metric = "spider_fl"


class SPIDErMax(_LeftOut):
    """SPIDEr-max."""

    metric = "spider_max"


class Vocab(_LeftOut):
    """Sizes of vocabularies."""

    metric = "vocab"
