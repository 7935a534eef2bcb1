"""The classes of training rewards as the forks have them, made of pycocoevalcap's own scorer and tokenizer.

The forks pyciderevalcap and the ``evaluation`` package of the meshed-memory transformer are not on PyPI. Both compute
CIDEr-D with the ``CiderScorer`` that pycocoevalcap has, only with document frequencies that were counted before. For
the peer's interpreter; training_reward.py uses it.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pycocoevalcap.cider.cider_scorer import CiderScorer, precook
from pycocoevalcap.tokenizer import ptbtokenizer

__all__ = ["Cider", "CiderD", "PTBTokenizer"]


class GivenFrequencies(CiderScorer):  # type: ignore[misc]
    """The scorer with document frequencies of other references than those that are added."""

    def __init__(self, frequencies: Any, documents: float) -> None:
        self._log_documents = np.log(float(documents))
        super().__init__()
        self.document_frequency = defaultdict(float, frequencies)

    @property
    def ref_len(self) -> float:
        """Logarithm of the number of documents, whatever ``compute_cider`` sets."""
        return float(self._log_documents)

    @ref_len.setter
    def ref_len(self, value: object) -> None:
        return None


class CiderD:
    """``pyciderevalcap.ciderD.ciderD.CiderD`` with a pickle of document frequencies."""

    def __init__(self, df: str) -> None:
        with open(df, "rb") as file:
            content = pickle.load(file)
        self._frequencies = defaultdict(float, content["document_frequency"])
        self._documents = content["ref_len"]

    def compute_score(
        self, gts: Mapping[int, list[str]], res: Sequence[Mapping[str, Any]]
    ) -> tuple[float, np.ndarray[Any, Any]]:
        """Return mean and scores of the candidates."""
        pairs = ((each["caption"][0], gts[each["image_id"]]) for each in res)
        return _scored(self._frequencies, self._documents, pairs)


class Cider:
    """``evaluation.Cider``, which counts the documents of the references that it is made with."""

    def __init__(self, gts: Mapping[Any, list[str]]) -> None:
        self._frequencies: dict[tuple[str, ...], float] = defaultdict(float)
        self._documents = len(gts)
        for texts in gts.values():
            for ngram in {ngram for text in texts for ngram in precook(text)}:
                self._frequencies[ngram] += 1

    def compute_score(
        self, gts: Mapping[int, list[str]], res: Mapping[int, list[str]]
    ) -> tuple[float, np.ndarray[Any, Any]]:
        """Return mean and scores of the candidates."""
        return _scored(self._frequencies, self._documents, ((res[i][0], gts[i]) for i in res))


def _scored(frequencies: Any, documents: float, pairs: Any) -> tuple[float, Any]:
    scorer = GivenFrequencies({}, documents)
    scorer.document_frequency = frequencies
    for candidate, references in pairs:
        scorer += (candidate, references)
    scores = np.array(scorer.compute_cider())
    return float(scores.mean()), scores


class PTBTokenizer:
    """``evaluation.PTBTokenizer``: the toolkit's, of lists of captions; a Java process for each call."""

    @classmethod
    def tokenize(cls, corpus: Sequence[str] | Sequence[Sequence[str]]) -> dict[int, list[str]]:
        """Return position -> tokenized captions."""
        groups = ([each] if isinstance(each, str) else each for each in corpus)
        raw = {i: [{"caption": text} for text in group] for i, group in enumerate(groups)}
        tokenized: dict[int, list[str]] = ptbtokenizer.PTBTokenizer().tokenize(raw)
        return tokenized
