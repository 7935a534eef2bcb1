"""What captious computes in place of recognized methods of copies, from plain captions.

Each function takes the object of the copy, its arguments and the options of the recognition, and returns what the
method would return; or None where it is the copy's own matter: captions that are not plain text in lists, settings that
the kernels do not have. What the object holds, as ``_n``, ``beta`` or document frequencies, is read at each call.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict, defaultdict
from typing import Any, NamedTuple

import numpy as np

from captious.compat.copies.recognition import Recognition
from captious.compat.counted import table_of
from captious.compat.pycocoevalcap.bleu_scorer import scores_of
from captious.compat.pycocoevalcap.scorers import cider_scores
from captious.data import Captions
from captious.data.rows import is_unicode
from captious.metrics.cider import Cider, CiderD
from captious.metrics.rouge import RougeL
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.text import SPACES, WHITESPACE

_DICTIONARIES = (dict, OrderedDict, defaultdict)


class _Plain(NamedTuple):
    """Captions as the scorers of the toolkit take them, in the order of the scores."""

    candidates: list[str]
    references: list[list[str]]

    @property
    def table(self) -> Captions:
        return Captions(tuple(self.candidates), table_of(self.references, "gts"))

    @property
    def has_words(self) -> bool:
        return any(text.split() for group in self.references for text in group)


def _plain(gts: Any, res: Any, options: dict[str, str]) -> _Plain | None:
    """Return captions; None if any is not plain."""
    if options.get("by") == "position":
        if type(gts) is not list or type(res) is not list or len(gts) != len(res):
            return None
        groups, candidates = gts, res
    else:
        if type(gts) not in _DICTIONARIES or type(res) not in _DICTIONARIES or gts.keys() != res.keys():
            return None
        if len({*map(type, gts)}) > 1:  # some copies sort them, which fails
            return None
        if options.get("ids") == "ordered" and [*gts] != [*res]:
            return None
        order = options.get("order")
        try:
            images = sorted(gts) if order == "sorted" else [*(res if order == "res" else gts)]
        except TypeError:
            return None
        groups, candidates = [gts[image] for image in images], [res[image] for image in images]
    if not groups or not all(type(group) is list and group for group in (*groups, *candidates)):
        return None
    texts = [text for group in (*groups, *candidates) for text in group]
    if (
        any(len(group) > 1 for group in candidates)
        or not {*map(type, texts)} <= {str}
        or not is_unicode("".join(texts))
    ):
        return None
    return _Plain([group[0] for group in candidates], groups)


def _result(recognition: Recognition, score: Any, scores: Any) -> Any:
    """Return the scores in the types of the copy."""
    return (float(score) if ".item()" in recognition.text else score), scores


def is_for(copy: Any, recognition: Recognition) -> bool:
    """Return whether an object is one for which the known bodies compute what their options say."""
    name, _, value = recognition.options.get("when", "").partition(":")
    return not name or repr(getattr(copy, name, None)) == value


def bleu(copy: Any, recognition: Recognition, gts: Any, res: Any, verbose: Any = 0) -> Any:
    """BLEU of order 1 to n. What is printed is the toolkit's, if the copy prints at all."""
    passed = re.search(r"\bverbose=(?:int:(\d)|verbose)", recognition.text)
    verbose = (passed[1] or verbose) if passed else 0
    options = recognition.options
    captions, n = _plain(gts, res, options), copy._n
    if captions is None or n not in (1, 2, 3, 4) or type(n) is not int or str(verbose) not in ("0", "1"):
        return None
    verbose = int(verbose) if recognition.prints else 0
    return _result(recognition, *scores_of(captions.table, n, options.get("reflen", "closest"), verbose))


def rouge(copy: Any, recognition: Recognition, gts: Any, res: Any) -> Any:
    """ROUGE-L with the object's ``beta``."""
    captions, beta = _plain(gts, res, recognition.options), copy.beta
    if captions is None or not _is_positive(beta):
        return None
    scores = RougeL(tokenizer=SPACES, beta=beta).scores(captions.table)
    return _result(recognition, np.float64(scores.mean()), scores)


def cider(copy: Any, recognition: Recognition, gts: Any, res: Any) -> Any:
    """CIDEr-D of images, with document frequencies of the references or those that the object holds."""
    captions, options = _plain(gts, res, recognition.options), recognition.options
    if captions is None or type(copy._n) is not int or copy._n != 4 or not _is_positive(copy._sigma):
        return None
    if "ref_len_one" in options and len(captions.candidates) == 1:
        return None
    if not captions.has_words:  # an error of the copy
        return None
    idf = None
    if "frequencies" in options:
        counts, log_documents = (_attribute(copy, path) for path in options["frequencies"].split(","))
        if counts is not None or log_documents is not None:
            idf = _frequencies(counts, log_documents)
            if idf is None:
                return None
    return _result(recognition, *_scored(CiderD, copy._sigma, idf, captions))


def rewards(copy: Any, recognition: Recognition, gts: Any, res: Any) -> Any:
    """CIDEr or CIDEr-D of a list of candidates, of which an image may have several, as in the code of its authors."""
    scorer = copy.cider_scorer
    if type(scorer) not in recognition.classes or scorer.n != 4 or type(res) is not list or not res:
        return None
    try:
        pairs = [(gts[candidate["image_id"]], candidate["caption"]) for candidate in res]
    except (KeyError, TypeError, IndexError):
        return None
    captions = _plain(
        [group for group, _ in pairs], [texts for _, texts in pairs], {**recognition.options, "by": "position"}
    )
    if captions is None or not captions.has_words:
        return None
    metric, sigma = (Cider, 6.0) if "plain" in recognition.role else (CiderD, scorer.sigma)
    if scorer.df_mode == "corpus":
        if "copy_empty" in recognition.attributes and not hasattr(scorer, "document_frequency"):
            return None  # an error in some copies
        idf = DocumentFrequencies.of(captions.table.references, WHITESPACE)
        if "copy_empty" not in recognition.attributes:  # the object's own scorer counts them
            counts: defaultdict[Any, float] = defaultdict(float)
            counts.update((ngram, float(count)) for ngram, count in idf.by_ngram().items())
            scorer.document_frequency, scorer.ref_len = counts, np.log(float(idf.n_documents))
    else:
        found = _frequencies(scorer.document_frequency, scorer.ref_len)
        if found is None:
            return None
        idf = found
    return _result(recognition, *_scored(metric, sigma, idf, captions))


def _scored(metric: type[Cider], sigma: float, idf: DocumentFrequencies | None, captions: _Plain) -> tuple[Any, Any]:
    """Return the mean and the scores."""
    settings: dict[str, Any] = {"sigma": sigma} if metric is CiderD else {}
    scores = cider_scores(metric(idf=idf, tokenizer=WHITESPACE, **settings), captions.table)
    return np.float64(scores.mean()), scores


#: Frequencies of the last dictionaries: (dictionary, number of n-grams, sum of counts, number of documents, result).
_recent: list[tuple[Any, int, float, int, DocumentFrequencies]] = []
_MOST_RECENT = 4
_LOG_OF_MOST = 21.0  # of billions of documents; a number of documents itself is more


def _frequencies(counts: Any, log_documents: Any) -> DocumentFrequencies | None:
    """Return document frequencies from the dictionary of a copy; None if they are not whole counts of documents."""
    if type(counts) is not defaultdict or counts.default_factory not in (float, int) or log_documents is None:
        return None
    if not 0 <= log_documents < _LOG_OF_MOST:
        return None
    documents = round(math.exp(float(log_documents)))
    if not math.isclose(float(log_documents), math.log(max(documents, 1)), rel_tol=1e-15, abs_tol=1e-15):
        return None
    size, total = len(counts), sum(counts.values())
    for known, known_size, known_total, known_documents, result in _recent:
        if known is counts and (known_size, known_total, known_documents) == (size, total, documents):
            return result
    whole = {ngram: int(count) for ngram, count in counts.items() if count}
    if any(count != counts[ngram] or not 1 <= count <= documents for ngram, count in whole.items()):
        return None
    if any(type(ngram) is not tuple or not 1 <= len(ngram) <= 4 for ngram in whole):
        return None
    result = DocumentFrequencies.of_counts(whole, documents, WHITESPACE)
    _recent[:0] = [(counts, size, total, documents, result)]
    del _recent[_MOST_RECENT:]
    return result


def _attribute(copy: Any, path: str) -> Any:
    for name in path.split(".")[1:]:
        copy = getattr(copy, name)
    return copy


def _is_positive(value: object) -> bool:
    return type(value) in (int, float) and 0 < value < math.inf  # type: ignore[operator]
