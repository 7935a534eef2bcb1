"""Recordings in the way of the DCASE baseline: a package around the toolkit, its own COCO for audio, sounds by id."""

import json

from coco_caption.pycocoevalcap.eval import COCOEvalCap


class AudioCoco:
    def __init__(self, annotations):
        self.audioToAnns = {}
        for each in annotations:
            self.audioToAnns.setdefault(each["image_id"], []).append({**each, "audio_id": each["image_id"]})

    def getAudioIds(self):
        return list(self.audioToAnns)


with open("captions.json") as file:
    references = AudioCoco(json.load(file)["annotations"])
with open("results.json") as file:
    predictions = AudioCoco(json.load(file))
evaluation = COCOEvalCap(references, predictions)
evaluation.params["audio_id"] = predictions.getAudioIds()
evaluation.evaluate(verbose=False)
metrics = dict(evaluation.eval.items())
print(json.dumps({"metrics": metrics, "sounds": {str(i): each for i, each in evaluation.audioToEval.items()}}))
