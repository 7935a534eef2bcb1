"""Four systems on the Karpathy test split against what the official COCO toolkit gives for them."""

from __future__ import annotations

import gzip
import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.data import read_captions, read_references
from captious.text import PTB, TokenLayer, Tokens

CLOSE = 1e-12
#: The official tokenizer reads all captions as one text. "U." ends this one, and because the next happens to start
#: with "A ", it takes the dot for the end of a sentence. Here a caption is tokenized alone, as if nothing followed.
SAW_THE_NEXT_CAPTION = {(0, "COCO_val2014_000000557130.jpg"): ("nintendo wii u.", "nintendo wii u")}

#: Corpus scores, system by system.
CORPUS = {
    "bleu-1": (0.6361718854863639, 0.764793021150507, 0.708034130269479, 0.6549890919873625),
    "bleu-2": (0.4408117735713075, 0.5970536886219813, 0.5347450734834103, 0.4705336571150742),
    "bleu-3": (0.2971234425928916, 0.4509961904480554, 0.3987681713893663, 0.3365656083482718),
    "bleu-4": (0.19913156913595675, 0.33716227413120875, 0.2979813086037727, 0.2445097854266548),
    "rouge-l": (0.4732427524735096, 0.5569968360209836, 0.5242702060710807, 0.487090381789513),
    "cider-d": (0.8928043862909096, 1.2748071185037246, 1.0957453637889458, 0.8812245008026924),
}
#: The same from the official tokens, among which that caption is.
METEOR = (0.24394402270857163, 0.27449990552507103, 0.25582997782997685, 0.22755127347861823)
#: matches and n-grams of order 1..4 (n-grams of system 0 only), candidate and reference length
TOTALS = [
    [33177, 14402, 5690, 2227, 52151, 47151, 42151, 37151, 52151, 50108],
    [37172, 20324, 9934, 4734, None, None, None, None, 48604, 47858],
    [33524, 17103, 8282, 4022, None, None, None, None, 47348, 47202],
    [30924, 14269, 6408, 3020, None, None, None, None, 47213, 47116],
]


@dataclass
class System:
    """Captions of one system, and the official toolkit's dump of the same."""

    number: int
    captions: captious.Captions
    gold: list[dict[str, Any]]

    def column(self, name: str) -> np.ndarray:
        return np.array([record[name] for record in self.gold])


@pytest.fixture(scope="module")
def karpathy(shared_data: Path) -> tuple[list[dict[str, Any]], captious.References]:
    records = read_lines(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz")
    return records, read_references({record["image"]: record["refs"] for record in records})


@pytest.fixture(scope="module", params=range(4), ids=lambda number: f"system{number}")
def system(
    request: pytest.FixtureRequest, shared_data: Path, karpathy: tuple[list[dict[str, Any]], captious.References]
) -> System:
    records, references = karpathy
    number = request.param
    captions = read_captions({record["image"]: record["captions"][number] for record in records}, references)
    gold = {record["image"]: record for record in read_lines(shared_data / "gold" / f"karpathy_sys{number}.jsonl.gz")}
    assert len(gold) == len(captions) == 5_000
    return System(number, captions, [gold[str(image)] for image in captions.ids])


def read_lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def joined(tokens: Tokens) -> list[str]:
    words = tokens.vocabulary.words()
    offsets = tokens.offsets.tolist()
    return [" ".join(words[i] for i in tokens.ids[start:end]) for start, end in itertools.pairwise(offsets)]


def test_tokens_equal_the_gold_of_karpathy(system: System) -> None:
    candidates, references = system.captions.layer(TokenLayer(PTB))
    expected = [record["tokens"] for record in system.gold]
    differing = {
        (system.number, record["image"]): (mine[-15:], official[-14:])
        for record, mine, official in zip(system.gold, joined(candidates), expected, strict=True)
        if mine != official
    }
    assert differing == {place: words for place, words in SAW_THE_NEXT_CAPTION.items() if place[0] == system.number}
    assert joined(references) == [text for record in system.gold for text in record["ref_tokens"]]


def test_bleu_equals_the_gold_of_karpathy(system: System) -> None:
    metric = captious.Bleu()
    statistics = metric.statistics(system.captions)
    np.testing.assert_allclose(metric.aggregate(statistics), system.column("bleu"), atol=CLOSE, rtol=0)
    totals = statistics.sum(axis=0)
    for total, expected in zip(totals, TOTALS[system.number], strict=True):
        assert expected is None or total == expected
    expected = [CORPUS[output][system.number] for output in metric.outputs]
    np.testing.assert_allclose(metric.aggregate(totals), expected, atol=CLOSE, rtol=0)


@pytest.mark.parametrize(("name", "column"), [("RougeL", "rouge_l"), ("CiderD", "cider_d")])
def test_corpus_means_equal_the_gold_of_karpathy(system: System, name: str, column: str) -> None:
    metric: captious.MeanMetric = getattr(captious, name)()
    statistics = metric.statistics(system.captions)
    np.testing.assert_allclose(statistics[:, 0], system.column(column), atol=CLOSE, rtol=0)
    (corpus,) = metric.aggregate(statistics.sum(axis=0))
    assert corpus == pytest.approx(CORPUS[metric.name][system.number], abs=CLOSE, rel=0)


@pytest.mark.filterwarnings("ignore:.*(end within a sentence|special tokens|unknown words):captious.CaptiousWarning")
@pytest.mark.usefixtures("meteor_tables")
def test_meteor_equals_the_gold_of_karpathy(system: System) -> None:
    candidates = {record["image"]: record["tokens"] for record in system.gold}
    references = {record["image"]: record["ref_tokens"] for record in system.gold}
    settings = captious.Settings(tokenizer="spaces")
    result = captious.score(candidates, references, metrics=["meteor"], settings=settings)["meteor"]
    np.testing.assert_allclose(result.per_caption, system.column("meteor"), atol=CLOSE, rtol=0)
    assert result.score == pytest.approx(METEOR[system.number], abs=CLOSE, rel=0)


def test_scorer_gives_the_same(system: System) -> None:
    reward = captious.reward(system.captions.references, captious.CiderD())
    order = np.random.default_rng(0).permutation(len(system.captions))
    ids = [system.captions.ids[row] for row in order]
    scores = reward(ids, [system.captions.candidates[row] for row in order])
    np.testing.assert_allclose(scores, system.column("cider_d")[order], atol=CLOSE, rtol=0)
