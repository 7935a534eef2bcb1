"""JSON that is cut, malformed, or JSON of something else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from captious.data import read_rows
from captious.data.formats import json_lines, parse_json
from captious.data.rows import Source
from captious.errors import CaptionFileError, DuplicateCandidateError, TruncatedFileError
from tests.data.conftest import Refuses, Write

scalars = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8)
documents = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=4), inner))


@given(st.lists(documents) | st.dictionaries(st.text(), documents), st.booleans(), st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_a_document_cut_anywhere_is_truncated(document: object, ascii_only: bool, data: st.DataObject) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only, indent=data.draw(st.sampled_from([None, 1])))
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    source = Source("c.json", "candidates", is_file=True)
    with pytest.raises(TruncatedFileError) as of_document:
        parse_json(cut, source)
    with pytest.raises(TruncatedFileError) as of_lines:
        [*json_lines(["\n"] * 6 + [cut.replace("\n", " ")], source)]
    for failure, line in ((of_document.value, cut.rstrip().count("\n") + 1), (of_lines.value, 7)):
        assert failure.where.startswith(f"c.json: line {line:,}, column ")


def test_truncated_json_is_refused_with_its_place(refuses: Refuses, write: Write) -> None:
    path = write("c.json", '[{"image_id": 1, "caption": "a"},\n {"image_id": 2, "capt')
    with refuses(TruncatedFileError, f"{path}: line 2, column 23", "again"):
        read_rows(path, "candidates")


def test_truncated_json_line_is_refused_with_its_place(refuses: Refuses, write: Write) -> None:
    path = write("c.jsonl", '{"id": 1, "caption": "a"}\n{"id": 2, "capt')
    with refuses(TruncatedFileError, f"{path}: line 2, column 16", "again"):
        read_rows(path, "candidates")


def test_a_cut_line_in_the_middle_is_malformed(refuses: Refuses, write: Write) -> None:
    path = write("c.jsonl", '{"id": 1, "caption": "a"}\n{"id": 2, "capt\n{"id": 3, "caption": "a"}\n')
    with refuses(CaptionFileError, f"{path}: line 2, column 11", "not JSON"):
        read_rows(path, "candidates")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[1, 2\n, x]", "line 2, column 3"),
        ("{'1': 'a'}", "line 1, column 2"),
        ('{"1": "a"}\n{"2": "b"}', "line 2, column 1"),
        ('{"1": "a" "2": "b"}', "line 1, column 11"),
        ('{"1": "a\nb"}', "line 1, column 9"),
        ('{"1": "a"} 12', "line 1, column 12"),
        ("[1 2", "line 1, column 4"),
        ("[1, a", "line 1, column 5"),
        ('{"1": "a", b', "line 1, column 12"),
        ('{"1": "a \\x', "line 1, column 10"),
    ],
)
def test_malformed_json_is_refused_with_its_place(refuses: Refuses, write: Write, text: str, place: str) -> None:
    path = write("c.json", text)
    with refuses(CaptionFileError, f"{path}: {place}", "not JSON", "json.tool"):
        read_rows(path, "candidates")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"1": ' + "1" * 5000 + "}"])
def test_json_beyond_the_parser_is_refused(refuses: Refuses, write: Write, text: str) -> None:
    path = write("c.json", text)
    with refuses(CaptionFileError, path, "cannot be read"):
        read_rows(path, "candidates")


@pytest.mark.parametrize(
    "text",
    ['"a cat"', "7", '["a cat"]', '[["a cat"]]', '{"images": [{"id": 7}], "info": {}}', '{"id": "7", "caption": "a"}'],
)
def test_json_of_another_shape_is_refused(refuses: Refuses, write: Write, text: str) -> None:
    path = write("c.json", text)
    with refuses(CaptionFileError, path, '[{"image_id": 42, "caption": "a cat"}, ...]', '{"42": "a cat", ...}'):
        read_rows(path, "candidates")


def test_duplicate_key_is_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.json", '{"7": "a", "9": "b", "7": "c"}')
    with refuses(DuplicateCandidateError, "1 of 2", f"{path}: key '7' in entry 1, entry 3", "keep one"):
        read_rows(path, "candidates")
    with refuses(CaptionFileError, "1 of 2", f"{path}: key '7' in entry 1, entry 3", "one list"):
        read_rows(path, "references")


def test_keys_twice_only_within_are_not_confused(write: Write) -> None:
    path = write("c.json", '{"7": [{"caption": "a", "n": 1, "n": 2}], "9": [{"caption": "b"}]}')
    assert read_rows(path, "candidates").texts == ("a", "b")


def test_line_separators_within_captions_are_kept(write: Write, tmp_path: Path) -> None:
    caption = "a\u2028b\u0085c\x0bd\x1ce"
    line = json.dumps({"id": 1, "caption": caption}, ensure_ascii=False)
    assert read_rows(write("c.jsonl", f"{line}\n"), "candidates").texts == (caption,)
