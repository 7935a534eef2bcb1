"""SPIDEr as a function, ``aac_metrics.functional.spider``."""

from __future__ import annotations

from captious.compat.aac_metrics.functional.cider_d import cider_d
from captious.compat.aac_metrics.functional.spice import spice
from captious.compat.aac_metrics.inputs import Outs, SplitIntoWords

__all__ = ["spider"]


def spider(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    n: int = 4,
    sigma: float = 6.0,
    tokenizer: SplitIntoWords = str.split,
    return_tfidf: bool = False,
    cache_path: object = None,
    java_path: object = None,
    tmp_path: object = None,
    n_threads: int | None = None,
    java_max_memory: str = "8G",
    timeout: object = None,
    verbose: int = 0,
) -> Outs:
    """SPIDEr: the mean of CIDEr-D and SPICE.

    Args:
        candidates: one for each sound, at least two.
        mult_references: for each of them, its references.
        return_all_scores: whether to return the scores of sentences, too.
        n, sigma, tokenizer, return_tfidf: as for ``cider_d``.
        cache_path, java_path, tmp_path, n_threads, java_max_memory, timeout, verbose: ignored.

    Returns:
        Corpus scores and scores of sentences by name, ``cider_d``, ``spice`` and ``spider``; or SPIDEr's corpus score
        alone.

    Raises:
        ValueError: captions in another form, or fewer than two.
        MissingExtraError: METEOR's tables, which have the synonyms, are not installed.
    """
    ciders = cider_d(candidates, mult_references, n=n, sigma=sigma, tokenizer=tokenizer, return_tfidf=return_tfidf)
    spices = spice(candidates, mult_references)
    corpus, sents = (
        {**of_cider, **of_spice, "spider": (of_cider["cider_d"] + of_spice["spice"]) / 2}
        for of_cider, of_spice in zip(ciders, spices, strict=True)
    )
    return (corpus, sents) if return_all_scores else corpus["spider"]
