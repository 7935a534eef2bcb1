"""The scores and signatures of metrics on neural encoders, with small models of random weights, and of networks that
are trained here.

Encoders compute in single precision, and another number of threads or another processor adds in another order: their
scores may differ by ``ENCODED``. A signature has checksums of the weights, which versions of torch draw otherwise: they
are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from tests.golden.calls import command, scored, scores
from tests.golden.captions import EXAMPLES, REFERENCES
from tests.golden.record import Record
from tests.support.encoders import random_head, save_tiny_encoder
from tests.support.random_roberta import random_roberta
from tests.support.tiny_clip import save_pictures, save_tiny_clip

pytestmark = [
    pytest.mark.models,
    pytest.mark.filterwarnings("ignore::captious.CaptiousWarning"),
    pytest.mark.usefixtures("meteor_tables"),
]

pytest.importorskip("torch")
pytest.importorskip("transformers")

#: Of scores from encoders.
ENCODED = 1e-5
#: Of SMURF, which divides by small standard deviations.
STANDARDIZED = 1e-3
#: Of networks after a training in single precision.
TRAINED = 1e-4

IMPROVED = str(EXAMPLES / "improved.json")
#: Words that the small models know, and others; an empty and a long caption.
CANDIDATES = {
    **{1: "a dog runs", 2: "A cat on the, red bus.", 3: "", 4: "man man man a bus", 5: "the horses", 6: "dog " * 40},
}
TEXTS = {
    **{1: ["a dog runs on a bus", "the dog runs"], 2: ["a cat"], 3: ["a bus"], 4: ["a man", "the red bus", "bus"]},
    **{5: ["dogs", "a horse"], 6: ["a dog", "dog dog"]},
}


def without_checksums(documents: Mapping[str, Any]) -> dict[str, Any]:
    """Return scores whose signatures have no checksums and no folders of models."""
    return {
        name: {**document, "signature": re.sub(r"(?<=[-@])[0-9a-f]{8,}\b", "*", document["signature"])}
        for name, document in documents.items()
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def bert(folder: Path) -> str:
    return str(save_tiny_encoder("bert", folder / "tiny-bert"))


@pytest.fixture(scope="module")
def roberta(folder: Path) -> str:
    return str(random_roberta(folder / "tiny-roberta"))


@pytest.fixture(scope="module")
def clip(folder: Path) -> str:
    return str(save_tiny_clip(folder / "tiny-clip"))


@pytest.fixture(scope="module")
def detector(folder: Path) -> str:
    """A classifier of sentences with an error, with random weights."""
    import torch
    import transformers

    path = save_tiny_encoder("bert", folder / "tiny-detector", seed=3)
    config = transformers.AutoConfig.from_pretrained(path, num_labels=2)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(8)
        model = transformers.AutoModelForSequenceClassification.from_config(config)
        for weights in model.parameters():
            if weights.ndim > 1:
                torch.nn.init.normal_(weights, std=0.3)
    model.save_pretrained(path)
    return str(path)


@pytest.fixture(scope="module")
def pictures(folder: Path) -> str:
    pytest.importorskip("PIL")
    (folder / "pictures").mkdir()
    return str(save_pictures(folder / "pictures", [f"{image}.png" for image in CANDIDATES]))


# ---- encoders of text


ENCODERS = {
    "bertscore": ["bertscore-p", "bertscore-r", "bertscore-f", *(f"bertscore-{x}@torchmetrics" for x in "prf")],
    "yi2020": ["yi2020", "yi2020@paper"],
    "sbert": ["sbert", "sbert-best"],
}
GRAPHS = {
    "soft-spice": [
        *("soft-spice", "soft-spice-p", "soft-spice-r"),
        *("soft-spice@two-sided", "soft-spice-p@two-sided", "soft-spice-r@two-sided"),
    ],
    "capture": ["capture", "capture-p", "capture-r", "capture-object", "capture-attribute", "capture-relation"],
}


@pytest.mark.parametrize("name", [*ENCODERS, *GRAPHS])
def test_encoders(name: str, record: Record, bert: str) -> None:
    parsed = {"parser": "bundled"} if name in GRAPHS else {}
    settings: dict[str, Any] = {"model": bert, **parsed}
    requests = (ENCODERS | GRAPHS)[name]
    words = scores(scored(CANDIDATES, TEXTS, requests, **settings))
    examples = scores(scored(IMPROVED, REFERENCES, requests, **settings))
    record(
        f"models/{name}",
        {"words": without_checksums(words), "examples": without_checksums(examples)},
        tolerance=ENCODED,
    )


@pytest.mark.parametrize("name", ["spurts", "mima", "smurf"])
def test_smurf(name: str, record: Record, roberta: str) -> None:
    variants = [name] if name == "mima" else [name, f"{name}@paper"]
    report = scored(IMPROVED, REFERENCES, variants, model=roberta)
    record(f"models/{name}", without_checksums(scores(report)), tolerance=STANDARDIZED)


def test_errors_of_fluency(record: Record, bert: str, detector: str) -> None:
    options = f"detector={detector},threshold=0.5"
    report = scored(IMPROVED, REFERENCES, [f"fense:{options}", f"fense-error:{options}"], model=bert)
    spider = scored(IMPROVED, REFERENCES, [f"spider-fl:{options}"], parser="bundled")
    both = {**scores(report), **scores(spider)}
    found = without_checksums({name.partition(":")[0]: values for name, values in both.items()})
    assert 0 < found["fense-error"]["score"] < 1
    record("models/fense", found, tolerance=ENCODED)


# ---- encoders of text and images


@pytest.mark.parametrize("variant", ["official", "pac-s"])
def test_clip(variant: str, record: Record, clip: str, pictures: str) -> None:
    requests = [f"clipscore@{variant}", f"refclipscore@{variant}"]
    report = scored(CANDIDATES, TEXTS, requests, model=clip, images=pictures)
    record(f"models/clipscore-{variant}", without_checksums(scores(report)), tolerance=ENCODED)


# ---- our metric with an encoder


FULL = ["concur@full", "concur-precision@full", "concur-recall@full"]


@pytest.mark.slow
def test_concur_with_its_own_encoder(record: Record, minilm: str) -> None:
    """The encoder that the package's head was trained for."""
    report = scored(IMPROVED, REFERENCES, FULL, model=minilm)
    record("models/concur-full", scores(report), tolerance=ENCODED)


def test_concur_with_a_head_of_its_own(record: Record, bert: str) -> None:
    encoder = captious.Encoder(bert)
    metric = captious.Concur(model=encoder, weights=random_head(encoder))
    report = scored(CANDIDATES, TEXTS, [metric])
    found = {values["signature"].partition("|")[0]: values for values in scores(report).values()}
    record("models/concur-own", without_checksums(found), tolerance=ENCODED)


# ---- networks that are trained


NETWORK = """base = "lceval"
epochs = 4
hidden = [3]
features = {name = "small", features = ["bleu-1", "rouge-l", "cider-d:idf=coco"]}
"""
CRITIQUE = """base = "leic"
width = 6
units = 5
hidden = 4
epochs = 2
images_per_batch = 8
"""


@pytest.mark.slow
def test_networks_that_are_trained(record: Record, tmp_path: Path) -> None:
    """The examples for training, which are drawn at random, and the scores of the network."""
    examples, weights = tmp_path / "examples.jsonl", tmp_path / "own.safetensors"
    systems = (str(EXAMPLES / "baseline.json"), IMPROVED)
    command("learn", "data", REFERENCES, *systems, "--validation", "0.25", "-o", examples)
    (tmp_path / "recipe.toml").write_text(NETWORK)
    command("learn", "train", examples, "--recipe", tmp_path / "recipe.toml", "-o", weights, "--force")
    report = scored(IMPROVED, REFERENCES, [f"lceval:weights={weights}"])
    [values] = without_checksums(scores(report)).values()
    record(
        "models/lceval-trained",
        {"examples": [json.loads(line) for line in examples.read_text("utf-8").splitlines()], "scores": values},
        tolerance=TRAINED,
    )


@pytest.mark.slow
@pytest.mark.parametrize("images", [False, True], ids=["text", "images"])
def test_critiques_that_are_trained(images: bool, record: Record, tmp_path: Path) -> None:
    weights, features = tmp_path / "own.safetensors", tmp_path / "features.npz"
    (tmp_path / "recipe.toml").write_text(CRITIQUE)
    options: list[str | Path] = ["--recipe", tmp_path / "recipe.toml", "-o", weights]
    settings: dict[str, Any] = {}
    if images:
        ids = [row["image_id"] for row in json.loads(Path(IMPROVED).read_text("utf-8"))]
        vectors = np.random.default_rng(0).normal(size=(len(ids), 7)).astype(np.float32)
        np.savez(features, ids=ids, features=vectors, model="noise")
        options += ["--images", features]
        settings["images"] = str(features)
    command("learn", "critique", REFERENCES, str(EXAMPLES / "baseline.json"), *options)
    found = {}
    for variant in ("official", "paper"):
        report = scored(IMPROVED, REFERENCES, [f"leic@{variant}:weights={weights}"], **settings)
        [found[variant]] = without_checksums(scores(report)).values()
    record(f"models/leic-{'images' if images else 'text'}", found, tolerance=TRAINED)
