"""Corrupted captions: as many as requested, with measures computed by hand."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import captious
from captious.data import References, read_references
from captious.judgment.studies import robustness
from captious.judgment.studies.references import PATHOLOGIES, Specimens
from captious.text import PTB

RANDOM_CAPTIONS, WORD_PERMUTATION, RANDOM_WORDS = PATHOLOGIES
VOCABULARY = [f"v{i}" for i in range(50)]


def specimens(lengths: Sequence[int], seed: int = 0) -> Specimens:
    """Return captions of words that are all different."""
    words = [[f"w{row}.{i}" for i in range(length)] for row, length in enumerate(lengths)]
    n = len(lengths)
    references = References(tuple(range(n)), tuple(map(str, range(n))), np.arange(n + 1))
    return Specimens(words, references, VOCABULARY, np.random.default_rng(seed))


def broken(found: Specimens, pathology: str, strength: float) -> list[list[str]]:
    return [text.split(" ") if text else [] for text in found.captions(pathology, strength).candidates]


some_lengths = st.lists(st.integers(0, 14), min_size=2, max_size=12)
some_strengths = st.floats(0, 1)


@given(lengths=some_lengths, strength=some_strengths, seed=st.integers(0, 99))
def test_permutation_moves_the_requested_share_of_words(lengths: list[int], strength: float, seed: int) -> None:
    found = specimens(lengths, seed)
    for words, other in zip(found.words, broken(found, WORD_PERMUTATION, strength), strict=True):
        moved = sum(a != b for a, b in zip(words, other, strict=True))
        asked = round(strength * len(words))
        assert Counter(other) == Counter(words)
        if len(words) < 2:
            assert moved == 0
        elif asked == 1:  # one word cannot change places alone
            assert moved in (0, 2)
        else:
            assert moved == asked


def test_permutation_of_one_word_moves_two_half_of_the_time() -> None:
    found = specimens([10] * 2000)
    moved = [
        sum(a != b for a, b in zip(words, other, strict=True))
        for words, other in zip(found.words, broken(found, WORD_PERMUTATION, 0.1), strict=True)
    ]
    assert set(moved) == {0, 2}
    assert np.mean(moved) == pytest.approx(1, abs=0.1)


@given(lengths=some_lengths, strength=some_strengths, seed=st.integers(0, 99))
def test_random_words_replace_the_requested_share_of_words(lengths: list[int], strength: float, seed: int) -> None:
    found = specimens(lengths, seed)
    for words, other in zip(found.words, broken(found, RANDOM_WORDS, strength), strict=True):
        assert len(other) == len(words)
        new = [b for a, b in zip(words, other, strict=True) if a != b]
        assert len(new) == round(strength * len(words))
        assert set(new) <= set(VOCABULARY)


@given(lengths=some_lengths, strength=some_strengths, seed=st.integers(0, 99))
def test_random_captions_are_those_of_other_images(lengths: list[int], strength: float, seed: int) -> None:
    lengths = [length + 1 for length in lengths]  # so that captions differ
    found = specimens(lengths, seed)
    after = broken(found, RANDOM_CAPTIONS, strength)
    changed = [row for row, words in enumerate(found.words) if after[row] != words]
    assert len(changed) == round(strength * len(lengths))
    assert all(after[row] in found.words for row in changed)
    everywhere = broken(found, RANDOM_CAPTIONS, 1.0)
    assert sorted(everywhere) == sorted(found.words)


@pytest.mark.parametrize("pathology", [RANDOM_CAPTIONS, RANDOM_WORDS])
def test_corruption_is_nested_by_strength(pathology: str) -> None:
    found = specimens([9, 12, 7, 11, 10, 8, 9, 10])
    weak, strong = (broken(found, pathology, strength) for strength in (0.4, 0.8))
    for words, a, b in zip(found.words, weak, strong, strict=True):
        for intact, once, twice in zip(words, a, b, strict=False):
            assert once in (intact, twice)


def test_replacements_come_from_the_whole_vocabulary() -> None:
    found = specimens([10] * 200)
    seen = Counter(word for words in broken(found, RANDOM_WORDS, 1.0) for word in words)
    assert set(seen) == set(VOCABULARY)
    assert max(seen.values()) < 2.5 * min(seen.values())


# ---- the study


class Witness:
    """A metric that records its input: length in characters, which only other words change."""

    __name__ = "witness"

    def __init__(self) -> None:
        self.seen: list[tuple[list[str], list[list[str]]]] = []

    def __call__(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[int]:
        self.seen.append((list(candidates), [list(some) for some in references]))
        return [len(candidate) for candidate in candidates]


@pytest.fixture(scope="module")
def captions(shared_data: Path) -> dict[str, list[str]]:
    """300 images of COCO with five references each, and one with a single reference."""
    content = json.loads(gzip.decompress((shared_data / "coco" / "karpathy_test_refs.json.gz").read_bytes()))
    return {**{image: texts[:5] for image, texts in list(content.items())[:300]}, "lonely": ["a dog"]}


def test_held_out_reference_is_corrupted(captions: dict[str, list[str]]) -> None:
    witness = Witness()
    study = robustness(captions, witness, sample=None, strengths=[1.0], resamples=1)
    (intact, rest), (others, rest_again), (permuted, _), _ = witness.seen
    images = [texts for image, texts in captions.items() if image != "lonely"]
    assert rest == rest_again
    places = set()
    for candidate, kept, texts in zip(intact, rest, images, strict=True):
        assert len(kept) == len(texts) - 1
        held = [text for text in texts if " ".join(PTB(text)) == candidate]
        assert held
        assert Counter(kept) <= Counter(texts)
        assert (Counter(texts) - Counter(kept)).popitem()[0] in held
        places.add(texts.index(held[0]))
    assert len(places) == 5
    assert Counter(others) == Counter(intact)
    assert all(Counter(a.split()) == Counter(b.split()) for a, b in zip(intact, permuted, strict=True))
    assert study.notes[-1].startswith("Excluded: 1 image with a single reference")
    assert study.settings["images"] == 300


@pytest.mark.filterwarnings("ignore:.*ends? within a sentence:captious.CaptiousWarning")
def test_areas_integrate_normalized_scores(captions: dict[str, list[str]]) -> None:
    """Against the public scores of the very captions that a metric was shown."""
    witness = Witness()
    metrics = ["bleu-4", "cider-d"]
    study = robustness(captions, [*metrics, witness], sample=120, strengths=[0.25, 1.0], resamples=30, seed=3)
    ptb = captious.Settings(tokenizer="ptb")
    reports = [captious.score(candidates, references, metrics, settings=ptb) for candidates, references in witness.seen]
    for number, pathology in enumerate(PATHOLOGIES):
        for metric in metrics:
            (record,) = (r for r in study.records if (r["pathology"], r["metric"]) == (pathology, metric))
            intact = reports[0][metric].score
            weak, strong = (reports[1 + 2 * number + i][metric].score / intact for i in (0, 1))
            assert record["intact"] == intact
            assert [record["at 0.25"], record["at 1"]] == pytest.approx([weak, strong], abs=1e-12)
            by_hand = 0.25 * (1 + weak) / 2 + 0.75 * (weak + strong) / 2
            assert record["area"] == pytest.approx(by_hand, abs=1e-12)
            assert record["ci95_low"] < record["area"] < record["ci95_high"]
            line = study.pictures[pathology.replace(" ", "-")].lines[metric]
            assert line.x.tolist() == [0, 0.25, 1]
            assert line.y.tolist() == [1, record["at 0.25"], record["at 1"]]
            assert line.low[0] == line.high[0] == 1
            assert (line.low[1:] < line.y[1:]).all()
            assert (line.y[1:] < line.high[1:]).all()


def test_the_area_is_a_share_of_the_strengths_asked_for(captions: dict[str, list[str]]) -> None:
    study = robustness(captions, "bleu-1", sample=50, strengths=[0.5], resamples=1)
    for record in study.records:
        assert record["area"] == pytest.approx((1 + record["at 0.5"]) / 2)


def test_default_strengths_are_tenths(captions: dict[str, list[str]]) -> None:
    study = robustness(captions, "bleu-1", sample=5, resamples=1)
    assert [key for key in study.records[0] if key.startswith("at ")] == [f"at {n / 10:g}" for n in range(1, 11)]
    assert study.settings["strengths"] == [n / 10 for n in range(11)]


def test_unigram_metrics_do_not_detect_permutation(captions: dict[str, list[str]]) -> None:
    study = robustness(captions, ["bleu-1", "rouge-l"], strengths=[0.5, 1.0], resamples=10)
    areas = {r["metric"]: r["area"] for r in study.records if r["pathology"] == WORD_PERMUTATION}
    assert areas["bleu-1"] == pytest.approx(1)
    assert areas["rouge-l"] < 0.95


def test_seed_determines_corruption(captions: dict[str, list[str]]) -> None:
    def records(seed: int) -> list[dict[str, Any]]:
        study = robustness(captions, "cider-d", sample=40, strengths=[0.5], resamples=20, seed=seed)
        return [dict(record) for record in study.records]

    assert records(1) == records(1)
    assert records(1) != records(2)


def test_study_records_input_files(captions: dict[str, list[str]], tmp_path: Path) -> None:
    import zlib

    path = tmp_path / "some.json"
    path.write_text(json.dumps(captions))
    study = robustness(path, "bleu-1", sample=20, strengths=[1.0], resamples=1)
    assert study.data == {"some.json": f"{zlib.crc32(path.read_bytes()):08x}"}
    assert "some.json" in study.title


@pytest.mark.slow
def test_known_metrics_detect_known_corruptions(shared_data: Path, meteor_tables: object) -> None:
    """Of Cui et al. 2018 on 5,000 images: n-gram metrics hardly notice that a few words change places, all but BLEU-4;
    random captions leave more of BLEU-1, ROUGE-L and METEOR than of CIDEr-D."""
    references = read_references(shared_data / "coco" / "captions_val2014.json.gz")
    metrics = ["bleu-1", "bleu-4", "rouge-l", "meteor", "cider-d", "cider"]
    study = robustness(references, metrics, strengths=[0.1, 0.5, 1.0], resamples=200)
    found = {(r["pathology"], r["metric"]): r for r in study.records}
    for metric in ("bleu-1", "rouge-l", "meteor", "cider-d", "cider"):
        assert found[WORD_PERMUTATION, metric]["at 0.1"] > 0.9
        assert found[WORD_PERMUTATION, metric]["at 1"] > 0.65
    assert found[WORD_PERMUTATION, "bleu-4"]["at 0.1"] < 0.85
    assert found[WORD_PERMUTATION, "bleu-4"]["at 1"] < 0.15
    for metric in ("bleu-1", "rouge-l", "meteor"):
        assert found[RANDOM_CAPTIONS, metric]["ci95_low"] > found[RANDOM_CAPTIONS, "cider-d"]["ci95_high"] + 0.1
        assert found[RANDOM_CAPTIONS, metric]["at 1"] > 0.25
    for metric in ("cider-d", "cider"):
        assert found[RANDOM_CAPTIONS, metric]["at 1"] < 0.05
