"""The metrics of ``aac_metrics.functional``, as functions.

Every function takes ``candidates``, one for each recording; ``mult_references``, the references of each; and
``return_all_scores``. It returns corpus scores and scores of sentences by name, or only the corpus score, as float64
tensors. Captions in another form raise ``ValueError``. Arguments about caches, Java and logging are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from captious.compat.aac_metrics.inputs import Outs, SplitIntoWords, outs, table, words
from captious.compat.pycocoevalcap.bleu_scorer import BleuScorer
from captious.compat.pycocoevalcap.cider_scorer import CiderScorer
from captious.errors import ParameterError
from captious.evaluation.caption_checks.caption_warnings import issue
from captious.metrics import meteor as _meteor
from captious.metrics import rouge_l as _rouge_l
from captious.metrics import spice as _spice
from captious.text import SPACES, WHITESPACE

__all__ = ["UNSUPPORTED", "bleu", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "cider_d", "clap_sim"]
__all__ += ["mace", "meteor", "rouge_l", "spice", "spider", "unsupported", "vocab"]

_REFERENCE_LENGTHS = ("shortest", "average", "closest")
_PARAMETERS = ("alpha", "beta", "gamma", "delta")
_MODULES = ("exact", "stem", "synonym", "paraphrase")


def bleu(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    n: int = 4,
    option: str = "closest",
    verbose: int = 0,
    tokenizer: SplitIntoWords = str.split,
    return_1_to_n: bool = False,
) -> Outs:
    """Compute BLEU of order n, named ``bleu_{n}``.

    Args:
        candidates, mult_references, return_all_scores, verbose: see the module.
        n: highest order of n-grams.
        option: the reference length of a recording: "closest", "shortest" or "average".
        tokenizer: splits a caption into words.
        return_1_to_n: also return the orders 1 to n as ``bleu_1_to_{n}``.

    Raises:
        ValueError: an unknown option.
    """
    if option not in _REFERENCE_LENGTHS:
        raise ValueError(f"Invalid option {option!r}. (expected one of {_REFERENCE_LENGTHS})")
    scorer = BleuScorer(n=n)
    for pair in zip(*words(candidates, mult_references, tokenizer), strict=True):
        scorer += pair
    corpus, sents = scorer.compute_score(option)
    scores = outs(return_all_scores, **{f"bleu_{n}": (corpus[-1], sents[-1])})
    if return_1_to_n and return_all_scores:
        import torch

        for of_level, values in zip(scores, (corpus, sents), strict=True):
            of_level[f"bleu_1_to_{n}"] = torch.tensor(values, dtype=torch.float64)
    return scores


def _bleu_of_order(n: int) -> Callable[..., Outs]:
    def function(
        candidates: list[str], mult_references: list[list[str]], return_all_scores: bool = True, **options: Any
    ) -> Outs:
        return bleu(candidates, mult_references, return_all_scores, n=n, **options)

    function.__name__ = function.__qualname__ = f"bleu_{n}"
    function.__doc__ = f"``bleu`` with n = {n}."
    return function


bleu_1, bleu_2, bleu_3, bleu_4 = map(_bleu_of_order, (1, 2, 3, 4))


def cider_d(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    n: int = 4,
    sigma: float = 6.0,
    tokenizer: SplitIntoWords = str.split,
    return_tfidf: bool = False,
    scale: float = 10.0,
) -> Outs:
    """Compute CIDEr-D with the document frequencies of these references, named ``cider_d``.

    Args:
        candidates, mult_references, return_all_scores: see the module; at least two candidates.
        n: highest order of n-grams.
        sigma: width of the length penalty.
        tokenizer: splits a caption into words.
        return_tfidf: must be False.
        scale: the maximum score.

    Raises:
        ValueError: fewer than two candidates.
        ParameterError: weights of n-grams are requested.
    """
    if return_tfidf:
        raise ParameterError("weights of n-grams are not returned", help="leave return_tfidf at False")
    candidates, mult_references = words(candidates, mult_references, tokenizer)
    if len(candidates) < 2:
        raise ValueError(f"CIDEr-D needs at least 2 candidates, found {len(candidates)}.")
    scorer = CiderScorer(n=n, sigma=sigma)
    for pair in zip(candidates, mult_references, strict=True):
        scorer += pair
    corpus, sents = scorer.compute_score()
    return outs(return_all_scores, cider_d=(corpus * (scale / 10), sents * (scale / 10)))


def meteor(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    cache_path: object = None,
    java_path: object = None,
    java_max_memory: str = "2G",
    language: str = "en",
    use_shell: bool | None = None,
    params: Iterable[float] | None = None,
    weights: Iterable[float] | None = None,
    verbose: int = 0,
) -> Outs:
    """Compute METEOR 1.5, named ``meteor``.

    Args:
        candidates, mult_references, return_all_scores, cache_path, java_path, java_max_memory, use_shell, verbose: see
            the module.
        language: "en".
        params: alpha, beta, gamma and delta.
        weights: weights of exact matches, stems, synonyms and paraphrases.

    Raises:
        ValueError: not four numbers.
        ParameterError: another language, or a number out of range.
        MissingExtraError: METEOR's tables are not installed.
    """
    if language != "en":
        raise ParameterError(f"METEOR for {language!r} is not supported", help='use language="en"')
    settings: dict[str, Any] = _numbers(_PARAMETERS, params, "params")
    if weights is not None:
        settings["modules"] = _numbers(_MODULES, weights, "weights")
    metric = _meteor.Meteor(tokenizer=SPACES, **settings)
    statistics = metric.statistics(table(candidates, mult_references))
    corpus = float(metric.aggregate(statistics.sum(axis=0))[0])
    return outs(return_all_scores, meteor=(corpus, metric.aggregate(statistics)[:, 0]))


def _numbers(names: tuple[str, ...], values: Iterable[float] | None, argument: str) -> dict[str, float]:
    if values is None:
        return {}
    numbers = list(values)
    if len(numbers) != len(names):
        raise ValueError(f"Invalid argument {argument}={numbers}. (expected 4 numbers but found {len(numbers)})")
    return dict(zip(names, numbers, strict=True))


def rouge_l(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    beta: float = 1.2,
    tokenizer: SplitIntoWords = str.split,
) -> Outs:
    """Compute ROUGE-L, named ``rouge_l``.

    Args:
        candidates, mult_references, return_all_scores: see the module.
        beta: weight of recall against precision.
        tokenizer: splits a caption into words.
    """
    metric = _rouge_l.RougeL(tokenizer=WHITESPACE, beta=beta)
    scores = metric.scores(table(*words(candidates, mult_references, tokenizer)))
    return outs(return_all_scores, rouge_l=(scores.mean(), scores))


def spice(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    cache_path: object = None,
    java_path: object = None,
    tmp_path: object = None,
    n_threads: int | None = None,
    java_max_memory: str = "8G",
    timeout: object = None,
    separate_cache_dir: bool = True,
    use_shell: bool | None = None,
    verbose: int = 0,
) -> Outs:
    """Compute SPICE, named ``spice``. All arguments except those of every metric are ignored.

    Raises:
        MissingExtraError: METEOR's tables, which have the synonyms, are not installed.
    """
    metric = _spice.Spice(tokenizer=WHITESPACE)
    issue(_spice.approximate(metric.parser.label))
    scores = metric.aggregate(metric.statistics(table(candidates, mult_references)))[:, 0]
    return outs(return_all_scores, spice=(scores.mean(), scores))


def spider(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    n: int = 4,
    sigma: float = 6.0,
    tokenizer: SplitIntoWords = str.split,
    return_tfidf: bool = False,
    cache_path: object = None,
    java_path: object = None,
    tmp_path: object = None,
    n_threads: int | None = None,
    java_max_memory: str = "8G",
    timeout: object = None,
    verbose: int = 0,
) -> Outs:
    """Compute SPIDEr, the mean of CIDEr-D and SPICE, named ``cider_d``, ``spice`` and ``spider``.

    Args:
        candidates, mult_references, n, sigma, tokenizer, return_tfidf: as for ``cider_d``.
        return_all_scores, cache_path, java_path, tmp_path, n_threads, java_max_memory, timeout, verbose: see the
            module; the corpus score alone is that of SPIDEr.

    Raises:
        ValueError: fewer than two candidates.
        MissingExtraError: METEOR's tables, which have the synonyms, are not installed.
    """
    ciders = cider_d(candidates, mult_references, n=n, sigma=sigma, tokenizer=tokenizer, return_tfidf=return_tfidf)
    spices = spice(candidates, mult_references)
    corpus, sents = (
        {**of_cider, **of_spice, "spider": (of_cider["cider_d"] + of_spice["spice"]) / 2}
        for of_cider, of_spice in zip(ciders, spices, strict=True)
    )
    return (corpus, sents) if return_all_scores else corpus["spider"]


#: The metrics of aac-metrics that captious does not have, as ``evaluate`` calls them.
UNSUPPORTED = ("clap_sim", "mace", "spider_max", "vocab")


def unsupported(metric: str) -> ParameterError:
    """Return the error for a metric that captious does not provide."""
    return ParameterError(
        f"captious does not have {metric} of aac-metrics",
        help="name the metrics to compute, such as meteor and spider, and compute the others with aac-metrics itself",
    )


def _refusal(name: str, metric: str) -> Callable[..., NoReturn]:
    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        raise unsupported(metric)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises ParameterError: captious does not have this metric."
    return refuse


clap_sim = _refusal("clap_sim", "clap_sim")
mace = _refusal("mace", "mace")
vocab = _refusal("vocab", "vocab")
