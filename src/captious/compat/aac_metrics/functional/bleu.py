"""BLEU as a function, ``aac_metrics.functional.bleu``."""

from __future__ import annotations

from typing import Any

from captious.compat.aac_metrics.inputs import Outs, SplitIntoWords, outs, words
from captious.compat.pycocoevalcap.bleu.bleu_scorer import BleuScorer

__all__ = ["bleu", "bleu_1", "bleu_2", "bleu_3", "bleu_4"]

OPTIONS = ("shortest", "average", "closest")


def bleu(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    n: int = 4,
    option: str = "closest",
    verbose: int = 0,
    tokenizer: SplitIntoWords = str.split,
    return_1_to_n: bool = False,
) -> Outs:
    """BLEU of order n.

    Args:
        candidates: one for each sound.
        mult_references: for each of them, its references.
        return_all_scores: whether to return the scores of sentences, too.
        n: highest order of n-grams.
        option: the length of a sound's references: "closest", "shortest" or "average".
        verbose: ignored.
        tokenizer: splits a caption into words.
        return_1_to_n: return the orders 1 to n as ``bleu_1_to_{n}``, too.

    Returns:
        Corpus scores and scores of sentences by name, ``bleu_{n}``; or the corpus score alone.

    Raises:
        ValueError: captions in another form, or another option.
    """
    if option not in OPTIONS:
        raise ValueError(f"Invalid option {option!r}. (expected one of {OPTIONS})")
    scorer = BleuScorer(n=n)
    for candidate, references in zip(*words(candidates, mult_references, tokenizer), strict=True):
        scorer += (candidate, references)
    corpus, sents = scorer.compute_score(option)
    found = outs(return_all_scores, **{f"bleu_{n}": (corpus[-1], sents[-1])})
    if return_1_to_n and return_all_scores:
        import torch

        for of_level, scores in zip(found, (corpus, sents), strict=True):
            of_level[f"bleu_1_to_{n}"] = torch.tensor(scores, dtype=torch.float64)
    return found


def bleu_1(
    candidates: list[str], mult_references: list[list[str]], return_all_scores: bool = True, **options: Any
) -> Outs:
    """``bleu`` with n = 1."""
    return bleu(candidates, mult_references, return_all_scores, n=1, **options)


def bleu_2(
    candidates: list[str], mult_references: list[list[str]], return_all_scores: bool = True, **options: Any
) -> Outs:
    """``bleu`` with n = 2."""
    return bleu(candidates, mult_references, return_all_scores, n=2, **options)


def bleu_3(
    candidates: list[str], mult_references: list[list[str]], return_all_scores: bool = True, **options: Any
) -> Outs:
    """``bleu`` with n = 3."""
    return bleu(candidates, mult_references, return_all_scores, n=3, **options)


def bleu_4(
    candidates: list[str], mult_references: list[list[str]], return_all_scores: bool = True, **options: Any
) -> Outs:
    """``bleu`` with n = 4."""
    return bleu(candidates, mult_references, return_all_scores, n=4, **options)
