"""The module ``aac_metrics.functional``: metrics as functions, with the checks and tokenization of their inputs.

Every metric takes ``candidates``, one for each recording; ``mult_references``, the references of each; and
``return_all_scores``. It returns corpus scores and scores of sentences by name, as tensors, or with
``return_all_scores=False`` only the main corpus score. Captions in another form raise ``ValueError``. Arguments about
caches, Java, batches and logging are ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
import torch

from captious.compat.counted import filled
from captious.compat.pycocoevalcap.bleu_scorer import scores_of
from captious.compat.pycocoevalcap.cider_scorer import CiderScorer
from captious.compat.pycocoevalcap.inputs import PUNCTUATIONS, PTBTokenizer
from captious.compat.reexports import by_name
from captious.data import Captions, read_captions
from captious.errors import ParameterError, ResourceError
from captious.evaluation.checks import issue
from captious.metrics.bertscore import BertScore
from captious.metrics.cider import CiderD
from captious.metrics.fense import Sbert
from captious.metrics.meteor import Meteor
from captious.metrics.rouge import RougeL
from captious.metrics.spice import Spice, approximate
from captious.models import Encoder
from captious.models.sentences import ErrorDetector, as_error_detector
from captious.text import SPACES, WHITESPACE

# Inputs and outputs of the metrics: captions, checked and tokenized, and tensors.

#: Corpus scores and scores of sentences, by name.
AllScores: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
#: The same; or, with ``return_all_scores=False``, the main corpus score alone.
Outs: TypeAlias = AllScores | Any
SplitIntoWords: TypeAlias = Callable[[str], Sequence[str]]

#: Arguments of the toolkit's metrics that change no score.
_IGNORED = frozenset(
    {
        *("batch_size", "cache_path", "filter_nan", "java_max_memory", "java_path", "max_length", "n_threads"),
        *("num_threads", "reset_state", "separate_cache_dir", "timeout", "tmp_path", "use_shell", "verbose"),
    }
)


def _metric(compute: Callable[..., AllScores]) -> Callable[..., Outs]:
    """Turn a function that computes all scores, of which the last number is the main one, into one of the toolkit."""

    @wraps(compute)
    def function(
        candidates: list[str], mult_references: list[list[str]], return_all_scores: bool = True, **options: Any
    ) -> Outs:
        check_metric_inputs(candidates, mult_references)
        used = {name: value for name, value in options.items() if name not in _IGNORED}
        corpus, sents = compute(candidates, mult_references, **used)
        return (corpus, sents) if return_all_scores else [score for score in corpus.values() if not score.ndim][-1]

    return function


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


def is_mono_sents(sents: object) -> bool:
    """Return whether it is a list of captions."""
    return isinstance(sents, list) and all(isinstance(text, str) for text in sents)


def is_mult_sents(mult_sents: object) -> bool:
    """Return whether it is a list of lists of captions."""
    return isinstance(mult_sents, list) and all(map(is_mono_sents, mult_sents))


def _table(candidates: list[str], mult_references: list[list[str]], tokenizer: SplitIntoWords = str.split) -> Captions:
    """Return the captions for metrics of captious; words of another tokenizer with single spaces between them, and no
    other white space.
    """
    check_metric_inputs(candidates, mult_references, min_length=1)
    if tokenizer is str.split:
        return read_captions(candidates, mult_references)

    def joined(text: str) -> str:
        return " ".join(re.sub(r"\s", "\N{OPEN BOX}", word) for word in tokenizer(text))

    return read_captions([*map(joined, candidates)], [[*map(joined, group)] for group in mult_references])


def _with_means(sents: dict[str, Any]) -> AllScores:
    return {name: values.mean() for name, values in sents.items()}, sents


def _device_name(device: object) -> str:
    """Return the name in captious of a device of the toolkit."""
    return {"cuda_if_available": "auto", "None": "cpu"}.get(str(device), str(device))


# BERTScore with several references, as aac-metrics computes it with torchmetrics.

Reduction: TypeAlias = Literal["mean", "max", "min"] | Callable[..., Any]

#: The names of the scores.
NAMES = ("bert_score.precision", "bert_score.recall", "bert_score.f1")
_REDUCTIONS = ("mean", "max", "min")


@_metric
def bert_score_mrefs(
    candidates: list[str],
    mult_references: list[list[str]],
    *,
    model: str = "roberta-large",
    tokenizer: object = None,
    device: object = "cuda_if_available",
    idf: bool = False,
    reduction: Reduction = "max",
) -> AllScores:
    """Compute BERTScore, as float32 tensors named ``bert_score.precision``, ``.recall`` and ``.f1``.

    Args:
        candidates, mult_references: see the module; at least one recording.
        model: a name on the Hugging Face hub, or a folder.
        tokenizer: must be None: that of the model is used.
        device: "cpu", "cuda", ...; "cuda_if_available" for a GPU if there is one. None for the CPU.
        idf: weight tokens by their inverse document frequency in the references.
        reduction: how to combine the scores with several references: "max", "mean", "min", or a function of a tensor.

    Raises:
        ValueError: no captions, or an unknown reduction.
        ParameterError: a model or tokenizer that is an object.
        MissingExtraError: transformers is not installed.
        ResourceError: the model cannot be found or read.
    """
    check_metric_inputs(candidates, mult_references, min_length=1)
    if reduction not in _REDUCTIONS and not callable(reduction):
        raise ValueError(f"Invalid argument {reduction=}. (expected one of {_REDUCTIONS} or a function)")
    if not isinstance(model, str) or tokenizer is not None:
        raise ParameterError(
            "BERTScore takes no objects as model and tokenizer",
            hint="give the name of the model, or save both into a folder with save_pretrained and give its path",
        )
    metric = BertScore(variant="torchmetrics", model=Encoder(model, _device_name(device)), token_idf=idf)
    counts = [len(references) for references in mult_references]
    of_pairs = [candidate for candidate, n in zip(candidates, counts, strict=True) for _ in range(n)]
    pairs = _table(of_pairs, [[text] for references in mult_references for text in references])
    state = metric.fit(pairs.references)
    issue(metric.warnings(pairs, state))
    reduce = reduction if callable(reduction) else getattr(torch, reduction)
    scores = torch.from_numpy(metric.scores(pairs, state).astype(np.float32)).T
    return _with_means(
        {name: torch.stack([*map(reduce, values.split(counts))]) for name, values in zip(NAMES, scores, strict=True)}
    )


# Metrics of content: BLEU, CIDEr-D, METEOR, ROUGE-L, SPICE and SPIDEr, as float64 tensors.

_REFERENCE_LENGTHS = ("shortest", "average", "closest")
_PARAMETERS = ("alpha", "beta", "gamma", "delta")
_MODULES = ("exact", "stem", "synonym", "paraphrase")


@_metric
def bleu(
    candidates: list[str],
    mult_references: list[list[str]],
    *,
    n: int = 4,
    option: str = "closest",
    tokenizer: SplitIntoWords = str.split,
    return_1_to_n: bool = False,
) -> AllScores:
    """Compute BLEU of order n, named ``bleu_{n}``.

    Args:
        candidates, mult_references: see the module.
        n: highest order of n-grams.
        option: the reference length of a recording: "closest", "shortest" or "average".
        tokenizer: splits a caption into words.
        return_1_to_n: also return the orders 1 to n as ``bleu_1_to_{n}``.

    Raises:
        ValueError: an unknown option.
    """
    if option not in _REFERENCE_LENGTHS:
        raise ValueError(f"Invalid option {option!r}. (expected one of {_REFERENCE_LENGTHS})")
    captions = _table(candidates, mult_references, tokenizer) if candidates else None
    orders = scores_of(captions, n, option)
    corpus, sents = (torch.tensor(values, dtype=torch.float64) for values in orders)
    names = {f"bleu_{n}": -1, **({f"bleu_1_to_{n}": slice(None)} if return_1_to_n else {})}
    return {name: corpus[rows] for name, rows in names.items()}, {name: sents[rows] for name, rows in names.items()}


@_metric
def cider_d(
    candidates: list[str],
    mult_references: list[list[str]],
    *,
    n: int = 4,
    sigma: float = 6.0,
    tokenizer: SplitIntoWords = str.split,
    return_tfidf: bool = False,
    scale: float = 10.0,
) -> AllScores:
    """Compute CIDEr-D with the document frequencies of these references, named ``cider_d``.

    Args:
        candidates, mult_references: see the module; at least two candidates.
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
        raise ParameterError("weights of n-grams are not returned", hint="leave return_tfidf at False")
    if len(candidates) < 2:
        raise ValueError(f"CIDEr-D needs at least 2 candidates, found {len(candidates)}.")
    captions = _table(candidates, mult_references, tokenizer)
    if n == 4:
        scores = CiderD(sigma=sigma, tokenizer=WHITESPACE).scores(captions)
    else:
        scores = filled(CiderScorer(n=n, sigma=sigma), captions).compute_score()[1]
    return _with_means({"cider_d": torch.from_numpy(scores * (scale / 10))})


@_metric
def meteor(
    candidates: list[str],
    mult_references: list[list[str]],
    *,
    language: str = "en",
    params: Iterable[float] | None = None,
    weights: Iterable[float] | None = None,
) -> AllScores:
    """Compute METEOR 1.5, named ``meteor``.

    Args:
        candidates, mult_references: see the module.
        language: "en".
        params: alpha, beta, gamma and delta.
        weights: weights of exact matches, stems, synonyms and paraphrases.

    Raises:
        ValueError: not four numbers.
        ParameterError: another language, or a number out of range.
        MissingExtraError: METEOR's tables are not installed.
    """
    if language != "en":
        raise ParameterError(f"METEOR for {language!r} is not supported", hint='use language="en"')
    settings: dict[str, Any] = _numbers(_PARAMETERS, params, "params")
    if weights is not None:
        settings["modules"] = _numbers(_MODULES, weights, "weights")
    metric = Meteor(tokenizer=SPACES, **settings)
    statistics = metric.statistics(_table(candidates, mult_references))
    corpus, sents = metric.aggregate(statistics.sum(axis=0)), metric.aggregate(statistics)
    return {"meteor": torch.tensor(corpus[0])}, {"meteor": torch.tensor(sents[:, 0])}


def _numbers(names: tuple[str, ...], values: Iterable[float] | None, argument: str) -> dict[str, float]:
    if values is None:
        return {}
    numbers = list(values)
    if len(numbers) != len(names):
        raise ValueError(f"Invalid argument {argument}={numbers}. (expected 4 numbers but found {len(numbers)})")
    return dict(zip(names, numbers, strict=True))


@_metric
def rouge_l(
    candidates: list[str],
    mult_references: list[list[str]],
    *,
    beta: float = 1.2,
    tokenizer: SplitIntoWords = str.split,
) -> AllScores:
    """Compute ROUGE-L, named ``rouge_l``.

    Args:
        candidates, mult_references: see the module.
        beta: weight of recall against precision.
        tokenizer: splits a caption into words.
    """
    metric = RougeL(tokenizer=WHITESPACE, beta=beta)
    scores = metric.scores(_table(candidates, mult_references, tokenizer)) if candidates else np.zeros(0)
    return _with_means({"rouge_l": torch.from_numpy(scores)})


@_metric
def spice(candidates: list[str], mult_references: list[list[str]]) -> AllScores:
    """Compute SPICE, named ``spice``.

    Raises:
        MissingExtraError: METEOR's tables, which have the synonyms, are not installed.
    """
    metric = Spice(tokenizer=WHITESPACE)
    issue(approximate(metric.parser.label))
    scores = metric.aggregate(metric.statistics(_table(candidates, mult_references)))[:, 0]
    return _with_means({"spice": torch.from_numpy(scores)})


@_metric
def spider(candidates: list[str], mult_references: list[list[str]], **options: Any) -> AllScores:
    """Compute SPIDEr, the mean of CIDEr-D and SPICE, named ``cider_d``, ``spice`` and ``spider``.

    Args:
        candidates, mult_references: see the module.
        options: further arguments of ``cider_d``.

    Raises:
        ValueError: fewer than two candidates.
        MissingExtraError: METEOR's tables, which have the synonyms, are not installed.
    """
    scores = zip(cider_d(candidates, mult_references, **options), spice(candidates, mult_references), strict=True)
    corpus, sents = ({**one, **other, "spider": (one["cider_d"] + other["spice"]) / 2} for one, other in scores)
    return corpus, sents


#: The metrics of aac-metrics that captious does not have, as ``evaluate`` calls them.
UNSUPPORTED = ("clap_sim", "mace", "spider_max", "vocab")


def unsupported(metric: str, *arguments: Any, **options: Any) -> NoReturn:
    """Raise the ParameterError for a metric that captious does not provide."""
    raise ParameterError(
        f"captious does not have {metric} of aac-metrics",
        hint="name the metrics to compute, such as meteor and spider, and compute the others with aac-metrics itself",
    )


# FENSE and SPIDEr-FL, which reduce the scores of captions with fluency errors, and the parts of FENSE.

DETECTOR = "echecker_clotho_audiocaps_base"
_PUBLISHED = (DETECTOR, "echecker_clotho_audiocaps_tiny")
_RELEASE = "https://github.com/blmoistawinde/fense/releases/download/V0.1"
_ERRORS = ("add_tail", "repeat_event", "repeat_adv", "remove_conj", "remove_verb", "error")
#: Names of the probabilities of FENSE's classes.
PROBABILITIES = tuple(f"fer.{error}_prob" for error in _ERRORS)


@_metric
def sbert_sim(
    candidates: list[str],
    mult_references: list[list[str]],
    *,
    sbert_model: str = "paraphrase-TinyBERT-L6-v2",
    device: object = "cuda_if_available",
) -> AllScores:
    """Compute the mean cosine of sentence vectors, named ``sbert_sim``.

    Args:
        candidates, mult_references: see the module.
        sbert_model: a sentence encoder: a name on the Hugging Face hub, or a folder.
        device: as for ``bert_score_mrefs``.

    Raises:
        ParameterError: a model that is an object.
        ResourceError: a model that cannot be found or read.
    """
    captions = _table(candidates, mult_references)
    if not isinstance(sbert_model, str):
        raise ParameterError("sbert_sim takes no objects as sbert_model", hint="give the name or folder of the model")
    whole = "/" in sbert_model or os.path.exists(sbert_model)
    name = sbert_model if whole else f"sentence-transformers/{sbert_model}"
    metric = Sbert(model=Encoder(name, _device_name(device)))
    issue(metric.warnings(captions, None))
    return _with_means({"sbert_sim": torch.from_numpy(metric.scores(captions)[:, 0])})


def fer(candidates: list[str], return_all_scores: bool = True, **options: Any) -> Outs:
    """Detect candidates with a fluency error, 1 or 0, named ``fer``; options are those of ``fluency_errors``."""
    if not is_mono_sents(candidates) or not candidates:
        raise ValueError("Invalid candidates type. (expected list[str] with at least one caption)")
    return fluency_errors(candidates, [[""]] * len(candidates), return_all_scores, **options)


@_metric
def fluency_errors(
    candidates: list[str],
    mult_references: list[list[str]],
    *,
    echecker: Any = DETECTOR,
    echecker_tokenizer: None = None,
    error_threshold: float = 0.9,
    device: object = None,
    return_probs: bool = False,
) -> AllScores:
    """Compute ``fer``.

    Args:
        candidates: as for every metric here, at least one.
        mult_references: ignored.
        echecker: a detector's name in the toolkit, or a value for ``detector`` of ``captious.Fense``.
        echecker_tokenizer: must be None; that of the detector is used.
        error_threshold: the probability above which there is an error.
        device: ignored; detectors run on the CPU.
        return_probs: return ``PROBABILITIES``, float32, too; only the last one if the detector has other classes.

    Raises:
        ParameterError: a detector or tokenizer that is an object.
        ResourceError: a detector that cannot be found or read.
    """
    if echecker_tokenizer is not None:
        raise ParameterError("fer takes no objects as echecker_tokenizer", hint="leave it out")
    of_classes = detector_of(echecker).class_probabilities(candidates)
    names = (
        () if not return_probs else PROBABILITIES if of_classes.shape[1] == len(PROBABILITIES) else PROBABILITIES[-1:]
    )
    columns = torch.from_numpy(of_classes[:, of_classes.shape[1] - len(names) :]).float().T
    errors = torch.from_numpy((of_classes[:, -1] > error_threshold).astype(np.float64))
    return _with_means({**dict(zip(names, columns, strict=True)), "fer": errors})


def detector_of(echecker: Any) -> ErrorDetector:
    """Return the detector that an argument ``echecker`` names; it raises the errors of ``fer``."""
    if not isinstance(echecker, ErrorDetector | str | os.PathLike):
        raise ParameterError("fer takes no objects as echecker", hint="give the name or the file of an error detector")
    if echecker not in _PUBLISHED or os.path.exists(echecker):
        return as_error_detector(echecker)
    folder = os.environ.get("FENSE_DATA") or os.path.join(torch.hub.get_dir(), "fense_data")
    file = Path(folder).expanduser() / f"{echecker}.ckpt"
    if not file.is_file():
        raise ResourceError(
            f"the error detector {echecker} is not on this machine",
            where=str(file),
            hint=f"download {_RELEASE}/{file.name} to this path, or give the file of a detector as echecker",
        )
    return ErrorDetector(str(file))


#: The arguments of FENSE and SPIDEr-FL that are those of ``fer``.
_OF_FER = ("echecker", "echecker_tokenizer", "error_threshold", "return_probs")


def _less_errors(
    name: str, of: str, compute: Callable[..., Outs], of_fer: Sequence[str] = _OF_FER, **defaults: Any
) -> Callable[..., Outs]:
    """Return the function ``name``: the score ``of`` a metric, less a penalty for errors, with all scores of both."""

    def function(
        candidates: list[str], mult_references: list[list[str]], *, penalty: float = 0.9, **options: Any
    ) -> AllScores:
        options = {**defaults, **options}
        of_errors = {key: options.pop(key) for key in of_fer if key in options}
        errors = fluency_errors(candidates, mult_references, **of_errors)
        scores = compute(candidates, mult_references, **options)
        corpus, sents = ({**one, **other} for one, other in zip(scores, errors, strict=True))
        sents[name] = sents[of] * (1 - penalty * sents["fer"])
        corpus[name] = sents[name].mean()
        return corpus, sents

    function.__name__ = name
    function.__doc__ = f"""Compute ``{of}``, less ``penalty`` where there is an error, named ``{name}``.

    All scores of both are returned. Further arguments and errors are those of ``{of}`` and ``fer``.
    """
    return _metric(function)


fense = _less_errors("fense", "sbert_sim", sbert_sim)
spider_fl = _less_errors("spider_fl", "spider", spider, (*_OF_FER, "device"), return_probs=True)


# ``mult_cands_metric`` and SPIDEr-max of aac-metrics: the best of several candidates of each recording.


def mult_cands_metric(
    metric: Callable[..., Any],
    metric_out_name: str,
    mult_candidates: list[list[str]],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    return_all_cands_scores: bool = False,
    selection: Literal["max", "min", "mean"] = "max",
    reduction_fn: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Outs:
    """Score the first candidates of all recordings, the second ones and so on, and choose among them.

    Args:
        metric: a function of ``metric_functions``.
        metric_out_name: the score to choose by.
        mult_candidates: the same number of candidates for each recording.
        mult_references: their references.
        return_all_scores: whether to return the scores of recordings, too.
        return_all_cands_scores: whether to return the scores of all candidates as well, under names ending in "_all".
        selection: how to choose; "mean" is the mean of all.
        reduction_fn: computes the corpus score from the scores of recordings; None for their mean.
        kwargs: arguments of the metric.

    Raises:
        ValueError: captions that are not lists of lists, or different numbers of candidates.
    """
    numbers = {len(candidates) for candidates in mult_candidates} if is_mult_sents(mult_candidates) else ()
    if len(numbers) != 1 or 0 in numbers:
        raise ValueError("Expected the same number of candidates for each recording, as list[list[str]].")
    if selection not in ("max", "min", "mean"):
        raise ValueError(f"Invalid argument {selection=}. (expected max, min or mean)")
    rounds = [metric([*candidates], mult_references, **kwargs)[1] for candidates in zip(*mult_candidates, strict=True)]
    scores = {name: torch.stack([of_round[name] for of_round in rounds]) for name in rounds[0]}
    by = scores[metric_out_name]
    if selection == "mean":
        sents = {f"{metric_out_name}_mean": by.mean(dim=0)}
    else:
        selected = by.argmax(dim=0) if selection == "max" else by.argmin(dim=0), torch.arange(by.shape[1])
        sents = {f"{name}_{selection}": values[selected] for name, values in scores.items()}
    if return_all_cands_scores:
        sents |= {f"{name}_all": values.transpose(0, 1) for name, values in scores.items()}
    corpus = {name: (torch.mean if reduction_fn is None else reduction_fn)(values) for name, values in sents.items()}
    return (corpus, sents) if return_all_scores else corpus[f"{metric_out_name}_{selection}"]


#: All functions of the module by name.
BY_NAME: dict[str, Any] = {
    **by_name(bert_score_mrefs, bleu, cider_d, fense, fer, meteor, rouge_l, sbert_sim, spice, spider, spider_fl),
    **{f"bleu_{n}": partial(bleu, n=n) for n in (1, 2, 3, 4)},
    **{metric: partial(unsupported, metric) for metric in UNSUPPORTED},
    # SPIDEr of the best candidate, named ``cider_d_max``, ``spice_max`` and ``spider_max``.
    "spider_max": partial(mult_cands_metric, spider, "spider"),
}


# The functions of ``aac_metrics.utils.tokenization``, for PTB tokens.

PTB_PUNCTUATIONS = tuple(PUNCTUATIONS)


def ptb_tokenize_batch(
    sentences: Iterable[str],
    *places: object,
    punctuations: Iterable[str] = PTB_PUNCTUATIONS,
    normalize_apostrophe: bool = False,
    **ignored: object,
) -> list[list[str]]:
    """Return the PTB tokens of captions, lower-cased, without punctuation. All captions are one text, as in the
    toolkit.

    Args:
        sentences: the captions.
        places, ignored: ids and paths of the toolkit, without effect.
        punctuations: the tokens to drop; must be the default.
        normalize_apostrophe: must be False.

    Raises:
        ParameterError: other punctuation, or rules for French.
    """
    if set(punctuations) != set(PTB_PUNCTUATIONS) or normalize_apostrophe:
        raise ParameterError(
            "PTB tokens are only made with the toolkit's default settings",
            hint="leave punctuations and normalize_apostrophe out",
        )
    tokenized = PTBTokenizer().tokenize({0: [{"caption": text} for text in sentences]})
    return [text.split(" ") if text else [] for text in tokenized[0]]


def preprocess_mono_sents(sentences: list[str], *places: object, **options: Any) -> list[str]:
    """Return captions tokenized by ``ptb_tokenize_batch``, with a space between tokens."""
    return [" ".join(tokens) for tokens in ptb_tokenize_batch(sentences, *places, **options)]


def preprocess_mult_sents(mult_sentences: list[list[str]], *places: object, **options: Any) -> list[list[str]]:
    """Apply ``preprocess_mono_sents`` to lists of captions, all together."""
    texts = iter(preprocess_mono_sents([*chain.from_iterable(mult_sentences)], *places, **options))
    return [[next(texts) for _ in group] for group in mult_sentences]
