"""Evaluation in the way of ImageCaptioning.pytorch: predictions through a file, one record of scores per image."""

import json
import os

from pycocoevalcap.eval import COCOEvalCap
from pycocotools.coco import COCO


def language_eval(predictions, model):
    os.makedirs("eval_results", exist_ok=True)
    cache = os.path.join("eval_results", f".cache_{model}.json")
    coco = COCO("captions.json")
    valid = coco.getImgIds()
    kept = [each for each in predictions if each["image_id"] in valid]
    with open(cache, "w") as file:
        json.dump(kept, file)
    results = coco.loadRes(cache)
    evaluation = COCOEvalCap(coco, results)
    evaluation.params["image_id"] = results.getImgIds()
    evaluation.evaluate()
    out = {metric: score for metric, score in evaluation.eval.items()}
    records = evaluation.imgToEval
    for each in kept:
        records[each["image_id"]]["caption"] = each["caption"]
    with open(os.path.join("eval_results", f"{model}.json"), "w") as file:
        json.dump({"overall": out, "imgToEval": records}, file)
    return out, records


with open("results.json") as file:
    overall, records = language_eval(json.load(file), "model")
print(json.dumps({"overall": overall, "images": {str(i): record for i, record in records.items()}}))
