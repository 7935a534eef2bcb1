"""The layouts in which data sets are published: small files in exactly their shape, in tests/data/layouts."""

from __future__ import annotations

import json
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
    CaptionTypeError,
    CaptiousError,
    DuplicateCandidateError,
    InputError,
)
from tests.data.conftest import Refuses, Write

FOLDER = Path(__file__).parent / "layouts"
#: The captions that all files hold, from the examples.
TEXTS = [*json.loads((Path(__file__).parents[2] / "examples" / "references.json").read_text("utf-8")).values()][:4]
KARPATHY = ["COCO_val2014_000000391895.jpg", "COCO_val2014_000000522418.jpg"]


def of(*rows: int, captions: slice = slice(None)) -> list[list[str]]:
    return [TEXTS[row][captions] for row in rows]


#: File -> columns, split, ids, references.
FILES: dict[str, tuple[str | None, str | None, list[Any], list[list[str]]]] = {
    "dataset_coco.json": (None, "test", [391895, 522418], of(0, 1)),
    "dataset_coco.json restval, val": (None, "restval,val", [184613, 318219], of(2, 3)),
    "dataset_coco.json file names": ("id=filename", "test", KARPATHY, of(0, 1)),
    "dataset_flickr30k.json": (None, "train", ["1000268201.jpg"], of(2)),
    "dataset_rsicd.json": (None, "test", ["airport_1.jpg", "airport_2.jpg"], of(0, 1)),
    "dataset_nwpu.json": (None, "test", ["airplane_001.jpg", "airplane_002.jpg"], of(0, 1)),
    "videodatainfo.json": (None, "validate", ["video7011", "video7012"], of(1, 2)),
    "vatex_english.json": (None, None, ["Ptf_2VRj-V0_000122_000132", "5bbW8tBOF5s_000122_000132"], of(0, 1)),
    "vatex.json": ("caption=enCap", None, ["Ptf_2VRj-V0_000122_000132", "5bbW8tBOF5s_000122_000132"], of(0, 1)),
    "crossmodal_3600_captions.jsonl": ("caption=en", None, ["0123456789abcdef", "fedcba9876543210"], of(0, 1)),
    "crossmodal_3600_captions.jsonl tokens": (
        "references=en/caption/tokenized/lowercase",
        None,
        ["0123456789abcdef", "fedcba9876543210"],
        [[text.lower().replace(".", " .") for text in texts] for texts in TEXTS[:2]],
    ),
    "MSR Video Description Corpus.csv": (None, None, ["mv89psg6zh4_33_46", "-4wsuPCjDBc_5_15"], of(0, 1)),
    "AllVideoDescriptions.txt": (None, None, ["mv89psg6zh4_33_46", "-4wsuPCjDBc_5_15"], of(0, 1)),
    "activitynet_val_1.json": (
        None,
        None,
        [
            "v_uqiMw7tQ1Cc[0.28-55.15]",
            "v_uqiMw7tQ1Cc[13.79-54.32]",
            "v_bXdq2zI1Ms0[0.28-55.15]",
            "v_bXdq2zI1Ms0[13.79-54.32]",
        ],
        [[text] for texts in TEXTS[:2] for text in texts[:2]],
    ),
    "activitynet_val_1.json paragraphs": (
        "caption=paragraph",
        None,
        ["v_uqiMw7tQ1Cc", "v_bXdq2zI1Ms0"],
        [[" ".join(texts[:2])] for texts in TEXTS[:2]],
    ),
    "clotho_captions_evaluation.csv": (None, None, ["Santa Motor.wav", "toy rattle 2.wav"], of(0, 1)),
    "audiocaps_test.csv": (None, None, ["vfY_TJq7n_U", "tdVtRqJPeL8"], of(0, 1)),
    "iu_xray_annotation.json": (
        None,
        "test",
        ["CXR2384_IM-0942", "CXR2926_IM-1328"],
        [[f"{texts[0]} {texts[1]}"] for texts in TEXTS[:2]],
    ),
    "mimic_annotation.json": (None, "val", ["68b5c4b1-227d0485-9cc38c3f-7b84ab51-4b472714"], of(3, captions=slice(1))),
    "nocaps_val_4500_captions.json": (None, None, [0, 1, 2], of(0, 1, 2)),
    "nocaps_val_4500_captions.json open images": (
        "id=open_images_id",
        None,
        ["0013ea2087020901", "0085f3e1b1b2e3d9", "00a159a661a2f5aa"],
        of(0, 1, 2),
    ),
    "TextCaps_0.1_val.json": (None, None, ["0054c91397f2fe05", "005635e119b9f32f"], of(0, 1)),
    # One caption is precanned, one is rejected, and the third image has only precanned ones.
    "vizwiz_val.json": (None, None, [23431, 23432], [TEXTS[0][:4], TEXTS[1][1:]]),
    "results_20130124.token": (
        None,
        None,
        ["1000092795.jpg", "10002456.jpg", "1000268201.jpg", "1000344755.jpg"],
        of(0, 1, 2, 3),
    ),
    "Flickr8k.token.txt": (None, None, ["1305564994_00513f9a5b.jpg", "1351764581_4d4fb1b40f.jpg"], of(0, 1)),
    "captions.txt": (None, None, ["1000268201_693b08cb0e.jpg", "1001773457_577c3a7d70.jpg"], of(0, 1)),
    # As published, one line lacks a separator.
    "results.csv": (
        None,
        None,
        ["1000092795.jpg", "10002456.jpg", "1000268201.jpg", "1000344755.jpg"],
        of(0, 1, 2, 3),
    ),
}


def file_of(case: str) -> Path:
    return next(path for path in FOLDER.iterdir() if case == path.name or case.startswith(f"{path.name} "))


@pytest.mark.parametrize("case", FILES)
def test_references_of_every_layout_are_read(case: str) -> None:
    columns, split, ids, texts = FILES[case]
    references = read_references(CaptionFile(file_of(case), columns=columns, split=split or ()))
    assert [*references.ids] == ids
    offsets = references.offsets.tolist()
    assert [[*references.texts[a:b]] for a, b in pairwise(offsets)] == texts


def test_every_file_and_every_layout_is_tested() -> None:
    tested = {file_of(case).name for case in FILES} | {"activitynet_results.json", "llava_answers.jsonl"}
    assert tested == {path.name for path in FOLDER.iterdir()}
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


def test_an_event_without_a_timestamp_is_named(write: Write, refuses: Refuses) -> None:
    events = {"v_x": [{"sentence": "a", "timestamp": [0, 1]}, {"sentence": "b", "timestamp": [0]}]}
    with refuses(CaptionTypeError, "image ids", "event 'v_x[1]' has None"):
        read_rows(write("r.json", json.dumps({"results": events})), "candidates")


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
    shared = read_options_of(columns, None, 2)
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
    ("content", "message", "choice"),
    [
        ([{"id": 1, "video_id": "v", "caption": "a"}], "both 'video_id' and 'id'", 'columns={"id": "id"}'),
        (
            [{"id": 1, "caption": "a", "captions": ["a"]}],
            "both caption and captions",
            'columns={"caption": "captions"}',
        ),
        ([{"videoID": "v", "enCap": ["a"], "chCap": ["b"]}], "both enCap and chCap", 'columns={"caption": "chCap"}'),
        (
            [{"videoID": "v", "enCap": ["a"], "youtube_id": "v", "caption": "b"}],
            "two layouts, VATEX and AudioCaps",
            'columns={"id": "videoID", "caption": "enCap"}) or captious.CaptionFile(FILE, columns={"id": "youtube_id",',
        ),
        (
            [{"question_id": 1, "text": "a", "id": 2, "caption": "b"}],
            "two layouts, LLaVA and rows with the usual names",
            'columns={"id": "question_id", "caption": "text"}',
        ),
        (
            {
                "images": [{"id": 1, "filename": "a.jpg", "sentences": [{"raw": "a"}], "split": "test"}],
                "annotations": [{"image_id": 1, "caption": "a"}],
            },
            "two layouts, COCO and Karpathy",
            'columns={"caption": "caption"}) or captious.CaptionFile(FILE, columns={"caption": "sentences"})',
        ),
    ],
)
def test_ambiguous_layout_offers_both_columns(write: Write, content: Any, message: str, choice: str) -> None:
    with pytest.raises(CaptionFileError) as caught:
        read_references(write("r.json", json.dumps(content)))
    assert message in caught.value.message
    assert choice in caught.value.hint
    first = json.loads(choice.partition(")")[0].removeprefix("columns="))
    assert len(read_references(CaptionFile(write("r.json", json.dumps(content)), columns=first))) == 1


@pytest.mark.parametrize(
    ("content", "layout", "missing"),
    [
        ([{"videoID": "v"}], "VATEX", "'enCap' or 'chCap'"),
        ([{"youtube_id": "v", "text": "a"}], "AudioCaps", "'caption'"),
        ([{"question_id": 1, "answer": "a"}], "LLaVA", "'text'"),
        ({"images": [{"filename": "a.jpg", "split": "test"}]}, "Karpathy", "'sentences'"),
        ({"images": [{"id": 1, "file_name": "a.jpg"}]}, "COCO", '"annotations"'),
        ({"sentences": [{"video_id": "v", "text": "a"}]}, "MSR-VTT", '"videos"'),
        ({"data": [{"image_id": "a", "caption_str": "a"}]}, "TextCaps", "'reference_strs'"),
        ({"airplane": [{"filename": "a.jpg", "raws": ["a"]}]}, "NWPU-Captions", "'raw'"),
    ],
)
def test_nearest_layout_is_named(write: Write, content: Any, layout: str, missing: str) -> None:
    with pytest.raises(CaptionFileError) as caught:
        read_references(write("r.json", json.dumps(content)))
    assert caught.value.message == f"this is nearly the layout {layout!r}, but it lacks {missing}"


def test_a_file_of_questions_is_not_one_of_answers(write: Write) -> None:
    path = write("q.jsonl", '{"question_id": 1, "image": "a.jpg", "text": "Describe the image."}')
    with pytest.raises(CaptionFileError, match="missing field for candidates"):
        read_rows(path, "candidates")


def test_the_record_is_named(write: Write, refuses: Refuses) -> None:
    annotation = {"test": [{"id": "a", "report": "b"}, {"id": "c"}]}
    with refuses(CaptionFileError, "missing 'report'", "record test[1]"):
        read_references(write("a.json", json.dumps(annotation)))
    sentences = [{"video_id": "v1", "caption": "a"}, {"video_id": "v2", "caption": "b"}]
    videos = {"videos": [{"video_id": "v1", "split": "test"}], "sentences": sentences}
    with refuses(CaptionFileError, "expected a 'video_id' that is one of \"videos\"", "sentence 2"):
        read_references(write("v.json", json.dumps(videos)))
    with refuses(CaptionFileError, "this line is not such as '1000092795.jpg#0\\tTwo young men'", "line 2"):
        read_references(write("r.token", "1.jpg#0\ta cat\n1.jpg a cat\n"))


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
