"""Heads on encoders as files: round trips, and refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load, save

from captious.errors import ResourceError
from captious.learned.caption_features import BUNDLED_HEAD, EncoderHead

HEAD = EncoderHead.load()


def test_a_saved_file_holds_the_same_head(tmp_path: Path) -> None:
    path = tmp_path / "head.safetensors"
    HEAD.save(path)
    again = EncoderHead.load(path)
    np.testing.assert_allclose(again.matrix, HEAD.matrix, atol=1e-6)
    np.testing.assert_array_equal(again.probes, HEAD.probes)
    assert again.coefficients.tolist() == HEAD.coefficients.tolist()
    assert (again.encoder, again.light, again.bias) == (HEAD.encoder, HEAD.light, HEAD.bias)
    assert again.about == HEAD.about


def test_head_records_recipe_data_and_license() -> None:
    assert {"recipe", "right", "data", "license"} <= set(HEAD.about)
    assert HEAD.about["data"].keys() >= {"coco/captions_val2014.json.gz", "cxc/sits.jsonl.gz"}


SAID = {"head": '{"about": {}, "encoder": "a", "light": "b"}'}


def _changed(message: dict[str, str] | None = None, **changes: object) -> bytes:
    tensors = load(BUNDLED_HEAD.read_bytes())
    tensors |= {name.replace("__", "."): value for name, value in changes.items()}  # type: ignore[dict-item]
    return save(
        {name: value for name, value in tensors.items() if value is not None}, SAID if message is None else message
    )


def test_an_unchanged_file_is_not_refused(tmp_path: Path) -> None:
    path = tmp_path / "head.safetensors"
    path.write_bytes(_changed())
    assert EncoderHead.load(path).encoder == "a"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not a safetensors file",
        (1 << 60).to_bytes(8, "little") + b"{}",
        BUNDLED_HEAD.read_bytes()[:1000],
        save({"a": np.zeros(3)}),
        (BUNDLED_HEAD.parent / "concur.safetensors").read_bytes(),
        _changed({"head": "{"}),
        _changed({"head": "[]"}),
        _changed({"head": '{"about": {}, "encoder": 1, "light": "b"}'}),
        _changed(matrix=None),
        _changed(matrix=np.zeros((3, 2), np.int8)),
        _changed(matrix__scales=np.full(len(HEAD.matrix), np.nan, np.float32)),
        _changed(probes=np.zeros((4, 2), np.float32)),
        _changed(score=np.zeros(3)),
    ],
    ids=[
        *("empty", "text", "long-header", "cut", "others", "for-light", "not-json", "list", "number"),
        *("no-matrix", "few-rows", "not-a-number", "short-probes", "short-score"),
    ],
)
def test_files_that_are_not_heads_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "head.safetensors"
    path.write_bytes(content)
    with pytest.raises(ResourceError, match="not weights of concur@full") as caught:
        EncoderHead.load(path)
    assert str(path) in str(caught.value.where)
    assert caught.value.hint


def test_missing_head_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResourceError, match="cannot read weights"):
        EncoderHead.load(tmp_path / "none.safetensors")
