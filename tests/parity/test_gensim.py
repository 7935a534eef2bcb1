"""Word mover's distances against gensim's ``wmdistance``, which solves with POT; and gensim's files."""

from __future__ import annotations

import gzip
import logging
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious import Captions, Wmd, WordVectors, read_captions
from captious.errors import ResourceError
from captious.resources.vectors import VectorFile
from captious.text import PTB
from captious.text.stop_words import NLTK_STOP_WORDS
from tests.parity.real_captions import read_lines
from tests.support.corpora import table

keyedvectors: Any = pytest.importorskip("gensim.models.keyedvectors", exc_type=ImportError)
pytest.importorskip("ot", exc_type=ImportError)

NORM = {"mtanti": False, "lceval": True}


@pytest.fixture(scope="module")
def glove(shared_data: Path) -> Path:
    return shared_data / "vectors" / "glove_100d_captions.txt.gz"


@pytest.fixture(scope="module")
def official(glove: Path) -> Any:
    logging.getLogger("gensim").setLevel(logging.ERROR)
    with gzip.open(glove, "rt", encoding="utf-8") as file:
        rows = [line.split(" ") for line in file]
    found = keyedvectors.KeyedVectors(len(rows[0]) - 1)
    found.add_vectors([word for word, *_ in rows], np.array([numbers for _, *numbers in rows], np.float32))
    return found


def content(caption: str) -> list[str]:
    return [token for token in PTB(caption) if token not in NLTK_STOP_WORDS]


def expected(official: Any, captions: Captions, norm: bool) -> list[float]:
    texts, offsets = captions.references.texts, captions.references.offsets
    return [
        official.wmdistance(content(candidate), content(reference), norm=norm)
        for i, candidate in enumerate(captions.candidates)
        for reference in texts[offsets[i] : offsets[i + 1]]
    ]


@pytest.mark.parametrize("variant", Wmd.variants)
def test_distances_of_karpathy_pairs_equal_gensim(variant: str, official: Any, glove: Path, shared_data: Path) -> None:
    records = read_lines(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz")[:1250]
    captions = read_captions({r["image"]: r["captions"][1] for r in records}, {r["image"]: r["refs"] for r in records})
    found = Wmd(vectors=WordVectors.open(glove), variant=variant).distances(captions)
    assert len(found) > 5000
    np.testing.assert_allclose(found, expected(official, captions, NORM[variant]), rtol=0, atol=1e-6)


@pytest.mark.parametrize("variant", Wmd.variants)
def test_distances_of_random_bags_equal_gensim(variant: str, official: Any, glove: Path) -> None:
    rng = random.Random(4)
    words = [word for word in official.index_to_key[:3000] if content(word) == [word]]

    def bag() -> str:
        size = rng.choice([0, 1, 1, 2, 5, 12, 40])
        known = rng.choices(rng.sample(words, 12), k=size)
        return " ".join([*known, *["qqzx"] * rng.choice([0, 0, 0, 2])])

    pairs = [(bag(), bag()) for _ in range(440)]
    pairs += [(word, word) for word in words[:30]] + [(f"{word} {word}", word) for word in words[30:60]]
    captions = table([candidate for candidate, _ in pairs], [[reference] for _, reference in pairs])
    found = Wmd(vectors=WordVectors.open(glove), variant=variant, tokenizer="whitespace").distances(captions)
    wanted = expected(official, captions, NORM[variant])
    assert np.isinf(wanted).sum() > 20
    assert sum(distance == 0 for distance in wanted) >= 20
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6)


def test_words_of_equal_vectors(tmp_path: Path) -> None:
    # Two different words without any distance between them: gensim gives up, and says infinite.
    words, vectors = ["one", "uno", "two"], np.array([[1, 2], [1, 2], [3, 1]], np.float32)
    official = keyedvectors.KeyedVectors(2)
    official.add_vectors(words, vectors)
    pairs = [("one", "uno"), ("one uno", "uno"), ("one", "one"), ("one two", "uno two"), ("one one", "one")]
    captions = table([candidate for candidate, _ in pairs], [[reference] for _, reference in pairs])
    metric = Wmd(vectors=WordVectors.of(words, vectors), tokenizer="whitespace")
    wanted = [official.wmdistance(a.split(), b.split(), norm=False) for a, b in pairs]
    np.testing.assert_allclose(metric.distances(captions), wanted, atol=1e-9)
    assert wanted[:3] == [np.inf, np.inf, 0]


# ---- files that gensim writes


@pytest.fixture
def trained(shared_data: Path) -> Any:
    fasttext: Any = pytest.importorskip("gensim.models.fasttext", exc_type=ImportError)
    records = read_lines(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz")[:300]
    sentences = [PTB(reference) for record in records for reference in record["refs"]]
    settings = {"vector_size": 12, "min_count": 2, "epochs": 2, "bucket": 500, "workers": 1, "seed": 1}
    return fasttext.FastText(sentences, **settings)


def check(file: VectorFile, official: Any, unknown: list[str]) -> None:
    index = file.compiled(file.checksum())
    assert len(index) == len(official.index_to_key)
    words = [*official.index_to_key, *unknown]
    known, found = index.look_up(words)
    assert known.all()
    np.testing.assert_allclose(found, [official[word] for word in words], rtol=1e-5, atol=1e-7)


def test_fasttext_models_are_read_as_by_gensim(trained: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fasttext: Any = pytest.importorskip("gensim.models.fasttext", exc_type=ImportError)
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    fasttext.save_facebook_model(trained, str(tmp_path / "model.bin"))
    with open(tmp_path / "model.bin", "rb") as file:
        official = fasttext.load_facebook_vectors(file.name)
    check(VectorFile(tmp_path / "model.bin"), official, [])
    check(VectorFile(tmp_path / "model.bin", subwords=True), official, ["skateboardings", "café", "犬", "x"])


@pytest.mark.parametrize("limit", [1, 1 << 30], ids=["two files", "one file"])
def test_keyed_vectors_are_read_as_by_gensim(
    trained: Any, limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    plain = keyedvectors.KeyedVectors(12)
    plain.add_vectors(trained.wv.index_to_key, trained.wv.vectors)
    plain.save(str(tmp_path / "plain"), sep_limit=limit)
    assert (tmp_path / "plain.vectors.npy").exists() == (limit == 1)
    check(VectorFile(tmp_path / "plain"), plain, [])
    trained.wv.save(str(tmp_path / "fasttext"), sep_limit=limit)
    with pytest.raises(ResourceError, match="gensim FastText vectors, which are saved in several files"):
        VectorFile(tmp_path / "fasttext").compiled("0" * 16)


@pytest.mark.parametrize("binary", [False, True])
def test_word2vec_files_are_read_as_by_gensim(
    trained: Any, binary: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    trained.wv.save_word2vec_format(str(tmp_path / "vectors"), binary=binary)
    check(VectorFile(tmp_path / "vectors"), trained.wv, [])
