"""Every accepted form, as a plain file, a compressed one and a Python object, and the refusal of others."""

from __future__ import annotations

import io
import sys
from collections import OrderedDict
from typing import Any

import numpy as np
import polars as pl
import pytest

from captious.data import read_rows
from captious.errors import (
    CaptionFileError,
    CaptionTypeError,
    EmptyInputError,
    InputError,
    MissingExtraError,
    ParameterError,
)
from tests.data.conftest import Refuses, Write

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")


def parquet(columns: dict[str, list[Any]]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


CANDIDATE_OBJECTS: dict[str, Any] = {
    "mapping": {7: "a cat", 9: "a dog"},
    "ordered mapping of lists": OrderedDict([(7, ["a cat"]), (9, ("a dog",))]),
    "harness": {7: [{"caption": "a cat"}], 9: [{"caption": "a dog"}]},
    "records": [{"image_id": 7, "caption": "a cat"}, {"image_id": 9, "caption": "a dog"}],
    "numpy ids": {np.int64(7): "a cat", np.uint8(9): np.str_("a dog")},
    "pandas": pd.DataFrame({"image_id": [7, 9], "caption": ["a cat", "a dog"]}, index=[30, 40]),
    "polars": pl.DataFrame({"image_id": [7, 9], "caption": ["a cat", "a dog"]}),
    "pandas series": pd.Series(["a cat", "a dog"], index=[7, 9]),
    "pandas series of lists": pd.Series([["a cat"], ["a dog"]], index=[7, 9]),
    "pyarrow": pa.table({"image_id": [7, 9], "caption": ["a cat", "a dog"]}),
    "pyarrow batch": pa.RecordBatch.from_pydict({"image_id": [7, 9], "caption": ["a cat", "a dog"]}),
    "data frame of lists": pl.DataFrame({"image": [7, 9], "captions": [["a cat"], ["a dog"]]}),
}


@pytest.mark.parametrize("form", CANDIDATE_OBJECTS)
def test_candidates_are_read_from_objects(form: str) -> None:
    rows = read_rows(CANDIDATE_OBJECTS[form], "candidates")
    assert rows.name == "candidates"
    assert rows.ids == (7, 9)
    assert all(type(i) is int for i in rows.ids)
    assert rows.texts == ("a cat", "a dog")
    assert rows.id_form == "typed"


@pytest.mark.parametrize(
    "captions",
    [
        pd.Series(["a cat", "a dog"]),
        pl.Series(["a cat", "a dog"]),
        (text for text in ["a cat", "a dog"]),
        {"x": "a cat", "y": "a dog"}.values(),
    ],
    ids=lambda captions: f"{type(captions).__module__}-{type(captions).__name__}",
)
def test_sequences_of_captions_are_read_by_position(captions: Any) -> None:
    rows = read_rows(captions, "candidates")
    assert rows.ids == (0, 1)
    assert rows.texts == ("a cat", "a dog")


def test_series_with_a_duplicate_image_is_references_only() -> None:
    series = pd.Series(["a cat", "the cat", "a dog"], index=[7, 7, 9])
    assert read_rows(series, "references").ids == (7, 7, 9)
    with pytest.raises(InputError, match="more than one"):
        read_rows(series, "candidates")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_references_are_read_from_data_frames(frame: Any) -> None:
    rows = read_rows(frame({"image": ["x", "y"], "refs": [["a cat", "the cat"], ["a dog"]]}), "references")
    assert rows.ids == ("x", "x", "y")
    assert rows.texts == ("a cat", "the cat", "a dog")
    assert rows.place(2) == "row index 1"


def test_arrays_in_cells_are_lists_of_captions() -> None:
    frame = pd.DataFrame({"image": ["x"], "refs": [np.array(["a cat", "the cat"])]})
    assert read_rows(frame, "references").texts == ("a cat", "the cat")


@pytest.mark.parametrize("captions", [["a", "b"], ("a", "b"), [["a"], ["b"]], np.array(["a", "b"])])
def test_candidates_are_read_by_position(captions: Any) -> None:
    rows = read_rows(captions, "candidates")
    assert rows.id_form == "position"
    assert (rows.ids, rows.texts) == ((0, 1), ("a", "b"))
    assert rows.place(1) == "index 1"


@pytest.mark.parametrize("captions", [[["a", "b"], ["c"]], [("a", "b"), "c"]])
def test_references_are_read_by_position(captions: Any) -> None:
    rows = read_rows(captions, "references")
    assert rows.id_form == "position"
    assert (rows.ids, rows.texts) == ((0, 0, 1), ("a", "b", "c"))


def test_ids_stay_what_they_were() -> None:
    assert read_rows({7: "a", "8": "b", "007": "c"}, "candidates").ids == (7, "8", "007")


def test_an_empty_caption_is_legal(write: Write) -> None:
    assert read_rows({7: ""}, "candidates").texts == ("",)
    assert read_rows(write("c.csv", "image,caption\n7,\n"), "candidates").texts == ("",)


@pytest.mark.parametrize(
    ("name", "problem"),
    [("captions.doc", "'.doc' is not the extension"), ("captions.gz", "needs an extension"), ("a cat", "extension")],
)
def test_unknown_extension_is_refused(refuses: Refuses, name: str, problem: str) -> None:
    with refuses(CaptionFileError, name, problem, ".json, .jsonl, .ndjson, .csv, .tsv, .parquet", ".gz"):
        read_rows(name, "candidates")


@pytest.mark.parametrize(
    "captions",
    [
        5,
        None,
        b"a cat",
        {"a cat"},
        {1: {"a cat"}},
        {1: {"text": "a cat"}},
        {1: [["a cat"]]},
        {1: [{"text": "a cat"}]},
        [{"image_id": 1}],
        [{"caption": "a cat"}],
        [{"image_id": 1, "caption": "a cat"}, {"image_id": 2}],
        [{"image_id": 1, "caption": "a cat"}, "a dog"],
        ["a dog", {"image_id": 1, "caption": "a cat"}],
        {"image_id": 1, "caption": "a cat"},
        {"image_id": [1, 2], "caption": ["a cat", "a dog"]},
        {"annotations": [{"image_id": 1, "caption": "a"}], "images": [1]},
        {"annotations": [{"image_id": 1, "caption": "a"}], "images": 1},
        pd.DataFrame({"picture": [1], "caption": ["a cat"]}),
        pd.DataFrame([[1, 1, "a cat"]], columns=["id", "id", "caption"]),
        pl.DataFrame({"image": [1], "text": ["a cat"]}),
    ],
    ids=lambda captions: repr(captions)[:40].partition(" at 0x")[0],
)
def test_objects_of_unknown_form_are_refused(refuses: Refuses, captions: object) -> None:
    with refuses(InputError, "candidates", '[{"image_id": 42, "caption": "a cat"}, ...]', '{42: "a cat", ...}'):
        read_rows(captions, "candidates")


def test_the_record_that_differs_is_named(refuses: Refuses) -> None:
    records = [{"image_id": 1, "caption": "a"}, {"image_id": 2}]
    with refuses(InputError, "candidates: index 1", "missing 'caption', which index 0 contains"):
        read_rows(records, "candidates")


def test_fields_that_were_found_are_named(write: Write, refuses: Refuses) -> None:
    with refuses(
        InputError,
        "missing field for image ids: expected image_id, image, video_id, file_name, filename or id",
        "found 'picture', 'caption'",
        "if 'picture' holds them, rename it 'image_id'; otherwise candidates are read from",
    ):
        read_rows([{"picture": 1, "caption": "a"}], "candidates")
    message = "if 'text' holds them, rename it 'caption'"
    with refuses(
        InputError, "missing field for references", "found 'id', 'text'", message, '{42: ["a cat", "the cat"], ...}'
    ):
        read_rows([{"id": 1, "text": "a"}], "references")
    message = 'if \'text\' holds them: captious.CaptionFile(FILE, columns={"caption": "text"})'
    with refuses(CaptionFileError, "missing field for references", message, '{"42": ["a cat", "the cat"], ...}'):
        read_rows(write("r.json", '[{"id": 1, "text": "a"}]'), "references")


@pytest.mark.parametrize("nothing", [[], {}, np.array([]), pd.DataFrame({"id": [], "caption": []})])
def test_sources_without_captions_are_refused(refuses: Refuses, nothing: object) -> None:
    with refuses(EmptyInputError, "there are no captions", "candidates"):
        read_rows(nothing, "candidates")


def test_sources_with_only_empty_lists_are_refused(refuses: Refuses) -> None:
    with refuses(EmptyInputError, "there are no captions", "references"):
        read_rows({7: [], 9: []}, "references")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_missing_value_in_a_data_frame_is_refused(refuses: Refuses, frame: Any) -> None:
    with refuses(CaptionTypeError, "1 of 3 captions is not text", "candidates: row index 1 (image_id 2)"):
        read_rows(frame({"id": [1, 2, 3], "caption": ["a", None, "c"]}), "candidates")


def test_nan_caption_is_refused(refuses: Refuses) -> None:
    with refuses(CaptionTypeError, "row index 1 (image_id 2) is nan"):
        read_rows(pd.DataFrame({"id": [1, 2], "caption": pd.Series(["a", float("nan")], dtype=object)}), "candidates")


@pytest.mark.parametrize("role", ["x", "reference", None, ["candidates"]])
def test_unknown_role_is_refused(role: Any) -> None:
    with pytest.raises(ParameterError, match=r"is not a role of captions\n.*candidates, references"):
        read_rows({1: "a dog"}, role)


def test_parquet_without_pyarrow_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, refuses: Refuses, write: Write
) -> None:
    path = write("c.parquet", parquet({"id": [1], "caption": ["a"]}))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with refuses(MissingExtraError, path, "pip install 'captious[parquet]'"):
        read_rows(path, "candidates")
