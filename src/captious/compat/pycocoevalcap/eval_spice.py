"""SPICE of one or several captions of each image, as in the fork ruotianluo/coco-caption: ``pycocoevalcap.eval_spice``.

With several captions it is AllSPICE (Luo and Shakhnarovich 2020): the merged scene graph of all candidates of an image
is compared with that of its references. The fork's class is ``COCOEvalCapSpice``.
"""


# Names of methods, arguments and attributes are the fork's.

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from captious.compat.pycocoevalcap.eval import COCOEvalCap
from captious.compat.pycocoevalcap.inputs import PTBTokenizer
from captious.compat.pycocoevalcap.scorers import Spice


class COCOEvalCapSpice(COCOEvalCap):
    """``COCOEvalCap`` with SPICE only, for any number of candidates per image.

    Args:
        coco: references.
        cocoRes: candidates.
    """

    _several_candidates = True

    def __init__(self, coco: Any, cocoRes: Any) -> None:
        super().__init__(coco, cocoRes, use_scorers=["SPICE"])
        self.Spice = Spice()

    def _scorer(self, name: str) -> Spice:
        return self.Spice


class SpiceEval:
    """SPICE of raw captions.

    Attributes:
        eval: ``{"spice": score}``.
        imgToEval: image id -> ``image_id`` and ``spice``.
    """

    def __init__(self) -> None:
        self.evalImgs: list[dict[str, Any]] = []
        self.eval: dict[str, Any] = {}
        self.imgToEval: dict[Hashable, dict[str, Any]] = {}
        self.spice = Spice()
        self.tokenizer = PTBTokenizer()

    def evaluate(
        self,
        gts: Mapping[Any, Sequence[Mapping[str, Any]]],
        res: Mapping[Any, Sequence[Mapping[str, Any]]],
    ) -> tuple[Any, dict[Hashable, dict[str, Any]]]:
        """Tokenize and score captions.

        Args:
            gts: image id -> list of references, ``{"caption": text}``.
            res: image id -> list of one or more candidates, likewise.

        Returns:
            The mean, and ``imgToEval``.

        Raises:
            InputError: invalid captions; the error names the image.
            MissingExtraError: METEOR's tables are not installed.
        """
        print(f"computing {self.spice.method()} score...")
        score, scores = self.spice.compute_score(self.tokenizer.tokenize(gts), self.tokenizer.tokenize(res))
        print(f"spice: {score:0.3f}")
        self.eval["spice"] = score
        for image, of_image in zip(gts, scores, strict=True):
            self.imgToEval.setdefault(image, {"image_id": image})["spice"] = of_image
        return score, self.imgToEval
