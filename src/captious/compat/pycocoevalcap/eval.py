"""The evaluation of a results file under the toolkit's name, ``pycocoevalcap.eval.COCOEvalCap``."""

# Method and argument names are the toolkit's.
# ruff: noqa: N802, N803

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol

from captious.compat.pycocoevalcap.bleu.bleu import Bleu
from captious.compat.pycocoevalcap.cider.cider import Cider
from captious.compat.pycocoevalcap.harness_input import Texts, of_images
from captious.compat.pycocoevalcap.meteor.meteor import Meteor
from captious.compat.pycocoevalcap.rouge.rouge import Rouge
from captious.compat.pycocoevalcap.spice.spice import Spice
from captious.compat.pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
from captious.errors import EmptyInputError
from captious.metrics import meteor, spice

__all__ = ["COCOEvalCap"]


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
            InputError: an image without references, or without exactly one candidate; or a value that is not a caption.
        """
        images = list(self.params["image_id"])
        if not images:
            raise EmptyInputError(
                "there are no images to evaluate", where="params['image_id']", help="give one or more image ids"
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
            print("skipped:", "; ".join(f"{name} ({reason})" for name, reason in left_out.items()))

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
