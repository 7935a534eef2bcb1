"""The COCO caption toolkit's interface without Java: a replacement of pycocoevalcap 1.2 on PyPI.

    from captious.compat.pycocoevalcap.eval import COCOEvalCap  # in the module that the toolkit has it in,
    from captious.compat.pycocoevalcap.spice.spice import Spice
    from captious.compat.pycocoevalcap import Bleu, Cider, COCOEvalCap, Meteor, PTBTokenizer, Rouge, Spice  # and here

Names, arguments, return types, the order of results, printed lines and scores are those of the toolkit.
docs/drop-in.md lists intended differences, and the arguments of forks. ``WMD`` and ``eval_spice`` are
those of forks; ``prepare_references`` and ``use_prepared_references`` are additions of captious.
"""

from __future__ import annotations

from captious.compat.pycocoevalcap import bleu_scorer, cider_scorer
from captious.compat.pycocoevalcap.bleu_scorer import BleuScorer
from captious.compat.pycocoevalcap.cider_scorer import CiderScorer
from captious.compat.pycocoevalcap.eval import COCOEvalCap, prepare_references, use_prepared_references
from captious.compat.pycocoevalcap.inputs import PUNCTUATIONS, PTBTokenizer
from captious.compat.pycocoevalcap.scorers import WMD, Bleu, Cider, Meteor, Rouge, Spice, get_stanford_models, my_lcs
from captious.compat.reexports import add_modules, by_name

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

# There are no jars. Programs with a class of their own start Java with the one beside a module, which captious answers.
add_modules(
    __name__,
    {
        "bleu.bleu": by_name(Bleu, BleuScorer),
        "bleu.bleu_scorer": by_name(BleuScorer, *bleu_scorer.COOKING),
        "cider.cider": by_name(Cider, CiderScorer),
        "cider.cider_scorer": by_name(CiderScorer, *cider_scorer.COOKING),
        "meteor.meteor": {"METEOR_JAR": "meteor-1.5.jar", **by_name(Meteor)},
        "rouge.rouge": by_name(Rouge, my_lcs),
        "spice.spice": {"SPICE_JAR": "spice-1.0.jar", "TEMP_DIR": "tmp", "CACHE_DIR": "cache", **by_name(Spice)},
        "spice.get_stanford_models": by_name(get_stanford_models),
        "tokenizer.ptbtokenizer": {
            "STANFORD_CORENLP_3_4_1_JAR": "stanford-corenlp-3.4.1.jar",
            "PUNCTUATIONS": PUNCTUATIONS,
            **by_name(PTBTokenizer),
        },
        "wmd.wmd": by_name(WMD),
    },
)
