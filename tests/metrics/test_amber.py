"""AMBER compared with a transcription of the authors' program, on its own lists; nouns, and files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import captious
from captious.errors import MissingExtraError, MissingObjectsError, ParameterError, ResourceError
from captious.files import checksum
from captious.metrics import amber
from captious.metrics.amber import Amber
from captious.metrics.shared.objects import ImageWords
from captious.models import WordVectors
from captious.text.stems import nouns
from tests.support.tables import tables

TABLES = tables(__file__)

pytestmark = pytest.mark.filterwarnings("ignore:amber compares words")

LISTS = TABLES["lists"]
WORDS = TABLES["words"]


def transcribed(
    found: Sequence[str], truth: list[str], hallu: list[str], similar: Callable[[str, str], bool]
) -> list[int]:
    """Return wrong nouns, nouns, covered, truth, marked, hallucinations: with the index arithmetic of the program."""
    relation, safe = LISTS["relation"], LISTS["safe_words"]
    counted = [*relation, *(other for others in relation.values() for other in others)]
    kept = [noun for noun in found if noun in counted]
    good, good_marks, bad, bad_marks = [], [], [], []
    for number, word in enumerate(truth):
        good += relation[word]
        good_marks += [number] * len(relation[word])
    for number, word in enumerate(hallu):
        bad += relation[word]
        bad_marks += [number] * len(relation[word])
    n_good, n_bad = len(good), len(bad)
    good, good_marks = good + truth, good_marks + [0] * len(truth)
    bad, bad_marks = bad + hallu, bad_marks + [0] * len(hallu)
    wrong = 0

    def mark(words: list[str], marks: list[int], n: int, fits: Callable[[str], bool]) -> bool:
        for place, word in enumerate(words):
            if fits(word):
                marks[marks[place] + n if place < n else place] = 1
                return True
        return False

    for noun in kept:
        if noun in safe or mark(good, good_marks, n_good, noun.__eq__):
            continue
        mark(bad, bad_marks, n_bad, noun.__eq__)
        mark(bad, bad_marks, n_bad, lambda word, noun=noun: similar(noun, word))  # type: ignore[misc]
        wrong += not mark(good, good_marks, n_good, lambda word, noun=noun: similar(noun, word))  # type: ignore[misc]
    return [wrong, len(kept), sum(good_marks[n_good:]), len(truth), sum(bad_marks[n_bad:]), len(hallu)]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(WORDS)),
    st.lists(st.sampled_from([*LISTS["relation"]]), max_size=6),
    st.lists(st.sampled_from([*LISTS["relation"]]), max_size=6),
    st.booleans(),
)
def test_statistics_equal_the_official_program(
    found: list[str], truth: list[str], hallu: list[str], with_vectors: bool
) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(len(WORDS), 2)).astype(np.float32)
    vectors = WordVectors.of(WORDS, rows) if with_vectors else None
    unit = rows.astype(float) / np.linalg.norm(rows.astype(float), axis=1, keepdims=True)

    def similar(a: str, b: str) -> bool:
        return bool(unit[WORDS.index(a)] @ unit[WORDS.index(b)] > 0.8) if with_vectors else a == b

    metric = Amber(lists=LISTS, tagger="parser", vectors=vectors)
    counts = metric._counts(found, ImageWords(tuple(truth), tuple(hallu)))
    assert [int(count) for count in counts[1:7]] == transcribed(found, truth, hallu, similar)
    assert counts[0] == 1
    assert counts[7] == (counts[1] > 0)


def test_words_without_a_direction_are_similar_to_no_other() -> None:
    vectors = WordVectors.of(WORDS, np.zeros((len(WORDS), 2), np.float32))
    reports = (
        captious.score(CAPTIONS, metrics=[Amber(lists=LISTS, tagger="parser", vectors=v)]) for v in (None, vectors)
    )
    plain, zero = ([result.score for result in report.values()] for report in reports)
    assert zero == plain


CAPTIONS = {
    1: "A man stands on a boat. There are two birds in the sky, and a vessel behind a house.",
    2: "Grass and grass, and more grass. A plane.",
}


def test_scores_equal_a_table_made_by_hand() -> None:
    report = captious.score(CAPTIONS, metrics=[Amber(lists=LISTS, tagger="parser")])
    assert "words by equality alone" in report.warnings[0]
    # man, boat, bird, sky, vessel; grass three times, plane (which image 2 does not list)
    assert report["amber-chair"].per_caption == pytest.approx([1 / 5, 1 / 4])
    assert report["amber-chair"].score == pytest.approx(2 / 9)
    assert report["amber-cover"].score == pytest.approx((3 + 1) / 5)
    assert report["amber-hal"].score == 1.0
    assert report["amber-cog"].score == pytest.approx(1 / 3)
    low, high = report["amber-chair"].confidence_interval()
    assert low <= report["amber-chair"].score <= high
    assert "|tagger:parser|parser:" in report["amber-chair"].signature
    assert report["amber-chair"].signature.endswith(f"|vectors:none|captious:{captious.__version__}")


def test_answers_are_counted_one_by_one() -> None:
    metric = Amber(lists=LISTS, tagger="parser")
    together = captious.score(CAPTIONS, metrics=[metric])
    for row, (image, text) in enumerate(CAPTIONS.items()):
        alone = captious.score({image: text}, metrics=[metric])
        assert [r.score for r in alone.values()] == [r.per_caption[row] for r in together.values()]


def test_object_listed_twice_counts_once_in_the_fixed_variant() -> None:
    scores = {
        variant: captious.score(CAPTIONS, metrics=[Amber(variant=variant, lists=LISTS, tagger="parser")])
        for variant in ("official", "fixed")
    }
    cover = {variant: [*report.values()][1].score for variant, report in scores.items()}
    assert cover == {"official": pytest.approx(4 / 5), "fixed": 1.0}


@pytest.mark.parametrize("ids", [("AMBER_1.jpg", "images/AMBER_2"), ("1", "2")])
def test_ids_match_the_amber_lists(ids: tuple[str, str]) -> None:
    captions = dict(zip(ids, CAPTIONS.values(), strict=True))
    report = captious.score(captions, metrics=[Amber(lists=LISTS, tagger="parser")])
    assert report["amber-cover"].score == pytest.approx(4 / 5)


def test_images_without_lists_are_refused() -> None:
    metric = Amber(lists=LISTS, tagger="parser")
    with pytest.raises(MissingObjectsError, match="AMBER's words of 1 of 2 images are not known") as caught:
        captious.score({1: "a man", 3: "a man"}, metrics=[metric])
    assert "3" in caught.value.where


def test_lists_that_are_wrong(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="needs AMBER's word lists"):
        Amber()
    with pytest.raises(ResourceError, match=r"annotations\.json was not found"):
        Amber(lists=tmp_path)
    for name, content in (("annotations.json", [{"id": 1}]), ("relation.json", {})):
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "safe_words.txt.gz").write_bytes(gzip.compress(b"vessel\n"))
    with pytest.raises(ResourceError, match="not AMBER's word lists: KeyError 'type'"):
        Amber(lists=tmp_path)
    (tmp_path / "annotations.json").write_text(json.dumps(LISTS["annotations"]))
    (tmp_path / "relation.json").write_text(json.dumps(LISTS["relation"]))
    metric = Amber(lists=tmp_path)
    assert metric.lists.safe == {"vessel"}
    assert metric.lists.label == Amber(lists=LISTS).lists.label
    (tmp_path / "relation.json").write_text("{")
    with pytest.raises(ResourceError, match="this is not JSON"):
        Amber(lists=tmp_path)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"annotations": [{**LISTS["annotations"][0], "truth": "sky"}]}, ResourceError, "'sky' is not a list of words"),
        ({"annotations": [{**LISTS["annotations"][0], "hallu": [1]}]}, ResourceError, "is not a list of words"),
        ({"relation": {"sky": "cloud"}}, ResourceError, "'cloud' is not a list of words"),
        ({"annotations": LISTS["annotations"][2:]}, ResourceError, "there are no generative annotations"),
        ({"relation": None}, ResourceError, "not AMBER's word lists: AttributeError"),
        (5, ParameterError, "5 is not a folder of AMBER's word lists"),
    ],
    ids=str,
)
def test_lists_of_other_forms_are_refused(changes: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Amber(lists=LISTS | changes if isinstance(changes, dict) else changes)


def test_signature_depends_on_lists_but_not_their_order() -> None:
    def label(**changed: object) -> str:
        return Amber(lists={**LISTS, **changed}, tagger="parser").lists.label

    safe = ["vessel", "boat", "person", "ground", "parrot", "aircraft"]
    reordered = {
        "annotations": LISTS["annotations"][::-1],
        "relation": dict(reversed(LISTS["relation"].items())),
        "safe_words": safe[::-1],
    }
    images = [[1, ["sky", "ship", "ship", "man"], ["plane", "sun", "bird"]], [2, ["grass"], []]]
    content = json.dumps([images, sorted(LISTS["relation"].items()), sorted(safe)])
    assert label(safe_words=safe) == label(**reordered) == f"2-{checksum(content)}"
    assert len({label(), label(safe_words=safe), label(annotations=LISTS["annotations"][:1])}) == 3


def test_users_lists_replace_the_official_ones(shared_data: Path) -> None:
    lists = Amber(lists=shared_data / "amber").lists
    assert len(lists.by_image) == 1004
    assert len(lists.safe) == 9
    assert lists.by_image[1].hallucinations == ("cloud", "sun", "bird", "dog", "flower")
    text = "A road runs along a lake below the mountains. A dog is on the grass under a cloud."
    report = captious.score({1: text}, metrics=[Amber(lists=lists, tagger="parser")])
    expected = [2 / 6, 4 / 7, 1, 2 / 5]  # a dog and a cloud are not there; road, lake, mountain and grass are
    assert [result.score for result in report.values()] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("error", "tagger"),
    [(None, "nltk"), (MissingExtraError("no nltk"), "parser"), (ResourceError("no data of nltk"), "parser")],
)
def test_default_tagger_is_nltk_where_it_can_run(
    error: Exception | None, tagger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(text: str) -> list[str]:
        if error is not None:
            raise error
        return ["ship"] * bool(text)

    monkeypatch.setattr(amber, "nltk_nouns", found)
    metric = Amber(lists=LISTS)
    assert metric.tagger == tagger
    assert metric.tokens == f"nouns of {tagger}"
    assert [f"|tagger:{tagger}|" in signature for signature in metric.signatures()] == [True] * 4
    assert ["|parser:" in signature for signature in metric.signatures()] == [tagger == "parser"] * 4
    assert captious.score({1: "A man and a bird."}, metrics=[metric])["amber-chair"].score == (0.5 if error else 0)
    assert Amber(lists=LISTS, tagger="parser").tagger == "parser"


def test_nltk_tagger_finds_nouns() -> None:
    pytest.importorskip("nltk")
    try:
        found = nouns("Two dogs run on the beach. No dogs swim.")
    except (MissingExtraError, ResourceError) as error:
        assert "nltk" in error.hint
        pytest.skip("no nltk_data")
    assert found == ["dog", "beach", "dog"]
