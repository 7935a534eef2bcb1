"""``pycocoevalcap.eval.COCOEvalCap``: results files evaluated, with arguments of forks and prepared references."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from captious.compat.counted import CORPUS
from captious.compat.pycocoevalcap.inputs import (
    NoImages,
    PTBTokenizer,
    UnknownArgument,
    image_annotations,
    raw_texts,
    references_table,
    tables_in_use,
)
from captious.compat.pycocoevalcap.scorers import WMD, Bleu, Cider, Meteor, Rouge, Spice
from captious.data import References
from captious.data.formats import is_prepared
from captious.data.prepared import read_prepared
from captious.errors import CaptionFileError, CaptionTypeError, ParameterError
from captious.evaluation import prepare
from captious.metrics import bleu, cider, meteor, rouge, spice
from captious.text import SPACES, WHITESPACE
from captious.words import shortened, with_article

# Additional arguments of ``COCOEvalCap`` in forks of the toolkit, which choose scorers and tokenizer.

#: From raw captions by image, lists of ``{"caption": text}``, to tokenized ones.
Tokenize: TypeAlias = Callable[[Mapping[Any, Sequence[Mapping[str, Any]]]], dict[Any, list[str]]]

#: The scorers in the toolkit's order, as forks call them, and the names of their scores. WMD runs only if asked for.
SCORES: dict[str, tuple[str, ...]] = {
    "BLEU": ("Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"),
    "METEOR": ("METEOR",),
    "ROUGE_L": ("ROUGE_L",),
    "CIDER": ("CIDEr",),
    "SPICE": ("SPICE",),
    "WMD": ("WMD",),
}
_OTHER_NAMES = {"ROUGE": "ROUGE_L", "ROUGE-L": "ROUGE_L", "ROUGEL": "ROUGE_L"}
#: Arguments that choose scorers, which run in the toolkit's order, or in the order given.
_CHOOSING = ("use_scorers", "metrics", "scorers_to_run", "coco_types", "cocoTypes", "the third argument")
_IN_ORDER = _CHOOSING[3:]


def requested_scorers(arguments: dict[str, Any]) -> list[str] | None:
    """Take out the arguments that choose scorers, and return the scorers to run, None for all."""
    given = [(name, names) for name in _CHOOSING if (names := arguments.pop(name, None)) is not None]
    if not given:
        return None
    if len(given) > 1:
        raise ParameterError(f"{given[0][0]} and {given[1][0]} both choose scorers", hint="give one of them")
    ((argument, names),) = given
    scorers = scorer_names(names, argument)
    return scorers if argument in _IN_ORDER else [name for name in SCORES if name in scorers]


def scorer_names(names: Collection[str], argument: str) -> list[str]:
    """Return the names of scorers in an argument, spelled as in ``SCORES``."""
    if isinstance(names, str):
        raise ParameterError(f"{argument} is a list of scorers", hint=f"give {argument}=[{names!r}]")
    scorers = [_OTHER_NAMES.get(str(name).upper(), str(name).upper()) for name in names]
    for name, scorer in zip(names, scorers, strict=True):
        if scorer not in SCORES:
            raise ParameterError(
                f"there is no scorer {name!r}", hint="the scorers are Bleu, METEOR, ROUGE_L, CIDEr, SPICE and WMD"
            )
    return scorers


def third_argument(value: Any) -> dict[str, Any]:
    """Return the third argument of forks under its name: document frequencies, a list of scorers, or a tokenizer; none
    if it says that captions are tokenized.
    """
    if value is None or value is True:
        return {}
    if isinstance(value, str | os.PathLike):
        return {"df": value}
    if isinstance(value, Collection) and all(isinstance(name, str) for name in value):
        return {"the third argument": value}
    if callable(value) or hasattr(value, "tokenize"):
        return {"the third": value}
    raise ParameterError(
        f"the third argument is not understood: {shortened(value)}",
        hint="give document frequencies (df), a list of scorers (coco_types), or a tokenizer (tokenizer); for captions "
        "that are already tokenized, tokenizer=str.split",
    )


def tokenize_of(tokenizer: Any) -> Tokenize:
    """Return a user's tokenizer as a function over captions by image.

    Args:
        tokenizer: an object with ``tokenize`` like the toolkit's ``PTBTokenizer``, or a function from a caption to its
            words, in a list or separated by spaces.
    """
    if hasattr(tokenizer, "tokenize"):
        tokenize: Tokenize = tokenizer.tokenize
        return tokenize
    if not callable(tokenizer):
        raise ParameterError(
            f"{shortened(tokenizer)} is not a tokenizer",
            hint="give a function from a caption to its words, or an object with the method tokenize of PTBTokenizer",
        )

    def tokenized(text: str) -> str:
        words = tokenizer(text)
        return words if isinstance(words, str) else " ".join(words)

    return lambda raw: {image: [tokenized(text) for text in texts] for image, texts in raw_texts(raw).items()}


# ``COCOEvalCap``. Method and argument names are the toolkit's.

#: Metrics that need METEOR's tables, and their tokenizers.
_WITH_TABLES: dict[type[meteor.Meteor | spice.Spice], Any] = {meteor.Meteor: SPACES, spice.Spice: WHITESPACE}
_CLASSES: dict[str, type] = dict(zip(SCORES, (Bleu, Meteor, Rouge, Cider, Spice, WMD), strict=True))


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
        further: the arguments from ``use_scorers`` on, which are keyword arguments.

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
        **further: Any,
    ) -> None:
        further |= third_argument(df)
        self.evalImgs: list[dict[str, Any]] = []
        self.eval: dict[str, Any] = {}
        self.imgToEval: dict[Hashable, dict[str, Any]] = {}
        self.coco = coco
        self.cocoRes = cocoRes
        self._is_audio = hasattr(coco, "getAudioIds")
        self._id = "audio_id" if self._is_audio else "image_id"
        self.params: dict[str, Any] = {self._id: coco.getAudioIds() if self._is_audio else coco.getImgIds()}
        self.df = further.pop("df", CORPUS)
        given = [tokenization_fn, further.pop("tokenizer", None), further.pop("the third", None)]
        tokenizers = [tokenizer for tokenizer in given if tokenizer is not None] or [None]
        if len(tokenizers) > 1:
            raise ParameterError("there are several tokenizers", hint="give tokenization_fn or tokenizer")
        self.tokenization_fn = tokenizers[0]
        self._tokenize(self.tokenization_fn)
        self.verbose = verbose
        self._excluded = scorer_names(further.pop("exclude_scorers", ()), "exclude_scorers")
        self._requested = requested_scorers(further)
        further.pop("spice_threads", None)
        if further:
            raise UnknownArgument(
                f"COCOEvalCap has no argument {next(iter(further))!r}",
                hint="it has df, use_scorers, metrics, scorers_to_run, exclude_scorers, coco_types, cocoTypes, "
                "tokenization_fn, tokenizer, spice_threads and verbose",
            )

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
        say = print if verbose else lambda *words: None
        images = list(self.params[self._id])
        if not images:
            raise NoImages(
                f"there are no {'recordings' if self._is_audio else 'images'} to evaluate",
                where=f"params[{self._id!r}]",
                hint="give one or more ids",
            )
        self.evalImgs, self.eval, self.imgToEval = [], {}, {}

        references = image_annotations(_annotations(self.coco), images, "coco")
        candidates = image_annotations(_annotations(self.cocoRes), images, "cocoRes", several=self._several_candidates)

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
        reasons = {cls.name.upper(): cls.missing() for cls in _WITH_TABLES}
        left_out = [name for name in names if reasons.get(name) is not None]
        if left_out:
            say("skipped:", "; ".join(f"{name} ({reasons[name]})" for name in left_out))
        return [name for name in names if name not in left_out]

    def _scorer(self, name: str) -> Any:
        scorer = globals()[_CLASSES[name].__name__]  # a class that a program has put into this module, if any
        return scorer(df=self.df) if name == "CIDER" else scorer()

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


# Prepared references for programs that pass the same references to scorers in every evaluation.
#
# ``prepare_references`` writes tokenized references to a file with everything that scorers compute about them. After
# ``use_prepared_references``, scorers that receive these references read it from the file.


def prepare_references(gts: Mapping[object, list[str]], path: str | os.PathLike[str]) -> None:
    """Write references to a file, with everything that the scorers of the COCO toolkit compute about them.

    METEOR's and SPICE's parts are left out if these metrics are not available.

    Args:
        gts: image id -> list of tokenized references, as for scorers.
        path: the file.

    Raises:
        InputError: invalid references; the error names the image.
        OutputError: the file cannot be written.
    """
    metrics = [
        *(bleu.Bleu(tokenizer=WHITESPACE), rouge.RougeL(tokenizer=SPACES), cider.CiderD(tokenizer=WHITESPACE)),
        *(cls(tokenizer=words) for cls, words in _WITH_TABLES.items() if cls.missing() is None),
    ]
    prepare(replace(references_table(gts), name="gts"), metrics, path=path)  # not what a file in use knows about them


def use_prepared_references(*paths: str | os.PathLike[str]) -> None:
    """Read what scorers compute about references from files, in this process from now on.

    Scores do not change. References match a file with the same texts in the same order and number for each image;
    others are scored as usual. Data that a file lacks, such as parses with another grammar, are computed as usual.

    Args:
        paths: files that ``prepare_references`` wrote, replacing those of an earlier call; none to use no file.

    Raises:
        CaptionTypeError: not a path.
        CaptionFileError: a file that is missing, damaged or of another kind. Its data are checked on first use.
    """
    tables_in_use[:] = [_read(path) for path in paths]


def _read(path: str | os.PathLike[str]) -> References:
    if not isinstance(path, str | os.PathLike):
        raise CaptionTypeError(f"{with_article(type(path).__name__)} is not a path", hint="give one path or several")
    where, fault = os.fspath(path), None
    if not os.path.exists(path):
        fault = "the file does not exist"
    elif not is_prepared(path):
        fault = "this is not a file of prepared references"
    else:
        try:
            table = read_prepared(path)
        except CaptionFileError as error:
            fault, where = error.message, error.where
        else:
            if table.ids == tuple(range(len(table))):
                return table
            fault = "these references are not tokenized"
    raise CaptionFileError(fault, where=where, hint="write it with prepare_references(gts, path)")
