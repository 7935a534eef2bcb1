"""Reports in the way of R2Gen: scorers called with an argument that only one of them has, without a tokenizer."""

import json

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor import Meteor
from pycocoevalcap.rouge import Rouge


def compute_scores(gts, res):
    scorers = [
        (Bleu(4), ["BLEU_1", "BLEU_2", "BLEU_3", "BLEU_4"]),
        (Meteor(), "METEOR"),
        (Rouge(), "ROUGE_L"),
        (Cider(), "CIDEr"),
    ]
    found = {}
    for scorer, method in scorers:
        try:
            score, _ = scorer.compute_score(gts, res, verbose=0)
        except TypeError:
            score, _ = scorer.compute_score(gts, res)
        if type(method) is list:
            for value, name in zip(score, method):
                found[name] = value
        else:
            found[method] = score
    return found


with open("batches.json") as file:
    references, samples = json.load(file)[0]
step = len(samples) // len(references)
gts = {i: [group[0].lower()] for i, group in enumerate(references)}
res = {i: [samples[i * step].lower()] for i in range(len(references))}
print(json.dumps(compute_scores(gts, res)))
