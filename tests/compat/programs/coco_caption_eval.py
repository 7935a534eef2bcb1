"""Evaluation in the way of BLIP and LAVIS: an annotation file, a results file, every line of ``eval``."""

import json

from pycocoevalcap.eval import COCOEvalCap
from pycocotools.coco import COCO


def coco_caption_eval(annotation_file, results_file):
    coco = COCO(annotation_file)
    coco_result = coco.loadRes(results_file)
    coco_eval = COCOEvalCap(coco, coco_result)
    coco_eval.evaluate()
    for metric, score in coco_eval.eval.items():
        print(f"{metric}: {score:.3f}")
    return coco_eval


coco_val = coco_caption_eval("captions.json", "results.json")
agg_metrics = coco_val.eval["CIDEr"] + coco_val.eval["Bleu_4"]
log_stats = {"val": {metric: score for metric, score in coco_val.eval.items()}, "agg_metrics": agg_metrics}
print(json.dumps(log_stats))
