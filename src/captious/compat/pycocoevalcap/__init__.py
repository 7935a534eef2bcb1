"""The COCO caption toolkit's interface without Java: stands in for pycocoevalcap 1.2, as it is on PyPI.

    from captious.compat.pycocoevalcap.eval import COCOEvalCap  # in the module that the toolkit has it in,
    from captious.compat.pycocoevalcap.spice.spice import Spice
    from captious.compat.pycocoevalcap import Bleu, Cider, COCOEvalCap, Meteor, PTBTokenizer, Rouge, Spice  # and here

Names, arguments, return types, the order of results and what is printed are the toolkit's, and so are the scores.
docs/drop-in/pycocoevalcap.md lists what differs on purpose, and the arguments of forks. ``WMD`` and ``eval_spice`` are
those of forks; ``prepare_references`` and ``use_prepared_references`` are of captious alone.
"""

from __future__ import annotations

from captious.compat.pycocoevalcap.bleu.bleu import Bleu
from captious.compat.pycocoevalcap.cider.cider import Cider
from captious.compat.pycocoevalcap.eval import COCOEvalCap
from captious.compat.pycocoevalcap.meteor.meteor import Meteor
from captious.compat.pycocoevalcap.prepared_references import prepare_references, use_prepared_references
from captious.compat.pycocoevalcap.rouge.rouge import Rouge
from captious.compat.pycocoevalcap.spice.spice import Spice
from captious.compat.pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
from captious.compat.pycocoevalcap.wmd.wmd import WMD

__all__ = [
    "WMD",
    "Bleu",
    "COCOEvalCap",
    "Cider",
    "Meteor",
    "PTBTokenizer",
    "Rouge",
    "Spice",
    "prepare_references",
    "use_prepared_references",
]
