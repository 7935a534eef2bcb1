"""``AmberLists``: objects in images, objects that models tend to invent, and related words, for AMBER.

They are read from a folder with the published files annotations.json, relation.json and safe_words.txt, plain or
compressed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from captious.data import ImageId
from captious.errors import ParameterError, ResourceError
from captious.files.checksum import checksum
from captious.files.decompression import user_text
from captious.resources.text_files import text_as_json

_ANNOTATIONS, _RELATION, _SAFE = "annotations.json", "relation.json", "safe_words.txt"
_HELP = "download data/annotations.json, relation.json and safe_words.txt of junyangwang0410/AMBER on GitHub"
# AMBER_12.jpg, with or without a folder and an extension, and 12
_ID = re.compile(r"(?:.*/)?(?:AMBER_)?0*(\d+)(?:\.\w+)?")


@dataclass(frozen=True)
class ImageWords:
    """The words of an image.

    Args:
        truth: objects in it, possibly with duplicates.
        hallucinations: objects that are not in it, but that models tend to name.
    """

    truth: tuple[str, ...]
    hallucinations: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class AmberLists:
    """AMBER's word lists.

    Args:
        by_image: number of the image -> its words.
        related: word -> words that stand for it.
        safe: words to ignore.
        name: name in messages.
    """

    by_image: Mapping[int, ImageWords]
    related: Mapping[str, tuple[str, ...]]
    safe: frozenset[str]
    name: str = "lists"

    @cached_property
    def counted(self) -> frozenset[str]:
        """Words that count as objects: all that have related words, and the related words."""
        return frozenset((*self.related, *(word for words in self.related.values() for word in words)))

    @cached_property
    def label(self) -> str:
        """The lists in signatures: the number of images, and a checksum of everything."""
        images = sorted((image, words.truth, words.hallucinations) for image, words in self.by_image.items())
        content = json.dumps([images, sorted(self.related.items()), sorted(self.safe)])
        return f"{len(self.by_image)}-{checksum(content)}"

    def words_of(self, image: ImageId) -> ImageWords | None:
        """Return the words of an image: 12, "12" or "AMBER_12.jpg"; None for an unknown image."""
        match = _ID.fullmatch(str(image))
        return self.by_image.get(int(match[1])) if match else None


def as_amber_lists(lists: AmberLists | Mapping[str, Any] | str | os.PathLike[str]) -> AmberLists:
    """Return AMBER's word lists, from a folder or from the contents of its files, {"annotations", "relation",
    "safe_words"}.

    Raises:
        ParameterError: another type.
        ResourceError: a file that is missing, cannot be read, or does not have the expected form.
    """
    if isinstance(lists, AmberLists):
        return lists
    if isinstance(lists, Mapping):
        safe = lists.get("safe_words", ())
        return _parse_lists(lists.get("annotations"), lists.get("relation"), safe, "lists", "lists")
    if not isinstance(lists, str | os.PathLike):
        raise ParameterError(f"{lists!r:.60} is not a folder of AMBER's word lists", help=_HELP)
    folder = Path(lists)
    annotations, relation = (
        text_as_json(_text(folder, name), str(folder / name), _HELP) for name in (_ANNOTATIONS, _RELATION)
    )
    safe = _text(folder, _SAFE).splitlines()
    return _parse_lists(annotations, relation, safe, folder.name, str(folder))


def _parse_lists(annotations: Any, relation: Any, safe: Sequence[str], name: str, where: str) -> AmberLists:
    try:
        by_image = {
            int(annotation["id"]): ImageWords(_words(annotation["truth"]), _words(annotation["hallu"]))
            for annotation in annotations
            if annotation["type"] == "generative"
        }
        related = {str(word): _words(words) for word, words in relation.items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ResourceError(
            f"these are not AMBER's word lists: {type(error).__name__} {error}", where=where, help=_HELP
        ) from error
    if not by_image:
        raise ResourceError("there are no generative annotations", where=where, help=_HELP)
    return AmberLists(by_image, related, frozenset(safe), name)


def _words(words: Any) -> tuple[str, ...]:
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise TypeError(f"{words!r:.60} is not a list of words")
    return tuple(words)


def _text(folder: Path, name: str) -> str:
    paths = [path for path in (folder / name, folder / f"{name}.gz") if path.is_file()]
    if not paths:
        raise ResourceError(f"{name} was not found", where=str(folder), help=_HELP)
    return user_text(paths[0], "AMBER's word lists", _HELP)
