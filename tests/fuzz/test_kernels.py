"""Arrays that nobody made for them through the kernels: they give an answer or refuse, and never read beside an array.

What a kernel reads beside its arrays seldom shows; .ci/run has these tests run with sanitizers, where it always does.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from captious import native
from captious.native import (
    CiderReferences,
    MeteorLexicon,
    MeteorTablesCompiler,
    NgramFrequencies,
    Pcfg,
    ReferenceNgrams,
    meteor_alignment,
    meteor_counts,
)
from tests.support.meteor_files import EXCEPTIONS, FUNCTION_WORDS, SYNSETS, MeteorFiles

Arrays = dict[str, NDArray[Any]]

IDS = np.array([0, 1, 2, 1, 0, 3], np.int32)
OFFSETS = np.array([0, 2, 3, 6])
IMAGES = np.array([0, 1, 2, 3])
COUNTS = np.array([1, 2, 1, 1, 3, 1], np.int32)
VECTORS = np.arange(20, dtype=np.float32).reshape(4, 5)
TEXT, ENDS = np.frombuffer(b"acatdog", np.uint8), np.array([1, 4, 7])
PAIRS: Arrays = {"ids": IDS, "offsets": OFFSETS, "ids2": IDS[::-1].copy(), "offsets2": OFFSETS, "images": IMAGES}
BAGS: Arrays = {"words": IDS, "counts": COUNTS, "offsets": OFFSETS}


def weighted(ids: Any, offsets: Any, ids2: Any, offsets2: Any, images: Any, rows: Any, word_map: Any) -> object:
    references = ReferenceNgrams(ids2, offsets2, images, 1)
    frequencies = NgramFrequencies()
    frequencies.count(references, 2)
    options = {"sigma": 6.0, "clip": True, "relative": False, "length_in_words": False, "threads": 1}
    return CiderReferences(references, frequencies, word_map, 1.0, **options).score(ids, offsets, rows, word_map, 1)


def movers(vectors: Any, **bags: Any) -> object:
    bag = (bags["words"], bags["counts"], bags["offsets"])
    native.nearest_word_mover_distances(vectors, *bag, *bag, bags["images"], 2)
    return native.word_mover_distances(vectors, *bag, *bag, bags["images"], 2)


def parse(
    binary: Any, unary: Any, scores: Any, symbols: Any, common: Any, states: Any, tags: Any, words: Any
) -> object:
    pcfg = Pcfg(
        binary, scores[: len(binary)], unary, scores[: len(unary)],
        root=0, boundary=-1, symbols=symbols, potentials=scores[: len(symbols)], common=common,
    )  # fmt: skip
    for plainly in (True, False):
        derivations = pcfg.parse(
            tags, states, scores[: len(states)], words, np.array([0, len(words)]), plainly=plainly, threads=1
        )
        native.visible_nodes(*derivations[:2], *derivations[3:5], symbols)
    return derivations


#: A kernel with arguments that fit.
CALLS: dict[str, tuple[Callable[..., object], Arrays]] = {
    "bleu": (lambda i, o, j, p, m: native.bleu_statistics(ReferenceNgrams(j, p, m, 1), i, o, 1), PAIRS),
    "matches": (lambda i, o, j, p, m: native.ngram_matches(ReferenceNgrams(j, p, m, 1), i, o, 1), PAIRS),
    "lcs": (lambda *arrays: native.lcs_lengths(*arrays, 1), PAIRS),
    "places": (lambda i, o, j, p, _: native.subsequence_places(i, o, j, p, 1), PAIRS),
    "skip-bigrams": (lambda *arrays: native.skip_bigram_matches(*arrays, 4, 1), PAIRS),
    "cider": (
        weighted,
        {**PAIRS, "rows": np.array([2, 0, 1]), "word_map": np.array([1, 0, -1, 2], np.int32)},
    ),
    "kendall": (
        lambda *arrays: native.kendall_resampled(*arrays, 1),
        {
            "offsets": np.array([0, 2, 3, 5], np.int32),
            "ratings": np.array([0, 1, 1, 0, 2], np.int32),
            "groups": np.array([0, 0, 1], np.int32),
            "scores": np.array([0, 2, 1], np.int32),
            "counts": np.array([[1, 1], [0, 2]], np.int32),
        },
    ),
    "movers": (
        lambda vectors, words, counts, offsets, images: movers(
            vectors, words=words, counts=counts, offsets=offsets, images=images
        ),
        {"vectors": VECTORS, **BAGS, "images": IMAGES},
    ),
    "means": (lambda v, w, o: native.mean_vectors(v, w, o, 1), {"vectors": VECTORS, "words": IDS, "offsets": OFFSETS}),
    "closest": (
        lambda v, w, o, w2, o2: native.closest_words(v, w, o, w2, o2, 1),
        {"vectors": VECTORS, "words": IDS, "offsets": OFFSETS, "other_words": IDS, "other_offsets": OFFSETS},
    ),
    "distances": (native.word_distances, {"vectors": VECTORS, "a": IDS, "b": IDS[:2]}),
    "plan": (
        native.transport_plan,
        {"costs": np.ones((2, 3)), "supplies": np.array([3, 3]), "demands": np.array([2, 2, 2])},
    ),
    "sorted words": (native.sorted_words, {"text": TEXT, "ends": ENDS}),
    "words": (lambda text, ends: native.find_words(text, ends, ("cat", "", "zebra")), {"text": TEXT, "ends": ENDS}),
    "subwords": (lambda text, ends: native.subword_buckets(text, ends, 3, 6, 100), {"text": TEXT, "ends": ENDS}),
    "parser": (
        parse,
        {
            "binary": np.array([[0, 1, 2], [0, 2, 1], [1, 1, 2]], np.int32),
            "unary": np.array([[0, 1], [2, 1]], np.int32),
            "scores": np.array([-1, -2, -3, -1, -2, -1], np.float32),
            "symbols": np.array([0, 1, 1], np.int32),
            "common": np.array([1, 1, 0, 1, 0], np.uint8),
            "states": np.array([1, 2, 2], np.int32),
            "tags": np.array([0, 2, 3]),
            "words": np.array([0, 1, 1, 0], np.int32),
        },
    ),
}

#: Kernels with tables by word, which have room for the largest.
LARGEST = {"cider": 1 << 20}


def changed(rng: random.Random, array: NDArray[Any], most: int | None = None) -> NDArray[Any]:
    """Return an array with another length, or with a few values that may be anything (up to `most`)."""
    out = array.copy()
    if rng.random() < 0.2:
        return out[: rng.randrange(len(out) + 1)] if rng.random() < 0.5 else np.concatenate([out, out])
    for _ in range(rng.randint(1, 3)):
        if out.size == 0:
            break
        at = rng.randrange(out.size)
        if out.dtype.kind == "f":
            out.flat[at] = rng.choice([0.0, -0.0, -1e30, 1e30, np.inf, -np.inf, np.nan, 1e-45])
        else:
            least, last = np.iinfo(out.dtype).min, min(np.iinfo(out.dtype).max, most or 2**63)
            near = int(out.flat[at]) + rng.choice([-2, -1, 1, 2])
            value = rng.choice([near, near, 0, 1, len(out), 255, 256, least, last, rng.randint(least, last)])
            out.flat[at] = min(max(value, least), last)
    return out


@pytest.mark.parametrize("name", CALLS)
def test_kernels_survive_inconsistent_arrays(name: str, pytestconfig: pytest.Config) -> None:
    kernel, arrays = CALLS[name]
    kernel(*arrays.values())
    rng = random.Random(name)
    answered = 0
    for _ in range((pytestconfig.getoption("fuzz") or 4_000) // 10):
        mutated = dict(arrays)
        for key in rng.sample([*arrays], rng.randint(1, 2)):
            mutated[key] = changed(rng, arrays[key], LARGEST.get(name))
        try:
            kernel(*mutated.values())
        except (ValueError, IndexError, RuntimeError, OverflowError):
            continue
        answered += 1
    assert answered


FILES = MeteorFiles(
    synsets={"car": [1], "automobile": [1, 2], "go": [3], "walk": [3, 4], "dog": [5], "hound": [5, 6]},
    exceptions={"go": ["went", "gone"], "man": ["men"]},
    function_words=["the", "of", "a"],
    pairs=[
        ("in front of", "before"), ("before", "in front of"), ("before", "ahead of"), ("a man", "the man"),
        ("men", "people"), ("big", "large"), ("large", "big"), ("big dog", "hound"),
    ],
)  # fmt: skip
WORDS = tuple("in front of before ahead a man the men people big large dog hound went cars xyzzy".split())  # noqa: SIM905


def compiled() -> Arrays:
    compiler = MeteorTablesCompiler()
    compiler.add_paraphrases(FILES.table())
    members = FILES.members()
    return compiler.finish(
        synsets=members[SYNSETS], exceptions=members[EXCEPTIONS], function_words=members[FUNCTION_WORDS]
    )


def check_alignments(tables: Arrays, rng: random.Random) -> None:
    lexicon = MeteorLexicon(tables)
    lexicon.learn(0, WORDS, tuple(word.rstrip("s") for word in WORDS))
    for _ in range(5):
        left, right = (np.array(rng.choices(range(len(WORDS)), k=rng.randint(0, 9)), np.int32) for _ in "ab")
        ends = np.array([0, len(left)]), np.array([0, len(right)]), np.array([0, 1])
        counts = meteor_counts(lexicon, left, ends[0], right, ends[1], ends[2], 15, 1)
        assert counts[0, :2].tolist() == [len(left), len(right)]
        for start, length, other, other_length, _ in meteor_alignment(lexicon, left, right, 15).tolist():
            assert length > 0
            assert start + length <= len(left)
            assert other_length > 0
            assert other + other_length <= len(right)


def test_kernels_survive_forged_meteor_tables(pytestconfig: pytest.Config) -> None:
    tables = compiled()
    rng = random.Random(1)
    check_alignments(tables, rng)
    for _ in range((pytestconfig.getoption("fuzz") or 4_000) // 2):
        forged = dict(tables)
        for key in rng.sample([*tables], rng.randint(1, 2)):
            forged[key] = changed(rng, tables[key])
        try:
            check_alignments(forged, rng)
        except ValueError:
            continue


@pytest.mark.parametrize("value", [0, 256, 0xFFFF])
def test_kernels_survive_forged_paraphrase_lengths(value: int) -> None:
    # A paraphrase of no words once stood behind the last word, too, and was written down there.
    tables = compiled()
    tables["targets"] = np.full_like(tables["targets"], value)
    check_alignments(tables, random.Random(2))


def test_kernels_survive_unterminated_phrases() -> None:
    # A node that is its own child makes every run of its word a phrase.
    lexicon_words = ("big",)
    tables = compiled()
    n = len(tables["node_words"])
    word = int(np.flatnonzero(tables["node_words"])[0])
    tables["node_words"] = np.full(n, tables["node_words"][word])
    tables["node_children"] = np.minimum(np.arange(n + 1, dtype=np.uint32), n)
    tables["node_targets"] = tables["node_targets"].copy()
    lexicon = MeteorLexicon(tables)
    lexicon.learn(0, (*lexicon_words, *WORDS), (*lexicon_words, *WORDS))
    ids = np.zeros(1_000, np.int32)
    for start, length, other, other_length, _ in meteor_alignment(lexicon, ids, ids, 8).tolist():
        assert length > 0
        assert start + length <= len(ids)
        assert other_length > 0
        assert other + other_length <= len(ids)
