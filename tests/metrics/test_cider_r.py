"""CIDEr-R, compared with a slow version of its formula, and with the official code on real systems."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections import Counter

import numpy as np
import pytest

from captious.data import read_captions
from captious.metrics.cider import CiderR
from tests.oracles import cider
from tests.support.corpora import Corpus, large_corpus
from tests.support.shared_data import DATA, with_data

GOLD = DATA / "gold"


def slow(candidate: list[str], references: list[list[str]], frequencies: cider.Frequencies) -> float:
    total = 0.0
    for reference in references:
        # CIDEr-D between captions of equal length: only the penalty is different.
        similarity = cider.cider_d(candidate, [reference], frequencies, "official", 1e9)
        mine, theirs = (Counter(re.findall(r"\w+", " ".join(words))) for words in (candidate, reference))
        if not mine:
            continue
        differences = [abs(theirs[w] - n) if w in theirs else n - 1 for w, n in mine.items()]
        repetition = math.prod(1 / (1 + difference) for difference in differences) ** (1 / len(mine))
        c, r = max(len(candidate) - 1, 0) + 1, max(len(reference) - 1, 0) + 1
        total += similarity * repetition**0.8 * math.exp(-((c - r) ** 2) / r**2) ** 0.2
    return total / len(references)


def test_cider_r_equals_its_formula() -> None:
    some = large_corpus(60, seed=5)
    # Contractions are two words, and some captions have none.
    odd = [["w1's", "w1", "runs"], ["...", "!?"], []]
    corpus = Corpus([*some.candidates, *odd], [*some.references, *([["w1", "w1's"], ["..."]] for _ in odd)])
    frequencies = cider.frequencies(corpus.references)
    expected = [slow(c, r, frequencies) for c, r in zip(corpus.candidates, corpus.references, strict=True)]
    scores = CiderR(tokenizer="whitespace").scores(corpus.table())
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
    assert max(expected) > 0.1


@with_data
@pytest.mark.parametrize("system", range(3))
def test_cider_r_equals_the_official_scores(system: int) -> None:
    expected = json.loads(gzip.decompress((GOLD / "cider_r.json.gz").read_bytes()))[f"karpathy_sys{system}"]
    lines = gzip.decompress((GOLD / f"karpathy_sys{system}.jsonl.gz").read_bytes()).decode().splitlines()
    rows = [json.loads(line) for line in lines]
    captions = read_captions(
        {row["image"]: row["tokens"] for row in rows}, {row["image"]: row["ref_tokens"] for row in rows}
    )
    scores = CiderR(tokenizer="whitespace").scores(captions)
    np.testing.assert_allclose(scores, expected["scores"], rtol=0, atol=1e-12)
    assert scores.mean() == pytest.approx(expected["corpus"], abs=1e-12)
