"""Images of a folder: their addresses from the page, and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import InputError, ParameterError
from captious.report.images import ImageFolder, ImageUrls, image_source


def test_addresses_are_relative_to_the_page(tmp_path: Path) -> None:
    (tmp_path / "val 2014").mkdir()
    for name in ("COCO_val2014_000000000007.jpg", "a#b.PNG", "notes.txt"):
        (tmp_path / "val 2014" / name).touch()
    folder = ImageFolder(tmp_path / "val 2014", tmp_path / "reports")
    assert folder.addresses([7, "a#b"]) == [
        "./../val%202014/COCO_val2014_000000000007.jpg",
        "./../val%202014/a%23b.PNG",
    ]
    with pytest.raises(InputError, match="1 of 2 images has no file"):
        folder.check([7, 8])
    with pytest.raises(InputError):
        ImageFolder(tmp_path / "none", tmp_path).check([7])


def test_templates_and_folders_are_told_apart(tmp_path: Path) -> None:
    assert image_source("images/{id}.jpg", tmp_path) == ImageUrls("images/{id}.jpg")
    for folder in ("images", Path("images"), str(tmp_path)):
        assert image_source(folder, tmp_path) == ImageFolder(Path(folder), tmp_path)
    for wrong in ("https://images.example.org/", "", "images/{name}.jpg"):
        with pytest.raises(ParameterError, match=r"the image URL must contain \{id\}"):
            image_source(wrong, tmp_path)
