"""The weights of the metric concur as a file: round trips, and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from captious.errors import ResourceError
from captious.learned.caption_weights import FEATURES, LANGUAGES, PENALTIES, CaptionWeights, bundled

WEIGHTS = CaptionWeights.load()
BUNDLED = bundled()


def test_bundled_weights_of_a_language_are_below_8_mb() -> None:
    assert all(bundled(language).stat().st_size < 8_000_000 for language in LANGUAGES)


def test_a_saved_file_holds_the_same_weights(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    WEIGHTS.save(path)
    again = CaptionWeights.load(path)
    assert again.words == WEIGHTS.words
    np.testing.assert_allclose(again.vectors, WEIGHTS.vectors, atol=1e-6)
    np.testing.assert_allclose(again.subwords, WEIGHTS.subwords, atol=1e-6)
    assert (again.soundness, again.bias) == (WEIGHTS.soundness, WEIGHTS.bias)
    assert again.coefficients.tolist() == WEIGHTS.coefficients.tolist()
    assert again.synonyms.tolist() == WEIGHTS.synonyms.tolist()
    assert again.strict.tolist() == WEIGHTS.strict.tolist()
    assert again.about == WEIGHTS.about


def test_the_weights_say_how_they_were_made() -> None:
    assert {"recipe", "held out", "data", "license"} <= set(WEIGHTS.about)
    names = {"coco/captions_val2014.json.gz", "cxc/sits.jsonl.gz", "multi30k/train.1.en.gz"}
    assert WEIGHTS.about["data"].keys() >= names


def test_no_coefficient_has_the_wrong_sign() -> None:
    for language in LANGUAGES:
        signs = [-1 if name in PENALTIES else 1 for name in FEATURES]
        assert (CaptionWeights.load(language=language).coefficients * signs >= 0).all()


def _changed(**changes: object) -> bytes:
    tensors = load(BUNDLED.read_bytes())
    tensors |= {name.replace("__", "."): value for name, value in changes.items()}  # type: ignore[dict-item]
    return save({name: value for name, value in tensors.items() if value is not None}, {"about": "{}"})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a safetensors file",
        (1 << 60).to_bytes(8, "little") + b"{}",
        BUNDLED.read_bytes()[:1000],
        save({"a": np.zeros(3)}),
        save({"a": np.zeros(3)}, {"about": "{"}),
        _changed(words=None),
        _changed(words=np.frombuffer(b"dog\ndog", np.uint8)),
        _changed(words=np.frombuffer(b"\xff\xfe", np.uint8)),
        _changed(vectors=np.zeros((3, 2), np.int8)),
        _changed(vectors__scales=np.full(len(WEIGHTS.words), np.nan, np.float32)),
        _changed(score=np.zeros(2)),
        _changed(soundness=np.zeros(2)),
        _changed(subwords=None),
        _changed(synonyms=np.full((1, 2), len(WEIGHTS.words), np.int32)),
    ],
    ids=[
        *("empty", "text", "long-header", "cut", "others", "about", "no-words", "word-twice", "not-utf-8"),
        *("few-vectors", "not-a-number", "short-score", "no-deviation"),
        *("no-subwords", "synonym-of-no-word"),
    ],
)
def test_files_that_are_not_weights_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(content)
    with pytest.raises(ResourceError) as caught:
        CaptionWeights.load(path)
    assert str(path) in str(caught.value.where)
    assert caught.value.hint


def test_missing_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="cannot read weights"):
        CaptionWeights.load(tmp_path / "none.safetensors")


def test_description_of_weights_is_json() -> None:
    assert json.loads(json.dumps(WEIGHTS.about)) == WEIGHTS.about


def test_a_replaced_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "w.safetensors"
    names = []
    for bias in (0.0, 1.0):
        replace(CaptionWeights.load(), bias=bias).save(file)
        names.append(CaptionWeights.load(file).name)
    assert names[0] != names[1]
