"""Training and test in the way of the meshed-memory transformer: a pool of tokenizers, and all metrics at the end."""

import itertools
import json
import multiprocessing

import evaluation
from evaluation import Cider, PTBTokenizer

BEAMS = 5


def train_scst(batches, cider, pool):
    rewards = []
    for references, generated in batches:
        repeated = list(itertools.chain(*([group] * BEAMS for group in references)))
        generated, repeated = pool.map(evaluation.PTBTokenizer.tokenize, [generated, repeated])
        reward = cider.compute_score(repeated, generated)[1].astype("float64")
        reward = reward.reshape(len(references), BEAMS)
        rewards.append((reward - reward.mean(axis=-1, keepdims=True)).tolist())
    return rewards


if __name__ == "__main__":
    with open("batches.json") as file:
        batches = json.load(file)
    everything = list(itertools.chain(*(references for references, _ in batches)))
    cider_train = Cider(PTBTokenizer.tokenize(everything))
    pool = multiprocessing.Pool(2)
    rewards = train_scst(batches, cider_train, pool)
    pool.close()
    pool.join()

    gts, gen = {}, {}
    for number, (references, generated) in enumerate(batches):
        for i, group in enumerate(references):
            gen[f"{number}_{i}"] = [generated[i * BEAMS]]
            gts[f"{number}_{i}"] = group
    gts, gen = evaluation.PTBTokenizer.tokenize(gts), evaluation.PTBTokenizer.tokenize(gen)
    scores, _ = evaluation.compute_scores(gts, gen)
    print(json.dumps({"rewards": rewards, "scores": scores}))
