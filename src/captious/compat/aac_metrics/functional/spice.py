"""SPICE as a function, ``aac_metrics.functional.spice``."""

from __future__ import annotations

import warnings

from captious.compat.aac_metrics.inputs import Outs, outs, table
from captious.errors import CaptiousWarning
from captious.metrics import spice as metric
from captious.text import WHITESPACE

__all__ = ["spice"]


def spice(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    cache_path: object = None,
    java_path: object = None,
    tmp_path: object = None,
    n_threads: int | None = None,
    java_max_memory: str = "8G",
    timeout: object = None,
    separate_cache_dir: bool = True,
    use_shell: bool | None = None,
    verbose: int = 0,
) -> Outs:
    """SPICE.

    Args:
        candidates: one for each sound.
        mult_references: for each of them, its references.
        return_all_scores: whether to return the scores of sentences, too.
        cache_path, java_path, tmp_path, n_threads, java_max_memory, timeout, separate_cache_dir, use_shell, verbose:
            ignored.

    Returns:
        Corpus scores and scores of sentences by name, ``spice``; or the corpus score alone.

    Raises:
        ValueError: captions in another form.
        MissingExtraError: METEOR's tables, which have the synonyms, are not installed.
    """
    scorer = metric.Spice(tokenizer=WHITESPACE)
    for warning in metric.approximate(scorer.parser.label):
        warnings.warn(warning, CaptiousWarning, stacklevel=2)
    scores = scorer.aggregate(scorer.statistics(table(candidates, mult_references)))[:, 0]
    return outs(return_all_scores, spice=(scores.mean(), scores))
