"""Files of weights: written and read back, equal bytes for equal weights, and malicious files refused."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from captious.errors import ResourceError
from captious.learned.networks import Feature, FeatureSet, Network, NetworkWeights, bundled
from tests.learned.test_network import random_network

FEATURES = FeatureSet("three", (Feature("bleu-1"), Feature("rouge-l", 0.5), Feature("cider-d:idf=coco")))


def trained(**changed: Any) -> NetworkWeights:
    """Return a metric with every field."""
    fields = {
        **{"metric": "lceval", "name": "test", "features": FEATURES, "network": random_network(3, 5, 2)},
        **{"recipe": {"epochs": 3, "hidden": [5]}, "resources": {"tokenizer": "ptb"}},
        **{"data": {"examples": {"rows": 7}}, "figures": {"best_epoch": 2, "tau": 0.1 + 0.2}},
    }
    return NetworkWeights(**{**fields, **changed})


def test_saved_weights_are_read_back_byte_for_byte(tmp_path: Path) -> None:
    written = trained()
    written.save(tmp_path / "a.safetensors")
    read = NetworkWeights.load(tmp_path / "a.safetensors")
    arrays = [(*weights.network.weights, *weights.network.biases) for weights in (read, written)]
    for ours, theirs in zip(*arrays, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert read.label == written.label
    for field in ("metric", "name", "features", "recipe", "resources", "data", "figures"):
        assert getattr(read, field) == getattr(written, field)
    read.save(tmp_path / "b.safetensors")
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()


def test_labels_change_with_every_weight() -> None:
    one = trained()
    bias = one.network.biases[1].copy()
    bias[1] = np.nextafter(bias[1], 9)
    other = trained(network=Network(one.network.weights, (one.network.biases[0], bias)))
    assert one.label.startswith("test-")
    assert one.label != other.label


@pytest.mark.parametrize("metric", ["nneval", "lceval"])
def test_bundled_weights_record_their_data_and_figures(metric: str) -> None:
    path = bundled(metric)
    assert path.stat().st_size < 200_000
    loaded = NetworkWeights.load(path)
    assert loaded.metric == metric
    assert loaded.network.sizes == {"nneval": (8, 72, 72, 2), "lceval": (16, 12, 2)}[metric]
    assert loaded.data["examples"]["sha256"]
    assert loaded.figures["validation_tau_b"] > max(loaded.figures["feature_tau_b"].values())


def content(config: Any, arrays: dict[str, np.ndarray] | None = None) -> bytes:
    """Return a file with this configuration, and by default the layers of a network of three features."""
    network = random_network(3, 2)
    layers = {"layer0.weight": network.weights[0], "layer0.bias": network.biases[0]} if arrays is None else arrays
    return save(layers, {"captious": config if isinstance(config, str) else json.dumps(config)})


CONFIG = {
    **{"format": 1, "metric": "lceval", "name": "x", "features": FEATURES.to_dict()},
    **{"recipe": {}, "resources": {}, "data": {}, "figures": {}},
}
HOSTILE = {
    "empty": b"",
    "no safetensors": b"PK\x03\x04" + bytes(100),
    "a header beyond the file": (1 << 60).to_bytes(8, "little") + b"{}",
    "another program's": save({"layer0.weight": np.ones((3, 2))}, {"format": "pt"}),
    "no metadata": save({"layer0.weight": np.ones((3, 2))}),
    "no JSON": content("{"),
    "deep JSON": content("[" * 50_000),
    "another format": content({**CONFIG, "format": 2}),
    "too few features": content({**CONFIG, "features": FeatureSet("one", (Feature("bleu-1"),)).to_dict()}),
    "a file as a feature": content(
        {**CONFIG, "features": {"name": "x", "features": ["mowe:vectors=/dev/zero", "bleu-1", "bleu-2"]}}
    ),
    "itself as a feature": content(
        {**CONFIG, "features": {"name": "x", "features": ["lceval:weights=x.safetensors", "bleu-1", "bleu-2"]}}
    ),
    "names that are no text": content({**CONFIG, "name": "x\n|y"}),
    "tables that are lists": content({**CONFIG, "figures": []}),
    "not finite": content(CONFIG, {"layer0.weight": np.full((3, 2), np.nan), "layer0.bias": np.zeros(2)}),
    "integers": content(CONFIG, {"layer0.weight": np.ones((3, 2), int), "layer0.bias": np.zeros(2)}),
    "no biases": content(CONFIG, {"layer0.weight": np.ones((3, 2))}),
    "a gap": content(CONFIG, {"layer1.weight": np.ones((3, 2)), "layer1.bias": np.zeros(2)}),
    "three classes": content(CONFIG, {"layer0.weight": np.ones((3, 3)), "layer0.bias": np.zeros(3)}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_weight_files_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.safetensors"
    path.write_bytes(HOSTILE[name])
    with pytest.raises(ResourceError) as refused:
        NetworkWeights.load(path)
    assert str(path) in refused.value.where
    assert "captious learn train" in refused.value.hint


def test_damaged_weight_files_are_read_or_refused(tmp_path: Path) -> None:
    """Cut and changed bytes give the weights or an error, and nothing else."""
    path = tmp_path / "weights.safetensors"
    trained().save(path)
    whole = path.read_bytes()
    rng = random.Random(0)
    refused = 0
    for _ in range(300):
        damaged = bytearray(whole[: rng.randrange(len(whole))] if rng.random() < 0.3 else whole)
        for _ in range(rng.randrange(1, 4)):
            if damaged:
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged)
        try:
            NetworkWeights.load(path)
        except ResourceError:
            refused += 1
    assert refused > 100


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="cannot read weights: No such file"):
        NetworkWeights.load(tmp_path / "none.safetensors")
    with pytest.raises(ResourceError, match="cannot read weights: Is a directory"):
        NetworkWeights.load(tmp_path)
    large = tmp_path / "large.safetensors"
    with large.open("wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(ResourceError, match="too large"):
        NetworkWeights.load(large)
