"""What captious computes in place of recognized methods of copies, from plain captions.

Each function takes the object of the copy, its arguments and the options of the recognition, and returns what the
method would return. It raises ``OwnMatterError``, or another error of captious, for captions that are not plain text
in lists, and settings that the kernels do not have. What the object holds, as ``_n``, ``beta`` or document frequencies,
is read at each call.
"""

from __future__ import annotations

import math
import re
from collections import OrderedDict, defaultdict
from operator import attrgetter
from typing import Any

import numpy as np

from captious.compat.copies.recognition import Recognition
from captious.compat.counted import table_of
from captious.compat.pycocoevalcap.bleu_scorer import scores_of
from captious.compat.pycocoevalcap.scorers import cider_scores
from captious.data import Captions
from captious.data.rows import is_unicode
from captious.errors import CaptiousError
from captious.metrics.cider import Cider, CiderD
from captious.metrics.rouge import RougeL
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.text import SPACES, WHITESPACE

_DICTIONARIES = (dict, OrderedDict, defaultdict)


class OwnMatterError(CaptiousError):
    """Something that is left to the copy: its captions, its settings or its errors."""


def _need(condition: object) -> None:
    if not condition:
        raise OwnMatterError("left to the copy")


def _plain(gts: Any, res: Any, options: dict[str, str]) -> Captions:
    """Return captions that are plain text in lists."""
    if options.get("by") == "position":
        _need(type(gts) is list and type(res) is list and len(gts) == len(res))
        groups, candidates = gts, res
    else:
        _need(type(gts) in _DICTIONARIES and type(res) in _DICTIONARIES and gts.keys() == res.keys())
        _need(len({*map(type, gts)}) <= 1)  # some copies sort them, which fails
        _need(options.get("ids") != "ordered" or [*gts] == [*res])
        order = options.get("order")
        try:
            images = sorted(gts) if order == "sorted" else [*(res if order == "res" else gts)]
        except TypeError:
            raise OwnMatterError("ids without an order") from None
        groups, candidates = [gts[image] for image in images], [res[image] for image in images]
    _need(groups and all(type(group) is list and group for group in (*groups, *candidates)))
    _need(all(len(group) == 1 for group in candidates))
    texts = [text for group in (*groups, *candidates) for text in group]
    _need({*map(type, texts)} <= {str} and is_unicode("".join(texts)))
    return Captions(tuple(text for (text,) in candidates), table_of(groups, "gts"))


def _with_words(captions: Captions) -> Captions:
    """Return captions, of which some reference has a word; without, CIDEr is an error of the copy."""
    _need(any(text.split() for text in captions.references.texts))
    return captions


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
    captions, n = _plain(gts, res, recognition.options), copy._n
    _need(type(n) is int and 1 <= n <= 4 and str(verbose) in ("0", "1"))
    verbose = int(verbose) if recognition.prints else 0
    return _result(recognition, *scores_of(captions, n, recognition.options.get("reflen", "closest"), verbose))


def rouge(copy: Any, recognition: Recognition, gts: Any, res: Any) -> Any:
    """ROUGE-L with the object's ``beta``."""
    captions = _plain(gts, res, recognition.options)
    _need(type(copy.beta) in (int, float))
    scores = RougeL(tokenizer=SPACES, beta=copy.beta).scores(captions)
    return _result(recognition, np.float64(scores.mean()), scores)


def cider(copy: Any, recognition: Recognition, gts: Any, res: Any) -> Any:
    """CIDEr-D of images, with document frequencies of the references or those that the object holds."""
    captions, options = _with_words(_plain(gts, res, recognition.options)), recognition.options
    _need(type(copy._n) is int and copy._n == 4 and type(copy._sigma) in (int, float))
    _need("ref_len_one" not in options or len(captions) > 1)
    idf = None
    if "frequencies" in options:
        counts, log_documents = attrgetter(*options["frequencies"].replace("self.", "").split(","))(copy)
        if counts is not None or log_documents is not None:
            idf = _frequencies(counts, log_documents)
    return _scored(recognition, CiderD(idf=idf, sigma=copy._sigma, tokenizer=WHITESPACE), captions)


def rewards(copy: Any, recognition: Recognition, gts: Any, res: Any) -> Any:
    """CIDEr or CIDEr-D of a list of candidates, of which an image may have several, as in the code of its authors."""
    scorer = copy.cider_scorer
    _need(type(scorer) in recognition.classes and scorer.n == 4 and type(res) is list and res)
    try:
        groups, texts = zip(*[(gts[each["image_id"]], each["caption"]) for each in res], strict=True)
    except (KeyError, TypeError, IndexError):
        raise OwnMatterError("candidates of another form") from None
    captions = _with_words(_plain([*groups], [*texts], {**recognition.options, "by": "position"}))
    if scorer.df_mode == "corpus":
        idf = DocumentFrequencies.of(captions.references, WHITESPACE)
        if "copy_empty" in recognition.attributes:
            _need(hasattr(scorer, "document_frequency"))  # an error in some copies
        else:  # the object's own scorer counts them
            counts: defaultdict[Any, float] = defaultdict(float)
            counts.update((ngram, float(count)) for ngram, count in idf.by_ngram().items())
            scorer.document_frequency, scorer.ref_len = counts, np.log(float(idf.n_documents))
    else:
        idf = _frequencies(scorer.document_frequency, scorer.ref_len)
    if "plain" in recognition.role:
        return _scored(recognition, Cider(idf=idf, tokenizer=WHITESPACE), captions)
    return _scored(recognition, CiderD(idf=idf, sigma=scorer.sigma, tokenizer=WHITESPACE), captions)


def _scored(recognition: Recognition, metric: Cider, captions: Captions) -> Any:
    scores = cider_scores(metric, captions)
    return _result(recognition, np.float64(scores.mean()), scores)


#: Frequencies of the last dictionaries: (dictionary, number of n-grams, sum of counts, number of documents, result).
_recent: list[tuple[Any, int, float, int, DocumentFrequencies]] = []
_MOST_RECENT = 4
_LOG_OF_MOST = 21.0  # of billions of documents; a number of documents itself is more


def _frequencies(counts: Any, log_documents: Any) -> DocumentFrequencies:
    """Return document frequencies from the dictionary of a copy, which must be whole counts of documents."""
    _need(type(counts) is defaultdict and counts.default_factory in (float, int) and log_documents is not None)
    _need(0 <= log_documents < _LOG_OF_MOST)
    documents = round(math.exp(float(log_documents)))
    _need(math.isclose(float(log_documents), math.log(max(documents, 1)), rel_tol=1e-15, abs_tol=1e-15))
    size, total = len(counts), sum(counts.values())
    for known, known_size, known_total, known_documents, result in _recent:
        if known is counts and (known_size, known_total, known_documents) == (size, total, documents):
            return result
    whole = {ngram: int(count) for ngram, count in counts.items() if count}
    _need(all(count == counts[ngram] and 1 <= count <= documents for ngram, count in whole.items()))
    _need(all(type(ngram) is tuple and 1 <= len(ngram) <= 4 for ngram in whole))
    result = DocumentFrequencies.of_counts(whole, documents, WHITESPACE)
    _recent[:0] = [(counts, size, total, documents, result)]
    del _recent[_MOST_RECENT:]
    return result
