"""SugarCrepe: the owners' files give the judgments of the normalized ones, and broken entries are named."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from captious.errors import CaptionFileError, ResourceError
from captious.judgment.benchmarks import names
from tests.support.judgments import assert_same, load, read_jsonl, write, write_jsonl

CHANGES = names.get("sugarcrepe").protocol().part_order


@pytest.mark.parametrize(
    ("coco", "file_name"),
    [("captions_val2017.json", "{:012}.jpg"), ("captions_val2014.json", "COCO_val2014_{:012}.jpg")],
)
def test_published_and_normalized_sugarcrepe_are_equal(
    coco: str, file_name: str, tmp_path: Path, shared_data: Path
) -> None:
    published = tmp_path / "published"
    images: set[int] = set()
    for part in CHANGES:
        some = read_jsonl(shared_data / "sugarcrepe" / f"{part}.jsonl.gz")[:40]
        write_jsonl(tmp_path, f"sugarcrepe/{part}.jsonl", some)
        entries = {
            r["id"]: {
                "filename": file_name.format(r["image_id"]),
                "caption": r["pos"],
                "negative_caption": r["neg"],
            }
            for r in some
        }
        write(published, f"sugarcrepe/{part}.json", entries)
        images |= {r["image_id"] for r in some}
    content = json.loads(gzip.decompress((shared_data / "coco" / "captions_val2014.json.gz").read_bytes()))
    kept = [a for a in content["annotations"] if a["image_id"] in images]
    write(published, f"coco/{coco}", {"annotations": kept})
    assert_same(load(published, "sugarcrepe"), load(tmp_path, "sugarcrepe"))


def test_missing_sugarcrepe_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ResourceError) as caught:
        load(tmp_path, "sugarcrepe")
    assert "sugarcrepe/swap_obj.jsonl" in caught.value.where
    assert "sugarcrepe/swap_obj.json and coco/captions_val2017.json" in caught.value.where


def without(key: str) -> Callable[[dict[str, Any]], object]:
    return lambda entry: {name: value for name, value in entry.items() if name != key}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("negative_caption"), "no negative_caption"),
        (lambda entry: entry | {"filename": "cat.jpg"}, "'cat' is not a number"),
        (lambda entry: entry | {"filename": "000000000002.jpg"}, "2 has no caption"),
        (lambda entry: entry | {"caption": "A  CAT!", "filename": "000000000003.jpg"}, "no other caption"),
        (lambda entry: "a cat", "no filename"),
    ],
)
def test_broken_entries_are_named(change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path) -> None:
    good = {"filename": "000000000001.jpg", "caption": "a dog", "negative_caption": "a blue dog"}
    for part in CHANGES:
        write(tmp_path, f"sugarcrepe/{part}.json", {"0": good, "7": change(good) if part == "add_obj" else good})
    captions = [(1, "a dog "), (1, "the dog"), (3, "a cat")]
    annotations = [{"image_id": image, "caption": caption} for image, caption in captions]
    write(tmp_path, "coco/captions_val2014.json", {"annotations": annotations})
    with pytest.raises(CaptionFileError, match=message) as caught:
        load(tmp_path, "sugarcrepe")
    assert "add_obj.json, entry '7'" in caught.value.where
