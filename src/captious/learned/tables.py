"""Small tables that users write by hand, as JSON or TOML: feature sets and recipes."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any

from captious.errors import ResourceError

__all__ = ["read_table"]

_LARGEST = 1 << 20


def read_table(path: str | os.PathLike[str], what: str, help: str) -> dict[str, Any]:
    """The object of a JSON file, or of a TOML file (.toml).

    Args:
        path: the file.
        what: what it should hold, for messages, such as "a feature set".
        help: what to do if it does not.

    Raises:
        ResourceError: no such file, too large, neither JSON nor TOML, or not an object.
    """
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise ResourceError(f"cannot read {what}: {error.strerror}", where=str(path), help=help) from error
    if len(content) > _LARGEST:
        raise ResourceError(f"this file is too large for {what}", where=str(path), help=help)
    try:
        text = content.decode("utf-8")
        found = tomllib.loads(text) if Path(path).suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ResourceError(f"this is not {what}: {error}", where=str(path), help=help) from error
    if not isinstance(found, dict):
        raise ResourceError(f"this is not {what}: not an object", where=str(path), help=help)
    return found
