"""CIDEr and CIDEr-D as their authors' code, ``pyciderevalcap``, has them: training code imports rewards from there.

    from captious.compat.pyciderevalcap.ciderD.ciderD import CiderD
    score, rewards = CiderD(df="coco-train-idxs").compute_score(gts, res)

Candidates are a list, of which several may be for one image. Document frequencies come from the references at hand or
from the pickles of that code, which are read without executing anything in them.

``Cider`` and ``CiderD`` compute scores by kernels. ``CiderScorer`` in ``cider.cider_scorer`` and
``ciderD.ciderD_scorer`` keeps counts of n-grams in dictionaries, to prepare such pickles and to measure Self-CIDEr.
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
