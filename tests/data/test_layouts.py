"""The layouts in which data sets are published: small files in exactly their shape, in tests/data/layouts."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from itertools import pairwise
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

from captious.data import CaptionFile, read_captions, read_groups, read_references, read_rows
from captious.data.layouts import LAYOUTS
from captious.data.rows import read_options_of
from captious.errors import (
    CaptionFileError,
    CaptiousError,
    DuplicateCandidateError,
    InputError,
)
from tests.data.conftest import Refuses, Write
from tests.golden.record import Record

FOLDER = Path(__file__).parent / "layouts"
#: The captions that all files hold, from the examples.
TEXTS = [*json.loads((Path(__file__).parents[2] / "examples" / "references.json").read_text("utf-8")).values()][:4]
#: What is read: a file and what is particular about it -> columns and split, where they have to be said.
CASES: dict[str, dict[str, str]] = {
    **{
        path.name: {}
        for path in sorted(FOLDER.iterdir())
        if path.name not in ("activitynet_results.json", "llava_answers.jsonl")
    },
    "dataset_coco.json": {"split": "test"},
    "dataset_coco.json restval, val": {"split": "restval,val"},
    "dataset_coco.json file names": {"columns": "id=filename", "split": "test"},
    "dataset_flickr30k.json": {"split": "train"},
    "dataset_rsicd.json": {"split": "test"},
    "dataset_nwpu.json": {"split": "test"},
    "videodatainfo.json": {"split": "validate"},
    "vatex.json": {"columns": "caption=enCap"},
    "crossmodal_3600_captions.jsonl": {"columns": "caption=en"},
    "crossmodal_3600_captions.jsonl tokens": {"columns": "references=en/caption/tokenized/lowercase"},
    "activitynet_val_1.json paragraphs": {"columns": "caption=paragraph"},
    "iu_xray_annotation.json": {"split": "test"},
    "mimic_annotation.json": {"split": "val"},
    "nocaps_val_4500_captions.json open images": {"columns": "id=open_images_id"},
}


def file_of(case: str) -> Path:
    return next(path for path in FOLDER.iterdir() if case == path.name or case.startswith(f"{path.name} "))


@pytest.mark.parametrize("case", CASES)
def test_references_of_every_layout_are_read(case: str, record: Record) -> None:
    """In vizwiz_val.json, one caption is precanned and one rejected; in results.csv, one line lacks a separator."""
    references = read_references(CaptionFile(file_of(case), **CASES[case]))
    texts = [references.texts[a:b] for a, b in pairwise(references.offsets.tolist())]
    record(f"layouts/{case}", {"ids": references.ids, "texts": texts})


def test_layouts_have_names_of_their_own() -> None:
    assert len({layout.name for layout in LAYOUTS}) == len(LAYOUTS)


def test_documents_are_unpacked(write: Write) -> None:
    path = write("v.json.gz", (FOLDER / "videodatainfo.json").read_text("utf-8"))
    assert read_references(CaptionFile(path, split="train")).ids == ("video7010", "video7013")


@pytest.mark.parametrize("name", [path.name for path in sorted(FOLDER.glob("*.json"))])
def test_documents_that_json_load_returned_are_refused(name: str) -> None:
    """Python data is never guessed at: the error says to pass the path."""
    with pytest.raises(InputError) as caught:
        read_references(json.loads((FOLDER / name).read_text("utf-8")))
    assert "a path " in caught.value.hint
    assert "json.load" in caught.value.hint


def test_candidates_of_llava_match_names_of_files() -> None:
    answers = FOLDER / "llava_answers.jsonl"
    references = CaptionFile(FOLDER / "dataset_coco.json", split="test,restval,val")
    captions = read_captions(answers, references, ids="integer")
    assert captions.ids == (391895, 522418, 184613, 318219)
    by_name = CaptionFile(FOLDER / "dataset_coco.json", columns="id=filename", split=["test"])
    assert read_captions(answers, by_name, match="common", ids="integer").ids == (391895, 522418)


def test_dense_captioning_results_are_read() -> None:
    captions = read_captions(FOLDER / "activitynet_results.json", FOLDER / "activitynet_val_1.json")
    assert captions.candidates == tuple(text for texts in TEXTS[:2] for text in texts[2:4])
    whole = read_captions(
        CaptionFile(FOLDER / "activitynet_results.json", layout="ActivityNet paragraphs"),
        CaptionFile(FOLDER / "activitynet_val_1.json", columns="caption=paragraph"),
    )
    assert whole.candidates == tuple(" ".join(texts[2:4]) for texts in TEXTS[:2])


def test_groups_are_read_from_layouts() -> None:
    domains = read_groups(FOLDER / "nocaps_val_4500_captions.json", column="domain")
    assert domains.group_of == {0: "near-domain", 1: "out-domain", 2: "in-domain"}
    file = CaptionFile(FOLDER / "nocaps_val_4500_captions.json", columns={"id": "open_images_id"})
    by_id = read_groups(file, column="domain")
    assert by_id.group_of["0085f3e1b1b2e3d9"] == "out-domain"
    assert read_groups(FOLDER / "videodatainfo.json", column="category").group_of["video7012"] == "2"
    assert read_groups(FOLDER / "dataset_coco.json", column="split").group_of[184613] == "restval"


# ---- splits


@pytest.mark.parametrize(
    ("name", "splits"),
    [
        ("dataset_coco.json", "test (2), restval (1), val (1)"),
        ("dataset_nwpu.json", "test (2), train (1), val (1)"),
        ("videodatainfo.json", "train (2), validate (2)"),
        ("mimic_annotation.json", "train (1), val (1), test (2)"),
    ],
)
def test_one_of_several_splits_must_be_chosen(name: str, splits: str) -> None:
    with pytest.raises(InputError) as caught:
        read_references(FOLDER / name)
    assert "splits, and none was chosen" in caught.value.message
    assert splits in caught.value.where
    assert "split=NAME" in caught.value.hint
    with pytest.raises(InputError, match="there is no split 'tset'") as caught:
        read_references(CaptionFile(FOLDER / name, split="tset"))
    assert splits in caught.value.where


def test_split_selects_rows(write: Write) -> None:
    rows = [{"id": 1, "caption": "a", "split": "val"}, {"id": 2, "caption": "b", "split": "test"}]
    path = write("r.json", json.dumps(rows))
    assert read_references(path).ids == (1, 2)
    assert read_references(CaptionFile(path, split="test")).ids == (2,)


def test_unknown_splits_are_refused(write: Write, refuses: Refuses) -> None:
    path = write("r.json", '[{"id": 1, "caption": "b"}]')
    with refuses(InputError, "there is no split 'test'", "no record says", "found 'id', 'caption'"):
        read_captions({1: "a"}, CaptionFile(path, split="test"))


# ---- names of columns


def test_columns_of_one_side_are_named(write: Write) -> None:
    candidates = write("c.csv", "key,text\n1,a cat\n2,a dog\n")
    references = [{"image_id": 1, "caption": "the cat"}, {"image_id": 2, "caption": "the dog"}]
    captions = read_captions(CaptionFile(candidates, columns="id=key,caption=text"), references)
    assert (captions.ids, captions.candidates) == ((1, 2), ("a cat", "a dog"))
    both = write("b.csv", "key,text,first,second\n1,a cat,the cat,cats\n2,a dog,the dog,\n")
    columns = {"id": "key", "candidate": "text", "references": ["first", "second"]}
    shared = read_options_of(columns, None)
    captions = read_captions(CaptionFile.sharing(both, shared), CaptionFile.sharing(both, shared))
    assert captions.candidates == ("a cat", "a dog")
    assert captions.references.texts == ("the cat", "cats", "the dog")
    file = CaptionFile(both, columns="id=key,caption=second")
    assert read_captions(file, {1: ["a"], 2: ["b"]}).candidates == ("cats", "")


def test_unknown_columns_are_refused(refuses: Refuses, write: Write) -> None:
    path = write("c.csv", "image_id,caption,text\n1,a,b\n")
    with refuses(InputError, "there is no column 'txet'", "'image_id', 'caption', 'text'", "col"):
        read_captions({1: "a"}, CaptionFile(path, columns="caption=txet"))
    with refuses(CaptionFileError, "there is no column 'key'", "found 'picture', 'caption'"):
        read_references(CaptionFile(write("d.csv", "picture,caption\n1,a\n"), columns="id=key"))


def test_columns_of_data_frames_are_not_named() -> None:
    frame = pytest.importorskip("pandas").DataFrame({"image_id": ["x", "y"], "text": ["a", "b"]})
    with pytest.raises(InputError, match="if 'text' holds them, rename it 'caption'"):
        read_rows(frame, "candidates")


def test_usual_names_take_precedence_over_layouts(write: Write) -> None:
    rows = '{"video_id": "v1", "prediction": "a", "report": "b"}'
    path = write("p.jsonl", rows)
    captions = read_captions(path, path)
    assert (captions.ids, captions.candidates, captions.references.texts) == (("v1",), ("a",), ("b",))
    assert read_captions(write("d.csv", "file_name,caption_predicted\nx.wav,a\n"), {"x.wav": "b"}).candidates == ("a",)
    numbered = read_references(write("n.csv", "id,candidate,reference_1,reference_2\n1,a,b,c\n2,d,e,\n"))
    assert (numbered.ids, numbered.texts) == (("1", "2"), ("b", "c", "e"))


# ---- what is refused


def test_a_language_of_crossmodal_3600_must_be_chosen_and_be_there(write: Write, refuses: Refuses) -> None:
    file = FOLDER / "crossmodal_3600_captions.jsonl"
    with pytest.raises(CaptionFileError, match="de and en and ja could be the references") as caught:
        read_references(file)
    assert 'columns={"caption": "de"}) or captious.CaptionFile(FILE, columns={"caption": "en"})' in caught.value.hint
    with pytest.raises(InputError, match="de and en and ja could be"):
        read_references(CaptionFile(file, columns="caption=fr"))
    with refuses(CaptionFileError, "there is no 'stems' in 'ja/caption', which has 2 items", "line 1"):
        read_references(CaptionFile(file, columns="caption=ja/caption/stems"))
    assert read_groups(file, column="image/locale").names == ("de", "ja")
    no_object = '{"image/key": "a", "image/locale": "de", "de": ["Ein Hund."]}'
    with refuses(CaptionFileError, "there is no 'caption' in 'de', which has 1 item", "line 1"):
        read_references(write("captions.jsonl", no_object))


def test_keys_of_objects_are_columns(write: Write) -> None:
    path = write("r.jsonl", '{"image": 1, "de": {"a/b": ["Hund"], "c": "Katze"}, "en/x": "dog"}')
    references = read_references(CaptionFile(path, columns="caption=de/a/b,caption=de/c,caption=en/x"))
    assert references.texts == ("Hund", "Katze", "dog")


def test_paths_lead_into_lists(write: Write) -> None:
    lines = [{"key": {"files": [{"name": f"{k}.jpg"}]}, "outputs": [["x"], [{"text": f"a cat {k}"}]]} for k in range(2)]
    path = write("r.jsonl", "\n".join(map(json.dumps, lines)))
    file = CaptionFile(path, columns={"id": "key/files/0/name", "caption": "outputs/-1/0/text"})
    rows = read_rows(file, "candidates")
    assert (rows.ids, rows.texts) == (("0.jpg", "1.jpg"), ("a cat 0", "a cat 1"))
    with pytest.raises(CaptionFileError, match="line 1") as caught:
        read_rows(CaptionFile(path, columns={"id": "key/files/3/name", "caption": "outputs/0/0"}), "candidates")
    assert 'columns={"id": "key/KEY"}' in caught.value.hint


@pytest.mark.parametrize(
    "path", sorted(FOLDER.with_name("files").glob("ambiguous, *.json")), ids=lambda path: path.stem
)
def test_an_ambiguous_layout_is_read_with_each_choice(path: Path) -> None:
    """The errors are recorded: test_every_file.py."""
    with pytest.raises(CaptionFileError) as caught:
        read_references(path)
    choices = re.findall(r"columns=({.*?})", caught.value.hint)
    assert len(choices) == 2
    for choice in choices:
        assert len(read_references(CaptionFile(path, columns=json.loads(choice)))) == 1


def test_several_references_are_not_candidates() -> None:
    with pytest.raises(DuplicateCandidateError):
        read_rows(CaptionFile(FOLDER / "dataset_coco.json", split="test"), "candidates")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the places of something in a JSON document."""
    if path:
        yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, one in entries:
        yield from places(one, (*path, key))


@pytest.mark.parametrize("name", [path.name for path in sorted(FOLDER.glob("*.json"))])
def test_changed_values_give_only_input_errors(write: Write, name: str) -> None:
    content = (FOLDER / name).read_text("utf-8")
    for place in places(json.loads(content)):
        for value in (None, 0, "x", [], {}, [1], [{}], {"a": 1}):
            document = json.loads(content)
            *parents, last = place
            reduce(getitem, parents, document)[last] = value
            path = write("changed.json", json.dumps(document))
            for file in (CaptionFile(path), CaptionFile(path, columns="id=open_images_id", split="test")):
                with suppress(CaptiousError):
                    read_references(file)


def test_copies_keep_their_names(tmp_path: Path) -> None:
    file = CaptionFile(shutil.copy(FOLDER / "captions.txt", tmp_path))
    assert (file.name, str(file), repr(file)) == (
        "captions.txt",
        str(tmp_path / "captions.txt"),
        f"<CaptionFile '{file}'>",
    )
