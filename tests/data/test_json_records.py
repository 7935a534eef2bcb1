"""Columns of JSON records are equal to those of Python's parser, which also gets everything that it would refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.data import read_rows
from captious.data.formats import JsonRecords, columns_of, outlined
from captious.errors import CaptionFileError, EncodingError
from tests.data.conftest import Refuses, Write

texts = st.text(st.characters(), max_size=12)  # lone surrogates included: JSON can escape them
values = texts | st.integers(-(2**70), 2**70) | st.none() | st.booleans() | st.floats() | st.lists(texts, max_size=2)
records = st.lists(
    st.dictionaries(st.sampled_from(["image_id", "caption", "é", 'a"b']), values), min_size=1, max_size=4
)


def same(a: object, b: object) -> bool:
    """Return whether values are equal and of equal types, NaN included."""
    return repr(a) == repr(b)


@given(records, st.booleans(), st.sampled_from([None, 1]), st.booleans())
def test_columns_are_those_of_the_objects(
    objects: list[dict[str, Any]], ascii_only: bool, indent: int | None, in_document: bool
) -> None:
    content = {"info": {"a": [1, {"b": []}]}, "annotations": objects, "n": [objects, 1]} if in_document else objects
    text = json.dumps(content, ensure_ascii=ascii_only, indent=indent)
    document = outlined(text.encode("utf-8", "surrogatepass"))
    if document is None:  # NaN and infinities are not JSON
        assert "NaN" in text or "Infinity" in text
        return
    if in_document:
        assert isinstance(document, dict)
        assert [*document] == [*content]
        assert document["info"] == content["info"]
        assert same(document["n"], content["n"])
    found = document["annotations"] if isinstance(document, dict) else document
    assert isinstance(found, JsonRecords)
    assert len(found) == len(objects)
    assert same(found[0], objects[0])
    assert same([*found], objects)
    for names in (["image_id", "caption"], ["é"], ['a"b'], []):
        try:
            expected = [[one[name] for one in objects] for name in names]
        except KeyError:
            with pytest.raises(KeyError):
                columns_of(found, names)
        else:
            assert same(columns_of(found, names), expected)


@given(st.data(), records)
def test_changed_json_is_read_like_python_or_left_to_it(data: st.DataObject, objects: list[dict[str, Any]]) -> None:
    text = json.dumps(objects).encode()
    at = data.draw(st.integers(0, len(text) - 1))
    changed = text[:at] + data.draw(
        st.sampled_from([b"", b'"', b"\\", b"0", b"-", b".", b"e", b"{", b"]", b"\0", b"\xff"])
    )
    changed += text[at + data.draw(st.integers(0, 1)) :] if data.draw(st.booleans()) else b""
    try:
        document = outlined(changed)
        decoded = None if document is None else json.loads(changed)
    except UnicodeDecodeError:  # readers refuse files that are not UTF-8 before they are parsed
        return
    if document is not None:
        assert same([*document], decoded)


@pytest.mark.parametrize(
    "text",
    [
        *('[{"a": 01}]', '[{"a": +1}]', '[{"a": 1.}]', '[{"a": .5}]', '[{"a": 1e}]', '[{"a": -}]', '[{"a": tru}]'),
        *('[{"a": "\\x"}]', '[{"a": "\\u12"}]', '[{"a": "\\u+123"}]', '[{"a": "\n"}]', '[{"a": "b}]', '[{"a" "b"}]'),
        *('[{"a": 1},]', '[{"a": 1} {"a": 1}]', '[{"a": 1,}]', '[{"a": 1}] 2', '{"a": [{"a": 1}]', "[{'a': 1}]"),
        *('[{"a": NaN}]', "", "[", "{", "[{", '[{"', "[1]", "[]", "{}", '{"a": "b"}', '[{"a": 1}, 2]', "3"),
        '[{"a": ' + "[" * 70 + "]" * 70 + "}]",
        '[{"a": ' + "1" * 300 + "}]",
    ],
)
def test_other_json_is_left_to_python(text: str) -> None:
    assert outlined(text.encode()) is None


def test_the_last_of_repeated_keys_counts() -> None:
    document = outlined(b'{"a": [{"b": 1}], "a": [{"b": 2, "b": 3}]}')
    assert isinstance(document, dict)
    assert columns_of(document["a"], ["b"]) == [[3]]


def test_escaped_keys_are_decoded() -> None:
    document = outlined(b'\xef\xbb\xbf{"\\u0061": [{"\\u0062": 1, "b": 2}, {"b": 3}]}')
    assert isinstance(document, dict)
    assert columns_of(document["a"], ["b"]) == [[2, 3]]


@pytest.mark.parametrize("wrapped", [False, True])
def test_errors_are_those_of_the_parser(refuses: Refuses, write: Write, wrapped: bool) -> None:
    def content(text: str) -> str:
        return f'{{"images": [{{"id": 1}}], "annotations": {text}}}' if wrapped else text

    unit = "annotation" if wrapped else "record"
    path = write("missing.json", content('[{"image_id": 1, "caption": "a"}, {"image_id": 2}]'))
    with refuses(CaptionFileError, f"{path}: {unit} 2: {{'image_id': 2}}", "missing 'caption'"):
        read_rows(path, "references")
    path = write("other.json", content('[{"image_id": 1, "caption": "a"}, 5]'))
    with refuses(CaptionFileError, f"{path}: {unit} 2: 5", "not an object"):
        read_rows(path, "references")


def test_invalid_utf_8_in_records_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin1.json"
    path.write_bytes('[{"image_id": 1, "caption": "a", "author": "é"}]'.encode("latin1"))
    with pytest.raises(EncodingError, match="not UTF-8"):
        read_rows(path, "candidates")
