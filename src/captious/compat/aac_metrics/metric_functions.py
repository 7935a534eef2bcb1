"""The module ``aac_metrics.functional``: metrics as functions, with the checks and tokenization of their inputs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from captious.compat.pycocoevalcap.bleu_scorer import BleuScorer
from captious.compat.pycocoevalcap.cider_scorer import CiderScorer
from captious.compat.pycocoevalcap.inputs import PUNCTUATIONS, PTBTokenizer
from captious.data import Captions, read_captions
from captious.errors import ParameterError, ResourceError
from captious.evaluation.checks import issue
from captious.metrics.bertscore import BertScore
from captious.metrics.fense import Sbert
from captious.metrics.meteor import Meteor
from captious.metrics.rouge import RougeL
from captious.metrics.spice import Spice, approximate
from captious.models import Encoder
from captious.models.sentences import ErrorDetector, as_error_detector
from captious.text import SPACES, WHITESPACE

__all__ = [
    "DETECTOR",
    "NAMES",
    "PROBABILITIES",
    "PTB_PUNCTUATIONS",
    "UNSUPPORTED",
    "Outs",
    "SplitIntoWords",
    "bert_score_mrefs",
    "bleu",
    "bleu_1",
    "bleu_2",
    "bleu_3",
    "bleu_4",
    "check_metric_inputs",
    "cider_d",
    "clap_sim",
    "detector_of",
    "device_name",
    "fense",
    "fer",
    "is_mono_sents",
    "is_mult_sents",
    "mace",
    "meteor",
    "mult_cands_metric",
    "outs",
    "preprocess_mono_sents",
    "preprocess_mult_sents",
    "ptb_tokenize_batch",
    "rouge_l",
    "sbert_sim",
    "spice",
    "spider",
    "spider_fl",
    "spider_max",
    "table",
    "unsupported",
    "vocab",
    "words",
]


# Inputs and outputs of the metrics: captions, checked and tokenized, and tensors.

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


# BERTScore with several references, as aac-metrics computes it with torchmetrics.

Reduction: TypeAlias = Literal["mean", "max", "min"] | Callable[..., Any]

#: The names of the scores.
NAMES = ("bert_score.precision", "bert_score.recall", "bert_score.f1")
_REDUCTIONS = ("mean", "max", "min")


def bert_score_mrefs(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    model: str = "roberta-large",
    tokenizer: object = None,
    device: object = "cuda_if_available",
    batch_size: int | None = 32,
    num_threads: int = 0,
    max_length: int = 64,
    reset_state: bool = True,
    idf: bool = False,
    reduction: Reduction = "max",
    filter_nan: bool = True,
    verbose: int = 0,
) -> Outs:
    """Compute BERTScore, as float32 tensors named ``bert_score.precision``, ``.recall`` and ``.f1``.

    Args:
        candidates: one for each recording.
        mult_references: the references of each.
        return_all_scores: whether to return the scores of sentences, too; otherwise, only the corpus F.
        model: a name on the Hugging Face hub, or a folder.
        tokenizer: must be None: that of the model is used.
        device: "cpu", "cuda", ...; "cuda_if_available" for a GPU if there is one. None for the CPU.
        idf: weight tokens by their inverse document frequency in the references.
        reduction: how to combine the scores with several references: "max", "mean", "min", or a function of a tensor.
        batch_size, num_threads, max_length, reset_state, filter_nan, verbose: ignored.

    Raises:
        ValueError: captions in another form, no captions, or an unknown reduction.
        ParameterError: a model or tokenizer that is an object.
        MissingExtraError: transformers is not installed.
        ResourceError: the model cannot be found or read.
    """
    import torch

    check_metric_inputs(candidates, mult_references, min_length=1)
    if reduction not in _REDUCTIONS and not callable(reduction):
        raise ValueError(f"Invalid argument {reduction=}. (expected one of {_REDUCTIONS} or a function)")
    if not isinstance(model, str) or tokenizer is not None:
        raise ParameterError(
            "BERTScore takes no objects as model and tokenizer",
            hint="give the name of the model, or save both into a folder with save_pretrained and give its path",
        )
    metric = BertScore(variant="torchmetrics", model=Encoder(model, device_name(device)), token_idf=idf)
    counts = [len(references) for references in mult_references]
    of_pairs = [candidate for candidate, n in zip(candidates, counts, strict=True) for _ in range(n)]
    pairs = table(of_pairs, [[text] for references in mult_references for text in references])
    state = metric.fit(pairs.references)
    issue(metric.warnings(pairs, state))
    scores = torch.from_numpy(metric.scores(pairs, state).astype(np.float32)).T
    sents = {name: _reduced(values, counts, reduction) for name, values in zip(NAMES, scores, strict=True)}
    corpus = {name: values.mean() for name, values in sents.items()}
    return (corpus, sents) if return_all_scores else corpus["bert_score.f1"]


def _reduced(scores: Any, counts: list[int], reduction: Reduction) -> Any:
    """Return a score for each sentence, combined from those with each of its references."""
    import torch

    groups = torch.split(scores, counts)
    return torch.stack([reduction(group) if callable(reduction) else getattr(group, reduction)() for group in groups])


# Metrics of content: BLEU, CIDEr-D, METEOR, ROUGE-L, SPICE and SPIDEr.
#
# Every function takes ``candidates``, one for each recording; ``mult_references``, the references of each; and
# ``return_all_scores``. It returns corpus scores and scores of sentences by name, or only the corpus score, as float64
# tensors. Captions in another form raise ``ValueError``. Arguments about caches, Java and logging are ignored.


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
        raise ParameterError("weights of n-grams are not returned", hint="leave return_tfidf at False")
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
        raise ParameterError(f"METEOR for {language!r} is not supported", hint='use language="en"')
    settings: dict[str, Any] = _numbers(_PARAMETERS, params, "params")
    if weights is not None:
        settings["modules"] = _numbers(_MODULES, weights, "weights")
    metric = Meteor(tokenizer=SPACES, **settings)
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
    metric = RougeL(tokenizer=WHITESPACE, beta=beta)
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
    metric = Spice(tokenizer=WHITESPACE)
    issue(approximate(metric.parser.label))
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
        hint="name the metrics to compute, such as meteor and spider, and compute the others with aac-metrics itself",
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


# FENSE and SPIDEr-FL, which reduce the scores of captions with fluency errors, and the parts of FENSE.

DETECTOR = "echecker_clotho_audiocaps_base"
_PUBLISHED = (DETECTOR, "echecker_clotho_audiocaps_tiny")
_RELEASE = "https://github.com/blmoistawinde/fense/releases/download/V0.1"
_ERRORS = ("add_tail", "repeat_event", "repeat_adv", "remove_conj", "remove_verb", "error")
#: Names of the probabilities of FENSE's classes.
PROBABILITIES = tuple(f"fer.{error}_prob" for error in _ERRORS)


def sbert_sim(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    sbert_model: str = "paraphrase-TinyBERT-L6-v2",
    device: object = "cuda_if_available",
    batch_size: int = 32,
    reset_state: bool = True,
    verbose: int = 0,
) -> Outs:
    """Compute the mean cosine of sentence vectors, named ``sbert_sim``.

    Args:
        candidates, mult_references, return_all_scores: as for every metric here.
        sbert_model: a sentence encoder: a name on the Hugging Face hub, or a folder.
        device: as for ``bert_score_mrefs``.
        batch_size, reset_state, verbose: ignored.

    Raises:
        ParameterError: a model that is an object.
        ResourceError: a model that cannot be found or read.
    """
    captions = table(candidates, mult_references)
    if not isinstance(sbert_model, str):
        raise ParameterError("sbert_sim takes no objects as sbert_model", hint="give the name or folder of the model")
    whole = "/" in sbert_model or os.path.exists(sbert_model)
    name = sbert_model if whole else f"sentence-transformers/{sbert_model}"
    metric = Sbert(model=Encoder(name, device_name(device)))
    issue(metric.warnings(captions, None))
    scores = metric.scores(captions)[:, 0]
    return outs(return_all_scores, sbert_sim=(scores.mean(), scores))


def fer(
    candidates: list[str],
    return_all_scores: bool = True,
    *,
    echecker: Any = DETECTOR,
    echecker_tokenizer: None = None,
    error_threshold: float = 0.9,
    device: object = "cuda_if_available",
    batch_size: int = 32,
    reset_state: bool = True,
    return_probs: bool = False,
    verbose: int = 0,
) -> Outs:
    """Detect candidates with a fluency error, 1 or 0, named ``fer``.

    Args:
        candidates, return_all_scores: as for every metric here.
        echecker: a detector's name in the toolkit, or a value for ``detector`` of ``captious.Fense``.
        echecker_tokenizer: must be None; that of the detector is used.
        error_threshold: the probability above which there is an error.
        return_probs: return ``PROBABILITIES``, float32, too; only the last one if the detector has other classes.
        device, batch_size, reset_state, verbose: ignored; detectors run on the CPU.

    Raises:
        ValueError: not a list of captions, or an empty one.
        ParameterError: a detector or tokenizer that is an object.
        ResourceError: a detector that cannot be found or read.
    """
    import torch

    if not is_mono_sents(candidates) or not candidates:
        raise ValueError("Invalid candidates type. (expected list[str] with at least one caption)")
    if echecker_tokenizer is not None:
        raise ParameterError("fer takes no objects as echecker_tokenizer", hint="leave it out")
    of_classes = detector_of(echecker).class_probabilities(candidates)
    errors = of_classes[:, -1] > error_threshold
    corpus, sents = outs(True, fer=(errors.mean(), errors))
    if return_probs:
        names = PROBABILITIES if of_classes.shape[1] == len(PROBABILITIES) else PROBABILITIES[-1:]
        columns = torch.from_numpy(of_classes[:, -len(names) :]).float().T
        sents = dict(zip(names, columns, strict=True)) | sents
        corpus = {name: sents[name].mean() for name in names} | corpus
    return (corpus, sents) if return_all_scores else corpus["fer"]


def detector_of(echecker: Any) -> ErrorDetector:
    """Return the detector that an argument ``echecker`` names; it raises the errors of ``fer``."""
    if not isinstance(echecker, ErrorDetector | str | os.PathLike):
        raise ParameterError("fer takes no objects as echecker", hint="give the name or the file of an error detector")
    if echecker not in _PUBLISHED or os.path.exists(echecker):
        return as_error_detector(echecker)
    import torch

    folder = os.environ.get("FENSE_DATA") or os.path.join(torch.hub.get_dir(), "fense_data")
    file = Path(folder).expanduser() / f"{echecker}.ckpt"
    if not file.is_file():
        raise ResourceError(
            f"the error detector {echecker} is not on this machine",
            where=str(file),
            hint=f"download {_RELEASE}/{file.name} to this path, or give the file of a detector as echecker",
        )
    return ErrorDetector(str(file))


def _less_errors(name: str, of: str, function: Callable[..., Outs], with_probs: bool) -> Callable[..., Outs]:
    def metric(
        candidates: list[str],
        mult_references: list[list[str]],
        return_all_scores: bool = True,
        *,
        penalty: float = 0.9,
        return_probs: bool = with_probs,
        **options: Any,
    ) -> Outs:
        of_fer = {key: value for key, value in options.items() if key in _TAKEN_BY_FER}
        of_metric = {key: value for key, value in options.items() if key in parameters or key not in _TAKEN_BY_FER}
        errors = fer(candidates, return_probs=return_probs, **of_fer)
        scores = function(candidates, mult_references, **of_metric)
        corpus, sents = ({**of_scores, **of_errors} for of_scores, of_errors in zip(scores, errors, strict=True))
        sents[name] = sents[of] * (1 - penalty * sents["fer"])
        corpus[name] = sents[name].mean()
        return (corpus, sents) if return_all_scores else corpus[name]

    parameters = signature(function).parameters
    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = f"""``{name}``: ``{of}``, less ``penalty`` where there is an error; with all scores of both.

    Further arguments and errors are those of ``{function.__name__}`` and ``fer``.
    """
    return metric


_TAKEN_BY_FER = signature(fer).parameters
fense = _less_errors("fense", "sbert_sim", sbert_sim, with_probs=False)
spider_fl = _less_errors("spider_fl", "spider", spider, with_probs=True)


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
    import torch

    for name, texts in (("mult_candidates", mult_candidates), ("mult_references", mult_references)):
        if not is_mult_sents(texts):
            raise ValueError(f"Invalid {name} type. (expected list[list[str]])")
    if not mult_candidates or len(mult_candidates) != len(mult_references):
        raise ValueError(f"Expected as many candidates ({len(mult_candidates)}) as references, and at least one.")
    if len({len(candidates) for candidates in mult_candidates}) > 1:
        raise ValueError("Expected the same number of candidates for each recording.")
    if selection not in ("max", "min", "mean"):
        raise ValueError(f"Invalid argument {selection=}. (expected max, min or mean)")
    rounds = [metric([*candidates], mult_references, **kwargs)[1] for candidates in zip(*mult_candidates, strict=True)]
    scores = {name: torch.stack([of_round[name] for of_round in rounds]) for name in rounds[0]}
    by = scores[metric_out_name]
    if selection == "mean":
        sents = {f"{metric_out_name}_mean": by.mean(dim=0)}
    else:
        selected_rows = (by.argmax(dim=0) if selection == "max" else by.argmin(dim=0)).unsqueeze(0)
        sents = {f"{name}_{selection}": values.gather(0, selected_rows).squeeze(0) for name, values in scores.items()}
    if return_all_cands_scores:
        sents |= {f"{name}_all": values.transpose(0, 1) for name, values in scores.items()}
    corpus = {name: (torch.mean if reduction_fn is None else reduction_fn)(values) for name, values in sents.items()}
    return (corpus, sents) if return_all_scores else corpus[f"{metric_out_name}_{selection}"]


def spider_max(
    mult_candidates: list[list[str]],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    return_all_cands_scores: bool = False,
    **options: Any,
) -> Outs:
    """Compute SPIDEr of the best candidate, named ``cider_d_max``, ``spice_max`` and ``spider_max``.

    Args:
        mult_candidates, mult_references, return_all_scores, return_all_cands_scores: see ``mult_cands_metric``.
        options: further arguments of ``spider``.

    Raises:
        ValueError: as ``mult_cands_metric``, or fewer than two recordings.
        MissingExtraError: METEOR's tables, which have the synonyms, are not installed.
    """
    return mult_cands_metric(
        spider,
        "spider",
        mult_candidates,
        mult_references,
        return_all_scores,
        return_all_cands_scores=return_all_cands_scores,
        **options,
    )


# The functions of ``aac_metrics.utils.tokenization``, for PTB tokens.

PTB_PUNCTUATIONS = tuple(PUNCTUATIONS)


def ptb_tokenize_batch(
    sentences: Iterable[str],
    audio_ids: object = None,
    cache_path: object = None,
    java_path: object = None,
    tmp_path: object = None,
    punctuations: Iterable[str] = PTB_PUNCTUATIONS,
    normalize_apostrophe: bool = False,
    verbose: int = 0,
) -> list[list[str]]:
    """Return the PTB tokens of captions, lower-cased, without punctuation. All captions are one text, as in the
    toolkit.

    Args:
        sentences: the captions.
        audio_ids, cache_path, java_path, tmp_path, verbose: ignored.
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


def preprocess_mono_sents(
    sentences: list[str],
    cache_path: object = None,
    java_path: object = None,
    tmp_path: object = None,
    punctuations: Iterable[str] = PTB_PUNCTUATIONS,
    normalize_apostrophe: bool = False,
    verbose: int = 0,
) -> list[str]:
    """Return captions tokenized by ``ptb_tokenize_batch``, with a space between tokens."""
    tokens_of = ptb_tokenize_batch(sentences, punctuations=punctuations, normalize_apostrophe=normalize_apostrophe)
    return [" ".join(tokens) for tokens in tokens_of]


def preprocess_mult_sents(
    mult_sentences: list[list[str]],
    cache_path: object = None,
    java_path: object = None,
    tmp_path: object = None,
    punctuations: Iterable[str] = PTB_PUNCTUATIONS,
    normalize_apostrophe: bool = False,
    verbose: int = 0,
) -> list[list[str]]:
    """Apply ``preprocess_mono_sents`` to lists of captions."""
    flat = [*chain.from_iterable(mult_sentences)]
    texts = iter(preprocess_mono_sents(flat, punctuations=punctuations, normalize_apostrophe=normalize_apostrophe))
    return [[next(texts) for _ in group] for group in mult_sentences]
