"""Image files: lookup by id in a folder, and reading of pixels."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from captious.data.reading.source import image_list
from captious.errors import InputError, reason
from captious.phrases import counted_of, sample_of

_EXTENSIONS = frozenset((".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"))
#: COCO's names of files without extension: COCO_val2014_000000391895 (until 2015), 000000391895 (from 2017).
_COCO = re.compile(r"(?:COCO_[a-z]+[0-9]{4}_)?([0-9]{12})")


def images_in(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the image files in a folder by name, excluding subfolders.

    Raises:
        InputError: the folder cannot be read.
    """
    return [Path(folder) / file for file in sorted(_files(folder)) if os.path.splitext(file)[1].lower() in _EXTENSIONS]


def ids_in_name(file: str) -> list[str]:
    """Return the ids that the name of an image file can stand for, apart from itself; none for other files."""
    stem, extension = os.path.splitext(file)
    if extension.lower() not in _EXTENSIONS:
        return []
    number = _COCO.fullmatch(stem)
    return [*dict.fromkeys([stem, str(int(number[1]))] if number else [stem])]


def find_images(folder: str | os.PathLike[str], ids: Sequence[int | str]) -> list[Path]:
    """Find the file of each image by name; subfolders are not searched.

    A file whose name is the id, extension included, takes precedence. Otherwise it is the file whose name is the id
    with an image extension, in upper or lower case, or the number as COCO writes it: ``7`` is ``7.jpg``, ``7.PNG``,
    ``000000000007.jpg`` or ``COCO_val2014_000000000007.jpg``.

    Raises:
        InputError: the folder cannot be read; images without a file, or with more than one.
    """
    folder = Path(folder)
    files = _files(folder)
    files_of: dict[str, list[str]] = {}
    for file in sorted(files):
        for name in ids_in_name(file):
            files_of.setdefault(name, []).append(file)
    names_of = [[str(image)] if str(image) in files else files_of.get(str(image), []) for image in ids]
    if absent := [image for image, names in zip(ids, names_of, strict=True) if not names]:
        raise InputError(
            f"{counted_of(len(absent), len(ids), 'image', 'have')} no file",
            where=f"{folder}: {image_list(absent)}",
            help="image files are named by id: ID, ID.jpg, 000000ID.jpg or COCO_val2014_000000ID.jpg",
        )
    if several := [f"{image!r}: {' or '.join(names)}" for image, names in zip(ids, names_of, strict=True) if names[1:]]:
        raise InputError(
            f"{counted_of(len(several), len(ids), 'image', 'have')} more than one file",
            where=f"{folder}: image_id {sample_of(several, separator='; ')}",
            help="keep one file per image in the folder, or give the file names as ids",
        )
    return [folder / names[0] for names in names_of]


def read_image(path: Path) -> Any:
    """Read an image file as an RGB image of PIL, in the orientation in which it is stored.

    Raises:
        InputError: not an image, or a broken one.
    """
    from PIL import Image

    try:
        with Image.open(path) as image:
            return image.convert("RGB")
    except MemoryError:
        raise
    except Exception as error:  # decoders raise many kinds of errors on broken files
        raise InputError(
            f"the image file {path.name} cannot be read: {str(error) or type(error).__name__}",
            where=str(path),
            help="replace the file with a valid image",
        ) from error


def _files(folder: str | os.PathLike[str]) -> set[str]:
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries if entry.is_file()}
    except (OSError, ValueError) as error:
        raise InputError(
            f"the folder of images cannot be read: {reason(error)}",
            where=str(folder),
            help="give the folder that holds the image files",
        ) from error
