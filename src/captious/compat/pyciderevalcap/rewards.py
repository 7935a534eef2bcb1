"""``Cider`` and ``CiderD`` of the authors' code, which score a list with any number of candidates for an image."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.compat.counted_images import table_of
from captious.compat.df_files import CORPUS, frequencies
from captious.compat.pyciderevalcap.frequency_scorers import CiderDScorer, CiderScorer
from captious.compat.pycocoevalcap.coco_scorers import Scorer
from captious.data import Captions
from captious.errors import InputError, ParameterError
from captious.evaluation.reward import Reward
from captious.metrics import cider, cider_d
from captious.metrics.shared.frequencies.document_frequencies import DocumentFrequencies
from captious.text import WHITESPACE

__all__ = ["Cider", "CiderD"]


class Rewards(Scorer):
    """A scorer of the authors' code.

    Args:
        n: 4.
        df: "corpus", or document frequencies: a pickle, its path or its name in the folder ``data``.

    Raises:
        ParameterError: another n, for which the original code gives wrong scores.
        ResourceError: no such file, or not such a pickle.
    """

    _metric: ClassVar[type[cider.Cider]]
    #: The class of ``cider_scorer``.
    _scorer: ClassVar[type[CiderDScorer]]

    def __init__(self, n: int, df: str | os.PathLike[str]) -> None:
        if n != 4:
            raise ParameterError(f"n-grams up to order {n!r} are not supported", help="leave n at 4")
        self._n = n
        self._df = df
        self._idf = frequencies(df)
        self._own_scorer: CiderDScorer | None = None

    @property
    def cider_scorer(self) -> CiderDScorer:
        """Counts of n-grams, for code that reads or changes them; ``compute_score`` does not use it."""
        if self._own_scorer is None:
            self._own_scorer = self._scorer(df_mode=os.fspath(self._df), n=self._n)
        return self._own_scorer

    @cider_scorer.setter
    def cider_scorer(self, scorer: CiderDScorer) -> None:
        self._own_scorer = scorer

    def compute_score(
        self, gts: Mapping[Any, list[str]], res: Sequence[Mapping[str, Any]]
    ) -> tuple[np.float64, NDArray[np.float64]]:
        """Score tokenized captions.

        Args:
            gts: image id -> list of references, words separated by spaces.
            res: candidates, each ``{"image_id": id, "caption": [text]}``; any number for an image.

        Returns:
            The mean, and float64[n_candidates] in the order of ``res``.

        Raises:
            InputError: a candidate of another form, or without references.
        """
        if not res:
            raise InputError("there are no candidates", where="res", help="give one or more")
        texts = [_text(gts, number, candidate) for number, candidate in enumerate(res)]
        groups = [gts[candidate["image_id"]] for candidate in res]
        if self._idf is None:  # every candidate is a document, with its references
            table = table_of(groups, "gts")
            metric = self._metric(idf=DocumentFrequencies.of(table, WHITESPACE), tokenizer=WHITESPACE)
            scores = metric.scores(Captions(tuple(texts), table))
        else:
            # Code gives the same list for all candidates of an image, under ids of their own.
            row_of: dict[int, int] = {}
            rows = [row_of.setdefault(id(group), len(row_of)) for group in groups]
            distinct = {id(group): group for group in groups}
            metric = self._metric(idf=self._idf, tokenizer=WHITESPACE)
            scores = Reward(metric, table_of(distinct.values(), "gts"), metric.name)(rows, texts)
        return np.float64(scores.mean()), scores

    def my_compute_score(
        self, gts: Sequence[Sequence[str]], res: Sequence[Sequence[str]], avg_refs: bool = True
    ) -> tuple[np.float64, NDArray[np.float64]]:
        """Score several candidates of each image, with the document frequencies of ``cider_scorer``.

        Args:
            gts: the references of each image.
            res: the candidates of each image, the same number for all.
            avg_refs: accepted and ignored, as in the original.

        Returns:
            The mean, and float64[n_images, n_candidates].

        Raises:
            AssertionError: ``cider_scorer`` has no document frequencies.
        """
        scores = np.array(
            [self.cider_scorer.my_get_cider(refs, tests).mean(axis=1) for refs, tests in zip(gts, res, strict=True)]
        )
        return np.float64(scores.mean()), scores

    def my_self_cider(self, res: Sequence[Sequence[str]]) -> list[NDArray[np.float64]]:
        """Return, for each image, the scores of its candidates with each other, for Self-CIDEr.

        Raises:
            AssertionError: ``cider_scorer`` has no document frequencies.
        """
        return [self.cider_scorer.my_get_self_cider(tests) for tests in res]


class Cider(Rewards):
    """CIDEr, 0 to 10, without the clipping and the length penalty of CIDEr-D.

    Args:
        n: 4.
        df: as in ``CiderD``.
    """

    _name, _metric, _scorer = "CIDEr", cider.Cider, CiderScorer

    def __init__(self, n: int = 4, df: str | os.PathLike[str] = CORPUS) -> None:
        super().__init__(n, df)


class CiderD(Rewards):
    """CIDEr-D, 0 to 10, the reward of self-critical training.

    Args:
        n: 4.
        sigma: accepted and ignored, as in the original; it is 6.
        df: "corpus" to count the references of each call, where every candidate is a document; or document frequencies
            in a pickle, its path or its name in the folder ``data`` ("coco-train-idxs").
    """

    _name, _metric, _scorer = "CIDEr-D", cider_d.CiderD, CiderDScorer

    def __init__(self, n: int = 4, sigma: float = 6.0, df: str | os.PathLike[str] = CORPUS) -> None:
        super().__init__(n, df)
        self._sigma = sigma


def _text(gts: Mapping[Any, list[str]], number: int, candidate: Any) -> str:
    """Return the text of a candidate, after a check that it has references."""
    try:
        image, caption = candidate["image_id"], candidate["caption"]
    except (KeyError, TypeError):
        raise InputError(
            'a candidate is not a dictionary with "image_id" and "caption"', where=f"res[{number}]"
        ) from None
    if not (isinstance(caption, list) and len(caption) == 1 and isinstance(caption[0], str)):
        raise InputError(
            "the caption of a candidate is not a list of one text", where=f"res[{number}]: {caption!r:.80}"
        )
    references = gts.get(image)
    if not (isinstance(references, list) and references and all(isinstance(text, str) for text in references)):
        raise InputError("an image has no list of references", where=f"gts: image_id {image!r}")
    return caption[0]
