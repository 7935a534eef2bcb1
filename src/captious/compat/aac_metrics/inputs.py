"""Inputs and outputs of the metrics: captions, checked and tokenized, and tensors."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from captious.data import Captions, read_captions

__all__ = ["Outs", "SplitIntoWords", "check_metric_inputs", "device_name", "is_mono_sents", "is_mult_sents", "outs"]
__all__ += ["table", "words"]

#: Corpus scores and scores of sentences, by name; or, with ``return_all_scores=False``, the corpus score alone.
Outs: TypeAlias = tuple[dict[str, Any], dict[str, Any]] | Any
SplitIntoWords: TypeAlias = Callable[[str], Sequence[str]]


def check_metric_inputs(candidates: Any, mult_references: Any, min_length: int = 0) -> None:
    """Refuse, with a ValueError, anything but a list of candidates and a list of lists of references."""
    if not is_mono_sents(candidates):
        raise ValueError("Invalid candidates type. (expected list[str])")
    if not is_mult_sents(mult_references):
        raise ValueError("Invalid mult_references type. (expected list[list[str]])")
    if len(candidates) != len(mult_references):
        raise ValueError(
            f"Invalid number of candidates ({len(candidates)}) with the number of references ({len(mult_references)})."
        )
    if not all(mult_references):
        raise ValueError("Invalid number of references per candidate. (found at least 1 empty list of references)")
    if len(candidates) < min_length:
        raise ValueError(f"Expected at least {min_length} candidates, found {len(candidates)}.")


def words(
    candidates: list[str], mult_references: list[list[str]], tokenizer: SplitIntoWords
) -> tuple[list[str], list[list[str]]]:
    """Return the captions with single spaces between words, and no other white space."""
    check_metric_inputs(candidates, mult_references)
    if tokenizer is str.split:
        return candidates, mult_references

    def joined(text: str) -> str:
        return " ".join(re.sub(r"\s", "\N{OPEN BOX}", word) for word in tokenizer(text))

    return [*map(joined, candidates)], [[*map(joined, group)] for group in mult_references]


def table(candidates: list[str], mult_references: list[list[str]]) -> Captions:
    """Return the captions for metrics of captious."""
    check_metric_inputs(candidates, mult_references, min_length=1)
    return read_captions(candidates, mult_references)


def outs(return_all_scores: bool, **scores: tuple[float, ArrayLike]) -> Outs:
    """Return the result of a metric as float64 tensors.

    Args:
        return_all_scores: whether to return the scores of sentences, too.
        scores: name -> corpus score and scores of sentences, the main score last.
    """
    import torch

    corpus = {name: torch.tensor(float(score), dtype=torch.float64) for name, (score, _) in scores.items()}
    sents = {name: torch.from_numpy(np.array(values, dtype=np.float64)) for name, (_, values) in scores.items()}
    return (corpus, sents) if return_all_scores else corpus[[*scores][-1]]


def device_name(device: object) -> str:
    """Return the name in captious of a device of the toolkit."""
    return {"cuda_if_available": "auto", "None": "cpu"}.get(str(device), str(device))


def is_mono_sents(sents: object) -> bool:
    """Return whether it is a list of captions."""
    return isinstance(sents, list) and all(isinstance(text, str) for text in sents)


def is_mult_sents(mult_sents: object) -> bool:
    """Return whether it is a list of lists of captions."""
    return isinstance(mult_sents, list) and all(map(is_mono_sents, mult_sents))
