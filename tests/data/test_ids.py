"""Image ids of two sources: an integer and its text are one image, and a rule is needed for everything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from captious import check, reward, score
from captious.data import read_captions, read_references, same_images
from captious.data.groups import read_groups
from captious.data.ids import IDS, Ids, ImageId, by_rule, find, read_alike, rule_for
from captious.data.rows import CaptionFile
from captious.errors import ParameterError, UnknownImageError, UnknownNameError


def test_images_are_the_same_whether_text_or_number() -> None:
    assert same_images((1, 2, "a"), ("1", 2, "a"))
    assert not same_images((1, 2), (2, 1))
    assert not same_images((1, 2), (1, 2, 3))
    assert not same_images(("01",), (1,))


NAMES = ("COCO_val2014_000000000042.jpg", "COCO_val2014_000000000007.jpg")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((42, 7), (7, 42), ((42, 7), (7, 42))),
        (("42", "7"), (7, 42), ((42, 7), (7, 42))),
        ((42, 7), ("7", "x"), ((42, 7), (7, "x"))),
        (("42", "x"), ("7", "42"), (("42", "x"), ("7", "42"))),
        (("042", "7"), (7, 42), (("042", 7), (7, 42))),
        ((1, "2", "x"), ("1", 2, "x"), ((1, 2, "x"), (1, 2, "x"))),
        ((9**40,), (str(9**40),), ((9**40,), (9**40,))),
        (NAMES, (7, 42), (NAMES, (7, 42))),
    ],
)
def test_an_integer_and_its_text_are_one_image(
    left: tuple[ImageId, ...], right: tuple[ImageId, ...], expected: Any
) -> None:
    assert read_alike(left, right) == expected


def test_an_integer_and_its_text_cannot_be_two_images() -> None:
    with pytest.raises(ParameterError, match="image_id 42 and '42'"):
        read_alike((42, "42"), (42, 43))
    both: dict[ImageId, str] = {42: "a", "42": "b"}
    for read in (read_references, read_groups, read_captions, lambda source: reward(source, "rouge-l")):
        with pytest.raises(ParameterError, match="image_id 42 and '42'"):
            read(both)


@pytest.mark.parametrize("split", ["", "test"])
def test_an_integer_and_its_text_are_one_image_within_a_file(tmp_path: Path, split: str) -> None:
    images = [{"id": image, "split": "test"} for image in (1, 2)]
    annotations = [{"image_id": image, "caption": "a dog"} for image in ("1", "2")]
    path = tmp_path / "coco.json"
    path.write_text(json.dumps({"images": images, "annotations": annotations}))
    references = read_references(CaptionFile(path, split=split))
    assert (references.ids, references.without_references) == ((1, 2), ())


@pytest.mark.parametrize(
    ("rule", "texts", "ids"),
    [
        ("composed", ("cafe\u0301.jpg", " x ", "1.0"), ("caf\u00e9.jpg", "x", "1.0")),
        ("stem", ("photos/1.jpg", r"C:\photos\2.JPEG", "1.0", "v1.mp4", ".jpg"), ("1", "2", "1.0", "v1", ".jpg")),
        ("integer", ("000000000042", "1.0", "42 ", "+7", "-3", "cat"), (42, 1, 42, 7, -3, "cat")),
        ("integer", (*NAMES, "val2017/000000000043.jpg", "video7010"), (42, 7, 43, 7010)),
        ("integer", ("1.5", "1e3", "v1.5.jpg", "1,000", "a2e3"), ("1.5", "1e3", "v1.5.jpg", "1,000", 3)),
    ],
)  # fmt: skip
def test_rules_read_text(rule: Ids, texts: tuple[str, ...], ids: tuple[ImageId, ...]) -> None:
    assert tuple(by_rule([text], rule)[0] for text in texts) == ids
    assert by_rule(texts, "exact") is texts
    assert by_rule((1, 2), rule) == (1, 2)


@pytest.mark.parametrize(
    ("ids", "rule"), [(("a/1.jpg", "b/1.jpg"), "stem"), (("01", "1"), "integer"), (("e\u0301", "\u00e9"), "composed")]
)
def test_a_rule_does_not_make_one_image_of_two(ids: tuple[str, ...], rule: Ids) -> None:
    with pytest.raises(ParameterError) as caught:
        by_rule(ids, rule)
    assert all(repr(image) in caught.value.where for image in ids)
    assert rule_for(ids, ("1", "\u00e9")) != rule


def test_there_are_no_other_rules() -> None:
    with pytest.raises(UnknownNameError, match="basename") as caught:
        read_captions({1: "a"}, {1: ["a"]}, ids="basename")  # type: ignore[call-overload]
    assert all(rule in caught.value.hint for rule in IDS)


IMAGES = (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("spelled", "rule"),
    [
        ("{:012}", "integer"),
        ("{}.0", "integer"),
        ("{} ", "integer"),
        ("COCO_val2014_{:012}.jpg", "integer"),
        ("{:012}.jpg", "integer"),
        ("photos/{}.jpg", "stem"),
        ("{}.jpg", "stem"),
    ],
)
@pytest.mark.parametrize("is_swapped", [False, True])
def test_the_error_names_the_rule_that_matches_all(spelled: str, rule: Ids, is_swapped: bool) -> None:
    named = {spelled.format(image): f"caption {image}" for image in IMAGES}
    numbered = {image: f"caption {image}" for image in IMAGES}
    sides = (numbered, named) if is_swapped else (named, numbered)
    with pytest.raises(UnknownImageError) as caught:
        read_captions(*sides)
    assert f'ids="{rule}"' in caught.value.hint
    captions = read_captions(*sides, ids=rule)
    assert captions.ids == IMAGES
    assert captions.candidates == captions.references.texts == tuple(numbered.values())


@pytest.mark.parametrize(
    ("candidates", "references", "rule"),
    [
        ({"x.tar.gz": "a"}, {"x": ["a"]}, "stem"),
        ({"1.5": "a"}, {5: ["a"]}, "exact"),
        ({"1e3": "a"}, {3: ["a"]}, "exact"),
    ],
)
def test_no_rule_is_named_that_does_not_help(candidates: Any, references: Any, rule: Ids) -> None:
    with pytest.raises(UnknownImageError) as caught:
        read_captions(candidates, references, ids=rule)
    assert "ids=" not in caught.value.hint


@pytest.mark.parametrize(
    ("left", "right", "parts"),
    [
        ("dogs_{}", "cats_{}", ("'dogs_'", "'cats_'")),
        ("kitchen/{}.jpg", "beach/{}.jpg", ("'kitchen/'", "'beach/'")),
        ("train/{}.jpg", "val_{}", ("'train/'", "'val_'")),
        ("COCO_train2014_{:012}", "COCO_val2014_{:012}.jpg", ("'COCO_train2014_'", "'COCO_val2014_'")),
        ("2024-01-0{}", "2023-05-0{}", ()),
        ("2024-01-0{}", "{}", ()),
        ("shot_2024_01_0{}.jpg", "{}", ()),
    ],
)
def test_no_rule_is_named_that_leaves_out_what_differs(left: str, right: str, parts: tuple[str, ...]) -> None:
    candidates = {left.format(image): "a" for image in IMAGES}
    references = {right.format(image): ["a"] for image in IMAGES}
    with pytest.raises(UnknownImageError) as caught:
        read_captions(candidates, references)
    assert "ids=" not in caught.value.hint
    assert all(part in caught.value.hint for part in parts)
    captions = read_captions({**candidates, 0: "b"}, {**references, 0: ["b"]}, match="common")
    assert captions.ids_advice == ""


@pytest.mark.parametrize(
    ("left", "right"),
    [("/data/val/{}.jpg", "val/{}.png"), ("IMG_{}.jpg", "img_{:04}"), ("COCO_val2014_{:012}", "val2014_{}")],
)
def test_what_stands_before_ids_may_be_cut(left: str, right: str) -> None:
    with pytest.raises(UnknownImageError, match="ids="):
        read_captions({left.format(n): "a" for n in IMAGES}, {right.format(n): ["a"] for n in IMAGES})


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_images_that_are_left_out_because_of_their_ids_are_counted() -> None:
    candidates = {"1.jpg": "a", "2.jpg": "b", "3": "c", "x": "d"}
    references = {1: ["a"], 2: ["b"], 3: ["c"], 4: ["d"]}
    assert score(candidates, references, "bleu-1", match="common").warnings[0] == (
        '1 image is matched, and 3 would be with ids="stem": the ids are written differently.'
    )
    assert check(candidates, references, match="common").warnings[0].kind == "ids"
    by_stem = score(candidates, references, "bleu-1", match="common", ids="stem")
    assert (by_stem.n_images, [warning for warning in by_stem.warnings if warning.kind == "ids"]) == (3, [])


def test_the_rule_is_named_where_only_some_ids_differ() -> None:
    with pytest.raises(UnknownImageError) as caught:
        read_captions({"cafe\u0301": "a", "b": "b"}, {"caf\u00e9": ["a"], "b": ["b"], "c": ["c"]})
    assert 'ids="composed"' in caught.value.hint
    with pytest.raises(UnknownImageError) as caught:
        read_captions({1: "a", 5: "b"}, {1: ["a"], 2: ["b"]})
    assert "ids=" not in caught.value.hint


@pytest.mark.parametrize(
    ("file", "rule"),
    [("ids_zero_padded.json", "integer"), ("ids_file_names.json", "stem"), ("ids_floats.csv", "integer")],
)
def test_ids_that_people_have(shared_cases: Path, file: str, rule: Ids) -> None:
    with pytest.raises(UnknownImageError, match=f'ids="{rule}"'):
        read_captions(shared_cases / file, shared_cases / "references.json")
    captions = read_captions(shared_cases / file, shared_cases / "references.json", ids=rule)
    right = read_captions(shared_cases / "candidates.json", shared_cases / "references.json")
    assert (captions.candidates, captions.references.texts) == (right.candidates, right.references.texts)
    assert [*map(str, captions.ids)] == [*map(str, right.ids)]


def test_systems_share_references_read_by_a_rule(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"a/1.jpg": ["a"], "a/2.jpg": ["b"]}))
    references = read_references(path)
    one, two = (read_captions({1: text, 2: text}, references, ids="stem") for text in "xy")
    assert one.references is two.references
    assert one.ids == (1, 2)
    assert one.references.ids_read == "stem"
    assert one.references.select([1]).ids_read == "stem"


def test_a_table_has_an_integer_or_its_text() -> None:
    assert find({1: "a", "2": "b", "x": "c"}, "1") == "a"
    assert [find({1: "a", "2": "b"}, image) for image in (1, 2, "2", "02", 3)] == ["a", "b", "b", None, None]
