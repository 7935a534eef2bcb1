"""The COCO caption toolkit's interface without Java: stands in for pycocoevalcap 1.2, as it is on PyPI.

    from captious.compat.pycocoevalcap.eval import COCOEvalCap  # in the module that the toolkit has it in,
    from captious.compat.pycocoevalcap.spice.spice import Spice
    from captious.compat.pycocoevalcap import Bleu, Cider, COCOEvalCap, Meteor, PTBTokenizer, Rouge, Spice  # and here
    from captious.compat.pycocoevalcap import WMD  # which the fork mtanti/coco-caption has, and pycocoevalcap has not

Names, arguments, return types, the order of results and what is printed are the toolkit's, and so are the scores.
Different on purpose:

- Scores are matched to image ids, whatever the order of candidates and references.
- A line break or control character in a caption is a space. In the toolkit some of them shift every later caption
  by one.
- Input that the toolkit cannot take, which mostly fails there with a bare assertion, is an ``InputError`` that names
  the image; it is an ``AssertionError``, too. References without a single word are legal. A corpus without images is
  answered as there: zeros (BLEU), nan (ROUGE-L, SPICE), or a ``ValueError`` (METEOR, CIDEr, ``COCOEvalCap``).
- ``BleuScorer`` and ``CiderScorer`` can be asked again: the toolkit's return other things then. ``BleuScorer.ratio``,
  ``score_ratio`` and ``Meteor._score`` work.
- The tokenizer keeps an image without captions; the toolkit's drops it.
- No process is started and no file written, so any number of evaluations can run at once.
- ``COCOEvalCap.evaluate`` starts afresh each time, so it may be called again with other ``params``.
- METEOR needs its tables, for instance those of an installed pycocoevalcap, but not Java. ``meteor_p`` is not a
  process, but answers the lines of its protocol. ``|||`` in a reference, where the toolkit's protocol breaks, is
  dropped as it is in a candidate. ``Meteor()`` and ``Spice()`` can be made without the tables, and fail when they
  score.
- ``Spice.compute_score`` takes several candidates for an image (AllSPICE).
- SPICE's grammar is the official one where ``captious resources list`` shows it, or else the bundled one, which is
  close; a warning says so. ``Spice.compute_score`` gives images in the order of ``gts``; the toolkit's sorts their ids,
  and its ``COCOEvalCap`` then puts scores on wrong images.
- ``COCOEvalCap.evaluate`` says in one line what it leaves out: METEOR and SPICE, without METEOR's tables; a scorer that
  was asked for by name is not left out.

Of forks there are ``WMD``, the module ``eval_spice``, and the arguments of ``COCOEvalCap`` and ``Cider`` that their
docstrings list; of captious alone ``prepare_references`` and ``use_prepared_references``, for references that stay the
same from one evaluation to the next.
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
