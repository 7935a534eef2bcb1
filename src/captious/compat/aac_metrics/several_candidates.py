"""``mult_cands_metric`` and SPIDEr-max of aac-metrics: the best of several candidates of each recording."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from captious.compat.aac_metrics.inputs import Outs, is_mult_sents
from captious.compat.aac_metrics.metric_functions import spider

__all__ = ["mult_cands_metric", "spider_max"]


def mult_cands_metric(
    metric: Callable[..., Any],
    metric_out_name: str,
    mult_candidates: list[list[str]],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    return_all_cands_scores: bool = False,
    selection: Literal["max", "min", "mean"] = "max",
    reduction_fn: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Outs:
    """Score the first candidates of all recordings, the second ones and so on, and choose among them.

    Args:
        metric: a function of ``metric_functions``.
        metric_out_name: the score to choose by.
        mult_candidates: the same number of candidates for each recording.
        mult_references: their references.
        return_all_scores: whether to return the scores of recordings, too.
        return_all_cands_scores: whether to return the scores of all candidates as well, under names ending in "_all".
        selection: how to choose; "mean" is the mean of all.
        reduction_fn: computes the corpus score from the scores of recordings; None for their mean.
        kwargs: arguments of the metric.

    Raises:
        ValueError: captions that are not lists of lists, or different numbers of candidates.
    """
    import torch

    for name, texts in (("mult_candidates", mult_candidates), ("mult_references", mult_references)):
        if not is_mult_sents(texts):
            raise ValueError(f"Invalid {name} type. (expected list[list[str]])")
    if not mult_candidates or len(mult_candidates) != len(mult_references):
        raise ValueError(f"Expected as many candidates ({len(mult_candidates)}) as references, and at least one.")
    if len({len(candidates) for candidates in mult_candidates}) > 1:
        raise ValueError("Expected the same number of candidates for each recording.")
    if selection not in ("max", "min", "mean"):
        raise ValueError(f"Invalid argument {selection=}. (expected max, min or mean)")
    rounds = [metric([*candidates], mult_references, **kwargs)[1] for candidates in zip(*mult_candidates, strict=True)]
    scores = {name: torch.stack([of_round[name] for of_round in rounds]) for name in rounds[0]}
    by = scores[metric_out_name]
    if selection == "mean":
        sents = {f"{metric_out_name}_mean": by.mean(dim=0)}
    else:
        selected_rows = (by.argmax(dim=0) if selection == "max" else by.argmin(dim=0)).unsqueeze(0)
        sents = {f"{name}_{selection}": values.gather(0, selected_rows).squeeze(0) for name, values in scores.items()}
    if return_all_cands_scores:
        sents |= {f"{name}_all": values.transpose(0, 1) for name, values in scores.items()}
    corpus = {name: (torch.mean if reduction_fn is None else reduction_fn)(values) for name, values in sents.items()}
    return (corpus, sents) if return_all_scores else corpus[f"{metric_out_name}_{selection}"]


def spider_max(
    mult_candidates: list[list[str]],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    return_all_cands_scores: bool = False,
    **options: Any,
) -> Outs:
    """Compute SPIDEr of the best candidate, named ``cider_d_max``, ``spice_max`` and ``spider_max``.

    Args:
        mult_candidates, mult_references, return_all_scores, return_all_cands_scores: see ``mult_cands_metric``.
        options: further arguments of ``spider``.

    Raises:
        ValueError: as ``mult_cands_metric``, or fewer than two recordings.
        MissingExtraError: METEOR's tables, which have the synonyms, are not installed.
    """
    return mult_cands_metric(
        spider,
        "spider",
        mult_candidates,
        mult_references,
        return_all_scores,
        return_all_cands_scores=return_all_cands_scores,
        **options,
    )
