"""Files of the weights of all learned metrics: read back as they were written, and hostile ones refused."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from safetensors.numpy import load, save

from captious.errors import ResourceError
from captious.learned.caption_features import EncoderHead
from captious.learned.caption_weights import FEATURES, LANGUAGES, OF_PACKAGE, PENALTIES, CaptionWeights
from captious.learned.files import bundled
from captious.learned.networks import Feature, FeatureSet, Network, NetworkWeights
from tests.learned.test_network import random_network
from tests.support.critiques import random_critique, small_recipe


def trained(network: Network | None = None) -> NetworkWeights:
    """Return a metric with every field."""
    features = FeatureSet("three", (Feature("bleu-1"), Feature("rouge-l", 0.5), Feature("cider-d:idf=coco")))
    return NetworkWeights(
        *("lceval", "test", features, network or random_network(3, 5, 2)),
        recipe={"epochs": 3, "hidden": [5]},
        resources={"tokenizer": "ptb"},
        data={"examples": {"rows": 7}},
        figures={"best_epoch": 2, "tau": 0.1 + 0.2},
    )


class Kind(NamedTuple):
    """Weights of a metric, the entry of the plain values in their files, what advice names, and their tolerance."""

    weights: Any
    entry: str
    advice: str
    tolerance: float = 0


CONCUR, HEAD = CaptionWeights.load(), EncoderHead.load()
KINDS = {
    "concur": Kind(CONCUR, "about", "training/concur/train.py", 1e-6),
    "head": Kind(HEAD, "head", "train_head.py", 1e-6),
    "network": Kind(trained(), "captious", "captious learn train"),
    "critique": Kind(random_critique(small_recipe("bilinear", "context")), "captious", "captious learn critique"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of each kind."""
    paths = {name: tmp_path_factory.mktemp("weights") / f"{name}.safetensors" for name in KINDS}
    for name, path in paths.items():
        KINDS[name].weights.save(path)
    return paths


def check_same(a: Any, b: Any, tolerance: float) -> None:
    """Compare all parts of two objects; the names of concur's weights are those of files."""
    assert type(a) is type(b)
    if is_dataclass(a) or hasattr(a, "arrays"):
        names = [field.name for field in fields(a)] if is_dataclass(a) else ["recipe", "arrays"]
        is_named = isinstance(a, CaptionWeights | EncoderHead)
        for name in names:
            if not (name == "name" and is_named):
                check_same(getattr(a, name), getattr(b, name), tolerance)
    elif isinstance(a, np.ndarray):
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)
    elif isinstance(a, Mapping):
        assert a.keys() == b.keys()
        check_same([*map(a.get, a)], [*map(b.get, a)], tolerance)
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            check_same(one, other, tolerance)
    else:
        assert a == b


@pytest.mark.parametrize("name", KINDS)
def test_saved_weights_are_read_back(name: str, files: dict[str, Path], tmp_path: Path) -> None:
    kind = KINDS[name]
    read = type(kind.weights).load(files[name])
    check_same(read, kind.weights, kind.tolerance)
    (tmp_path / "same.safetensors").write_bytes(changed(files[name].read_bytes(), kind.entry))
    check_same(type(read).load(tmp_path / "same.safetensors"), read, kind.tolerance)
    if not kind.tolerance:
        assert read.label == kind.weights.label
        read.save(tmp_path / "again.safetensors")
        assert (tmp_path / "again.safetensors").read_bytes() == files[name].read_bytes()


def changed(content: bytes, entry: str, value: Any = None, **arrays: Any) -> bytes:
    """Return a file with some other plain values (or text in their place), or arrays, of which None are left out."""
    size = int.from_bytes(content[:8], "little")
    plain = json.loads(json.loads(content[8 : 8 + size])["__metadata__"][entry])
    text = value if isinstance(value, str) else json.dumps(plain | (value or {}))
    tensors = load(content) | {name.replace("__", "."): array for name, array in arrays.items()}
    return save({name: array for name, array in tensors.items() if array is not None}, {entry: text})


#: Files of any kind, and changes of plain values and arrays of a kind.
HOSTILE: dict[str, bytes] = {
    "empty": b"",
    "no safetensors": b"PK\x03\x04" + bytes(100),
    "a header beyond the file": (1 << 60).to_bytes(8, "little") + b"{}",
    "another program's": save({"layer0.weight": np.ones((3, 2))}, {"format": "pt"}),
    "no metadata": save({"a": np.zeros(3)}),
    "no JSON": save({"a": np.zeros(3)}, {"about": "{", "head": "{", "captious": "{"}),
}
BIASES = np.zeros(2)
CHANGES: dict[str, dict[str, Any]] = {
    "concur": {
        "about no language": {"value": "{}"},
        "no words": {"words": None},
        "a word twice": {"words": np.frombuffer(b"dog\ndog", np.uint8)},
        "no UTF-8": {"words": np.frombuffer(b"\xff\xfe", np.uint8)},
        "few vectors": {"vectors": np.zeros((3, 2), np.int8)},
        "not a number": {"vectors__scales": np.full(len(CONCUR.words), np.nan, np.float32)},
        "a short score": {"score": np.zeros(2)},
        "no deviation": {"soundness": np.zeros(2)},
        "no subwords": {"subwords": None},
        "a synonym of no word": {"synonyms": np.full((1, 2), len(CONCUR.words), np.int32)},
    },
    "head": {
        "a list": {"value": "[]"},
        "a number": {"value": {"encoder": 1}},
        "no matrix": {"matrix": None},
        "few rows": {"matrix": np.zeros((3, 2), np.int8)},
        "not a number": {"matrix__scales": np.full(len(HEAD.matrix), np.nan, np.float32)},
        "short probes": {"probes": np.zeros((4, 2), np.float32)},
        "a short score": {"score": np.zeros(3)},
    },
    "network": {
        "deep JSON": {"value": "[" * 50_000},
        "another format": {"value": {"format": 2}},
        "too few features": {"value": {"features": FeatureSet("one", (Feature("bleu-1"),)).to_dict()}},
        **{
            f"{metric} as a feature": {"value": {"features": {"name": "x", "features": [metric, "bleu-1", "bleu-2"]}}}
            for metric in ("mowe:vectors=/dev/zero", "lceval:weights=x.safetensors")
        },
        "names that are no text": {"value": {"name": "x\n|y"}},
        "tables that are lists": {"value": {"figures": []}},
        "not finite": {"layer1__bias": np.full(2, np.nan)},
        "integers": {"layer1__bias": np.zeros(2, int)},
        "no biases": {"layer1__bias": None},
        "a gap": {
            "layer1__bias": None,
            "layer1__weight": None,
            "layer2__bias": BIASES,
            "layer2__weight": np.ones((5, 2)),
        },
        "three classes": {"layer1__bias": np.zeros(3), "layer1__weight": np.ones((5, 3))},
    },
    "critique": {
        "another format": {"value": {"format": 2}},
        "names that are no text": {"value": {"name": "x\n|y"}},
        "no table": {"value": {"about": []}},
        "another recipe": {"value": {"recipe": small_recipe("concat").to_dict()}},
        "integers": {"output__bias": np.zeros(2, int)},
        "not finite": {"output__bias": np.full(2, np.nan, np.float32)},
    },
}


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name in KINDS for change in (*HOSTILE, *CHANGES[name])]
)
def test_hostile_files_are_refused(name: str, change: str, files: dict[str, Path], tmp_path: Path) -> None:
    kind, path, content = KINDS[name], tmp_path / "hostile.safetensors", files[name].read_bytes()
    hostile = HOSTILE[change] if change in HOSTILE else changed(content, kind.entry, **CHANGES[name][change])
    path.write_bytes(hostile)
    with pytest.raises(ResourceError, match="not weights of concur@full" if name == "head" else None) as refused:
        type(kind.weights).load(path)
    assert str(path) in refused.value.where
    assert kind.advice in refused.value.hint


@pytest.mark.parametrize("name", KINDS)
def test_files_of_other_metrics_are_refused(name: str, files: dict[str, Path]) -> None:
    for other in {*KINDS} - {name}:
        with pytest.raises(ResourceError):
            type(KINDS[name].weights).load(files[other])


@pytest.mark.parametrize("name", ["network", "critique"])
def test_damaged_files_are_read_or_refused(name: str, files: dict[str, Path], tmp_path: Path) -> None:
    """Cut and changed bytes give the weights or an error, and nothing else."""
    path, whole = tmp_path / "weights.safetensors", files[name].read_bytes()
    rng = random.Random(0)
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole[: rng.randrange(len(whole))] if rng.random() < 0.3 else whole)
        for _ in range(rng.randrange(1, 4)):
            if damaged:
                damaged[rng.randrange(min(len(damaged), 1200))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            type(KINDS[name].weights).load(path)
        except ResourceError as error:
            refused += 1
            assert str(path) in str(error)
    assert refused > 100


@pytest.mark.parametrize("name", KINDS)
def test_files_that_are_not_there(name: str, tmp_path: Path) -> None:
    kind = type(KINDS[name].weights)
    with pytest.raises(ResourceError, match="cannot read weights: No such file"):
        kind.load(tmp_path / "none.safetensors")
    with pytest.raises(ResourceError, match="cannot read weights: Is a directory"):
        kind.load(tmp_path)


def test_large_files_are_refused(tmp_path: Path) -> None:
    with (tmp_path / "large.safetensors").open("wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(ResourceError, match="too large"):
        NetworkWeights.load(tmp_path / "large.safetensors")


def test_labels_change_with_every_weight() -> None:
    one = trained()
    bias = one.network.biases[1].copy()
    bias[1] = np.nextafter(bias[1], 9)
    other = trained(Network(one.network.weights, (one.network.biases[0], bias)))
    assert one.label.startswith("test-")
    assert one.label != other.label


def test_a_replaced_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "w.safetensors"
    names = []
    for bias in (0.0, 1.0):
        replace(CONCUR, bias=bias).save(file)
        names.append(CaptionWeights.load(file).name)
    assert names[0] != names[1]


# ---- the weights of the package


@pytest.mark.parametrize("metric", ["nneval", "lceval"])
def test_bundled_networks_record_their_data_and_figures(metric: str) -> None:
    path = bundled(metric)
    assert path.stat().st_size < 200_000
    loaded = NetworkWeights.load(path)
    assert loaded.metric == metric
    assert loaded.network.sizes == {"nneval": (8, 72, 72, 2), "lceval": (16, 12, 2)}[metric]
    assert loaded.data["examples"]["sha256"]
    assert loaded.figures["validation_tau_b"] > max(loaded.figures["feature_tau_b"].values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_weights_of_a_language_are_small_and_no_coefficient_has_the_wrong_sign(language: str) -> None:
    assert bundled(OF_PACKAGE[language]).stat().st_size < 8_000_000
    signs = [-1 if name in PENALTIES else 1 for name in FEATURES]
    assert (CaptionWeights.load(language=language).coefficients * signs >= 0).all()


def test_the_weights_of_concur_say_how_they_were_made() -> None:
    assert {"recipe", "held out", "data", "license"} <= set(CONCUR.about)
    names = {"coco/captions_val2014.json.gz", "cxc/sits.jsonl.gz"}
    assert CONCUR.about["data"].keys() >= names | {"multi30k/train.1.en.gz"}
    assert {"recipe", "right", "data", "license"} <= set(HEAD.about)
    assert HEAD.about["data"].keys() >= names
