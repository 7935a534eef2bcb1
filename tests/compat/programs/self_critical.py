"""Self-critical training in the way of self-critical.pytorch: n-grams counted before, then rewards of sampled ids."""

import json
import os
import pickle
from collections import OrderedDict, defaultdict

import numpy as np
from pyciderevalcap.ciderD.ciderD import CiderD
from pycocoevalcap.bleu.bleu import Bleu

scorers = {}


def count_ngrams(references, path):
    """Write the file that is prepared once, of the training captions."""
    frequencies = defaultdict(float)
    for group in references:
        seen = set()
        for ids in group:
            words = [str(number) for number in ids]
            seen |= {tuple(words[i : i + n]) for n in range(1, 5) for i in range(len(words) - n + 1)}
        for ngram in seen:
            frequencies[ngram] += 1
    with open(path, "wb") as file:
        pickle.dump({"document_frequency": frequencies, "ref_len": len(references)}, file, protocol=2)


def init_scorer(cached_tokens):
    scorers.setdefault("cider", CiderD(df=cached_tokens))
    scorers.setdefault("bleu", Bleu(4))


def to_text(ids):
    words = []
    for number in ids:
        words.append(str(number))
        if number == 0:
            break
    return " ".join(words)


def reward(greedy, references, samples, cider_weight=1.0, bleu_weight=1.0):
    n, total = len(references), len(samples)
    per_image = total // n
    res = OrderedDict((i, [to_text(samples[i])]) for i in range(total))
    res.update((total + i, [to_text(greedy[i])]) for i in range(n))
    texts = [[to_text(ids) for ids in group] for group in references]
    gts = {i: texts[i // per_image] for i in range(total)}
    gts.update({total + i: texts[i] for i in range(n)})
    _, cider = scorers["cider"].compute_score(gts, [{"image_id": i, "caption": res[i]} for i in range(len(res))])
    _, bleu = scorers["bleu"].compute_score(gts, res)
    scores = cider_weight * cider + bleu_weight * np.array(bleu[3])
    advantage = scores[:total].reshape(n, per_image) - scores[-n:][:, np.newaxis]
    return np.repeat(advantage.reshape(total)[:, np.newaxis], samples.shape[1], 1)


with open("ids.json") as file:
    data = json.load(file)
os.makedirs("data", exist_ok=True)
count_ngrams(data["references"], os.path.join("data", "coco-train-idxs.p"))
init_scorer(os.path.join("data", "coco-train-idxs.p"))
rewards = reward(np.array(data["greedy"]), data["references"], np.array(data["samples"]))
print(json.dumps({"rewards": rewards[:, 0].tolist(), "shape": rewards.shape}))
