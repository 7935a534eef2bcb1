"""Files of prepared references: they can be read back, and files that do not fit are refused."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import captious
from captious.data import (
    References,
    Stored,
    read_captions,
    read_references,
    recorded,
    stored_key,
    write_prepared,
)
from captious.data import prepared as module
from captious.data.prepared import ArrayFile, write_array_file
from captious.errors import CaptionFileError, OutputError


@dataclass(frozen=True)
class LengthLayer:
    """Characters per reference; counts how often it is computed."""

    computed: list[int]
    version: int = 1

    def __hash__(self) -> int:
        return self.version

    @property
    def stored_as(self) -> str | None:
        return stored_key("lengths", self.version)

    def to_stored(self, annotation: Any, references: References) -> Stored:
        return Stored({"lengths": annotation}, {"unit": "characters"})

    def from_stored(self, stored: Stored, references: References) -> Any:
        assert stored.about == {"unit": "characters"}
        if len(stored.arrays["lengths"]) != len(references.texts):
            raise ValueError("other references")
        return stored.arrays["lengths"]

    def of_references(self, references: References) -> Any:
        self.computed.append(1)
        return np.array([*map(len, references.texts)], np.int64)


def table(**changes: Any) -> References:
    plain = References((3, 1), ("a cat", "", "two\ndogs\0 \u2028é"), np.array([0, 2, 3]), name="refs.json")
    return replace(plain, **changes)


def written(path: Path, references: References, *layers: Any) -> References:
    remembering = recorded(references)
    for layer in layers:
        remembering.layer(layer)
    write_prepared(path, remembering, ["bleu"])
    return read_references(path)


def rewritten(path: Path, about: Mapping[str, Any] | None = None, arrays: Mapping[str, Any] | None = None) -> None:
    """Change the content of a file, with correct checksums."""
    file = ArrayFile(path, module.PREPARED_MAGIC, what="", help="")
    content = {name: np.array(file.array(name)) for name in file._entries} | dict(arrays or {})
    about = {**file.about, **(about or {})}
    with open(path, "wb") as out:
        write_array_file(out, module.PREPARED_MAGIC, about, {k: v for k, v in content.items() if v is not None})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "refs.prepared"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"ids": ("a", "1")},
        {"ids": (1 << 70, "1")},
        {"ids": (-(1 << 63), (1 << 63) - 1)},
        {"images": (7, 7)},
        {"without_references": (9, "é")},
        {"id_form": "position", "ids": (0, 1)},
        {"id_form": "text", "ids": ("3", "x")},
        {"texts": tuple(map("".join, [map(chr, range(300)), "", ""]))},
    ],
)
def test_tables_come_back(path: Path, changes: dict[str, Any]) -> None:
    original = table(**changes)
    references = written(path, original)
    for name in ("ids", "texts", "images", "without_references", "id_form"):
        assert getattr(references, name) == getattr(original, name)
    assert np.array_equal(references.offsets, original.offsets)
    assert references.name == str(path)


@given(st.lists(st.text(max_size=5), min_size=1, max_size=4))
def test_prepared_files_hold_any_texts(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    texts = [text.encode(errors="ignore").decode() for text in texts]
    path = tmp_path_factory.getbasetemp() / "any.prepared"
    references = written(path, References((0,), tuple(texts), np.array([0, len(texts)])))
    assert references.texts == tuple(texts)


class TestLayers:
    def test_stored_layers_are_found(self, path: Path) -> None:
        layer = LengthLayer([])
        references = written(path, table(), layer)
        assert len(layer.computed) == 1
        assert references.layer(layer).tolist() == [5, 0, 12]
        assert references.layer(layer) is references.layer(layer)
        assert len(layer.computed) == 1
        assert references.stored.n_missed == 0

    def test_layers_with_another_key_are_computed(self, path: Path) -> None:
        references = written(path, table(), LengthLayer([]))
        other = LengthLayer([], version=2)
        assert references.layer(other).tolist() == [5, 0, 12]
        assert len(other.computed) == 1
        assert references.stored.n_missed == 1

    def test_layers_are_kept_for_ids_read_as_numbers(self, path: Path) -> None:
        layer = LengthLayer([])
        references = written(path, table(ids=("3", "1"), id_form="text"), layer)
        captions = read_captions({3: "x", 1: "y"}, references)
        assert captions.ids == (3, 1)
        captions.references.layer(layer)
        assert len(layer.computed) == 1

    def test_layers_are_not_used_for_other_texts(self, path: Path) -> None:
        references = written(path, table(), LengthLayer([]))
        layer = LengthLayer([])
        assert replace(references, texts=("a", "b", "c")).layer(layer).tolist() == [1, 1, 1]
        assert references.select([1]).layer(layer).tolist() == [12]
        assert len(layer.computed) == 2

    def test_layers_of_concatenated_references_are_stored(self, path: Path) -> None:
        layer = LengthLayer([])
        remembering = recorded(table())
        remembering.concatenated.layer(layer)
        write_prepared(path, remembering, [])
        references = read_references(path)
        assert references.concatenated.layer(layer).tolist() == [6, 12]
        assert len(layer.computed) == 1
        assert references.layer(layer).tolist() == [5, 0, 12]
        assert len(layer.computed) == 2

    def test_layers_of_a_prepared_file_are_copied(self, path: Path) -> None:
        layer = LengthLayer([])
        references = written(path, table(), layer)
        written(path, references, layer, LengthLayer([], version=2)).layer(layer)
        assert len(layer.computed) == 1

    def test_layers_are_found_by_other_processes(self, path: Path) -> None:
        layer = LengthLayer([])
        references = pickle.loads(pickle.dumps(written(path, table(), layer)))
        assert references.layer(layer).tolist() == [5, 0, 12]
        assert len(layer.computed) == 1

    def test_layers_are_computed_if_the_file_is_gone(self, path: Path) -> None:
        layer = LengthLayer([])
        packed = pickle.dumps(written(path, table(), layer))
        written(path, table(), LengthLayer([], version=2))
        assert pickle.loads(packed).stored is None
        path.unlink()
        assert pickle.loads(packed).layer(layer).tolist() == [5, 0, 12]
        assert len(layer.computed) == 2

    def test_layers_of_another_version_are_not_used(self, path: Path) -> None:
        written(path, table(), LengthLayer([]))
        rewritten(path, {"captious": "0.0.1"})
        layer = LengthLayer([])
        references = read_references(path)
        assert references.layer(layer).tolist() == [5, 0, 12]
        assert len(layer.computed) == 1
        assert "was prepared by captious 0.0.1, so only its texts were used" in references.stored.advice(["bleu"])

    def test_layers_that_do_not_fit_are_refused(self, path: Path) -> None:
        written(path, table(), LengthLayer([]))
        rewritten(path, arrays={"0/lengths": np.arange(2)})
        with pytest.raises(CaptionFileError, match=r"damaged: lengths.1: other references"):
            read_references(path).layer(LengthLayer([]))

    @pytest.mark.parametrize(
        ("name", "values"),
        [
            ("heads_offsets", [0, 9, 3, 11]),
            ("edges_offsets", [0, 3, 11]),
            ("edges", np.zeros((11, 2), np.int32)),
            ("rows", [0, 1]),
            ("rows", [0, 1, 3]),
        ],
    )
    def test_parses_that_contradict_each_other_are_refused(self, path: Path, name: str, values: Any) -> None:
        captions = {1: ["a dog runs", "the dog is in the park"], 2: ["a cat"]}
        captious.prepare(captions, ["hwcm"], path=path)
        rewritten(path, arrays={f"1/{name}": np.array(values)})
        with pytest.raises(CaptionFileError, match="damaged: parses"):
            captious.score({1: "a dog", 2: "a cat"}, str(path), ["hwcm"])

    @pytest.mark.parametrize("entry", [{}, {"number": 5, "arrays": ["x"], "about": {}}, {"number": 0, "arrays": 1}, 3])
    def test_forged_layer_entries_are_refused(self, path: Path, entry: Any) -> None:
        written(path, table(), LengthLayer([]))
        rewritten(path, {"layers": {"each": {"lengths|1": entry}}})
        with pytest.raises(CaptionFileError, match="damaged"):
            read_references(path).layer(LengthLayer([]))


@pytest.mark.parametrize(
    ("about", "arrays"),
    [
        ({"format": 2}, {}),
        ({"format": None}, {}),
        ({"id_form": "guess"}, {}),
        ({"separator": ""}, {}),
        ({"separator": 3}, {}),
        ({"layers": 3}, {}),
        ({"layers": {"each": 3}}, {}),
        ({}, {"offsets": np.array([0, 1, 2])}),
        ({}, {"offsets": np.array([0, 5, 3])}),
        ({}, {"offsets": None}),
        ({}, {"ids": np.array([1, 1])}),
        ({}, {"ids": np.array([1.0, 2.0])}),
        ({}, {"ids": np.frombuffer(b"[1, true]", np.uint8)}),
        ({}, {"ids": np.frombuffer(b"{", np.uint8)}),
        ({}, {"ids": np.frombuffer(b"[" * 100_000, np.uint8)}),
        ({}, {"texts": np.array([255, 0, 0, 255], np.uint8)}),
        ({}, {"images": np.array([1, 2, 3])}),
    ],
)
def test_inconsistent_prepared_files_are_refused(path: Path, about: dict[str, Any], arrays: dict[str, Any]) -> None:
    written(path, table())
    rewritten(path, about, arrays)
    with pytest.raises(CaptionFileError) as raised:
        read_references(path)
    assert str(path) in raised.value.where
    assert "captious prepare" in raised.value.hint


def test_prepared_references_are_refused_as_candidates(path: Path) -> None:
    references = written(path, table())
    with pytest.raises(CaptionFileError, match="prepared references, which cannot be read as candidates"):
        read_captions(path, references)


def test_unwritable_prepared_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        write_prepared(tmp_path / "no" / "refs.prepared", recorded(table()), [])
