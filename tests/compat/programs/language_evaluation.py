"""A class around the evaluation in the way of language-evaluation, which CLIP-Caption forks call: lists and types."""

import json

from coco_caption_py3.pycocoevalcap.eval import COCOEvalCap
from pycocotools.coco import COCO


class CocoEvaluator:
    def __init__(self, coco_types=("BLEU", "METEOR", "ROUGE_L", "CIDEr"), tokenization_fn=None, verbose=True):
        self.coco_types, self.tokenization_fn, self.verbose = list(coco_types), tokenization_fn, verbose

    def run_evaluation(self, predicts, answers):
        coco = COCO()
        annotations = [
            {"image_id": i, "id": f"{i}_{j}", "caption": text}
            for i, group in enumerate(answers)
            for j, text in enumerate(group)
        ]
        coco.dataset = {"images": [{"id": i} for i in range(len(answers))], "annotations": annotations}
        coco.createIndex()
        results = COCO()
        predicted = [{"image_id": i, "id": i, "caption": text} for i, text in enumerate(predicts)]
        results.dataset = {"images": coco.dataset["images"], "annotations": predicted}
        results.createIndex()
        evaluation = COCOEvalCap(coco, results, self.coco_types, self.tokenization_fn, self.verbose)
        evaluation.evaluate()
        return dict(evaluation.eval)


with open("batches.json") as file:
    references, samples = json.load(file)[0]
predicts = samples[:: len(samples) // len(references)]
everything = CocoEvaluator().run_evaluation(predicts, references)
quiet = CocoEvaluator(["CIDEr", "ROUGE_L"], str.split, verbose=False).run_evaluation(predicts, references)
print(json.dumps({"all": everything, "some": quiet}))
