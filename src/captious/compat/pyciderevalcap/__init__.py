"""CIDEr and CIDEr-D as their authors' code, ``pyciderevalcap``, has them: training code imports rewards from there.

    from captious.compat.pyciderevalcap.ciderD.ciderD import CiderD
    score, rewards = CiderD(df="coco-train-idxs").compute_score(gts, res)

Candidates are a list, of which several may be for one image. Document frequencies come from the references at hand or
from the pickles of that code, which are read without executing anything in them.

``Cider`` and ``CiderD`` compute scores by kernels. ``CiderScorer`` in ``cider.cider_scorer`` and
``ciderD.ciderD_scorer`` keeps counts of n-grams in dictionaries, to prepare such pickles and to measure Self-CIDEr.
"""
