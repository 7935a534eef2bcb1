"""FENSE and SPIDEr-FL, which reduce the scores of captions with fluency errors, and the parts of FENSE."""

from __future__ import annotations

import os
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from captious.compat.aac_metrics.inputs import Outs, device_name, is_mono_sents, outs, table
from captious.compat.aac_metrics.metric_functions import spider
from captious.errors import ParameterError, ResourceError
from captious.evaluation.caption_checks.caption_warnings import issue
from captious.metrics.sbert import Sbert
from captious.models import Encoder
from captious.models.error_detectors import ErrorDetector, as_error_detector

__all__ = ["DETECTOR", "PROBABILITIES", "detector_of", "fense", "fer", "sbert_sim", "spider_fl"]

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
        candidates, mult_references, return_all_scores: see ``metric_functions``.
        sbert_model: a sentence encoder: a name on the Hugging Face hub, or a folder.
        device: as for ``bert_score_mrefs``.
        batch_size, reset_state, verbose: ignored.

    Raises:
        ParameterError: a model that is an object.
        ResourceError: a model that cannot be found or read.
    """
    captions = table(candidates, mult_references)
    if not isinstance(sbert_model, str):
        raise ParameterError("sbert_sim takes no objects as sbert_model", help="give the name or folder of the model")
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
        candidates, return_all_scores: see ``metric_functions``.
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
        raise ParameterError("fer takes no objects as echecker_tokenizer", help="leave it out")
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
        raise ParameterError("fer takes no objects as echecker", help="give the name or the file of an error detector")
    if echecker not in _PUBLISHED or os.path.exists(echecker):
        return as_error_detector(echecker)
    import torch

    folder = os.environ.get("FENSE_DATA") or os.path.join(torch.hub.get_dir(), "fense_data")
    file = Path(folder).expanduser() / f"{echecker}.ckpt"
    if not file.is_file():
        raise ResourceError(
            f"the error detector {echecker} is not on this machine",
            where=str(file),
            help=f"download {_RELEASE}/{file.name} to this path, or give the file of a detector as echecker",
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
