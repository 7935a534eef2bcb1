"""SPICE alone, batch by batch, with the sub-scores that evaluators report."""

import json

import numpy as np
from pycocoevalcap.spice.spice import Spice
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

with open("batches.json") as file:
    batches = json.load(file)
tokenizer, spice = PTBTokenizer(), Spice()
collected, means = [], []
for references, samples in batches:
    step = len(samples) // len(references)
    gts = tokenizer.tokenize({i: [{"caption": text} for text in group] for i, group in enumerate(references)})
    res = tokenizer.tokenize({i: [{"caption": samples[i * step]}] for i in range(len(references))})
    average, scores = spice.compute_score(gts, res)
    means.append(float(average))
    collected += scores
found = {"SPICE": [float(each["All"]["f"]) for each in collected], "means": means}
for kind in collected[0]:
    if kind != "All":
        values = np.array([each[kind]["f"] for each in collected], dtype=float)
        found["SPICE_" + kind] = float(values[values == values].mean()) if (values == values).any() else None
print(json.dumps(found))
