"""A copy of ``evaluate`` of its own in the way of video captioning and CLIP decoders: a scorer without COCO files."""

import contextlib
import io
import json

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer


class COCOScorer:
    def __init__(self):
        self.eval, self.imgToEval = {}, {}

    def score(self, GT, RES, IDs):
        tokenizer = PTBTokenizer()
        gts = tokenizer.tokenize({ID: GT[ID] for ID in IDs})
        res = tokenizer.tokenize({ID: RES[ID] for ID in IDs})
        scorers = [
            (Bleu(4), ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"]),
            (Meteor(), "METEOR"),
            (Rouge(), "ROUGE_L"),
            (Cider(), "CIDEr"),
        ]
        for scorer, method in scorers:
            print(f"computing {scorer.method()} score...")
            score, scores = scorer.compute_score(gts, res)
            if type(method) is list:
                for value, values, name in zip(score, scores, method):
                    self.note(value, values, name, IDs)
            else:
                self.note(score, scores, method, IDs)
        return self.eval

    def note(self, value, values, name, IDs):
        self.eval[name] = value
        for ID, each in zip(IDs, values):
            self.imgToEval.setdefault(ID, {"image_id": ID})[name] = float(each)


with open("captions.json") as file:
    gts = {}
    for each in json.load(file)["annotations"]:
        gts.setdefault(str(each["image_id"]), []).append(each)
with open("results.json") as file:
    samples = {str(each["image_id"]): [each] for each in json.load(file)}
scorer = COCOScorer()
with contextlib.redirect_stdout(io.StringIO()):
    valid = scorer.score(gts, samples, samples.keys())
print(json.dumps({"eval": valid, "images": scorer.imgToEval}))
