"""WMD: an oracle by linear programming, real captions, variants, edge cases, the transport plan."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from captious import Wmd, WordVectors, read_captions, score
from captious.errors import InputError, MissingExtraError
from captious.metrics import wmd as module
from captious.text import PTB
from captious.text.stop_words import NLTK_STOP_WORDS
from tests.oracles import wmd as oracle
from tests.parity.real_captions import read_lines
from tests.support.corpora import table
from tests.support.vector_files import read_text

NAMES = ["dog", "puppy", "cat", "street", "road", "the", "Road"]
ROWS = np.array([[3, 0], [3, 4], [-1, 1], [0, 6], [0, 5], [9, 9], [2, 2]], np.float32)
VECTORS = WordVectors.of(NAMES, ROWS)
TABLE = dict(zip(NAMES, ROWS, strict=True))
UNIT = {name: row / np.linalg.norm(row) for name, row in TABLE.items()}


def wmd(candidate: str, *references: str, **parameters: object) -> float:
    metric = Wmd(vectors=VECTORS, **{"tokenizer": "whitespace", **parameters})  # type: ignore[arg-type]
    return float(metric.scores(table([candidate], [[*references]]))[0])


captions = st.lists(st.sampled_from([*NAMES, "unknown"]), max_size=7)


@given(candidate=captions, references=st.lists(captions, min_size=1, max_size=4))
@pytest.mark.parametrize("variant", Wmd.variants)
def test_wmd_equals_the_oracle(variant: str, candidate: list[str], references: list[list[str]]) -> None:
    def words(caption: list[str]) -> list[str]:
        return [word for token in caption if (word := token if variant == "mtanti" else token.lower()) != "the"]

    vectors = TABLE if variant == "mtanti" else UNIT
    nearest = min(oracle.distance(words(candidate), words(reference), vectors) for reference in references)
    value = wmd(" ".join(candidate), *(" ".join(reference) for reference in references), variant=variant)
    assert value == pytest.approx(math.exp(-nearest), abs=1e-7)


@pytest.mark.parametrize("variant", Wmd.variants)
def test_wmd_distances_of_real_captions_equal_the_oracle(variant: str, shared_data: Path) -> None:
    glove = shared_data / "vectors" / "glove_100d_captions.txt.gz"
    vectors = read_text(glove)
    if variant == "lceval":
        vectors = {word: vector / np.linalg.norm(vector) for word, vector in vectors.items()}
    records = read_lines(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz")[:60]
    captions = read_captions({r["image"]: r["captions"][2] for r in records}, {r["image"]: r["refs"] for r in records})
    metric = Wmd(vectors=WordVectors.open(glove), variant=variant)

    def words(caption: str) -> list[str]:
        return [token for token in PTB(caption) if token not in NLTK_STOP_WORDS]

    expected = [
        [oracle.distance(words(r["captions"][2]), words(reference), vectors) for reference in r["refs"]]
        for r in records
    ]
    np.testing.assert_allclose(metric.distances(captions), np.concatenate(expected), rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        metric.scores(captions), [math.exp(-min(distances)) for distances in expected], atol=1e-7
    )


def test_wmd_means_of_karpathy_systems_are_as_recorded(shared_data: Path) -> None:
    vectors = WordVectors.open(shared_data / "vectors" / "glove_100d_captions.txt.gz")
    records = read_lines(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz")
    captions = read_captions({r["image"]: r["captions"][1] for r in records}, {r["image"]: r["refs"] for r in records})
    means = {variant: float(Wmd(vectors=vectors, variant=variant).scores(captions).mean()) for variant in Wmd.variants}
    assert means == pytest.approx({"mtanti": 0.1108193, "lceval": 0.6158313}, abs=5e-8)  # from gensim 4.4


def test_wmd_of_edge_cases_is_as_documented() -> None:
    assert wmd("dog", "dog") == wmd("dog dog", "the dog") == 1
    assert wmd("", "dog") == wmd("dog", "") == wmd("", "") == wmd("the", "the") == wmd("unknown", "unknown") == 0
    assert wmd("dog", "puppy") == pytest.approx(math.exp(-4))
    assert wmd("dog", "puppy", "", "road") == pytest.approx(math.exp(-4))
    assert wmd("dog cat", "cat dog") == 1
    assert wmd("dog", "dog puppy") == pytest.approx(math.exp(-2))


def test_words_of_equal_vectors_are_as_far_as_can_be_where_nothing_else_is() -> None:
    metric = Wmd(vectors=WordVectors.of(["one", "uno", "two"], [[1, 2], [1, 2], [3, 1]]), tokenizer="whitespace")
    captions = table(["one", "one two"], [["uno"], ["uno two"]])
    assert metric.scores(captions).tolist() == [0, 1]


def test_wmd_sigma_scales_the_distance() -> None:
    assert wmd("dog", "puppy", sigma=2) == pytest.approx(math.exp(-2))


def test_wmd_variants_differ_as_documented() -> None:
    # Lengths count for one and not for the other; so does case.
    assert wmd("street", "road") == pytest.approx(math.exp(-1))
    # Two words with parallel vectors, for which gensim finds no transport.
    assert wmd("street", "road", variant="lceval") == 0
    assert wmd("Road", "road") < 1
    assert wmd("Road", "road", variant="lceval") == 1
    # White space within a token parts words for one; the other knows no such word.
    inside = "dog\u00a0cat"
    metric = {variant: Wmd(vectors=VECTORS, variant=variant, tokenizer="spaces") for variant in Wmd.variants}
    scores = {name: float(metric_of.scores(table([inside], [["dog cat"]]))[0]) for name, metric_of in metric.items()}
    assert scores == {"mtanti": 0, "lceval": 1}


def test_wmd_stop_words_depend_on_the_variant() -> None:
    assert wmd("the dog", "dog") == 1
    assert wmd("the dog", "dog", stop_words=[]) < 1
    assert wmd("the dog", "cat dog", stop_words=["the", "cat"]) == 1
    assert Wmd(vectors=VECTORS).signatures()[0].split("|")[4] == "stop-words:nltk-2016"
    # The list of 2016 has no apostrophes, which matters only to tokens that are not PTB's.
    with_apostrophe = WordVectors.of(["dog", "don't"], [[1, 0], [0, 1]])
    for variant, expected in (("mtanti", 1.0), ("lceval", 0.0)):
        metric = Wmd(vectors=with_apostrophe, variant=variant, tokenizer="whitespace")
        assert metric.scores(table(["don't"], [["don't"]]))[0] == expected


def test_wmd_warns_of_unknown_words() -> None:
    report = table(["dog", "unknown words here", "cat"], [["dog"], ["many words that nobody has heard of"], ["cat"]])
    warnings = Wmd(vectors=VECTORS).warnings(report, None)
    assert warnings[0].startswith(
        "1 of 3 candidates has no word with a vector, not counting stop words: wmd gives them 0."
    )
    assert "% of the words are out of vocabulary for own" in warnings[1]
    assert Wmd(vectors=VECTORS).warnings(table(["dog"], [["a cat"]]), None) == []


@pytest.mark.parametrize(("n_unknown", "share"), [(2, None), (3, "15%")])
def test_wmd_warns_if_more_than_a_tenth_of_the_words_are_unknown(n_unknown: int, share: str | None) -> None:
    candidates = ["dog cat"] * 4 + ["dog"]
    references = [["dog cat"]] * 3 + [["dog " + " ".join(f"unheard{n}" for n in range(n_unknown))]]
    references += [[" ".join(["cat"] * (3 - n_unknown)) + " cat"]]
    metric = Wmd(vectors=VECTORS, stop_words=[])
    captions = table(candidates, references)
    n_words = sum(len(text.split()) for texts in (candidates, *references) for text in texts)
    assert n_words == 20
    found = [warning for warning in metric.warnings(captions, None) if "out of vocabulary" in warning]
    assert [warning.split()[0] for warning in found] == ([] if share is None else [share])


def test_wmd_without_vectors_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAPTIOUS_VECTORS")
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path))
    assert Wmd.missing() == "captious vectors add FILE --name NAME"
    with pytest.raises(MissingExtraError, match="no word vectors are available") as caught:
        score(["a dog"], [["a cat"]], ["wmd"])
    assert "nlp.stanford.edu" in caught.value.hint


# ---- transport


def test_wmd_explanation_lists_ignored_words() -> None:
    transport = Wmd(vectors=VECTORS).transport("the dog and a cat", "a puppy on the street, unheard of")
    assert transport.candidate == (("dog", 0.5), ("cat", 0.5))
    assert transport.reference == (("puppy", 0.5), ("street", 0.5))
    assert [(m.word, m.reference_word, m.share) for m in transport.moves] == [
        ("dog", "puppy", 0.5),
        ("cat", "street", 0.5),
    ]
    assert [m.distance for m in transport.moves] == pytest.approx([4, math.sqrt(26)])
    assert transport.distance == pytest.approx(2 + math.sqrt(26) / 2)
    assert transport.score == pytest.approx(math.exp(-transport.distance))
    assert transport.candidate_left_out == ("the", "and", "a")
    assert transport.reference_left_out == ("a", "on", "the", "unheard", "of")


@given(candidate=captions, reference=captions)
@example(candidate=["street"], reference=["road"])  # whose unit vectors are the same
@pytest.mark.parametrize("variant", Wmd.variants)
def test_moves_add_up(variant: str, candidate: list[str], reference: list[str]) -> None:
    metric = Wmd(vectors=VECTORS, variant=variant, tokenizer="whitespace")
    transport = metric.transport(" ".join(candidate), " ".join(reference))
    expected = wmd(" ".join(candidate), " ".join(reference), variant=variant)
    assert transport.score == expected
    if transport.distance is None:
        assert transport.moves == ()
        return
    assert sum(m.share * m.distance for m in transport.moves) == pytest.approx(transport.distance, abs=1e-12)
    for side, name in ((transport.candidate, "word"), (transport.reference, "reference_word")):
        for word, share in side:
            assert sum(m.share for m in transport.moves if getattr(m, name) == word) == pytest.approx(share)


def test_documents_are_refused() -> None:
    words = [f"w{i}" for i in range(module.MOST_WORDS + 1)]
    vectors = WordVectors.of(words, np.random.default_rng(1).normal(size=(len(words), 3)))
    metric = Wmd(vectors=vectors, stop_words=[])
    text, most = " ".join(words), " ".join(words[1:])
    for candidate, reference, kind in ((text, "w1", "candidate"), ("w1", text, "reference")):
        captions = read_captions({"x": "w2", "y": candidate}, {"x": ["w1"], "y": ["w1", reference]})
        for measure in (metric.statistics, metric.distances):
            with pytest.raises(InputError, match=f"a {kind} has 1,001 distinct words") as caught:
                measure(captions)
            assert "'y'" in caught.value.where
    assert metric.statistics(read_captions({"x": most + " " + most}, {"x": ["w1"]}))[0, 0] > 0
