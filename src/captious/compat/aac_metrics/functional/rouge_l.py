"""ROUGE-L as a function, ``aac_metrics.functional.rouge_l``."""

from __future__ import annotations

from captious.compat.aac_metrics.inputs import Outs, SplitIntoWords, outs, table, words
from captious.metrics import rouge_l as metric
from captious.text import WHITESPACE

__all__ = ["rouge_l"]


def rouge_l(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    beta: float = 1.2,
    tokenizer: SplitIntoWords = str.split,
) -> Outs:
    """ROUGE-L.

    Args:
        candidates: one for each sound.
        mult_references: for each of them, its references.
        return_all_scores: whether to return the scores of sentences, too.
        beta: weight of recall against precision.
        tokenizer: splits a caption into words.

    Returns:
        Corpus scores and scores of sentences by name, ``rouge_l``; or the corpus score alone.

    Raises:
        ValueError: captions in another form.
    """
    scorer = metric.RougeL(tokenizer=WHITESPACE)
    scorer.beta = beta
    scores = scorer.scores(table(*words(candidates, mult_references, tokenizer)))
    return outs(return_all_scores, rouge_l=(scores.mean(), scores))
