"""The metrics as classes, ``aac_metrics.classes``."""

from captious.compat.aac_metrics.classes.base import AACMetric
from captious.compat.aac_metrics.classes.bleu import BLEU, BLEU1, BLEU2, BLEU3, BLEU4
from captious.compat.aac_metrics.classes.cider_d import CIDErD
from captious.compat.aac_metrics.classes.evaluate import DCASE2023Evaluate, DCASE2024Evaluate, Evaluate
from captious.compat.aac_metrics.classes.left_out import (
    FENSE,
    FER,
    MACE,
    BERTScoreMRefs,
    CLAPSim,
    SBERTSim,
    SPIDErFL,
    SPIDErMax,
    Vocab,
)
from captious.compat.aac_metrics.classes.meteor import METEOR
from captious.compat.aac_metrics.classes.rouge_l import ROUGEL
from captious.compat.aac_metrics.classes.spice import SPICE
from captious.compat.aac_metrics.classes.spider import SPIDEr

__all__ = ["BLEU", "BLEU1", "BLEU2", "BLEU3", "BLEU4", "FENSE", "FER", "MACE", "METEOR", "ROUGEL", "SPICE", "AACMetric"]
__all__ += ["BERTScoreMRefs", "CIDErD", "CLAPSim", "DCASE2023Evaluate", "DCASE2024Evaluate", "Evaluate", "SBERTSim"]
__all__ += ["SPIDEr", "SPIDErFL", "SPIDErMax", "Vocab"]
