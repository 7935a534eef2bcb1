"""COCO's captions, from which benchmarks take references that their own files do not have."""

from __future__ import annotations

from collections import defaultdict

from captious.errors import CaptionFileError
from captious.judgment.judgment_files import DataFolder

__all__ = ["read_coco_captions"]


def read_coco_captions(folder: DataFolder, name: str) -> dict[int, list[str]]:
    """Captions of every image, in the order of the file, without surrounding blanks."""
    content = folder.json(name)
    found: dict[int, list[str]] = defaultdict(list)
    try:
        for annotation in content["annotations"]:
            found[annotation["image_id"]].append(annotation["caption"].strip())
    except (KeyError, TypeError, AttributeError) as error:
        raise CaptionFileError(
            f"not a COCO caption file: {type(error).__name__} {error}",
            where=folder.place(name),
            help='it holds {"annotations": [{"image_id": 1, "caption": "..."}]}',
        ) from error
    return dict(found)
