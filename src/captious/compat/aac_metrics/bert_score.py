"""BERTScore with several references, as aac-metrics computes it with torchmetrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from captious.compat.aac_metrics.inputs import Outs, check_metric_inputs, device_name, table
from captious.errors import ParameterError
from captious.evaluation.caption_checks.caption_warnings import issue
from captious.metrics.bertscore import BertScore
from captious.models import Encoder

__all__ = ["NAMES", "bert_score_mrefs"]

Reduction: TypeAlias = Literal["mean", "max", "min"] | Callable[..., Any]

#: The names of the scores.
NAMES = ("bert_score.precision", "bert_score.recall", "bert_score.f1")
_REDUCTIONS = ("mean", "max", "min")


def bert_score_mrefs(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    model: str = "roberta-large",
    tokenizer: object = None,
    device: object = "cuda_if_available",
    batch_size: int | None = 32,
    num_threads: int = 0,
    max_length: int = 64,
    reset_state: bool = True,
    idf: bool = False,
    reduction: Reduction = "max",
    filter_nan: bool = True,
    verbose: int = 0,
) -> Outs:
    """Compute BERTScore, as float32 tensors named ``bert_score.precision``, ``.recall`` and ``.f1``.

    Args:
        candidates: one for each recording.
        mult_references: the references of each.
        return_all_scores: whether to return the scores of sentences, too; otherwise, only the corpus F.
        model: a name on the Hugging Face hub, or a folder.
        tokenizer: must be None: that of the model is used.
        device: "cpu", "cuda", ...; "cuda_if_available" for a GPU if there is one. None for the CPU.
        idf: weight tokens by their inverse document frequency in the references.
        reduction: how to combine the scores with several references: "max", "mean", "min", or a function of a tensor.
        batch_size, num_threads, max_length, reset_state, filter_nan, verbose: ignored.

    Raises:
        ValueError: captions in another form, no captions, or an unknown reduction.
        ParameterError: a model or tokenizer that is an object.
        MissingExtraError: transformers is not installed.
        ResourceError: the model cannot be found or read.
    """
    import torch

    check_metric_inputs(candidates, mult_references, min_length=1)
    if reduction not in _REDUCTIONS and not callable(reduction):
        raise ValueError(f"Invalid argument {reduction=}. (expected one of {_REDUCTIONS} or a function)")
    if not isinstance(model, str) or tokenizer is not None:
        raise ParameterError(
            "BERTScore takes no objects as model and tokenizer",
            help="give the name of the model, or save both into a folder with save_pretrained and give its path",
        )
    metric = BertScore(variant="torchmetrics", model=Encoder(model, device_name(device)), token_idf=idf)
    counts = [len(references) for references in mult_references]
    of_pairs = [candidate for candidate, n in zip(candidates, counts, strict=True) for _ in range(n)]
    pairs = table(of_pairs, [[text] for references in mult_references for text in references])
    state = metric.fit(pairs.references)
    issue(metric.warnings(pairs, state))
    scores = torch.from_numpy(metric.scores(pairs, state).astype(np.float32)).T
    sents = {name: _reduced(values, counts, reduction) for name, values in zip(NAMES, scores, strict=True)}
    corpus = {name: values.mean() for name, values in sents.items()}
    return (corpus, sents) if return_all_scores else corpus["bert_score.f1"]


def _reduced(scores: Any, counts: list[int], reduction: Reduction) -> Any:
    """Return a score for each sentence, combined from those with each of its references."""
    import torch

    groups = torch.split(scores, counts)
    return torch.stack([reduction(group) if callable(reduction) else getattr(group, reduction)() for group in groups])
