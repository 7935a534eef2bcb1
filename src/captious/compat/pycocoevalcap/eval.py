"""The evaluation of a results file under the toolkit's name, ``pycocoevalcap.eval.COCOEvalCap``."""

# Method and argument names are the toolkit's.
# ruff: noqa: N802, N803

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any

import numpy as np

from captious.compat.df_files import CORPUS
from captious.compat.pycocoevalcap.bleu.bleu import Bleu
from captious.compat.pycocoevalcap.cider.cider import Cider
from captious.compat.pycocoevalcap.harness_input import of_images, raw_texts
from captious.compat.pycocoevalcap.meteor.meteor import Meteor
from captious.compat.pycocoevalcap.refusals import NoImages
from captious.compat.pycocoevalcap.rouge.rouge import Rouge
from captious.compat.pycocoevalcap.spice.spice import Spice
from captious.compat.pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
from captious.errors import ParameterError
from captious.metrics import meteor, spice

__all__ = ["COCOEvalCap"]


#: The scorers that run, in order: how forks call them, and the names of their scores.
_SCORES: dict[str, tuple[str, ...]] = {
    "BLEU": ("Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"),
    "METEOR": ("METEOR",),
    "ROUGE_L": ("ROUGE_L",),
    "CIDER": ("CIDEr",),
    "SPICE": ("SPICE",),
}
_CLASSES = {"BLEU": Bleu, "METEOR": Meteor, "ROUGE_L": Rouge, "SPICE": Spice}
_SAME = {"ROUGE": "ROUGE_L", "ROUGE-L": "ROUGE_L"}


class COCOEvalCap:
    """Evaluation of a COCO results file against COCO annotations.

    Args:
        coco: references, a ``pycocotools.coco.COCO`` or anything else with ``imgToAnns`` and ``getImgIds()``; or those
            of the forks for audio, with ``audioToAnns`` and ``getAudioIds()``.
        cocoRes: candidates, likewise; what ``coco.loadRes`` returns.
        df: an argument of forks: document frequencies of CIDEr, as ``Cider`` takes them. As some forks call it, a
            list of scorers, like ``coco_types``.
        tokenization_fn: an argument of forks: a function from a raw caption to its words, in a list or set apart by
            spaces; None for PTB tokens.
        verbose: print what the toolkit prints.
        use_scorers: an argument of forks: which scorers to run, of "Bleu", "METEOR", "ROUGE_L", "CIDEr" and "SPICE".
        coco_types, cocoTypes: the same, in the order given.

    Attributes:
        params: ``image_id`` lists the images to evaluate; all that have references, unless it is set. For audio,
            ``audio_id``.
        eval: name -> corpus score, filled by ``evaluate``.
        evalImgs: one dictionary per image: ``image_id``, and name -> score.
        imgToEval: image id -> the same dictionary.

    Raises:
        ParameterError: a scorer that does not exist.
    """

    _several_candidates = False
    # For subclasses that set the toolkit's attributes themselves.
    _is_audio = False
    _id = "image_id"
    _asked: list[str] | None = None
    df: str | os.PathLike[str] = CORPUS
    tokenization_fn: Callable[[str], str | Sequence[str]] | None = None
    verbose = True

    def __init__(
        self,
        coco: Any,
        cocoRes: Any,
        df: str | os.PathLike[str] | Collection[str] = CORPUS,
        tokenization_fn: Callable[[str], str | Sequence[str]] | None = None,
        verbose: bool = True,
        *,
        use_scorers: Collection[str] | None = None,
        coco_types: Collection[str] | None = None,
        cocoTypes: Collection[str] | None = None,
    ) -> None:
        self.evalImgs: list[dict[str, Any]] = []
        self.eval: dict[str, Any] = {}
        self.imgToEval: dict[Hashable, dict[str, Any]] = {}
        self.coco = coco
        self.cocoRes = cocoRes
        self._is_audio = hasattr(coco, "getAudioIds")
        self._id = "audio_id" if self._is_audio else "image_id"
        self.params: dict[str, Any] = {self._id: coco.getAudioIds() if self._is_audio else coco.getImgIds()}
        if not isinstance(df, str | os.PathLike):
            df, coco_types = CORPUS, df
        self.tokenization_fn = tokenization_fn
        self.verbose = verbose
        self._asked = _scorers_asked_for(use_scorers, cocoTypes if coco_types is None else coco_types)
        self.df = df

    def evaluate(self, verbose: bool | None = None) -> None:
        """Tokenize and score the images in ``params``; fills ``eval``, ``evalImgs`` and ``imgToEval``.

        Args:
            verbose: instead of the one given before.

        Raises:
            EmptyInputError: no images to evaluate.
            InputError: an image without references, or without exactly one candidate; or a value that is not a caption.
            MissingExtraError: a scorer was asked for that needs METEOR's tables, which are not installed.
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

        references = of_images(_annotations(self.coco), images, role="references")
        candidates = of_images(_annotations(self.cocoRes), images, role="candidates", several=self._several_candidates)

        say("tokenization...")
        gts, res = self._tokenized(references), self._tokenized(candidates)

        say("setting up scorers...")
        needs_tables = {"METEOR": meteor.Meteor.missing(), "SPICE": spice.Spice.missing()}
        left_out = {name: command for name, command in needs_tables.items() if command is not None}
        if left_out and self._asked is None:
            say("skipped:", "; ".join(f"{name} ({reason})" for name, reason in left_out.items()))

        for name in self._asked or [each for each in _SCORES if each not in left_out]:
            scorer = self._scorer(name)
            say(f"computing {scorer.method()} score...")
            extra = {"verbose": int(verbose)} if isinstance(scorer, Bleu) else {}
            score, scores = scorer.compute_score(gts, res, **extra)
            if len(_SCORES[name]) == 1:
                score, scores = [score], [scores]
            for each, value, values in zip(_SCORES[name], score, scores, strict=True):
                self.setEval(value, each)
                self.setImgToEvalImgs(values, gts, each)
                say(f"{each}: {value:0.3f}")
        if self._is_audio and self.eval.keys() >= {"CIDEr", "SPICE"}:  # as the forks for audio do
            say("computing SPIDEr score...")
            self.setEval((self.eval["CIDEr"] + self.eval["SPICE"]) / 2, "SPIDEr")
            values = [(self.imgToEval[i]["CIDEr"] + self.imgToEval[i]["SPICE"]["All"]["f"]) / 2 for i in gts]
            self.setImgToEvalImgs([np.float64(value) for value in values], gts, "SPIDEr")
            say(f"SPIDEr: {self.eval['SPIDEr']:0.3f}")
        self.setEvalImgs()

    def _scorer(self, name: str) -> Any:
        return Cider(df=self.df) if name == "CIDER" else _CLASSES[name]()

    def _tokenized(self, raw: dict[Hashable, list[Any]]) -> dict[Hashable, list[str]]:
        if self.tokenization_fn is None:
            return PTBTokenizer(verbose=self.verbose).tokenize(raw)
        return {image: [self._words(text) for text in texts] for image, texts in raw_texts(raw).items()}

    def _words(self, text: str) -> str:
        assert self.tokenization_fn is not None
        words = self.tokenization_fn(text)
        return words if isinstance(words, str) else " ".join(words)

    def setEval(self, score: Any, method: str) -> None:
        """Note a corpus score."""
        self.eval[method] = score

    def setImgToEvalImgs(self, scores: Any, imgIds: Any, method: str) -> None:
        """Note the scores of images, one for each id."""
        for image, score in zip(imgIds, scores, strict=True):
            self.imgToEval.setdefault(image, {self._id: image})[method] = score

    def setEvalImgs(self) -> None:
        """List what was noted about images, in the order of evaluation."""
        self.evalImgs = list(self.imgToEval.values())

    @property
    def audioToEval(self) -> dict[Hashable, dict[str, Any]]:
        """``imgToEval``, as the forks for audio call it."""
        return self.imgToEval

    @property
    def evalAudios(self) -> list[dict[str, Any]]:
        """``evalImgs``, as the forks for audio call it."""
        return self.evalImgs


def _scorers_asked_for(chosen: Collection[str] | None, ordered: Collection[str] | None) -> list[str] | None:
    """The scorers to run: those chosen in the usual order, or those of a list in its order; None for all.

    Raises:
        ParameterError: one that does not exist.
    """
    asked = chosen if ordered is None else ordered
    if asked is None:
        return None
    names = [_SAME.get(name.upper(), name.upper()) for name in asked]
    unknown = next((given for given, name in zip(asked, names, strict=True) if name not in _SCORES), None)
    if unknown is not None:
        raise ParameterError(
            f"there is no scorer {unknown!r}", help="the scorers are Bleu, METEOR, ROUGE_L, CIDEr and SPICE"
        )
    return [name for name in _SCORES if name in names] if ordered is None else names


def _annotations(coco: Any) -> Any:
    return coco.audioToAnns if hasattr(coco, "audioToAnns") else coco.imgToAnns


def _say_nothing(*words: object) -> None:
    return None
