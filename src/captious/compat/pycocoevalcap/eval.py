"""The evaluation of a results file under the toolkit's name, ``pycocoevalcap.eval.COCOEvalCap``."""

# Method and argument names are the toolkit's.
# ruff: noqa: N802, N803

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

import numpy as np

from captious.compat.df_files import CORPUS
from captious.compat.pycocoevalcap.coco_scorers import WMD, Bleu, Cider, Meteor, Rouge, Spice
from captious.compat.pycocoevalcap.eval_arguments import (
    SCORES,
    Tokenize,
    requested_scorers,
    scorer_names,
    third_argument,
    tokenize_of,
    unknown_argument,
)
from captious.compat.pycocoevalcap.harness_input import image_annotations
from captious.compat.pycocoevalcap.input_errors import NoImages
from captious.compat.pycocoevalcap.ptb_tokenizer import PTBTokenizer
from captious.errors import ParameterError
from captious.metrics import meteor, spice

__all__ = ["COCOEvalCap"]

#: Functions, so that a class that a program puts into this module is the one that runs.
_MAKE: dict[str, Callable[[], Any]] = {
    "BLEU": lambda: Bleu(4),
    "METEOR": lambda: Meteor(),
    "ROUGE_L": lambda: Rouge(),
    "SPICE": lambda: Spice(),
    "WMD": lambda: WMD(),
}


class COCOEvalCap:
    """Evaluation of a COCO results file against COCO annotations.

    Args:
        coco: references, a ``pycocotools.coco.COCO`` or anything else with ``imgToAnns`` and ``getImgIds()``; or, for
            audio forks, an object with ``audioToAnns`` and ``getAudioIds()``.
        cocoRes: candidates, likewise: the result of ``coco.loadRes``.
        df: an argument of forks: document frequencies as for ``Cider``. Some forks have another argument in this
            position: a list of scorers, like ``coco_types``, or a tokenizer.
        tokenization_fn: an argument of forks: a function from a raw caption to its words, in a list or separated by
            spaces; None for PTB tokens.
        verbose: print the toolkit's messages.
        use_scorers, metrics, scorers_to_run: arguments of forks: which scorers to run, of "Bleu", "METEOR", "ROUGE_L",
            "CIDEr", "SPICE" and "WMD"; upper or lower case. WMD runs only if named.
        coco_types, cocoTypes: likewise; scorers run in this order.
        exclude_scorers: an argument of a fork: scorers not to run.
        tokenizer: like ``tokenization_fn``, or an object with the method ``tokenize`` of ``PTBTokenizer``.
        spice_threads: accepted and ignored.

    Attributes:
        params: ``image_id`` lists the images to evaluate; by default, all with references. For audio,
            ``audio_id``.
        eval: name -> corpus score, filled by ``evaluate``.
        evalImgs: one dictionary per image: ``image_id``, and name -> score.
        imgToEval: image id -> the same dictionary.

    Raises:
        ParameterError: an unknown scorer, or contradictory arguments.
        TypeError: an unsupported argument.
    """

    _several_candidates = False
    # For subclasses that set the toolkit's attributes themselves.
    _is_audio = False
    _id = "image_id"
    _requested: list[str] | None = None
    _excluded: Sequence[str] = ()
    df: str | os.PathLike[str] = CORPUS
    tokenization_fn: Any = None
    verbose = True

    def __init__(
        self,
        coco: Any,
        cocoRes: Any,
        df: str | os.PathLike[str] | Collection[str] | Any = CORPUS,
        tokenization_fn: Callable[[str], str | Sequence[str]] | None = None,
        verbose: bool = True,
        *,
        use_scorers: Collection[str] | None = None,
        metrics: Collection[str] | None = None,
        scorers_to_run: Collection[str] | None = None,
        coco_types: Collection[str] | None = None,
        cocoTypes: Collection[str] | None = None,
        exclude_scorers: Collection[str] = (),
        tokenizer: Any = None,
        spice_threads: int | None = None,
        **further: object,
    ) -> None:
        if further:
            raise unknown_argument(next(iter(further)))
        self.evalImgs: list[dict[str, Any]] = []
        self.eval: dict[str, Any] = {}
        self.imgToEval: dict[Hashable, dict[str, Any]] = {}
        self.coco = coco
        self.cocoRes = cocoRes
        self._is_audio = hasattr(coco, "getAudioIds")
        self._id = "audio_id" if self._is_audio else "image_id"
        self.params: dict[str, Any] = {self._id: coco.getAudioIds() if self._is_audio else coco.getImgIds()}
        self.df, third, third_tokenizer = third_argument(df, CORPUS)
        tokenizers = [function for function in (tokenization_fn, tokenizer, third_tokenizer) if function is not None]
        if len(tokenizers) > 1:
            raise ParameterError("there are several tokenizers", help="give tokenization_fn or tokenizer")
        self.tokenization_fn = tokenizers[0] if tokenizers else None
        self._tokenize(self.tokenization_fn)
        self.verbose = verbose
        self._requested = requested_scorers(
            {"use_scorers": use_scorers, "metrics": metrics, "scorers_to_run": scorers_to_run},
            {"coco_types": coco_types, "cocoTypes": cocoTypes, "the third argument": third},
        )
        self._excluded = scorer_names(exclude_scorers, "exclude_scorers")

    def evaluate(self, verbose: bool | None = None) -> None:
        """Tokenize and score the images in ``params``; fills ``eval``, ``evalImgs`` and ``imgToEval``.

        Args:
            verbose: replaces that of the constructor.

        Raises:
            EmptyInputError: no images to evaluate.
            InputError: an image without references, or without exactly one candidate; or a value that is not a caption.
            MissingExtraError: METEOR's tables, which a requested scorer needs, are not installed.
            ResourceError: no such document frequencies.
        """
        verbose = self.verbose if verbose is None else verbose
        say = print if verbose else _say_nothing
        images = list(self.params[self._id])
        if not images:
            raise NoImages(
                f"there are no {'recordings' if self._is_audio else 'images'} to evaluate",
                where=f"params[{self._id!r}]",
                help="give one or more ids",
            )
        self.evalImgs, self.eval, self.imgToEval = [], {}, {}

        references = image_annotations(_annotations(self.coco), images, "references")
        candidates = image_annotations(
            _annotations(self.cocoRes), images, "candidates", several=self._several_candidates
        )

        say("tokenization...")
        tokenize = self._tokenize(self.tokenization_fn)
        gts, res = tokenize(references), tokenize(candidates)

        say("setting up scorers...")
        for name in self._scorers(say):
            scorer = self._scorer(name)
            say(f"computing {scorer.method()} score...")
            extra = {"verbose": int(verbose)} if isinstance(scorer, Bleu) else {}
            score, scores = scorer.compute_score(gts, res, **extra)
            if len(SCORES[name]) == 1:
                score, scores = [score], [scores]
            for output, value, values in zip(SCORES[name], score, scores, strict=True):
                self.setEval(value, output)
                self.setImgToEvalImgs(values, gts, output)
                say(f"{output}: {value:0.3f}")
        if self._is_audio and self.eval.keys() >= {"CIDEr", "SPICE"}:  # as the forks for audio do
            say("computing SPIDEr score...")
            self.setEval((self.eval["CIDEr"] + self.eval["SPICE"]) / 2, "SPIDEr")
            values = [(self.imgToEval[i]["CIDEr"] + self.imgToEval[i]["SPICE"]["All"]["f"]) / 2 for i in gts]
            self.setImgToEvalImgs([np.float64(value) for value in values], gts, "SPIDEr")
            say(f"SPIDEr: {self.eval['SPIDEr']:0.3f}")
        self.setEvalImgs()

    def _scorers(self, say: Callable[..., None]) -> list[str]:
        """Return the requested scorers, or all whose requirements are installed."""
        if self._requested is not None:
            return [name for name in self._requested if name not in self._excluded]
        names = [name for name in SCORES if name != "WMD" and name not in self._excluded]
        needs_tables = {"METEOR": meteor.Meteor.missing(), "SPICE": spice.Spice.missing()}
        left_out = {name: reason for name, reason in needs_tables.items() if name in names and reason is not None}
        if left_out:
            say("skipped:", "; ".join(f"{name} ({reason})" for name, reason in left_out.items()))
        return [name for name in names if name not in left_out]

    def _scorer(self, name: str) -> Any:
        return Cider(df=self.df) if name == "CIDER" else _MAKE[name]()

    def _tokenize(self, tokenizer: Any) -> Tokenize:
        return PTBTokenizer(verbose=self.verbose).tokenize if tokenizer is None else tokenize_of(tokenizer)

    def setEval(self, score: Any, method: str) -> None:
        """Record a corpus score."""
        self.eval[method] = score

    def setImgToEvalImgs(self, scores: Any, imgIds: Any, method: str) -> None:
        """Record the scores of images, one for each id."""
        for image, score in zip(imgIds, scores, strict=True):
            self.imgToEval.setdefault(image, {self._id: image})[method] = score

    def setEvalImgs(self) -> None:
        """List the records of images, in the order of evaluation."""
        self.evalImgs = list(self.imgToEval.values())

    @property
    def audioToEval(self) -> dict[Hashable, dict[str, Any]]:
        """``imgToEval`` under its name in audio forks."""
        return self.imgToEval

    @property
    def evalAudios(self) -> list[dict[str, Any]]:
        """``evalImgs`` under its name in audio forks."""
        return self.evalImgs


def _annotations(coco: Any) -> Any:
    return coco.audioToAnns if hasattr(coco, "audioToAnns") else coco.imgToAnns


def _say_nothing(*words: object) -> None:
    return None
