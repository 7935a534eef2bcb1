"""Captions of COCO and Flickr8k, from which benchmarks take captions and references that their own files lack."""

from __future__ import annotations

from collections import defaultdict

from captious.judgment.judgment_files import DataFolder

__all__ = ["TOKENS", "read_coco_captions", "read_flickr8k_captions"]

#: Flickr8k's captions as Hodosh et al. 2013 publish them.
TOKENS = "flickr8k/Flickr8k.token.txt"


def read_coco_captions(folder: DataFolder, name: str) -> dict[int, list[str]]:
    """Captions of every image, in the order of the file, without surrounding blanks."""
    content = folder.json(name)
    captions: dict[int, list[str]] = defaultdict(list)
    try:
        for annotation in content["annotations"]:
            captions[annotation["image_id"]].append(annotation["caption"].strip())
    except (KeyError, TypeError, AttributeError) as error:
        message = f"not a COCO caption file: {type(error).__name__} {error}"
        help = 'it holds {"annotations": [{"image_id": 1, "caption": "..."}]}'
        raise folder.error(message, name, help=help) from error
    return dict(captions)


def read_flickr8k_captions(folder: DataFolder) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Captions by id, and the captions of each image: ``1000268201_693b08cb0e.jpg#0  A child ...`` on every line."""
    text_of: dict[str, str] = {}
    references_of: dict[str, list[str]] = defaultdict(list)
    for number, (caption, text) in folder.rows(TOKENS, 2):
        image, mark, _ = caption.partition("#")
        if not mark or caption in text_of:
            message = f"duplicate caption id {caption!r}" if mark else f"{caption!r} is not a caption id"
            raise folder.error(message, TOKENS, number, help="an id consists of the image, # and the caption number")
        text_of[caption] = text.strip()
        references_of[image].append(text.strip())
    return text_of, dict(references_of)
