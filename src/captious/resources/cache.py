"""The cache of downloaded and compiled files: one user folder, never the installed package."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from captious.errors import ResourceError


def cache_folder() -> Path:
    """Return ``CAPTIOUS_CACHE`` if it is set, otherwise the system's folder for caches (XDG on Linux)."""
    if chosen := os.environ.get("CAPTIOUS_CACHE", ""):
        return expanded(chosen, "CAPTIOUS_CACHE")
    from platformdirs import user_cache_path

    return user_cache_path("captious", appauthor=False)


def expanded(path: str, variable: str) -> Path:
    """Return the path in an environment variable, with a leading ``~`` resolved.

    Raises:
        ResourceError: there is no home folder for ``~``.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ResourceError(
            f"{variable} does not name a folder: {error}", where=path, help=f"set {variable} to a valid path"
        ) from error


def make_folder(folder: Path) -> Path:
    """Create a folder of the cache.

    Raises:
        ResourceError: it cannot be created or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
        reason = "" if writable else "it is not writable"
    except OSError as error:
        reason = error.strerror or str(error)
    if reason:
        raise ResourceError(
            f"the cache folder cannot be used: {reason}",
            where=str(folder),
            help="set CAPTIOUS_CACHE to a writable folder",
        )
    return folder


def is_first_time(message: str) -> bool:
    """Return whether a message is new, and record it in the cache. True if the cache is not writable."""
    note = cache_folder() / "shown" / hashlib.sha256(message.encode()).hexdigest()[:16]
    if note.exists():
        return False
    with suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        note.touch()
    return True
