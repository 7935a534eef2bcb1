"""Diversity of several captions per image in the way of self-critical.pytorch: mBLEU and self-CIDEr.

The captions are in samples.json, ``{image: [captions]}``, all references in captions.json.
"""

import json

import numpy as np
from pyciderevalcap.cider.cider import Cider
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer


def self_cider(samples, annotations):
    scorer, tokenizer = Cider(df="corpus"), PTBTokenizer()
    gts = tokenizer.tokenize(annotations)
    for image in annotations:
        scorer.cider_scorer += (None, gts[image])
    scorer.cider_scorer.compute_doc_freq()
    scorer.cider_scorer.ref_len = np.log(float(len(scorer.cider_scorer.crefs)))
    images = list(samples)
    kernels = scorer.my_self_cider([samples[image] for image in images])

    def diversity(eigenvalues):
        roots = np.sqrt(np.clip(eigenvalues, 0, None))
        return -np.log(roots[-1] / roots.sum()) / np.log(len(roots))

    return kernels, {image: diversity(np.linalg.eigvalsh(each / 10)) for image, each in zip(images, kernels)}


def mutual_bleu(samples):
    scorer, n = Bleu(4), len(next(iter(samples.values())))
    corpus, images = [], []
    for i in range(n):
        tested = {image: [texts[i]] for image, texts in samples.items()}
        others = {image: texts[:i] + texts[i + 1 :] for image, texts in samples.items()}
        score, scores = scorer.compute_score(others, tested)
        corpus.append(score)
        images.append(np.array(scores))
    return np.mean(corpus, axis=0), np.mean(images, axis=0)


with open("captions.json") as file:
    annotations = {}
    for each in json.load(file)["annotations"]:
        annotations.setdefault(each["image_id"], []).append(each)
with open("samples.json") as file:
    raw = {int(image): [{"caption": text} for text in texts] for image, texts in json.load(file).items()}
samples = PTBTokenizer().tokenize(raw)
kernels, diversities = self_cider(samples, annotations)
bleu, bleus = mutual_bleu(samples)
print(
    json.dumps(
        {
            "self_cider": [float(each) for each in diversities.values()],
            "kernels": [each.tolist() for each in kernels],
            "mbleu": bleu.tolist(),
            "mbleus": bleus.T.tolist(),
        }
    )
)
