"""The package ``evaluation`` of the meshed-memory transformer's code, which many captioning repositories carry along.

    from evaluation import PTBTokenizer, Cider
    cider_train = Cider(PTBTokenizer.tokenize(ref_caps_train))
    reward = cider_train.compute_score(caps_gt, caps_gen)[1]

``captious.compat.install("evaluation")`` leads that name here. The tokenizer starts no process, so that a training loop
may call it for every batch.
"""

from __future__ import annotations

from typing import Any

from captious.compat.meshed_memory.bleu import Bleu
from captious.compat.meshed_memory.cider import Cider
from captious.compat.meshed_memory.meteor import Meteor
from captious.compat.meshed_memory.rouge import Rouge
from captious.compat.meshed_memory.tokenizer import PTBTokenizer
from captious.compat.pycocoevalcap.harness_input import Texts

__all__ = ["Bleu", "Cider", "Meteor", "PTBTokenizer", "Rouge", "compute_scores"]


def compute_scores(gts: Texts, gen: Texts) -> tuple[dict[str, Any], dict[str, Any]]:
    """BLEU, METEOR, ROUGE and CIDEr of tokenized captions.

    Args:
        gts: image id -> list of references.
        gen: image id -> list of one candidate.

    Returns:
        Name of metric -> corpus score, which is a list of four for BLEU; and name of metric -> scores of images.

    Raises:
        InputError: invalid captions; the error names the image.
        MissingExtraError: METEOR's tables are not installed.
    """
    found = {str(metric): metric.compute_score(gts, gen) for metric in (Bleu(), Meteor(), Rouge(), Cider())}
    return {name: score for name, (score, _) in found.items()}, {name: scores for name, (_, scores) in found.items()}
