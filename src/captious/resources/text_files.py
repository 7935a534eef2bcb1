"""Small text files that users name: words, answers, lists; what is wrong with them is a ``ResourceError``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from captious.decompression import RAISE_LIMIT, UNREADABLE, UnpackedSizeError, plain_text
from captious.errors import ResourceError

__all__ = ["resource_text", "text_as_json"]


def resource_text(path: Path, what: str, help: str) -> str:
    """The text of a file, unpacked if it is a gzip file.

    Args:
        path: the file.
        what: what the file has, for messages: "the vocabulary".
        help: how such a file is written, or where it is found.

    Raises:
        ResourceError: it cannot be read, is damaged, too large, or not text.
    """
    try:
        return plain_text(path)
    except UnpackedSizeError as error:
        raise ResourceError(f"{what}: the file is too large: {error}", where=str(path), help=RAISE_LIMIT) from error
    except UNREADABLE as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ResourceError(f"cannot read {what}: {reason}", where=str(path), help=help) from error


def text_as_json(text: str, where: str, help: str) -> Any:
    """The document in a text.

    Raises:
        ResourceError: it is not JSON.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ResourceError(f"this is not JSON: {error}", where=where, help=help) from error
