"""Files of lines in the way of nlg-eval: one hypothesis for each line, references in parallel files."""

import json
import sys

from nlgeval.pycocoevalcap.bleu.bleu import Bleu
from nlgeval.pycocoevalcap.cider.cider import Cider
from nlgeval.pycocoevalcap.meteor.meteor import Meteor
from nlgeval.pycocoevalcap.rouge.rouge import Rouge


def compute_metrics(hypothesis, references):
    with open(hypothesis) as file:
        hyps = {i: [line.strip()] for i, line in enumerate(file)}
    columns = []
    for path in references:
        with open(path) as file:
            columns.append([line.strip() for line in file])
    refs = {i: list(group) for i, group in enumerate(zip(*columns))}
    assert len(hyps) == len(refs)
    found = {}
    scorers = [
        (Bleu(4), ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"]),
        (Meteor(), "METEOR"),
        (Rouge(), "ROUGE_L"),
        (Cider(), "CIDEr"),
    ]
    for scorer, method in scorers:
        score, scores = scorer.compute_score(refs, hyps)
        if isinstance(method, list):
            found.update(zip(method, score))
        else:
            found[method] = score
            found[method + " of lines"] = [float(each) for each in scores]
        if isinstance(scorer, Meteor) and hasattr(scorer, "close"):
            scorer.close()
    del scorers
    return found


print(json.dumps(compute_metrics("hyp.txt", sys.argv[1:] or ["ref1.txt", "ref2.txt"])))
