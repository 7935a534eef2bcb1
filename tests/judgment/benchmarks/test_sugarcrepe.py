"""SugarCrepe: the owners' files give the judgments of the normalized ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

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
