"""The COCO caption toolkit's interface without Java: stands in for pycocoevalcap 1.2, as it is on PyPI.

    from captious.compat.pycocoevalcap import Bleu, Cider, COCOEvalCap, Meteor, PTBTokenizer, Rouge, Spice
    from captious.compat.pycocoevalcap import WMD  # which the fork mtanti/coco-caption has, and pycocoevalcap has not

Names, arguments, return types, the order of results and what is printed are the toolkit's, and so are the scores.
Different on purpose:

- Scores belong to their image id, whatever the order of candidates and references.
- Every caption is tokenized as if it were the only one, and a line break or control character in it is a space. In
  the toolkit some of them shift every later caption by one.
- Input that the toolkit cannot take, which it mostly stops at with a bare assertion, is an ``InputError`` that names
  the image. So is a corpus without images. References without a single word are legal.
- The tokenizer keeps an image without captions; the toolkit's drops it.
- No process is started and no file written, so any number of evaluations can run at once.
- ``COCOEvalCap.evaluate`` starts afresh each time, so it may be called again with other ``params``.
- METEOR needs its tables, an installed pycocoevalcap's for instance, but not Java. ``|||`` in a reference, where the
  toolkit's protocol breaks, is dropped as it is in a candidate.
- SPICE's grammar is the official one where ``captious resources list`` shows it, or else captious' own, which is
  close; a warning says so. ``Spice.compute_score`` gives images in the order of ``gts``; the toolkit's sorts their ids,
  and its ``COCOEvalCap`` then puts scores on wrong images.
- ``COCOEvalCap.evaluate`` says in one line what it leaves out: METEOR and SPICE, without METEOR's tables.
"""

# Method and argument names are the toolkit's.
# ruff: noqa: N802, N803

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.compat.harness_input import captions, of_images, raw_texts
from captious.errors import EmptyInputError, ParameterError
from captious.evaluation import CaptiousWarning
from captious.metrics import bleu, cider_d, meteor, rouge_l, spice, wmd
from captious.models import WordVectors
from captious.native import Vocabulary
from captious.scenes.matching import CATEGORIES, agreement, count
from captious.text import PTB, SPACES, WHITESPACE

__all__ = ["WMD", "Bleu", "COCOEvalCap", "Cider", "Meteor", "PTBTokenizer", "Rouge", "Spice"]

#: Tokenized captions by image id: any number of references, or one candidate. Words are set apart by spaces.
Texts: TypeAlias = Mapping[Any, list[str]]


class PTBTokenizer:
    """Penn Treebank tokens as the toolkit gets them from CoreNLP 3.4.1: lower-cased, most punctuation dropped.

    Args:
        verbose: taken and ignored; this tokenizer prints nothing.
    """

    def __init__(self, verbose: bool = True) -> None:
        self.verbose = verbose

    def tokenize(self, captions_for_image: Mapping[Any, Sequence[Mapping[str, Any]]]) -> dict[Any, list[str]]:
        """Tokenize captions.

        Args:
            captions_for_image: image id -> list of ``{"caption": text}``; what else they hold is ignored.

        Returns:
            image id -> list of tokenized captions, a space between tokens; ids and captions in the order given.

        Raises:
            CaptionTypeError, EncodingError: what is not a caption, with the image.
        """
        texts = raw_texts(captions_for_image)
        vocabulary = Vocabulary()
        ids, offsets = PTB.encode([text for group in texts.values() for text in group], vocabulary)
        tokens = list(map(vocabulary.words().__getitem__, ids.tolist()))
        lines = (" ".join(tokens[start:end]) for start, end in pairwise(offsets.tolist()))
        return {image: [next(lines) for _ in group] for image, group in texts.items()}


class Bleu:
    """BLEU of order 1 to n.

    Args:
        n: 1 to 4.
    """

    def __init__(self, n: int = 4) -> None:
        if n not in (1, 2, 3, 4):
            raise ParameterError(f"BLEU of order {n!r} does not exist here", help="n is 1, 2, 3 or 4")
        self._n = n

    def compute_score(self, gts: Texts, res: Texts, verbose: int = 1) -> tuple[list[float], list[list[float]]]:
        """Score tokenized captions, split at white space.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.
            verbose: print lengths and counts of the corpus; 0 to print nothing.

        Returns:
            Corpus scores by order, and by order the scores of every image, in the order of gts.

        Raises:
            InputError: something about the captions, with the image.
        """
        metric = bleu.Bleu(tokenizer=WHITESPACE)
        statistics = metric.statistics(captions(gts, res))
        total = statistics.sum(axis=0)
        if verbose:
            self._print(*total.astype(int).tolist())
        corpus: list[float] = metric.aggregate(total)[: self._n].tolist()
        per_image: list[list[float]] = metric.aggregate(statistics)[:, : self._n].T.tolist()
        return corpus, per_image

    def _print(self, *total: int) -> None:
        """The toolkit's two lines; ``total`` is the sum of the statistics."""
        correct, guess, (length, reference_length) = total[0:4], total[4:8], total[8:10]
        counts = {
            "testlen": length,
            "reflen": reference_length,
            "guess": list(guess[: self._n]),
            "correct": list(correct[: self._n]),
        }
        print(counts)
        print("ratio:", (length + 1e-15) / (reference_length + 1e-9))  # the constants of the score itself

    def method(self) -> str:
        """What the toolkit calls this scorer."""
        return "Bleu"


class Meteor:
    """METEOR 1.5, with the toolkit's settings.

    Raises:
        MissingExtraError: METEOR's tables are not installed.
    """

    def __init__(self) -> None:
        self._metric = meteor.Meteor(tokenizer=SPACES)

    def compute_score(self, gts: Texts, res: Texts) -> tuple[float, list[float]]:
        """Score tokenized captions, which METEOR normalises further.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.

        Returns:
            The corpus score, and the scores of every image, in the order of gts.

        Raises:
            InputError: something about the captions, with the image.
        """
        statistics = self._metric.statistics(captions(gts, res))
        corpus = float(self._metric.aggregate(statistics.sum(axis=0))[0])
        per_image: list[float] = self._metric.aggregate(statistics)[:, 0].tolist()
        return corpus, per_image

    def method(self) -> str:
        """What the toolkit calls this scorer."""
        return "METEOR"


class Rouge:
    """ROUGE-L.

    Attributes:
        beta: weight of recall against precision.
    """

    def __init__(self) -> None:
        self.beta = rouge_l.RougeL.beta

    def calc_score(self, candidate: list[str], refs: list[str]) -> float:
        """Score the candidate of one image, given in a list.

        Raises:
            InputError: as ``compute_score``; the image counts as image 0.
        """
        return float(self.compute_score({0: refs}, {0: candidate})[0])

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, NDArray[np.float64]]:
        """Score tokenized captions, split at single spaces: two in a row hold an empty word between them.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.

        Returns:
            The mean, and float64[n_images] in the order of gts.

        Raises:
            InputError: something about the captions, with the image.
        """
        metric = rouge_l.RougeL(tokenizer=SPACES)
        metric.beta = self.beta
        scores = metric.scores(captions(gts, res))
        return np.float64(scores.mean()), scores

    def method(self) -> str:
        """What the toolkit calls this scorer."""
        return "Rouge"


class Cider:
    """CIDEr-D, which the toolkit calls CIDEr, with the document frequencies of the references that are scored against.

    Args:
        test, refs: taken and ignored, as by the toolkit.
        n: 4; the toolkit's scores with another n are wrong or an error.
        sigma: width of the length penalty, in words.
    """

    def __init__(self, test: object = None, refs: object = None, n: int = 4, sigma: float = 6.0) -> None:
        if n != 4:
            raise ParameterError(f"CIDEr-D up to order {n!r} does not exist here", help="leave n at 4")
        self._metric = cider_d.CiderD(sigma=sigma, tokenizer=WHITESPACE)

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, NDArray[np.float64]]:
        """Score tokenized captions, split at white space.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.

        Returns:
            The mean, and float64[n_images] in the order of gts; 0 to 10.

        Raises:
            InputError: something about the captions, with the image.
        """
        scores = self._metric.scores(captions(gts, res))
        return np.float64(scores.mean()), scores

    def method(self) -> str:
        """What the toolkit calls this scorer."""
        return "CIDEr"


class Spice:
    """SPICE, with the best grammar on this machine.

    Raises:
        MissingExtraError: METEOR's tables, which have SPICE's synonyms, are not installed.
    """

    def __init__(self) -> None:
        self._metric = spice.Spice(tokenizer=WHITESPACE)

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, list[dict[str, dict[str, float]]]]:
        """Score tokenized captions, split at white space.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.

        Returns:
            The mean, and for every image, in the order of gts, a category (All, Object, Relation, Attribute, Color,
            Cardinality, Size) -> pr, re, f (nan where the references have nothing of the category), tp, fp, fn (which
            may be below 0) and numImages, which is 1.

        Raises:
            InputError: something about the captions, with the image.
        """
        table = captions(gts, res)
        for warning in self._metric.warnings(table, None):
            warnings.warn(warning, CaptiousWarning, stacklevel=2)
        candidates, references = table.layer(self._metric.layer)
        counts = [count(ours, theirs) for ours, theirs in zip(candidates, references, strict=True)]
        scores = agreement(np.array(counts, np.float64).reshape(-1, len(CATEGORIES), 3)).tolist()
        per_image = [
            {name.capitalize(): _of_category(name, *each) for name, *each in zip(CATEGORIES, *of_image, strict=True)}
            for of_image in zip(counts, scores, strict=True)
        ]
        return np.float64(np.mean([scores["All"]["f"] for scores in per_image])), per_image

    def method(self) -> str:
        """What the toolkit calls this scorer."""
        return "SPICE"


def _of_category(category: str, counts: tuple[int, int, int], scores: list[float]) -> dict[str, float]:
    """What the toolkit reports of a category of an image."""
    matched, ours, theirs = counts
    precision, recall, f1 = scores if theirs or category == CATEGORIES[0] else (np.nan, np.nan, np.nan)
    return {
        "pr": precision,
        "re": recall,
        "f": f1,
        "tp": float(matched),
        "fp": float(ours - matched),
        "fn": float(theirs - matched),
        "numImages": 1.0,
    }


class WMD:
    """Word mover's distance as a similarity, as in the fork mtanti/coco-caption. ``COCOEvalCap`` does not run it.

    The fork reads a file of GoogleNews vectors from its own folder; here any vectors are given.

    Args:
        vectors: as ``captious.Wmd`` takes them; None for the default.

    Raises:
        MissingExtraError: there are no word vectors.
    """

    def __init__(self, vectors: WordVectors | str | os.PathLike[str] | None = None) -> None:
        self._metric = wmd.Wmd(vectors, tokenizer=SPACES)

    def compute_score(self, gts: Texts, res: Texts) -> tuple[np.float64, NDArray[np.float64]]:
        """Score tokenized captions, split at single spaces.

        Args:
            gts: image id -> list of references.
            res: image id -> list of one candidate.

        Returns:
            The mean, and float64[n_images] in the order of gts.

        Raises:
            InputError: something about the captions, with the image.
        """
        scores = self._metric.scores(captions(gts, res))
        return np.float64(scores.mean()), scores

    def method(self) -> str:
        """What the fork calls this scorer."""
        return "WMD"


class _Scorer(Protocol):
    def compute_score(self, gts: Texts, res: Texts) -> tuple[Any, Any]: ...
    def method(self) -> str: ...


#: What ``COCOEvalCap`` runs, in order: a scorer and the names of its scores.
_SCORERS: tuple[tuple[Callable[[], _Scorer], tuple[str, ...]], ...] = (
    (Bleu, ("Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4")),
    (Meteor, ("METEOR",)),
    (Rouge, ("ROUGE_L",)),
    (Cider, ("CIDEr",)),
    (Spice, ("SPICE",)),
)


class COCOEvalCap:
    """Evaluation of a COCO results file against COCO annotations.

    Args:
        coco: references, a ``pycocotools.coco.COCO`` or anything else with ``imgToAnns`` and ``getImgIds()``.
        cocoRes: candidates, likewise; what ``coco.loadRes`` returns.

    Attributes:
        params: ``image_id`` lists the images to evaluate; all that have references, unless it is set.
        eval: name -> corpus score, filled by ``evaluate``.
        evalImgs: one dictionary per image: ``image_id``, and name -> score.
        imgToEval: image id -> the same dictionary.
    """

    def __init__(self, coco: Any, cocoRes: Any) -> None:
        self.evalImgs: list[dict[str, Any]] = []
        self.eval: dict[str, Any] = {}
        self.imgToEval: dict[Hashable, dict[str, Any]] = {}
        self.coco = coco
        self.cocoRes = cocoRes
        self.params: dict[str, Any] = {"image_id": coco.getImgIds()}

    def evaluate(self) -> None:
        """Tokenize and score the images in ``params``; fills ``eval``, ``evalImgs`` and ``imgToEval``.

        Raises:
            EmptyInputError: no images to evaluate.
            InputError: an image without references, or without exactly one candidate; or what is not a caption.
        """
        images = list(self.params["image_id"])
        if not images:
            raise EmptyInputError(
                "there are no images to evaluate", where="params['image_id']", help="list one image id or more"
            )
        self.evalImgs, self.eval, self.imgToEval = [], {}, {}

        references = of_images(self.coco, images, role="references")
        candidates = of_images(self.cocoRes, images, role="candidates")

        print("tokenization...")
        tokenizer = PTBTokenizer()
        gts, res = tokenizer.tokenize(references), tokenizer.tokenize(candidates)

        print("setting up scorers...")
        needs_tables = {"METEOR": meteor.Meteor.missing(), "SPICE": spice.Spice.missing()}
        left_out = {name: command for name, command in needs_tables.items() if command is not None}
        if left_out:
            print("left out:", "; ".join(f"{name} ({reason})" for name, reason in left_out.items()))

        for make, names in _SCORERS:
            if left_out.keys() & names:
                continue
            scorer = make()
            print(f"computing {scorer.method()} score...")
            score, scores = scorer.compute_score(gts, res)
            if len(names) == 1:
                score, scores = [score], [scores]
            for name, value, values in zip(names, score, scores, strict=True):
                self.setEval(value, name)
                self.setImgToEvalImgs(values, gts, name)
                print(f"{name}: {value:0.3f}")
        self.setEvalImgs()

    def setEval(self, score: Any, method: str) -> None:
        """Note a corpus score."""
        self.eval[method] = score

    def setImgToEvalImgs(self, scores: Any, imgIds: Any, method: str) -> None:
        """Note the scores of images, one for each id."""
        for image, score in zip(imgIds, scores, strict=True):
            self.imgToEval.setdefault(image, {"image_id": image})[method] = score

    def setEvalImgs(self) -> None:
        """List what was noted about images, in the order of evaluation."""
        self.evalImgs = list(self.imgToEval.values())
