"""Flickr8k's captions as Hodosh et al. 2013 publish them: ``Flickr8k.token.txt``, which two benchmarks read."""

from __future__ import annotations

from collections import defaultdict

from captious.errors import CaptionFileError
from captious.judgment.judgment_files import DataFolder

__all__ = ["TOKENS", "read_flickr8k_captions"]

TOKENS = "flickr8k/Flickr8k.token.txt"


def read_flickr8k_captions(folder: DataFolder) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Captions by id, and the captions of each image: ``1000268201_693b08cb0e.jpg#0  A child ...`` on every line."""
    text_of: dict[str, str] = {}
    references_of: dict[str, list[str]] = defaultdict(list)
    for number, (caption, text) in folder.rows(TOKENS, 2):
        image, mark, _ = caption.partition("#")
        if not mark or caption in text_of:
            raise CaptionFileError(
                f"duplicate caption id {caption!r}" if mark else f"{caption!r} is not a caption id",
                where=folder.place(TOKENS, number),
                help="an id consists of the image, # and the caption number",
            )
        text_of[caption] = text.strip()
        references_of[image].append(text.strip())
    return text_of, dict(references_of)
