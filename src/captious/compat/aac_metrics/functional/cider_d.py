"""CIDEr-D as a function, ``aac_metrics.functional.cider_d``."""

from __future__ import annotations

from captious.compat.aac_metrics.inputs import Outs, SplitIntoWords, outs, words
from captious.compat.pycocoevalcap.cider.cider_scorer import CiderScorer
from captious.errors import ParameterError

__all__ = ["cider_d"]


def cider_d(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    n: int = 4,
    sigma: float = 6.0,
    tokenizer: SplitIntoWords = str.split,
    return_tfidf: bool = False,
    scale: float = 10.0,
) -> Outs:
    """CIDEr-D, with the document frequencies of these references.

    Args:
        candidates: one for each sound, at least two.
        mult_references: for each of them, its references.
        return_all_scores: whether to return the scores of sentences, too.
        n: highest order of n-grams.
        sigma: width of the length penalty.
        tokenizer: splits a caption into words.
        return_tfidf: must be False.
        scale: the highest score.

    Returns:
        Corpus scores and scores of sentences by name, ``cider_d``; or the corpus score alone.

    Raises:
        ValueError: captions in another form, or fewer than two.
        ParameterError: weights of n-grams are asked for.
    """
    if return_tfidf:
        raise ParameterError("weights of n-grams are not returned", help="leave return_tfidf at False")
    candidates, mult_references = words(candidates, mult_references, tokenizer)
    if len(candidates) < 2:
        raise ValueError(f"CIDEr-D needs at least 2 candidates, found {len(candidates)}.")
    scorer = CiderScorer(n=n, sigma=sigma)
    for candidate, references in zip(candidates, mult_references, strict=True):
        scorer += (candidate, references)
    corpus, sents = scorer.compute_score()
    return outs(return_all_scores, cider_d=(corpus * (scale / 10), sents * (scale / 10)))
