"""The metrics as functions, ``aac_metrics.functional``."""

from captious.compat.aac_metrics.functional.bleu import bleu, bleu_1, bleu_2, bleu_3, bleu_4
from captious.compat.aac_metrics.functional.cider_d import cider_d
from captious.compat.aac_metrics.functional.evaluate import dcase2023_evaluate, dcase2024_evaluate, evaluate
from captious.compat.aac_metrics.functional.left_out import (
    bert_score_mrefs,
    clap_sim,
    fense,
    fer,
    mace,
    sbert_sim,
    spider_fl,
    spider_max,
    vocab,
)
from captious.compat.aac_metrics.functional.meteor import meteor
from captious.compat.aac_metrics.functional.rouge_l import rouge_l
from captious.compat.aac_metrics.functional.spice import spice
from captious.compat.aac_metrics.functional.spider import spider

__all__ = [
    "bert_score_mrefs",
    "bleu",
    "bleu_1",
    "bleu_2",
    "bleu_3",
    "bleu_4",
    "cider_d",
    "clap_sim",
    "dcase2023_evaluate",
    "dcase2024_evaluate",
    "evaluate",
    "fense",
    "fer",
    "mace",
    "meteor",
    "rouge_l",
    "sbert_sim",
    "spice",
    "spider",
    "spider_fl",
    "spider_max",
    "vocab",
]
