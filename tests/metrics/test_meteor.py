"""METEOR with its published tables: golden values of the official program, alignments, parameters, hostile input."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import captious
from captious.data import read_captions
from captious.errors import InputError, ParameterError
from captious.metrics.meteor import Alignment, align
from captious.text.languages import LANGUAGES
from tests.oracles import meteor as oracle
from tests.parity.real_captions import read_lines
from tests.support.corpora import table

pytestmark = pytest.mark.usefixtures("meteor_tables")

CLOSE = 1e-12
MAT = "the cat sat on the mat"

#: Candidate, references, and the score of the official program for the tokenized text.
GOLDEN: list[tuple[str, list[str], float]] = [
    (MAT, [MAT], 1.0),
    ("the cat was sat on the mat", [MAT], 0.5119556177223324),
    ("a dog runs", ["the dogs running", "a dog is running fast"], 0.23416378393738957),
    ("cat", ["dog"], 0.0),
    ("the", ["the"], 1.0),
    ("", ["a dog"], 0.0),
    ("a dog", [""], 0.0),
    ("the of a", ["the of a cat"], 0.2801919259156008),
    (
        "it is a guide to action which ensures that the military always obeys the commands of the party",
        ["it is a guide to action that ensures that the military will forever heed party commands"],
        0.44736091739438233,
    ),
    (
        "alimentum is located in the city centre . it is not family-friendly .",
        ["there is a place in the city centre , alimentum , that is not family-friendly ."],
        0.4248514351273681,
    ),
    (
        "a large group of people standing next to each other",
        ["a big crowd of folks stand near one another"],
        0.24493611370924356,
    ),
    ("dog dog dog cat", ["cat dog cat dog"], 0.33505143983322255),
    ("a a a b b", ["b a b a a"], 0.45827172913153946),
    ("automobile parked beside the roadway", ["car parked next to the road"], 0.20643361876607697),
]


def meteor(variant: str | None = None, **parameters: float) -> captious.Meteor:
    return captious.Meteor(variant=variant, tokenizer="whitespace", **parameters)


def statistics(candidate: str, *references: str) -> NDArray[np.float64]:
    return meteor().statistics(table([candidate], [[*references]]))[0]


# ---- golden values


@pytest.mark.parametrize(("candidate", "references", "score"), GOLDEN, ids=[candidate for candidate, _, _ in GOLDEN])
def test_golden_scores(candidate: str, references: list[str], score: float) -> None:
    metric = meteor()
    statistics = metric.statistics(table([candidate], [references]))
    assert metric.aggregate(statistics)[0, 0] == pytest.approx(score, abs=CLOSE, rel=0)
    assert metric.aggregate(statistics.sum(axis=0))[0] == pytest.approx(score, abs=CLOSE, rel=0)


def test_meteor_statistics_equal_the_jar() -> None:
    # Words and function words; exact; stem; synonym; paraphrase ("runs" for "is"); one chunk of three words.
    expected = [3, 5, 1, 2, 1, 1, 1, 1, *[0] * 8, 1, 0, 0, 1, 1, 3, 3]
    assert statistics("a dog runs", "the dogs running", "a dog is running fast").tolist() == expected


@pytest.mark.parametrize(("items", "score"), [((1, 2), 0.38503621005719657), ((0, 2), 0.4584788107075956)])
def test_golden_corpus_scores(items: tuple[int, ...], score: float) -> None:
    metric = meteor()
    rows = metric.statistics(table([GOLDEN[i][0] for i in items], [GOLDEN[i][1] for i in items]))
    assert metric.aggregate(rows.sum(axis=0))[0] == pytest.approx(score, abs=CLOSE, rel=0)


def test_meteor_of_a_real_image_equals_the_jar(shared_data: Path) -> None:
    records = read_lines(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz")
    (references,) = (record["refs"] for record in records if str(record["image"]).endswith("391895.jpg"))
    report = captious.score(["a man riding a motorcycle down a dirt road"], [references], metrics=["meteor"])
    assert report["meteor"].score == pytest.approx(0.32054853633005764, abs=CLOSE, rel=0)


def test_words_are_compared_by_the_hash_of_java() -> None:
    # So does the official program: "ap" and "c2" have the same.
    assert align("ap", "c2").score == 1


# ---- references


def test_the_first_of_equally_good_references_counts() -> None:
    assert statistics("x", "cat", "two dogs on a mat")[:4].tolist() == [1, 1, 0, 0]
    assert statistics("x", "two dogs on a mat", "cat")[:4].tolist() == [1, 5, 0, 3]
    assert statistics("a dog", "dog sofa a", "a dog", "dog a cat", "a dog")[20:].tolist() == [0, 2, 2]


def test_reference_order_never_changes_a_tie() -> None:
    # Two paraphrases against a stem and a paraphrase: of the same worth, and METEOR, by the order in which it adds
    # up, finds so. Asked for these references in either order, the official program takes the first.
    candidate = "a wooden bench beside a road"
    references = ["a wood bench beside a street", "a wood bench beside a roads"]
    first, second = (statistics(candidate, reference) for reference in references)
    assert first[[4, 8, 12, 16]].tolist() == [2, 0, 0, 2]
    assert second[[4, 8, 12, 16]].tolist() == [2, 1, 0, 1]
    np.testing.assert_array_equal(statistics(candidate, *references), first)
    np.testing.assert_array_equal(statistics(candidate, *references[::-1]), second)


def test_perfect_alignment_has_no_chunk_penalty() -> None:
    assert statistics(MAT, MAT)[20:].tolist() == [0, 6, 6]
    assert statistics("the dogs", "the dog")[20:].tolist() == [0, 2, 2]
    assert statistics("cat the", "the cat")[20:].tolist() == [2, 2, 2]
    assert statistics("cat", "the cat")[20:].tolist() == [1, 1, 1]


@pytest.mark.parametrize("mark", ["|||", " |||", "||| ", " ||| ", "||||||"])
def test_the_mark_that_separates_captions_is_dropped(mark: str) -> None:
    # The toolkit sends captions as one line with this between them, and drops it from candidates only.
    expected = statistics("a dogruns" if mark.strip() == mark else "a dog runs", "a dog runs on grass")
    np.testing.assert_array_equal(statistics(f"a dog{mark}runs", "a dog runs on grass"), expected)
    reference = statistics("a dog runs", "a dogruns" if mark.strip() == mark else "a dog runs")
    np.testing.assert_array_equal(statistics("a dog runs", f"a dog{mark}runs"), reference)


def test_fewer_bars_are_words() -> None:
    assert statistics("a || dog", "a dog")[0] == 4


# ---- alignments


def test_alignment_has_precision_recall_and_score() -> None:
    alignment = align("automobile parked beside the roadway", "car parked next to the road")
    assert alignment.candidate == ("automobile", "parked", "beside", "the", "roadway")
    assert alignment.reference == ("car", "parked", "next", "to", "the", "road")
    assert [(m.module, m.start, m.end, m.reference_start, m.reference_end) for m in alignment.matches] == [
        ("synonym", 0, 1, 0, 1),
        ("exact", 1, 2, 1, 2),
        ("exact", 3, 4, 4, 5),
    ]
    assert alignment.chunks == 2
    assert alignment.precision == pytest.approx((0.75 * (0.8 + 1) + 0.25) / (0.75 * 4 + 0.25), abs=CLOSE)
    assert alignment.recall == pytest.approx((0.75 * (0.8 + 1) + 0.25) / (0.75 * 4 + 0.5), abs=CLOSE)
    assert alignment.score == pytest.approx(0.20643361876607697, abs=CLOSE)


@pytest.mark.parametrize(
    ("candidate", "reference", "module"),
    [("cats", "cat", "stem"), ("automobile", "car", "synonym"), ("oxen", "ox", "synonym"), ("cat", "cat", "exact")],
)
def test_alignment_matches_words_by_module(candidate: str, reference: str, module: str) -> None:
    alignment = align(f"xx {candidate} yy", f"xx {reference} yy")
    assert [match.module for match in alignment.matches] == ["exact", module, "exact"]
    assert alignment.chunks == 1


def test_alignment_matches_phrases() -> None:
    alignment = align("a cat in front of a house", "a cat before a house")
    (phrase,) = (match for match in alignment.matches if match.module == "paraphrase")
    assert alignment.candidate[phrase.start : phrase.end] == ("in", "front", "of", "a")
    assert alignment.reference[phrase.reference_start : phrase.reference_end] == ("before", "a")
    assert (alignment.chunks, alignment.fragmentation) == (1, 0)


def test_a_word_of_many_matches_may_be_left_unaligned() -> None:
    # In METEOR's search a match of single words that are not equal is worth nothing, and a new chunk costs. Only one
    # that has no rival is set beforehand; this one is found by stem and as a paraphrase.
    assert align("dogs", "dog").matches == ()


def test_align_takes_raw_captions() -> None:
    assert align("A dog's T-shirt!", "a dog").candidate == ("a", "dog", "'", "s", "t", "shirt")


def test_alignment_respects_other_parameters() -> None:
    exact = captious.Meteor(modules={"exact": 1.0}, alpha=0.5, beta=1.0, gamma=0.5, delta=0.5)
    alignment = exact.align("the dogs ran home", "the dogs went home")
    assert [match.module for match in alignment.matches] == ["exact"] * 3
    assert (alignment.precision, alignment.recall, alignment.chunks) == (0.75, 0.75, 2)
    assert alignment.fragmentation == pytest.approx(2 / 3)
    assert alignment.score == pytest.approx(0.75 * (1 - 0.5 * 2 / 3))


def test_alignment_of_empty_captions_is_empty() -> None:
    alignment = align("", "")
    assert alignment == Alignment((), (), (), 0, 0.0, 0.0, 0.0, 0.0)
    assert align("cat", "sofa").matches == ()


#: Words of captions that are each other's forms, synonyms and paraphrases, in part or in whole.
WORDS = [
    *("a", "the", "of", "in", "on", "to", "is", "are", "two", "dog", "dogs", "puppy", "man", "men", "guy", "person"),
    *("people", "riding", "rides", "ride", "bike", "bicycle", "motorcycle", "road", "street", "down", "next", "near"),
    *("beside", "front", "before", "large", "big", "group", "crowd", "stand", "standing", "go", "went", "going"),
]
captions = st.lists(st.sampled_from(WORDS), max_size=16).map(" ".join)


@given(candidate=captions, reference=captions)
@example(candidate="a large group of people", reference="a crowd")
@example(candidate=MAT, reference=MAT)
def test_alignment_agrees_with_the_statistics(candidate: str, reference: str) -> None:
    metric = meteor()
    alignment = metric.align(candidate, reference)
    assert (list(alignment.candidate), list(alignment.reference)) == (candidate.split(), reference.split())
    mine = [i for match in alignment.matches for i in range(match.start, match.end)]
    theirs = [j for match in alignment.matches for j in range(match.reference_start, match.reference_end)]
    assert len(set(mine)) == len(mine)
    assert set(mine) <= set(range(len(alignment.candidate)))
    assert theirs == sorted(set(theirs))
    assert set(theirs) <= set(range(len(alignment.reference)))
    for match in alignment.matches:
        same = alignment.candidate[match.start] == alignment.reference[match.reference_start]
        one_to_one = match.end - match.start == match.reference_end - match.reference_start == 1
        assert {"exact": same and one_to_one, "paraphrase": True}.get(match.module, not same and one_to_one)
    row = metric.statistics(table([candidate], [[reference]]))
    perfect = (
        len(mine) == len(alignment.candidate) and len(theirs) == len(alignment.reference) and alignment.chunks == 1
    )
    assert row[0, 20:].tolist() == [0 if perfect else alignment.chunks, len(mine), len(theirs)]
    for number, module in enumerate(oracle.MODULES):
        matches = [match for match in alignment.matches if match.module == module]
        counts = row[0, 4 + 4 * number : 8 + 4 * number]
        assert counts[0] + counts[2] == sum(match.end - match.start for match in matches)
        assert counts[1] + counts[3] == sum(match.reference_end - match.reference_start for match in matches)
    chunks = [1] * len(alignment.matches)
    for k, (before, m) in enumerate(itertools.pairwise(alignment.matches), 1):
        chunks[k] = chunks[k - 1] + ((before.end, before.reference_end) != (m.start, m.reference_start))
    assert [m.chunk for m in alignment.matches] == chunks
    assert alignment.chunks == max(chunks, default=0)
    if mine:
        assert alignment.fragmentation == row[0, 20] / ((len(mine) + len(theirs)) / 2)
        mean = (
            1 / (0.15 / alignment.precision + 0.85 / alignment.recall)
            if alignment.precision and alignment.recall
            else 0
        )
        assert alignment.score == pytest.approx(max(0, mean * (1 - 0.6 * alignment.fragmentation**0.2)), abs=CLOSE)
    assert alignment.score == pytest.approx(metric.aggregate(row)[0, 0], abs=CLOSE)


# ---- variants and parameters


@given(candidate=captions, reference=captions)
@example(candidate="a large group of people", reference="a big crowd of men")
def test_paper_variant_follows_the_formulas_of_the_paper(candidate: str, reference: str) -> None:
    # Chen et al. 2015, equations 11 to 14, over the words that are matched.
    alpha, gamma, theta = 0.85, 0.6, 0.2
    alignment = meteor("paper").align(candidate, reference)
    matched = sum(match.end - match.start for match in alignment.matches)
    of_reference = sum(match.reference_end - match.reference_start for match in alignment.matches)
    if matched == 0:
        assert alignment.score == 0
        return
    precision, recall = matched / len(alignment.candidate), of_reference / len(alignment.reference)
    mean = precision * recall / (alpha * precision + (1 - alpha) * recall)
    fragments = alignment.chunks / ((matched + of_reference) / 2)
    if precision == recall == alignment.chunks == 1:
        fragments = 0  # as METEOR itself has it: a copy of the reference scores 1
    assert alignment.score == pytest.approx((1 - gamma * fragments**theta) * mean, abs=CLOSE)


def test_variants_differ_in_weights_only() -> None:
    paper = meteor("paper")
    equal = captious.Meteor(modules=dict.fromkeys(oracle.MODULES, 1.0), delta=0.5, tokenizer="whitespace")
    corpus = table([candidate for candidate, _, _ in GOLDEN], [references for _, references, _ in GOLDEN])
    np.testing.assert_array_equal(paper.statistics(corpus), equal.statistics(corpus))
    pairs = table(["a dog runs"], [["a dog is running fast"]])
    np.testing.assert_array_equal(paper.statistics(pairs), meteor().statistics(pairs))
    assert paper.aggregate(paper.statistics(pairs)) > meteor().aggregate(meteor().statistics(pairs))


def test_parameters_given_with_a_variant_are_taken() -> None:
    metric = captious.Meteor(variant="paper", delta=0.75, modules={"stem": 0.5, "exact": 1.0})
    assert metric.delta == 0.75
    assert list(metric.modules.items()) == [("exact", 1.0), ("stem", 0.5)]


def test_parameters_of_languages_are_those_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics" / "meteor.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (`.*?|all others) \| ([\d., ]+) \| (\.\d|no stemmer|exact matches only) \|", page, re.MULTILINE
    )
    documented = {code: row for names, *row in reversed(rows) for code in re.findall(r"`(\w+)`", names) or LANGUAGES}
    assert len(rows) == 7
    for code in LANGUAGES.keys() - {"en"}:
        numbers, stem = documented[code]
        found = captious.Meteor(language=code)
        assert [found.alpha, found.beta, found.gamma, found.delta] == [*map(float, numbers.split(","))], code
        assert found.modules == {"exact": 1.0} | ({"stem": float(stem)} if stem.startswith(".") else {}), code


@pytest.mark.parametrize(
    ("parameters", "what"),
    [
        ({"modules": {"exact": 2.0}}, "invalid weight of exact for meteor: 2.0"),
        ({"modules": {"exact": float("nan")}}, "invalid weight of exact for meteor: nan"),
        ({"modules": {"exact": 1.0, "stems": 0.5}}, "module 'stems'"),
        ({"modules": {}}, "needs at least one module"),
    ],
    ids=str,
)
def test_invalid_modules_are_refused(parameters: dict[str, dict[str, float]], what: str) -> None:
    with pytest.raises(ParameterError) as caught:
        captious.Meteor(**parameters)  # type: ignore[arg-type]
    assert what in caught.value.message
    assert caught.value.hint


def test_meteor_row_scores_equally_alone_and_in_a_batch() -> None:
    # Powers of single numbers and of arrays need not have the same last bit; scores must.
    cases = [(chunks, matched) for matched in range(1, 31) for chunks in range(1, matched + 1)]
    rows = np.zeros((len(cases), 23))
    for row, (chunks, matched) in zip(rows, cases, strict=True):
        row[[0, 1, 4, 5, 21, 22]] = matched
        row[20] = chunks
    metric = meteor()
    alone = np.array([metric.aggregate(row) for row in rows])
    np.testing.assert_array_equal(alone, metric.aggregate(rows))
    np.testing.assert_array_equal(alone, metric.aggregate(rows[::-1])[::-1])


# ---- many captions, long captions, strange captions


def soup(rng: random.Random, words: list[str], size: int) -> str:
    return " ".join(rng.choices(words, k=size))


@pytest.mark.parametrize("words", [["a"], ["a", "the"], WORDS], ids=["one word", "two words", "many words"])
def test_meteor_scores_captions_of_two_thousand_words(words: list[str]) -> None:
    rng = random.Random(6)
    row = statistics(soup(rng, words, 2_000), soup(rng, words, 2_000))
    assert row[:2].tolist() == [2_000, 2_000]
    assert 0 < meteor().aggregate(row)[0] <= 1


@pytest.mark.parametrize("tokenizer", ["ptb", "whitespace", "spaces"])
@given(candidate=st.text(max_size=40), references=st.lists(st.text(max_size=40), min_size=1, max_size=3))
@example(candidate="\0|||\ud7ff\U0010ffff", references=["\x0b\x0c\x85\u2028", "'''''", "......"])
def test_any_text_has_a_score(tokenizer: str, candidate: str, references: list[str]) -> None:
    metric = captious.Meteor(tokenizer=tokenizer)
    rows = metric.statistics(table([candidate, *references], [references, *([candidate] for _ in references)]))
    scores = metric.aggregate(np.vstack([rows, rows.sum(axis=0)]))
    assert np.isfinite(scores).all()
    assert ((scores >= 0) & (scores <= 1)).all()


@given(st.text(max_size=40))
def test_a_copy_is_perfect_or_empty(text: str) -> None:
    alignment = align(text, text)
    assert alignment.score == pytest.approx(1 if alignment.candidate else 0, abs=CLOSE)


def test_too_many_paraphrases_are_refused(meteor_tables: object) -> None:
    n = 5_000
    metric = captious.Meteor()
    captions = read_captions({"x": "a dog", "y": "large " * n}, {"x": ["a cat"], "y": ["a dog", "big " * n]})
    with pytest.raises(InputError, match=r"more than 16,777,216 paraphrase matches") as caught:
        metric.statistics(captions)
    assert "'y'" in caught.value.where
    with pytest.raises(InputError, match="paraphrase matches"):
        metric.align("large " * n, "big " * n)
