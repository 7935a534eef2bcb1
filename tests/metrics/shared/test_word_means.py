"""MOWE and WEmbSim: transcriptions of the specification on real captions, edge cases, contextual encoders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from captious import Encoder, Mowe, Wembsim, WordVectors, read_captions, score
from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious.metrics.shared.word_vectors import WordMeanMetric
from captious.text import PTB
from captious.text.stop_words import NLTK_STOP_WORDS
from tests.oracles import word_means as oracle
from tests.parity.real_captions import read_lines
from tests.support.corpora import table
from tests.support.encoders import save_tiny_encoder
from tests.support.vector_files import read_text

VECTORS = WordVectors.of(["dog", "cat", "bus", "nt", "dogs"], [[1, 0], [0, 1], [-1, 0], [1, 1], [3, 4]])
METRICS = {"mowe": (Mowe, oracle.mowe, max), "wembsim": (Wembsim, oracle.wembsim, np.mean)}


def value(metric: WordMeanMetric, candidate: str, *references: str) -> float:
    return float(metric.scores(table([candidate], [[*references]]))[0])


@pytest.mark.parametrize("name", METRICS)
def test_word_means_of_real_pairs_equal_the_oracle(name: str, shared_data: Path) -> None:
    make, transcription, combine = METRICS[name]
    glove = shared_data / "vectors" / "glove_100d_captions.txt.gz"
    vectors = read_text(glove)
    records = read_lines(shared_data / "smurf" / "karpathy_4captioners.jsonl.gz")[:1250]
    captions = read_captions({r["image"]: r["captions"][1] for r in records}, {r["image"]: r["refs"] for r in records})
    expected = [
        transcription(
            " ".join(PTB(r["captions"][1])), [" ".join(PTB(ref)) for ref in r["refs"]], NLTK_STOP_WORDS.words, vectors
        )
        for r in records
    ]
    assert sum(map(len, expected)) >= 5000
    for how, combined in ((None, combine), ("max", max), ("mean", np.mean), ("min", min)):
        metric = make(vectors=WordVectors.open(glove), **({} if how is None else {"combine": how}))
        combined_scores = [combined(row) for row in expected]
        np.testing.assert_allclose(metric.scores(captions), combined_scores, rtol=0, atol=1e-12)


def test_word_means_of_edge_cases_are_as_documented() -> None:
    mowe, wembsim = Mowe(vectors=VECTORS), Wembsim(vectors=VECTORS)
    assert value(mowe, "a dog", "the dog") == value(wembsim, "a dog", "the dog") == 1
    assert value(mowe, "a dog", "a bus") == -1
    assert value(wembsim, "a dog", "a bus") == 1  # without its sign
    for candidate, reference in (("", "a dog"), ("a dog", ""), ("the", "the"), ("unknown", "dog"), ("", "")):
        assert value(mowe, candidate, reference) == -1
        assert value(wembsim, candidate, reference) == 0
    # Means that are nothing have no direction.
    assert value(mowe, "dog bus", "dog") == -1
    assert value(wembsim, "dog bus", "dog") == 0


def test_references_are_combined_as_requested() -> None:
    references = ("a dog", "a cat", "nothing known")
    for combine, expected in (("max", 1.0), ("mean", 1 / 3), ("min", 0.0)):
        assert value(Wembsim(vectors=VECTORS, combine=combine), "a dog", *references) == pytest.approx(expected)
    for combine, expected in (("max", 1.0), ("mean", 0.0), ("min", -1.0)):
        assert value(Mowe(vectors=VECTORS, combine=combine), "a dog", *references) == pytest.approx(expected)
    with pytest.raises(UnknownNameError, match="cannot combine references by 'median'"):
        Wembsim(vectors=VECTORS, combine="median")


def test_words_count_as_often_as_they_are_there() -> None:
    assert value(Mowe(vectors=VECTORS), "dog dog dog cat", "dogs") == pytest.approx((3 * 3 + 4) / (5 * np.sqrt(10)))


def test_tokens_lose_letters_for_mowe_alone() -> None:
    assert value(Mowe(vectors=VECTORS), "it isn't", "nt") == pytest.approx(1)  # n't becomes nt
    assert value(Wembsim(vectors=VECTORS), "it isn't", "nt") == 0
    assert value(Mowe(vectors=VECTORS, tokenizer="whitespace"), "Dog.", "dog") == 1
    assert value(Wembsim(vectors=VECTORS, tokenizer="whitespace"), "Dog.", "dog") == 0


def test_many_captions_are_scored_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    captions = table(["dog", "cat dog", "", "bus"] * 5, [["cat", "dogs dog"], ["dog"], ["dog"], ["nt", "cat", ""]] * 5)
    whole = Wembsim(vectors=VECTORS).scores(captions)
    monkeypatch.setattr("captious.metrics.shared.word_vectors._ROWS_AT_ONCE", 3)
    np.testing.assert_array_equal(Wembsim(vectors=VECTORS).scores(captions), whole)


# ---- contextual


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return save_tiny_encoder("bert", tmp_path_factory.mktemp("encoder"))


def contextual(encoder: Encoder, text: str, layer: int) -> np.ndarray | None:
    """Return mean over words without stop words of the means of their pieces, text by text."""
    tokenizer = encoder.tokenizer
    words = PTB(text)
    encoded = tokenizer([words], is_split_into_words=True, truncation=True, max_length=encoder.max_length)
    (batch,) = encoder.run(encoded["input_ids"], [layer])
    states, of_piece = batch.hidden[layer][0].astype(float), encoded.word_ids(0)
    vectors = [
        states[[piece for piece, own in enumerate(of_piece) if own == word]].mean(axis=0)
        for word in range(len(words))
        if words[word] not in NLTK_STOP_WORDS and word in of_piece
    ]
    return np.mean(vectors, axis=0) if vectors else None


@pytest.mark.models
@pytest.mark.parametrize("layer", [None, 0, 2])
def test_word_means_use_the_embeddings_of_encoders(folder: Path, layer: int | None) -> None:
    encoder = Encoder(str(folder))
    candidates = ["a dog runs on the red bus", "the", "", "two dogs", "cat " * 40]
    references = [["a dog runs", "the red bus runs"], ["a dog"], ["dog"], ["dogs run", "a man."], ["cat on a bus"]]
    scores = Wembsim(model=encoder, layer=layer).scores(table(candidates, references))
    expected = []
    for candidate, own in zip(candidates, references, strict=True):
        ours = contextual(encoder, candidate, 1 if layer is None else layer)
        theirs = [contextual(encoder, reference, 1 if layer is None else layer) for reference in own]
        values = [0 if ours is None or vector is None else abs(oracle.cosine(ours, vector)) for vector in theirs]
        expected.append(np.mean(values))
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert scores[1] == scores[2] == 0


@pytest.mark.models
def test_encoders_by_name(folder: Path) -> None:
    settings = Settings(vectors=VECTORS)
    text = f"mowe:model={folder},vectors=none,layer=2,combine=min"
    (chosen,) = select([text], settings)  # what is said of the metric goes before
    signature = chosen.metric.signatures()[0]
    assert signature.startswith(f"mowe|variant:official|tokenizer:ptb|model:{folder.name}@")
    assert "|layer:2|stop-words:nltk|combine:min|" in signature
    assert "vectors" not in signature
    contextual = f"wembsim:model={folder},vectors=none"
    report = score(["a dog"], [["a dog", "a cat"]], [contextual, "wembsim"], settings=settings)
    assert len({json.dumps(result.signature) for result in report.values()}) == 2


def test_vectors_and_models_exclude_each_other() -> None:
    with pytest.raises(ParameterError, match="takes word vectors or a model"):
        Mowe(vectors=VECTORS, model="some-model")
    with pytest.raises(ParameterError, match="cannot use layer 2 with word vectors"):
        Mowe(vectors=VECTORS, layer=2)
    with pytest.raises(ParameterError, match="invalid layer for mowe: -1"):
        Mowe(model="some-model", layer=-1)
