"""Training and evaluation in the way of VinVL and SwinBERT: text that ends in <eos>, a third argument "corpus"."""

import json
from collections import OrderedDict

from oscar.utils.cider.pyciderevalcap.ciderD.ciderD import CiderD
from pycocoevalcap.eval import COCOEvalCap
from pycocotools.coco import COCO


class ScstRewardCriterion:
    def __init__(self, cider_cached_tokens="corpus"):
        self.scorer = CiderD(df=cider_cached_tokens)

    def scores(self, references, greedy, samples):
        per_image = len(samples) // len(references)
        generated = [*samples, *greedy]
        image_of = [i // per_image for i in range(len(samples))] + list(range(len(greedy)))
        res = OrderedDict((i, [self.wrapped(text)]) for i, text in enumerate(generated))
        texts = [[self.wrapped(text) for text in group] for group in references]
        gts = OrderedDict((i, texts[image_of[i]]) for i in range(len(generated)))
        _, scores = self.scorer.compute_score(gts, [{"image_id": i, "caption": res[i]} for i in range(len(res))])
        return scores

    @classmethod
    def wrapped(cls, text):
        text = text.strip()
        return (text[:-1] if text.endswith(".") else text) + " <eos>"


def evaluate_on_coco_caption(res_file, label_file, outfile):
    coco = COCO(label_file)
    results = coco.loadRes(res_file)
    evaluation = COCOEvalCap(coco, results, "corpus")
    evaluation.params["image_id"] = results.getImgIds()
    evaluation.evaluate()
    with open(outfile, "w") as file:
        json.dump(evaluation.eval, file, indent=4)
    return evaluation.eval


with open("batches.json") as file:
    references, samples = json.load(file)[0]
greedy = samples[:: len(samples) // len(references)]
scores = ScstRewardCriterion().scores(references, greedy, samples)
result = evaluate_on_coco_caption("results.json", "captions.json", "eval.json")
print(json.dumps({"rewards": scores.tolist(), "eval": result}))
