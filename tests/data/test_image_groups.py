"""Groups of images: every form that can be read, matching by value, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from captious import Groups, read_captions, read_groups, read_references
from captious.data.groups import MOST_GROUPS
from captious.errors import CaptionFileError, InputError, UnknownNameError
from tests.data.conftest import Refuses, Write

EXPECTED = {42: "indoor", 43: "outdoor", 44: "indoor"}
COCO = {
    "images": [{"id": image, "file_name": "x", "domain": group} for image, group in EXPECTED.items()],
    "annotations": [{"image_id": image, "id": n, "caption": "a"} for n, image in enumerate((42, 42, 43, 44))],
}
IDS = read_references({image: ["a"] for image in EXPECTED})


def test_groups_are_read_from_parquet_and_frames(tmp_path: Path) -> None:
    frame = pl.DataFrame({"image": [42, 43, 44], "caption": ["a", "b", "c"], "group": ["x", None, "x"]})
    frame.write_parquet(tmp_path / "g.parquet")
    for source in (frame, tmp_path / "g.parquet"):
        assert dict(read_groups(source).group_of) == {42: "x", 44: "x"}


@pytest.mark.parametrize("without_captions", [False, True])
def test_groups_are_read_from_a_field_of_coco_images(write: Write, without_captions: bool) -> None:
    document = {"images": COCO["images"]} if without_captions else COCO
    groups = read_groups(write("c.json", json.dumps(document)), column="domain")
    assert (groups.by, dict(groups.group_of)) == ("domain", EXPECTED)


def test_groups_are_read_from_a_column_of_captions(write: Write) -> None:
    path = write("r.csv", "id,caption,lang\n42,a,en\n42,b,en\n43,c,de\n")
    assert dict(read_groups(path, column="lang").group_of) == {"42": "en", "43": "de"}


def test_groups_may_be_numbers_and_booleans() -> None:
    groups = read_groups({1: 10, 2: 9, 3: 2.0, 4: True, 5: "none"})
    assert groups.names == ("2", "9", "10", "True", "none")


def test_group_names_are_ordered() -> None:
    assert Groups("x", {1: "nan", 2: "-1", 3: "b", 4: "1e1", 5: "inf", 6: "3"}).names == (
        "-1",
        "3",
        "1e1",
        "b",
        "inf",
        "nan",
    )


def test_ids_match_by_value() -> None:
    numbers = Groups("x", {42: "a", 43: "b"})
    text = Groups("x", {"42": "a", "43": "b"}, id_form="text")
    of_text = read_references({"42": ["a"], "43": ["b"]})
    for groups, ids in ((text, read_references({42: ["a"], 43: ["b"]})), (text, of_text), (numbers, of_text)):
        assert [rows.tolist() for rows in groups.rows(ids).values()] == [[0], [1]]
    names = Groups("x", {"42.jpg": "a", "43.jpg": "b"})
    with pytest.raises(InputError, match="2 of 2 images have no group") as caught:
        names.rows(of_text)
    assert 'ids="stem"' in caught.value.hint
    read = read_captions({"42.jpg": "c", "43.jpg": "d"}, of_text, ids="stem")
    assert [rows.tolist() for rows in names.rows(read.references).values()] == [[0], [1]]


def test_images_that_are_not_scored_are_ignored() -> None:
    groups = Groups("x", {42: "a", 43: "b", 7: "c"})
    assert [*groups.rows(read_references({43: ["a"], 42: ["b"]}))] == ["a", "b"]


def test_images_without_a_group_are_named(write: Write) -> None:
    groups = read_groups(write("g.csv", "id,group\n42,a\n43,\n"))
    with pytest.raises(InputError, match="2 of 3 images have no group") as caught:
        groups.rows(IDS)
    assert "g.csv: image_id 43, 44" in caught.value.where


class TestRefused:
    def test_several_groups_of_an_image_are_refused(self, refuses: Refuses, write: Write) -> None:
        path = write("r.csv", "id,caption,lang\n42,a,en\n42,b,de\n43,c,de\n")
        with refuses(InputError, path, "1 of 2 images has several groups", "'42' in line 2 (en), line 3 (de)"):
            read_groups(path, column="lang")

    @pytest.mark.parametrize(
        ("name", "content", "part"),
        [
            ("g.csv", "id,caption\n1,a\n", "'caption'"),
            ("g.json", '{"1": "a"}', "has no columns"),
            ("g.json", json.dumps(COCO), "images have 'id', 'file_name', 'domain'; annotations have"),
        ],
    )
    def test_unknown_column_is_refused(
        self, refuses: Refuses, write: Write, name: str, content: str, part: str
    ) -> None:
        path = write(name, content)
        with refuses(UnknownNameError, path, "there is no column 'nowhere'", part):
            read_groups(path, column="nowhere")

    def test_field_of_both_images_and_annotations_is_refused(self, refuses: Refuses, write: Write) -> None:
        path = write("c.json", json.dumps(COCO))
        with refuses(CaptionFileError, path, "both the images and the annotations have a field 'id'"):
            read_groups(path, column="id")

    def test_positions_without_ids_are_refused(self) -> None:
        with pytest.raises(InputError, match="no image ids"):
            read_groups(["a", "b"])

    @pytest.mark.parametrize("groups", [(10, "10 "), ("in door", " in\u00a0door "), ("caf\u00e9", "cafe\u0301")])
    def test_groups_that_look_the_same_are_refused(self, groups: tuple[Any, Any]) -> None:
        with pytest.raises(InputError, match="two groups look the same") as caught:
            read_groups(dict(enumerate(groups)))
        assert all(repr(str(name)) in caught.value.where for name in groups)

    def test_too_many_groups_are_refused(self) -> None:
        with pytest.raises(InputError, match="1,001 groups of 1,001 images"):
            read_groups({image: str(image) for image in range(MOST_GROUPS + 1)})
