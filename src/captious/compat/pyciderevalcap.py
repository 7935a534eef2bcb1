"""CIDEr and CIDEr-D as in their authors' code, ``pyciderevalcap``, from which training code imports rewards.

    from captious.compat.pyciderevalcap.ciderD.ciderD import CiderD
    score, rewards = CiderD(df="coco-train-idxs").compute_score(gts, res)

Candidates are a list, which may have several for one image. Document frequencies come from the references or from the
pickles of that code, which are read without executing anything in them.

``Cider`` and ``CiderD`` compute scores with kernels. ``CiderScorer`` in ``cider.cider_scorer`` and
``ciderD.ciderD_scorer`` keeps n-gram counts in dictionaries, to create such pickles and to compute Self-CIDEr.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from captious.compat.counted import CORPUS, filled, frequencies, precook
from captious.compat.pycocoevalcap import cider_scorer, inputs
from captious.compat.pycocoevalcap.cider_scorer import CountedCaptions
from captious.compat.pycocoevalcap.inputs import PUNCTUATIONS
from captious.compat.pycocoevalcap.scorers import Scorer, cider_scores
from captious.compat.reexports import add_modules, by_name, is_changed
from captious.errors import InputError, ParameterError
from captious.metrics import cider as cider_metrics
from captious.text import WHITESPACE
from captious.words import shortened

__all__ = ["PUNCTUATIONS", "CIDErEvalCap", "Cider", "CiderD", "CiderDScorer", "CiderScorer", "PTBTokenizer"]


# The PTB tokenizer under the name of the authors' code, ``pyciderevalcap.tokenizer.ptbtokenizer.PTBTokenizer``.

_SOURCES = ("gts", "res")


class PTBTokenizer:
    """Penn Treebank tokens, as in ``captious.compat.pycocoevalcap``.

    Args:
        _source: "gts" for references by image, "res" for a list of candidates.

    Raises:
        ParameterError: an unknown source.
    """

    def __init__(self, _source: str = "gts") -> None:
        if _source not in _SOURCES:
            raise ParameterError(f"{_source!r} is not a source of captions", hint=f"give {' or '.join(_SOURCES)}")
        self.source = _source

    def tokenize(self, captions_for_image: Any) -> Any:
        """Tokenize captions.

        Args:
            captions_for_image: image id -> list of ``{"caption": text}`` for "gts"; for "res" a list of
                ``{"image_id": id, "caption": text}``.

        Returns:
            image id -> list of tokenized captions, or a list of ``{"image_id": id, "caption": [tokenized]}``.

        Raises:
            InputError: a value that is not a caption.
        """
        tokenizer = inputs.PTBTokenizer()
        if self.source == "gts":
            return tokenizer.tokenize(captions_for_image)
        try:
            images = [candidate["image_id"] for candidate in captions_for_image]
        except (KeyError, TypeError):
            raise InputError('a candidate is not a dictionary with "image_id" and "caption"', where="res") from None
        tokenized = tokenizer.tokenize({number: [candidate] for number, candidate in enumerate(captions_for_image)})
        return [
            {"image_id": image, "caption": captions} for image, captions in zip(images, tokenized.values(), strict=True)
        ]


# ``CiderScorer`` of CIDEr-D and of CIDEr: counts of n-grams, with document frequencies from elsewhere.
#
# scorer = CiderDScorer(df_mode="corpus")
# scorer += (candidate, references)
# scorer.compute_doc_freq()
# scorer.document_frequency


class CiderDScorer(CountedCaptions):
    """CIDEr-D of candidates added with ``+=`` or ``cook_append``, each a document with its references.

    Args:
        df_mode: "corpus" to count the added references; or a pickle of document frequencies, its path or its name in
            the folder ``data`` ("coco-train-idxs").
        test, refs: the first candidate and its references.
        n: highest order of n-grams.
        sigma: width of the length penalty.

    Raises:
        ResourceError: no such file, or not such a pickle.
    """

    def __init__(
        self,
        df_mode: str = CORPUS,
        test: str | None = None,
        refs: Sequence[str] | None = None,
        n: int = 4,
        sigma: float = 6.0,
    ) -> None:
        super().__init__(n, sigma)
        self._read(df_mode)
        self.cook_append(test, refs)

    def _read(self, df_mode: str) -> None:
        self.df_mode = df_mode
        corpus = frequencies(df_mode)
        if corpus is not None:
            self.document_frequency = defaultdict(float, {gram: float(n) for gram, n in corpus.by_ngram().items()})
            self.ref_len = np.log(float(corpus.n_documents))

    def copy_empty(self) -> Self:
        """Return another scorer with the same frequencies, without candidates."""
        new = self.copy()
        new.clear()
        return new

    def clear(self) -> None:
        """Remove all candidates."""
        self.crefs, self.ctest = [], []

    def my_get_cider(self, gts: Sequence[str], res: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of each candidate with each reference, float64[n_candidates, n_references].

        Raises:
            AssertionError: ``ref_len`` is None.
        """
        candidates, references = ([self._vector(precook(text, self.n)) for text in texts] for texts in (res, gts))
        scores = [[self._similarity(candidate, reference) for reference in references] for candidate in candidates]
        return np.array(scores).reshape(len(res), len(gts)) * 10

    def my_get_self_cider(self, res: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of each candidate (rows) with each candidate (columns).

        Raises:
            AssertionError: ``ref_len`` is None.
        """
        return self.my_get_cider(res, res)


class CiderScorer(CiderDScorer):
    """CIDEr of the candidates, without clipping or a length penalty."""

    _is_d = False


class CandidateError(InputError, KeyError, TypeError):
    """A candidate of another form, or of an image without references."""


# ``Cider`` and ``CiderD`` of the authors' code, which score a list with any number of candidates for an image.


class Rewards(Scorer):
    """A scorer of the authors' code.

    Args:
        n: 4.
        df: "corpus", or document frequencies: a pickle, its path or its name in the folder ``data``.

    Raises:
        ParameterError: another n, for which the original code gives wrong scores.
        ResourceError: no such file, or not such a pickle.
    """

    _metric: ClassVar[type[cider_metrics.Cider]]
    #: The class of ``cider_scorer``.
    _scorer: ClassVar[type[CiderDScorer]]

    def __init__(self, n: int = 4, df: str | os.PathLike[str] = CORPUS) -> None:
        if n != 4:
            raise ParameterError(f"n-grams up to order {n!r} are not supported", hint="leave n at 4")
        self._n = n
        self._df = df
        self._idf = frequencies(df)

    @cached_property
    def cider_scorer(self) -> CiderDScorer:
        """Counts of n-grams. Once a program has read or replaced them, ``compute_score`` uses what they hold then, in
        Python and at the original's speed.
        """
        return self._scorer(df_mode=os.fspath(self._df), n=self._n)

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
            InputError: a candidate of another form, or without references; as in the original, also a ``TypeError`` or
                ``KeyError``. No candidates; also a ``ValueError``.
        """
        if not res:
            raise inputs.NoImages("there are no candidates", where="res", hint="give one or more")
        rows = dict(_captions_of(gts, number, candidate) for number, candidate in enumerate(res))
        captions = inputs.captions(
            {key: references for key, (references, _) in rows.items()},
            {key: caption for key, (_, caption) in rows.items()},
        )
        if "cider_scorer" in vars(self) or is_changed(self._scorer):
            return filled(self.cider_scorer.copy_empty(), captions).compute_score()
        scores = cider_scores(self._metric(idf=self._idf, tokenizer=WHITESPACE), captions)
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

    _name, _metric, _scorer = "CIDEr", cider_metrics.Cider, CiderScorer


class CiderD(Rewards):
    """CIDEr-D, 0 to 10, the reward of self-critical training.

    Args:
        n: 4.
        sigma: accepted and ignored, as in the original; it is 6.
        df: "corpus" to count the references of each call, where every candidate is a document; or document frequencies
            in a pickle, its path or its name in the folder ``data`` ("coco-train-idxs").
    """

    _name, _metric, _scorer = "CIDEr-D", cider_metrics.CiderD, CiderDScorer

    def __init__(self, n: int = 4, sigma: float = 6.0, df: str | os.PathLike[str] = CORPUS) -> None:
        super().__init__(n, df)
        self._sigma = sigma


def _captions_of(gts: Mapping[Any, list[str]], number: int, candidate: Any) -> tuple[Any, tuple[Any, Any]]:
    """Return the place of a candidate and its image, and the references and the caption."""
    try:
        image = candidate["image_id"]
        return (number, image), (gts[image], candidate["caption"])
    except (KeyError, TypeError):
        raise CandidateError(
            "a candidate has no image with references, or no caption",
            where=f"res[{number}]: {shortened(candidate)}",
            hint='give {"image_id": id, "caption": [text]}, where gts has the id',
        ) from None


# CIDEr and CIDEr-D of raw captions, under the name ``pyciderevalcap.eval.CIDErEvalCap``.


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


_COUNTS = by_name(*cider_scorer.COOKING)
add_modules(
    __name__,
    {
        "cider.cider": by_name(Cider),
        "cider.cider_scorer": {"CiderScorer": CiderScorer, **_COUNTS},
        "ciderD.ciderD": by_name(CiderD),
        "ciderD.ciderD_scorer": {"CiderScorer": CiderDScorer, **_COUNTS},
        "eval": by_name(CIDErEvalCap, Cider, CiderD, PTBTokenizer),
        "tokenizer.ptbtokenizer": {"PUNCTUATIONS": PUNCTUATIONS, "PTBTokenizer": PTBTokenizer},
    },
)
