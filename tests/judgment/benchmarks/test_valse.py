"""VALSE: which foils are used, and which captions are references."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import CaptionFileError
from tests.support.judgments import load, write


def entry(image: str, caption: str, votes: int = 3, **more: str) -> dict[str, object]:
    people = {"foil": 3 - votes, "caption": votes, "other": 0}
    return {"image_file": image, "caption": caption, "foil": "many dogs", "mturk": people, **more}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    exact = entry("000000000001.jpg", "exactly one dog", orig_caption="A dog")
    write(tmp_path, "valse/plurals.json", {"1": exact, "2": entry("000000000001.jpg", "a dog", votes=1)})
    write(tmp_path, "valse/relations.json", {"1": entry("000000000001.jpg", "the dog", votes=2)})
    write(tmp_path, "valse/foil-it.json", {"1": entry("COCO_val2014_000000000001.jpg", "a big dog")})
    annotations = [{"image_id": 1, "caption": text} for text in ("a dog", "the dog.")]
    write(tmp_path, "coco/captions_val2014.json", {"annotations": annotations})
    return tmp_path


def test_valse_image_without_other_captions_is_refused(folder: Path) -> None:
    write(folder, "coco/captions_val2014.json", {"annotations": [{"image_id": 1, "caption": "a dog!"}]})
    with pytest.raises(CaptionFileError, match="image 1 has no other caption") as caught:
        load(folder, "valse")
    assert "plurals.json, entry '1'" in caught.value.where
