"""The package ``evaluation`` of the meshed-memory transformer's code, which many captioning repositories include.

    from evaluation import PTBTokenizer, Cider
    cider_train = Cider(PTBTokenizer.tokenize(ref_caps_train))
    reward = cider_train.compute_score(caps_gt, caps_gen)[1]

``captious.compat.install("evaluation")`` redirects that name here. The tokenizer starts no process, so a training loop
can call it for every batch.
"""

from __future__ import annotations

from typing import Any

from captious.compat import counted_ngrams
from captious.compat.meshed_memory.meshed_memory_scorers import Bleu, Cider, CiderScorer, Meteor, Rouge
from captious.compat.meshed_memory.tokenizer import PTBTokenizer
from captious.compat.pycocoevalcap import bleu_scorer
from captious.compat.pycocoevalcap.coco_scorers import my_lcs
from captious.compat.pycocoevalcap.harness_input import Texts
from captious.compat.reexports import add_modules, by_name

__all__ = ["Bleu", "Cider", "Meteor", "PTBTokenizer", "Rouge", "compute_scores"]


def compute_scores(gts: Texts, gen: Texts) -> tuple[dict[str, Any], dict[str, Any]]:
    """Compute BLEU, METEOR, ROUGE and CIDEr of tokenized captions.

    Args:
        gts: image id -> list of references.
        gen: image id -> list of one candidate.

    Returns:
        Name of metric -> corpus score, which is a list of four for BLEU; and name of metric -> scores of images.

    Raises:
        InputError: invalid captions; the error names the image.
        MissingExtraError: METEOR's tables are not installed.
    """
    results = {str(metric): metric.compute_score(gts, gen) for metric in (Bleu(), Meteor(), Rouge(), Cider())}
    corpus = {name: score for name, (score, _) in results.items()}
    return corpus, {name: scores for name, (_, scores) in results.items()}


add_modules(
    __name__,
    {
        "bleu": by_name(Bleu),
        "bleu.bleu": by_name(Bleu),
        "bleu.bleu_scorer": by_name(bleu_scorer.BleuScorer, *bleu_scorer.COOKING),
        "cider": by_name(Cider),
        "cider.cider": by_name(Cider),
        "cider.cider_scorer": by_name(CiderScorer, *counted_ngrams.COOKING),
        "meteor": by_name(Meteor),
        "meteor.meteor": by_name(Meteor),
        "rouge": by_name(Rouge),
        "rouge.rouge": by_name(Rouge, my_lcs),
    },
)
