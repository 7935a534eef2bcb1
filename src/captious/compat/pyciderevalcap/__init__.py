"""CIDEr and CIDEr-D as in their authors' code, ``pyciderevalcap``, from which training code imports rewards.

    from captious.compat.pyciderevalcap.ciderD.ciderD import CiderD
    score, rewards = CiderD(df="coco-train-idxs").compute_score(gts, res)

Candidates are a list, which may have several for one image. Document frequencies come from the references or from the
pickles of that code, which are read without executing anything in them.

``Cider`` and ``CiderD`` compute scores with kernels. ``CiderScorer`` in ``cider.cider_scorer`` and
``ciderD.ciderD_scorer`` keeps n-gram counts in dictionaries, to create such pickles and to compute Self-CIDEr.
"""

from captious.compat import counted_ngrams
from captious.compat.pyciderevalcap.caption_tokenizer import PUNCTUATIONS, PTBTokenizer
from captious.compat.pyciderevalcap.frequency_scorers import CiderDScorer, CiderScorer
from captious.compat.pyciderevalcap.rewards import Cider, CiderD
from captious.compat.reexports import add_modules, by_name

__all__: list[str] = []

_COUNTS = by_name(*counted_ngrams.COOKING)
add_modules(
    __name__,
    {
        "cider": {},
        "cider.cider": by_name(Cider),
        "cider.cider_scorer": {"CiderScorer": CiderScorer, **_COUNTS},
        "ciderD": {},
        "ciderD.ciderD": by_name(CiderD),
        "ciderD.ciderD_scorer": {"CiderScorer": CiderDScorer, **_COUNTS},
        "tokenizer": {},
        "tokenizer.ptbtokenizer": {"PUNCTUATIONS": PUNCTUATIONS, "PTBTokenizer": PTBTokenizer},
    },
)
