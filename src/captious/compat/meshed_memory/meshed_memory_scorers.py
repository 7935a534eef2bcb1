"""The scorers of the meshed-memory transformer's code, under their original names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.compat import pycocoevalcap
from captious.compat.counted_ngrams import CountedCaptions, Ngram
from captious.compat.pycocoevalcap.coco_scorers import MeanScorer
from captious.compat.pycocoevalcap.harness_input import Texts, captions, captions_by_image, references_table
from captious.errors import ParameterError
from captious.evaluation.reward import Reward
from captious.metrics import cider_d
from captious.metrics.shared.frequencies.document_frequencies import DocumentFrequencies
from captious.text import WHITESPACE

__all__ = ["Bleu", "Cider", "CiderScorer", "Meteor", "Rouge"]


class Bleu(pycocoevalcap.Bleu):
    """BLEU of order 1 to n, without printing.

    Args:
        n: 1 to 4.
    """

    def compute_score(self, gts: Texts, res: Texts, verbose: int = 0) -> tuple[list[float], list[list[float]]]:
        """Score as in ``captious.compat.pycocoevalcap``."""
        return super().compute_score(gts, res, verbose)

    def __str__(self) -> str:
        return "BLEU"


class Meteor(pycocoevalcap.Meteor):
    """METEOR 1.5, as in ``captious.compat.pycocoevalcap``; nothing is downloaded."""

    def __str__(self) -> str:
        return "METEOR"


class Rouge(pycocoevalcap.Rouge):
    """ROUGE-L, as in ``captious.compat.pycocoevalcap``."""

    def __str__(self) -> str:
        return "ROUGE"


class Cider(MeanScorer):
    """CIDEr-D, 0 to 10, with document frequencies counted once or for every call.

    Objects can be pickled, and pickles of the original code can be read.

    Args:
        gts: tokenized references by image, for document frequencies; None to count those of each call.
        n: 4.
        sigma: width of the length penalty, in words.

    Attributes:
        doc_frequency: n-gram -> number of images with it in their references; None without ``gts``.
        ref_len: logarithm of the number of images; None without ``gts``.

    Raises:
        InputError: invalid captions; the error names the image.
        ParameterError: another n.
    """

    _name = "CIDEr"
    _refuses_nothing = True

    def __init__(self, gts: Texts | None = None, n: int = 4, sigma: float = 6.0) -> None:
        if n != 4:
            raise ParameterError(f"CIDEr-D up to order {n!r} is not supported", help="leave n at 4")
        self._n = n
        self._sigma = sigma
        self._idf = None if gts is None else DocumentFrequencies.of(references_table(gts), WHITESPACE)

    @property
    def doc_frequency(self) -> Mapping[Ngram, float] | None:
        """See the class; a new dictionary for every call."""
        return None if self._idf is None else {ngram: float(n) for ngram, n in self._idf.by_ngram().items()}

    @property
    def ref_len(self) -> np.float64 | None:
        """See the class."""
        return None if self._idf is None else np.log(np.float64(self._idf.n_documents))

    def _scores(self, gts: Texts, res: Texts) -> NDArray[np.float64]:
        table = captions(gts, res)
        metric = cider_d.CiderD(idf=self._idf, sigma=self._sigma, tokenizer=WHITESPACE)
        if self._idf is None:
            return metric.scores(table)
        # As in training, where the candidates of an image have the same references.
        row_of: dict[tuple[str, ...], int] = {}
        rows = [
            row_of.setdefault(tuple(references), len(row_of)) for references in captions_by_image(gts, "gts").values()
        ]
        distinct = references_table(dict(enumerate(map(list, row_of))))
        return Reward(metric, distinct, metric.name)(rows, table.candidates)

    def __str__(self) -> str:
        return "CIDEr"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "doc_frequency" in state:  # a state of the original code
            counts, log_documents = self.__dict__.pop("doc_frequency"), self.__dict__.pop("ref_len")
            self._idf = None
            if counts is not None:
                whole = {ngram: int(count) for ngram, count in counts.items() if count}
                self._idf = DocumentFrequencies.of_counts(whole, round(float(np.exp(log_documents))), WHITESPACE)


class CiderScorer(CountedCaptions):
    """CIDEr-D of tokenized captions.

    Args:
        refs: image id -> list of references.
        test: image id -> list of one candidate; None to count documents only.
        n: highest order of n-grams.
        sigma: width of the length penalty.
        doc_frequency: n-gram -> number of images; None to count those of ``refs``.
        ref_len: logarithm of the number of images.

    Attributes:
        doc_frequency, ref_len: passed or counted.
    """

    def __init__(
        self,
        refs: Texts,
        test: Texts | None = None,
        n: int = 4,
        sigma: float = 6.0,
        doc_frequency: Mapping[Ngram, float] | None = None,
        ref_len: float | None = None,
    ) -> None:
        super().__init__(n, sigma)
        for image, references in captions_by_image(refs, "refs").items():
            self.cook_append(None if test is None else test[image][0], references)
        if doc_frequency is None and ref_len is None:
            self.compute_doc_freq()
            self.ref_len = np.log(float(self.size()))
        else:
            self.document_frequency = {} if doc_frequency is None else doc_frequency
            self.ref_len = ref_len

    @property
    def doc_frequency(self) -> Mapping[Ngram, float]:
        """See the class."""
        return self.document_frequency
