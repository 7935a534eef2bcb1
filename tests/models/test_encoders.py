"""Encoders: the vectors of a text depend only on the text, and errors name what is missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.errors import ParameterError, ResourceError
from captious.models import Batch, Encoder, encoders
from tests.support.encoders import BLOCKS, KINDS, MAX_LENGTH, SPECIAL_TOKENS, WIDTH
from tests.support.tiny_clip import save_tiny_clip

pytestmark = pytest.mark.models

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

Folders = Callable[[str], Path]
CLS, PAD, SEP = (SPECIAL_TOKENS.index(token) for token in ("[CLS]", "[PAD]", "[SEP]"))
TEXTS = ["a dog runs on the red bus", "a dog", "", "the cat", "a man on a bus, a dog on a man.", "a dog", "w1 w2 w3 w4"]
CLOSE = 5e-6  # states of about 1 in single precision, multiplied in another order
#: Between attention in one step and step by step, in models whose states are of the order of 1.
NEARLY = 1e-5

every_kind = pytest.mark.parametrize("kind", KINDS)


def gathered(batches: list[Batch], n: int, layer: int) -> list[NDArray[np.float32]]:
    """Return hidden states by text."""
    states: dict[int, NDArray[np.float32]] = {}
    for batch in batches:
        assert len(batch.rows) == len(batch.hidden[layer])
        states |= dict(zip(batch.rows.tolist(), batch.hidden[layer], strict=True))
    assert sorted(states) == list(range(n))
    return [states[row] for row in range(n)]


def by_transformers(folder: Path, sequence: list[int]) -> Any:
    """Return the outputs of the model for one sequence alone."""
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    ids = torch.tensor([sequence])
    with torch.no_grad():
        return model(
            input_ids=ids, attention_mask=(ids != PAD).long(), output_hidden_states=True, output_attentions=True
        )


# ---- what comes out


@every_kind
def test_every_layer_is_that_of_the_model(kind: str, tiny_encoder: Folders) -> None:
    encoder = Encoder(str(tiny_encoder(kind)), device="cpu")
    assert (encoder.n_blocks, encoder.width, encoder.max_length) == (BLOCKS, WIDTH, MAX_LENGTH)
    assert encoder.family == kind
    layers = list(range(BLOCKS + 1))
    batches = list(encoder.run(encoder.tokenize(TEXTS), layers))
    for row, sequence in enumerate(encoder.tokenize(TEXTS)):
        expected = by_transformers(tiny_encoder(kind), sequence).hidden_states
        assert len(expected) == BLOCKS + 1
        for layer in layers:
            states = gathered(batches, len(TEXTS), layer)[row]
            assert states.dtype == np.float32
            np.testing.assert_allclose(states, expected[layer][0].numpy(), atol=NEARLY, rtol=0)


@every_kind
def test_a_layer_is_the_same_whichever_others_are_asked_for(kind: str, tiny_encoder: Folders) -> None:
    encoder = Encoder(str(tiny_encoder(kind)), device="cpu")
    together = gathered(list(encoder.run(encoder.tokenize(TEXTS), [0, 1, 3])), len(TEXTS), 1)
    alone = gathered(list(encoder.run(encoder.tokenize(TEXTS), [1])), len(TEXTS), 1)
    for a, b in zip(together, alone, strict=True):
        np.testing.assert_array_equal(a, b)


def test_blocks_above_the_layer_are_not_computed(tiny_encoder: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder(str(tiny_encoder("bert")), device="cpu")
    model = encoders.loaded_weights(encoder).model
    calls = [0] * BLOCKS
    for number, block in enumerate(model.encoder.layer):
        original = block.forward

        def counting(*args: Any, number: int = number, original: Any = original, **kwargs: Any) -> Any:
            calls[number] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(block, "forward", counting)
    assert list(encoder.run(encoder.tokenize(["a dog"]), [2]))
    assert calls == [1, 1, 0]
    assert list(encoder.run(encoder.tokenize(["a dog"]), [BLOCKS]))
    assert calls == [2, 2, 1]


@pytest.mark.parametrize("kind", ["bert", "distilbert", "roberta"])
def test_attention_maps_sum_to_one(kind: str, tiny_encoder: Folders) -> None:
    encoder = Encoder(str(tiny_encoder(kind)), device="cpu")
    sequences = encoder.tokenize(TEXTS)
    n_texts = 0
    for batch in encoder.run(sequences, attentions=True):
        assert batch.hidden == {}
        np.testing.assert_allclose(batch.attentions.sum(axis=-1), 1, atol=CLOSE)
        assert (batch.attentions >= 0).all()
        for place, row in enumerate(batch.rows.tolist()):
            expected = by_transformers(tiny_encoder(kind), sequences[row]).attentions
            maps = batch.attentions[:, place]
            assert maps.shape[0] == BLOCKS
            np.testing.assert_allclose(maps, torch.cat(expected).numpy(), atol=CLOSE)
            n_texts += 1
    assert n_texts == len(TEXTS)


def test_states_and_maps_can_be_had_at_once(tiny_encoder: Folders) -> None:
    encoder = Encoder(str(tiny_encoder("bert")), device="cpu")
    (both,) = encoder.run(encoder.tokenize(["a dog", "a cat"]), [2], attentions=True)
    (states,) = encoder.run(encoder.tokenize(["a dog", "a cat"]), [2])
    (maps,) = encoder.run(encoder.tokenize(["a dog", "a cat"]), attentions=True)
    np.testing.assert_array_equal(both.hidden[2], states.hidden[2])
    np.testing.assert_array_equal(both.attentions, maps.attentions)
    assert states.attentions is None


def test_the_model_of_maps_shares_the_weights(tiny_encoder: Folders) -> None:
    weights = encoders.loaded_weights(Encoder(str(tiny_encoder("bert")), device="cpu"))
    mine = weights.model.encoder.layer[0].output.dense.weight
    assert weights.eager_model.encoder.layer[0].output.dense.weight.data_ptr() == mine.data_ptr()


# ---- batches


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_results_do_not_depend_on_batches(kind: str, tiny_encoder: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder(str(tiny_encoder(kind)), device="cpu")
    rng = np.random.default_rng(3)
    texts = [" ".join(f"w{i}" for i in rng.integers(60, size=rng.integers(9))) for _ in range(60)]
    results = []
    for tokens in (1, 40, 1 << 30):  # a text at a time, some, all of a length
        monkeypatch.setattr(encoders, "_TOKENS_PER_BATCH", tokens)
        batches = list(encoder.run(encoder.tokenize(texts), [2], attentions=True))
        if tokens == 1:
            assert {len(batch.rows) for batch in batches} == {1}
        maps = {
            row: batch.attentions[:, i]
            for batch in batches
            if batch.attentions is not None
            for i, row in enumerate(batch.rows.tolist())
        }
        results.append((gathered(batches, len(texts), 2), maps))
    for states, maps in results[1:]:
        for row in range(len(texts)):
            np.testing.assert_allclose(states[row], results[0][0][row], atol=CLOSE, rtol=0)
            np.testing.assert_allclose(maps[row], results[0][1][row], atol=CLOSE, rtol=0)


def test_a_batch_holds_texts_of_one_length_and_bounded_size(
    tiny_encoder: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Encoder(str(tiny_encoder("bert")), device="cpu")
    monkeypatch.setattr(encoders, "_TOKENS_PER_BATCH", 40)
    sequences = [[CLS, *[7] * (i % 9), SEP] for i in range(90)]
    sizes = []
    for batch in encoder.run(sequences, [1]):
        lengths = {len(sequences[row]) for row in batch.rows.tolist()}
        assert lengths == {batch.hidden[1].shape[1]}
        sizes.append(batch.hidden[1].shape[0] * batch.hidden[1].shape[1])
    assert max(sizes) <= 40
    assert sum(sizes) == sum(map(len, sequences))


def test_two_runs_may_be_interleaved(tiny_encoder: Folders) -> None:
    encoder = Encoder(str(tiny_encoder("bert")), device="cpu")
    alone = [batch.hidden[layer] for layer in (1, 3) for batch in encoder.run(encoder.tokenize(TEXTS), [layer])]
    pairs = list(zip(encoder.run(encoder.tokenize(TEXTS), [1]), encoder.run(encoder.tokenize(TEXTS), [3]), strict=True))
    together = [one.hidden[1] for one, _ in pairs] + [three.hidden[3] for _, three in pairs]
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)


def test_encoder_makes_no_batches_of_no_texts(tiny_encoder: Folders) -> None:
    encoder = Encoder(str(tiny_encoder("bert")), device="cpu")
    assert encoder.tokenize([]) == []
    assert list(encoder.run(encoder.tokenize([]), [1])) == []


# ---- tokens


def test_special_tokens_surround_a_text_and_make_up_an_empty_one(tiny_encoder: Folders) -> None:
    encoder = Encoder(str(tiny_encoder("bert")), device="cpu")
    dog, empty = encoder.tokenize(["a dog", ""])
    assert dog[0] == CLS
    assert dog[-1] == SEP
    assert len(dog) == 4
    assert empty == [CLS, SEP]


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_sequences_beyond_the_limit_are_cut(kind: str, tiny_encoder: Folders) -> None:
    encoder = Encoder(str(tiny_encoder(kind)), device="cpu")
    (sequence,) = encoder.tokenize(["a dog " * 40])
    assert len(sequence) == MAX_LENGTH
    assert sequence[-1] == SEP
    ((batch,),) = [list(encoder.run([sequence], [BLOCKS]))]
    assert np.isfinite(batch.hidden[BLOCKS]).all()


def test_many_texts_are_tokenized_in_pieces(tiny_encoder: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder(str(tiny_encoder("bert")), device="cpu")
    whole = encoder.tokenize(TEXTS)
    monkeypatch.setattr(encoders, "_TEXTS_AT_ONCE", 2)
    assert encoder.tokenize(TEXTS) == whole


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
def test_padding_within_a_sequence_gets_no_attention(kind: str, tiny_encoder: Folders) -> None:
    encoder = Encoder(str(tiny_encoder(kind)), device="cpu")
    padded = [[CLS, 7, PAD, 9, SEP], [CLS, 8, 9, 10, SEP], [CLS, PAD, PAD, 5, SEP]]
    (batch,) = encoder.run(padded, attentions=True)
    for place, row in enumerate(batch.rows.tolist()):
        expected = by_transformers(tiny_encoder(kind), padded[row])
        assert (batch.attentions[:, place][..., np.array(padded[row]) == PAD] == 0).all()
        np.testing.assert_allclose(batch.attentions[:, place], torch.cat(expected.attentions).numpy(), atol=CLOSE)


def test_padding_that_a_caption_has_is_a_token_like_others(tiny_encoder: Folders) -> None:
    folder = tiny_encoder("bert")
    text = "a [PAD] dog"
    encoder = Encoder(str(folder), device="cpu")
    (batch,) = encoder.run(encoder.tokenize([text]), [BLOCKS])
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    assert PAD in inputs["input_ids"][0]
    with torch.inference_mode():
        expected = transformers.AutoModel.from_pretrained(folder)(**inputs).last_hidden_state
    np.testing.assert_allclose(batch.hidden[BLOCKS], expected.numpy(), atol=NEARLY, rtol=0)


def test_a_folder_without_tokenizer_is_refused(tiny_encoder: Folders, tmp_path: Path) -> None:
    transformers.AutoModel.from_pretrained(tiny_encoder("roberta")).save_pretrained(tmp_path / "bare")
    with pytest.raises(ResourceError, match=r"no tokenizer|cannot be read|no model can be read"):
        Encoder(str(tmp_path / "bare"), device="cpu").tokenize(["a dog"])


def test_a_model_of_another_kind_is_refused(tmp_path: Path) -> None:
    encoder = Encoder(str(save_tiny_clip(tmp_path / "clip")), device="cpu")
    with pytest.raises(ResourceError, match="not a text encoder"):
        _ = encoder.n_blocks


def test_missing_model_folder_is_refused() -> None:
    with pytest.raises(ResourceError, match="folder not found"):
        Encoder("/no/such/folder").tokenize(["a dog"])


# ---- names


def test_the_label_names_the_weights(tiny_encoder: Folders, tmp_path: Path) -> None:
    folder = tiny_encoder("bert")
    label = Encoder(str(folder), device="cpu").label
    name, _, version = label.partition("@")
    assert name == "bert"
    assert len(version) == 8
    shutil.copytree(folder, tmp_path / "copy")
    assert Encoder(str(tmp_path / "copy"), device="cpu").label == f"copy@{version}"
    assert Encoder(str(folder), device="cpu", precision="bfloat16").label == f"bert@{version},bfloat16"
    model = transformers.AutoModel.from_pretrained(folder)
    model.encoder.layer[0].output.dense.weight.data[0, 0] += 1
    model.save_pretrained(tmp_path / "copy", safe_serialization=True)
    changed = Encoder(str(tmp_path / "copy"), device="cpu", precision="float16")
    assert changed.label.startswith("copy@")
    assert version not in changed.label


def test_half_precision_is_nearly_the_same(tiny_encoder: Folders) -> None:
    folder = str(tiny_encoder("bert"))
    exact, rounded = Encoder(folder, device="cpu"), Encoder(folder, device="cpu", precision="bfloat16")
    (full,) = exact.run(exact.tokenize(["a dog"]), [BLOCKS])
    (half,) = rounded.run(rounded.tokenize(["a dog"]), [BLOCKS])
    assert half.hidden[BLOCKS].dtype == np.float32
    difference = np.abs(half.hidden[BLOCKS] - full.hidden[BLOCKS]).max()
    assert 0 < difference < 0.2


def test_the_progress_bars_of_transformers_come_back(tiny_encoder: Folders, tmp_path: Path) -> None:
    from transformers.utils import logging

    shutil.copytree(tiny_encoder("bert"), tmp_path / "again")
    logging.enable_progress_bar()
    level = logging.get_verbosity()
    assert Encoder(str(tmp_path / "again"), device="cpu").width == WIDTH
    assert logging.is_progress_bar_enabled()
    assert logging.get_verbosity() == level


# ---- errors


def test_unknown_precision_is_refused() -> None:
    with pytest.raises(ParameterError, match="no precision 'int3'") as caught:
        Encoder("any", precision="int3")
    assert "float32, bfloat16, float16" in caught.value.hint


@pytest.mark.parametrize("device", ["abacus", "cuda:99", "meta:x"])
def test_unknown_device_is_refused(device: str, tiny_encoder: Folders) -> None:
    with pytest.raises(ParameterError, match=device) as caught:
        Encoder(str(tiny_encoder("bert")), device=device).tokenize(["a dog"])
    assert "cpu" in caught.value.hint


def test_missing_layer_is_refused(tiny_encoder: Folders) -> None:
    encoder = Encoder(str(tiny_encoder("bert")), device="cpu")
    for layer in (-1, BLOCKS + 1):
        with pytest.raises(ParameterError, match=f"has no layer {layer}") as caught:
            list(encoder.run(encoder.tokenize(["a dog"]), [layer]))
        assert f"to {BLOCKS}" in caught.value.hint


def test_unknown_model_is_refused(tmp_path: Path) -> None:
    program = "from captious.models import Encoder; Encoder('nobody/no-such-model').width"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub")}
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert time.monotonic() - start < 60  # most of it imports torch
    assert done.returncode == 1
    message = done.stderr.split("captious.errors.ResourceError: ")[-1]
    assert "the model nobody/no-such-model is not on this machine and cannot be downloaded" in message
    assert str(tmp_path / "hub") in message
    assert "hf download nobody/no-such-model" in message


def damaged(folder: Path, tiny: Path, damage: str) -> Path:
    shutil.copytree(tiny, folder)
    weights = folder / "model.safetensors"
    if damage == "nothing there":
        shutil.rmtree(folder)
        folder.mkdir()
    elif damage == "no weights":
        weights.unlink()
    elif damage == "weights that end in the middle":
        weights.write_bytes(weights.read_bytes()[:-100])
    elif damage == "weights of another model":
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "hidden_size": 2 * WIDTH}))
    elif damage == "a broken config":
        (folder / "config.json").write_text("{")
    else:
        (folder / "tokenizer.json").write_text("{")
    return folder


@pytest.mark.parametrize(
    "damage",
    [
        "nothing there",
        "no weights",
        "weights that end in the middle",
        "weights of another model",
        "a broken config",
        "a broken tokenizer",
    ],
)
def test_folder_without_a_model_is_refused(damage: str, tiny_encoder: Folders, tmp_path: Path) -> None:
    folder = damaged(tmp_path / "model", tiny_encoder("bert"), damage)
    with pytest.raises(ResourceError, match="no model can be loaded from this folder") as caught:
        Encoder(str(folder), device="cpu").tokenize(["a dog"])
    assert caught.value.where == str(folder)
    assert "save_pretrained" in caught.value.hint
