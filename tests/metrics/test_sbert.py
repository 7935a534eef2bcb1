"""sbert, fense and spider-fl: cosines by hand, and the penalty of a small error detector in both of its forms."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
import transformers

import captious
from captious.data import Captions
from captious.errors import CaptiousWarning, ResourceError
from captious.metrics.fense import Fense, Sbert
from captious.metrics.spider import Spider, SpiderFl
from captious.models import Encoder
from captious.models.sentences import MOST_TOKENS, ErrorDetector, sentence_vectors
from tests.support.corpora import table
from tests.support.encoders import WIDTH, save_tiny_encoder

pytestmark = pytest.mark.models

CANDIDATES = ["a dog runs", "A cat on the, red bus.", "", "man man man a bus", "dogs"]
REFERENCES = [["a dog runs on a bus", "the dog runs"], ["a cat"], ["a bus"], ["a man", "the red bus", "bus"], ["dogs"]]
N_CLASSES = 6


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return Encoder(str(save_tiny_encoder("bert", tmp_path_factory.mktemp("encoder"))))


@pytest.fixture(scope="module")
def captions() -> Captions:
    return table(CANDIDATES, REFERENCES)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A detector as FENSE's authors publish theirs: a dict of the encoder's name, the number of classes and weights."""
    folder = tmp_path_factory.mktemp("detector")
    base = save_tiny_encoder("bert", folder / "base", seed=3)
    weights = transformers.AutoModel.from_pretrained(base).state_dict()
    generator = torch.Generator().manual_seed(5)
    state = {f"encoder.{name}": tensor for name, tensor in weights.items()}
    state["encoder.embeddings.position_ids"] = torch.arange(24)[None]
    state["clf.weight"] = torch.randn(N_CLASSES, WIDTH, generator=generator)
    state["clf.bias"] = torch.randn(N_CLASSES, generator=generator)
    path = folder / "echecker.ckpt"
    torch.save({"model_type": str(base), "num_classes": N_CLASSES, "state_dict": state}, path)
    return path


def probabilities(checkpoint: Path, texts: list[str]) -> NDArray[np.float64]:
    """Return FENSE's probabilities: padded to 64 tokens, the state of the first one, a linear layer, a sigmoid."""
    saved = torch.load(checkpoint, weights_only=True)
    model = transformers.AutoModel.from_pretrained(saved["model_type"]).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(saved["model_type"])
    rows = []
    for text in texts:
        plain = re.sub(r"[^\w\s]", "", text).lower()
        inputs: Any = tokenizer([plain], truncation=True, padding="max_length", max_length=24, return_tensors="pt")
        with torch.no_grad():
            first = model(inputs["input_ids"], inputs["attention_mask"]).last_hidden_state[:, 0]
        weights = saved["state_dict"]
        logits = first @ weights["clf.weight"].T + weights["clf.bias"]
        rows.append(torch.sigmoid(logits)[0, -1].item())
    return np.array(rows)


def cosines(encoder: Encoder) -> list[NDArray[np.float32]]:
    return [
        sentence_vectors(encoder, references).vectors @ sentence_vectors(encoder, [candidate]).vectors[0]
        for candidate, references in zip(CANDIDATES, REFERENCES, strict=True)
    ]


def test_sbert_is_the_mean_and_the_best_cosine(encoder: Encoder, captions: Captions) -> None:
    expected = [[of_image.mean(), of_image.max()] for of_image in cosines(encoder)]
    np.testing.assert_allclose(Sbert(model=encoder).scores(captions), expected, atol=1e-6)


def test_long_captions_are_counted(encoder: Encoder) -> None:
    with pytest.warns(CaptiousWarning):
        report = captious.score(["dog " * 40, "a dog"], [["a dog"], ["a dog " * 30]], [Sbert(model=encoder)])
    name = encoder.name
    assert f"1 of 2 candidates is longer than the 24 tokens that {name} reads: the rest is ignored." in report.warnings
    assert f"1 of 2 references is longer than the 24 tokens that {name} reads: the rest is ignored." in report.warnings


def test_probabilities_of_a_checkpoint_are_those_of_its_code(checkpoint: Path) -> None:
    expected = probabilities(checkpoint, CANDIDATES)
    found = ErrorDetector(str(checkpoint)).probabilities(CANDIDATES)
    np.testing.assert_allclose(found, expected, atol=1e-5)  # padding changes the last bits of 32, by processor
    assert len(np.unique(found.round(3))) > 3
    assert ErrorDetector(str(checkpoint)).probabilities([]).shape == (0,)
    assert MOST_TOKENS == 64


def test_a_sequence_classifier_is_a_detector(tmp_path: Path) -> None:
    folder = save_tiny_encoder("bert", tmp_path / "classifier")
    config = transformers.AutoConfig.from_pretrained(folder, num_labels=2)
    model = transformers.AutoModelForSequenceClassification.from_config(config).eval()
    model.save_pretrained(folder)
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(["a dog runs"], return_tensors="pt")
    with torch.no_grad():
        expected = torch.sigmoid(model(inputs["input_ids"]).logits[0, -1]).item()
    detector = ErrorDetector(str(folder))
    assert detector.probabilities(["A dog runs."])[0] == pytest.approx(expected, abs=1e-6)
    assert detector.label.startswith("classifier@")


def test_fense_signature_names_detector_and_threshold(encoder: Encoder, captions: Captions, checkpoint: Path) -> None:
    threshold = float(np.median(probabilities(checkpoint, CANDIDATES)))
    errors = probabilities(checkpoint, CANDIDATES) > threshold + 1e-6
    means = np.array([of_image.mean() for of_image in cosines(encoder)])
    metric = Fense(model=encoder, detector=checkpoint, threshold=threshold + 1e-6)
    expected = np.stack([means * (1 - 0.9 * errors), errors], axis=1)
    np.testing.assert_allclose(metric.scores(captions), expected, atol=1e-6)
    assert 0 < errors.sum() < len(errors)
    assert str(metric.parameters["detector"]).startswith("echecker.ckpt@")
    assert Fense(model=encoder, detector=checkpoint).parameters["threshold"] == 0.9


def test_spider_fl_signature_names_its_parts(meteor_tables: object, captions: Captions, checkpoint: Path) -> None:
    threshold = float(np.median(probabilities(checkpoint, CANDIDATES))) + 1e-6
    errors = probabilities(checkpoint, CANDIDATES) > threshold
    metric = SpiderFl(detector=str(checkpoint), threshold=threshold, parser="bundled")
    spider = Spider(parser="bundled").scores(captions)
    expected = spider * (1 - 0.9 * errors)
    assert spider.any()
    np.testing.assert_allclose(metric.scores(captions), expected, atol=1e-12)
    rows = np.arange(len(captions))
    state = metric.fit(captions.references)
    rewards = metric.row_scores(captions.references, state)(rows, captions.candidates)
    np.testing.assert_allclose(rewards[:, 0], expected, atol=1e-12)
    shown = {*metric.parameters, *metric.fitted_parameters(state)}
    assert {"detector", "threshold", "penalty", "parser", "idf"} <= shown


def test_invalid_error_detectors_are_refused(tmp_path: Path, checkpoint: Path) -> None:
    encoder = str(save_tiny_encoder("bert", tmp_path / "encoder"))
    with pytest.raises(ResourceError, match="no trained classifier: it has no classifier"):
        ErrorDetector(encoder).probabilities(["a"])
    (tmp_path / "text.ckpt").write_text("none")
    with pytest.raises(ResourceError, match="not a checkpoint of FENSE"):
        ErrorDetector(str(tmp_path / "text.ckpt")).probabilities(["a"])
    saved = torch.load(checkpoint, weights_only=True)
    del saved["state_dict"]["encoder.embeddings.word_embeddings.weight"]
    torch.save(saved, tmp_path / "cut.ckpt")
    with pytest.raises(ResourceError, match=r"do not fit .*word_embeddings"):
        ErrorDetector(str(tmp_path / "cut.ckpt")).probabilities(["a"])
