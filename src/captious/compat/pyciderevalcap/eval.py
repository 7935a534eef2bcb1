"""CIDEr and CIDEr-D of raw captions, under the name ``pyciderevalcap.eval.CIDErEvalCap``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from captious.compat.df_files import CORPUS
from captious.compat.pyciderevalcap.caption_tokenizer import PTBTokenizer
from captious.compat.pyciderevalcap.rewards import Cider, CiderD

__all__ = ["CIDErEvalCap"]


class CIDErEvalCap:
    """CIDEr and CIDEr-D of candidates, possibly several for an image.

    Args:
        gts: image id -> list of references, ``{"caption": text}``.
        res: candidates, each ``{"image_id": id, "caption": text}``.
        df: document frequencies, as in ``Cider``.

    Attributes:
        gts, res: the tokenized captions.
    """

    def __init__(
        self,
        gts: Mapping[Any, Sequence[Mapping[str, Any]]],
        res: Sequence[Mapping[str, Any]],
        df: str | os.PathLike[str] = CORPUS,
    ) -> None:
        print("tokenization...")
        self.gts: dict[Any, list[str]] = PTBTokenizer("gts").tokenize(gts)
        print("tokenized refs")
        self.res: list[dict[str, Any]] = PTBTokenizer("res").tokenize(res)
        print("tokenized cands")
        self.df = df

    def evaluate(self) -> dict[str, list[np.float64]]:
        """Return the scores of all candidates, in order, under ``CIDEr`` and ``CIDErD``.

        Raises:
            InputError: a candidate of another form, or without references.
            ResourceError: no such document frequencies.
        """
        print("setting up scorers...")
        scores_of: dict[str, list[np.float64]] = {}
        for name, scorer in {"CIDEr": Cider(df=self.df), "CIDErD": CiderD(df=self.df)}.items():
            print(f"computing {scorer.method()} score...")
            score, scores = scorer.compute_score(self.gts, self.res)
            print(f"Mean {name} score: {score:0.3f}")
            scores_of[name] = list(scores)
        return scores_of
