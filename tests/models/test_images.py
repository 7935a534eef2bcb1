"""captious.models.clip: the file of each image, and errors about missing and damaged files."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from captious.errors import InputError
from captious.models.clip import _read, find_images, read_image


def folder_with(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("image", "file"),
    [
        ("1056338697_4f7d7ce270.jpg", "1056338697_4f7d7ce270.jpg"),
        ("no-extension", "no-extension"),
        ("2008_000008", "2008_000008.JPEG"),
        ("v1.2", "v1.2.png"),
        (391895, "391895.jpg"),
        ("391895", "391895.webp"),
        (391895, "000000391895.jpg"),
        (391895, "COCO_val2014_000000391895.jpg"),
        ("391895", "COCO_train2014_000000391895.png"),
        ("000000391895", "000000391895.tiff"),
        ("COCO_val2014_000000391895", "COCO_val2014_000000391895.jpg"),
        (0, "000000000000.jpg"),
    ],
)
def test_an_image_is_found_by_its_name(tmp_path: Path, image: int | str, file: str) -> None:
    others = ("39189.jpg", "13918950.jpg", "COCO_val2014_000001391895.jpg", "2008_000009.jpg", "labels.txt", "7.json")
    assert find_images(folder_with(tmp_path, file, *others), [image]) == [tmp_path / file]


def test_images_come_in_the_order_of_the_ids(tmp_path: Path) -> None:
    folder_with(tmp_path, "1.jpg", "2.jpg", "000000000003.jpg")
    assert [path.name for path in find_images(str(tmp_path), [3, 1, 2])] == ["000000000003.jpg", "1.jpg", "2.jpg"]
    assert find_images(tmp_path, []) == []


@pytest.mark.parametrize(
    "file", ["7.txt", "07.jpg", "7.jpg.part", "00000000007.jpg", "COCO_000000000007.jpg", "x7.jpg"]
)
def test_files_of_other_types_are_ignored(tmp_path: Path, file: str) -> None:
    with pytest.raises(InputError, match="1 of 1 image has no file"):
        find_images(folder_with(tmp_path, file), [7])


def test_folder_named_like_an_image_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "7.jpg").mkdir()
    with pytest.raises(InputError, match="has no file"):
        find_images(tmp_path, [7])


def test_missing_images_are_counted_and_the_first_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        find_images(folder_with(tmp_path, "1.jpg"), [1, 2, "3", 4, 5])
    assert caught.value.message == "4 of 5 images have no file"
    assert caught.value.where == f"{tmp_path}: image_id 2, '3', 4 and 1 more"
    assert "COCO_val2014" in caught.value.hint


def test_images_with_several_files_are_counted_and_the_first_named(tmp_path: Path) -> None:
    folder_with(tmp_path, "1.jpg", "1.png", "2.jpg", "COCO_val2014_000000000002.jpg", "3.jpg")
    with pytest.raises(InputError) as caught:
        find_images(tmp_path, [1, 2, 3])
    assert caught.value.message == "2 of 3 images have more than one file"
    assert caught.value.where == f"{tmp_path}: image_id 1: 1.jpg or 1.png; 2: 2.jpg or COCO_val2014_000000000002.jpg"
    assert [path.name for path in find_images(tmp_path, ["1.png", "2.jpg"])] == ["1.png", "2.jpg"]


@pytest.mark.parametrize("make", [lambda path: None, Path.touch], ids=["not there", "a file"])
def test_missing_image_folder_is_named(tmp_path: Path, make: object) -> None:
    make(tmp_path / "pictures")  # type: ignore[operator]
    with pytest.raises(InputError, match="the folder of images cannot be read") as caught:
        find_images(tmp_path / "pictures", [1])
    assert caught.value.where == str(tmp_path / "pictures")


def test_image_folder_with_a_null_character_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be read: its name contains a null character"):
        find_images("pictures\0", [1])


# ---- pixels


@pytest.mark.parametrize(("mode", "shape"), [("L", (5, 7)), ("RGBA", (5, 7, 4)), ("RGB", (5, 7, 3)), ("P", (5, 7))])
def test_every_image_is_read_as_rgb(tmp_path: Path, mode: str, shape: tuple[int, ...]) -> None:
    pillow = pytest.importorskip("PIL.Image")
    pixels = np.full(shape, 200, np.uint8)
    pillow.fromarray(pixels).convert(mode).save(tmp_path / "a.png")
    image = read_image(tmp_path / "a.png")
    assert image.mode == "RGB"
    np.testing.assert_array_equal(np.asarray(image), np.full((5, 7, 3), 200))


def png(tmp_path: Path) -> bytes:
    pillow = pytest.importorskip("PIL.Image")
    pillow.fromarray(np.random.default_rng(1).integers(0, 256, (40, 40, 3), np.uint8)).save(tmp_path / "whole.png")
    return (tmp_path / "whole.png").read_bytes()


@pytest.mark.parametrize("size", [0, 10, 60, 2000], ids=lambda size: f"{size} bytes")
def test_a_broken_file_is_named(tmp_path: Path, size: int) -> None:
    broken = tmp_path / "391895.png"
    broken.write_bytes(png(tmp_path)[:size])
    with pytest.raises(InputError, match=r"the image file 391895\.png cannot be read: .") as caught:
        read_image(broken)
    assert caught.value.where == str(broken)


def test_a_text_is_no_image(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    (tmp_path / "7.jpg").write_text("not a picture")
    with pytest.raises(InputError, match=r"the image file 7\.jpg cannot be read"):
        read_image(tmp_path / "7.jpg")


def test_images_are_read_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with ThreadPoolExecutor(2) as pool:
        arrays = _read(lambda path: np.full(1, len(path.name), np.float32), [Path("a"), Path("bcd")], pool)
    assert [array.tolist() for array in arrays] == [[1], [3]]
