"""The metric captious: its scores, what moves them, and what it says about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import captious
from captious.data import read_captions
from captious.learned.caption_agreement import Captious
from captious.learned.caption_weights import CaptionWeights
from captious.text import PTB

from ..oracles import captious_score as oracle
from ..parity.real_captions import read_lines
from ..support.corpora import Corpus, corpora, table

WEIGHTS = CaptionWeights.load()
REFERENCES = ["a dog runs across the grass", "a brown dog is running in a field", "the dog plays outside"]


def score(candidate: str, *references: str) -> float:
    return float(Captious().scores(table([candidate], [[*(references or REFERENCES)]]))[0])


def tokens(caption: str) -> list[str]:
    return PTB(caption)


@settings(max_examples=25)
@given(corpus=corpora())
def test_the_oracle_agrees(corpus: Corpus) -> None:
    captions = corpus.table()
    sparcs = captious.Sparcs().scores(captions).tolist()
    expected = [
        oracle.score([*map(str.lower, candidate)], references, part, WEIGHTS)
        for candidate, references, part in zip(corpus.candidates, corpus.references, sparcs, strict=True)
    ]
    np.testing.assert_allclose(Captious().scores(captions), expected, rtol=0, atol=1e-5)


def test_the_oracle_agrees_on_real_captions(shared_data: Path) -> None:
    rows = read_lines(shared_data / "flickr8k" / "expert.jsonl.gz")[:200]
    records = [(row["candidate"], row["refs"]) for row in rows]
    captions = table([candidate for candidate, _ in records], [references for _, references in records])
    sparcs = captious.Sparcs().scores(captions).tolist()
    expected = [
        oracle.score(tokens(candidate), [tokens(reference) for reference in references], part, WEIGHTS)
        for (candidate, references), part in zip(records, sparcs, strict=True)
    ]
    np.testing.assert_allclose(Captious().scores(captions), expected, rtol=0, atol=1e-5)


def test_flickr8k_expert_and_pascal_50s(shared_data: Path) -> None:
    judgment = captious.judge(["flickr8k-expert", "pascal-50s"], ["captious", "cider-d"], data=shared_data, resamples=1)
    for benchmark in ("flickr8k-expert", "pascal-50s"):
        assert judgment[benchmark]["captious"].value > judgment[benchmark]["cider-d"].value + 0.03


@pytest.mark.parametrize(
    "worse",
    [
        "grass dog the runs a across",
        "a dog runs across the",
        "a cat runs across the grass",
        "a train stands in a station",
        "dog dog dog dog dog",
        "",
    ],
)
def test_worse_captions_score_lower(worse: str) -> None:
    assert score(worse) < score("a dog runs across the grass")


def test_other_words_for_the_same_score_higher_than_other_things() -> None:
    references = ["a man rides a motorcycle", "someone on a motorbike"]
    assert score("a guy riding a bike", *references) > score("a guy eating a pizza", *references)


def test_scores_lie_between_0_and_1_whatever_the_caption() -> None:
    for candidate in ("", "!!!", "zzqqxx", "dog " * 500, "\N{SNOWMAN}"):
        assert 0 <= score(candidate) <= 1
    assert 0 <= score("a dog", "", "zzqqxx") <= 1


def test_words_without_a_vector_change_nothing_but_sparcs_and_junctions() -> None:
    features = Captious().features(table(["a dog", "a dog zzqqxx"], [REFERENCES] * 2))
    assert (features[0, :2] == features[1, :2]).all()


def test_the_parts_of_an_explanation_add_up() -> None:
    agreement = Captious().explain("a dog zzqqxx runs over grass", REFERENCES)
    assert sum(word.share for word in agreement.words) == pytest.approx(agreement.centroid, abs=1e-5)
    assert agreement.score == pytest.approx(score("a dog zzqqxx runs over grass"))
    by_word = {word.word: word for word in agreement.words}
    assert (by_word["dog"].closest, by_word["zzqqxx"].closest) == ("dog", None)
    assert by_word["dog"].similarity == pytest.approx(1, abs=1e-5)
    assert by_word["dog"].share > by_word["a"].share
    assert len(agreement.cosines) == len(REFERENCES)


def test_an_explanation_shows_where_a_caption_breaks() -> None:
    assert Captious().explain("a dog runs across the grass", REFERENCES).unsound == ()
    assert ("the", "") in Captious().explain("a dog runs across the", REFERENCES).unsound


def test_it_is_a_reward() -> None:
    scorer = captious.reward(Captious(), {1: REFERENCES, 2: ["a plate of food"]})
    rewards = scorer([1, 2, 1], ["a dog runs", "a dog runs", "a plate of food"])
    assert rewards[0] > rewards[1] and rewards[0] > rewards[2]
    assert rewards[0] == pytest.approx(score("a dog runs"), abs=1e-12)


def test_the_signature_names_the_weights() -> None:
    (signature,) = Captious().signatures()
    assert f"weights:{WEIGHTS.name}" in signature


def test_weights_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.safetensors"
    WEIGHTS.save(path)
    report = captious.score(["a dog"], [REFERENCES], [f"captious:weights={path}"])
    assert report[f"captious:weights={path}"].score == pytest.approx(score("a dog"), abs=1e-4)
    assert read_captions({0: "a dog"}, {0: REFERENCES}).ids == (0,)
