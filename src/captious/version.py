"""The version of the installed package, which pyproject.toml states."""

from __future__ import annotations

from functools import cache

__all__ = ["version"]


@cache
def version() -> str:
    """The version, such as "0.1.0"."""
    from importlib.metadata import version as installed_version

    return installed_version("captious")
