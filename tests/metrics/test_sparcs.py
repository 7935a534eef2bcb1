"""SPARCS: the authors' values, an oracle, and the concepts of captions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import captious
from captious.data import read_captions, read_references
from captious.metrics.smurf import ConceptLayer
from captious.text.tokenizers import SMURF
from tests.oracles import sparcs as oracle
from tests.parity.real_captions import read_lines
from tests.support.corpora import table


def score(candidate: str, *references: str) -> float:
    return float(captious.Sparcs().scores(table([candidate], [[*references]]))[0])


def test_sparcs_equals_twenty_thousand_published_values(shared_data: Path) -> None:
    records = read_lines(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz")
    references = read_references({record["image"]: record["refs"] for record in records})
    for number in range(4):
        captions = read_captions({record["image"]: record["captions"][number] for record in records}, references)
        expected = {record["image"]: record["smurf_scores"][number]["SPARCS"] for record in records}
        scores = captious.Sparcs().scores(captions)
        np.testing.assert_allclose(scores, [expected[image] for image in captions.ids], rtol=0, atol=1e-15)


def test_sparcs_agreement_on_flickr8k_is_as_recorded(shared_data: Path) -> None:
    # The paper has .481. The ratings of the owners' file under the protocol of SPICE give .477, their means .498.
    judgment = captious.judge("flickr8k-expert", ["sparcs"], data=shared_data, resamples=1)
    assert judgment["flickr8k-expert"]["sparcs"].value == pytest.approx(0.4767, abs=0.00005)
    judgment = captious.judge("flickr8k-expert@yi2020", ["sparcs"], data=shared_data, resamples=1)
    assert judgment["flickr8k-expert"]["sparcs"].value == pytest.approx(0.5556, abs=0.00005)


#: Words that are no stop words and are their own stems, so that the oracle needs to know of neither.
WORDS = ["dog", "cat", "man", "bike", "red", "road", "street"]
captions = st.lists(st.sampled_from(WORDS), max_size=8)


@given(candidate=captions, references=st.lists(captions, min_size=1, max_size=4))
@example(candidate=[], references=[[]])
@example(candidate=["dog"], references=[[], ["dog", "dog", "cat"]])
def test_sparcs_equals_the_oracle(candidate: list[str], references: list[list[str]]) -> None:
    value = score(" ".join(candidate), *(" ".join(reference) for reference in references))
    assert value == pytest.approx(oracle.score(candidate, references), abs=1e-15)


def test_sparcs_weighs_words_by_their_references() -> None:
    # cat has weight 1, dog 1/2, and a man was seen by nobody.
    assert score("cat man", "cat dog", "a cat") == pytest.approx(2 / (1 / (1 / 2) + 1 / (1 / 1.5)))


@pytest.mark.parametrize("candidate", ["Dogs RUNNING", "the dog runs.", "dog , run !", "dog dog run", "a dog: run"])
def test_sparcs_ignores_case_punctuation_and_inflection(candidate: str) -> None:
    assert score(candidate, "a dog is running") == 1


@pytest.mark.parametrize("candidate", ["t-shirt", "'s n't", "1,000", "...", "the of it", "", " \t "])
def test_sparcs_without_concepts_is_zero(candidate: str) -> None:
    assert score(candidate, candidate) == 0


def test_full_stops_vanish_wherever_they_are() -> None:
    assert SMURF("A U.S. flag . On a pole.") == ["a", "us", "flag", "on", "a", "pole"]
    assert SMURF("the word 'stop' isn't read") == ["the", "word", "'stop", "'", "is", "n't", "read"]


def test_stored_concepts_are_restored_for_their_words_only() -> None:
    layer = ConceptLayer(SMURF)
    captions = read_captions({1: "a dog", 2: "a cat"}, {1: ["a dog runs", "dogs"], 2: ["a cat"]})
    references = captions.references
    concepts = layer.of_references(references)
    stored = layer.to_stored(concepts, references)
    restored = layer.from_stored(stored, references)
    for name in ("ids", "offsets"):
        np.testing.assert_array_equal(getattr(restored, name), getattr(concepts, name))
    assert restored.vocabulary.words() == concepts.vocabulary.words()
    assert [restored.vocabulary.word(i) for i in restored.ids.tolist()] == ["dog", "run", "dog", "cat"]
    n, last = len(concepts.vocabulary), len(concepts.ids) - 1
    for name, place, value in (
        *(("ids", 0, -1), ("ids", last, n)),
        *(("offsets", 0, 1), ("offsets", 1, last + 2), ("offsets", -1, last)),
    ):
        wrong = stored.arrays[name].copy()
        wrong[place] = value
        with pytest.raises(ValueError, match="contradict each other"):
            layer.from_stored(replace(stored, arrays={**stored.arrays, name: wrong}), references)
    for name in ("offsets", "ids"):
        shorter = {**stored.arrays, name: stored.arrays[name][:-1]}
        with pytest.raises(ValueError, match="contradict each other"):
            layer.from_stored(replace(stored, arrays=shorter), references)
