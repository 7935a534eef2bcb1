"""Small tables that users write by hand, as JSON or TOML: feature sets and recipes."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from captious.entry_points import did_you_mean
from captious.errors import CaptiousError, ParameterError, ResourceError, UnknownNameError

__all__ = ["changed_base", "check_fields", "read_table"]

T = TypeVar("T")

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
        table = tomllib.loads(text) if Path(path).suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ResourceError(f"this is not {what}: {error}", where=str(path), help=help) from error
    if not isinstance(table, dict):
        raise ResourceError(f"this is not {what}: not an object", where=str(path), help=help)
    return table


def check_fields(recipe: Any, limits: Mapping[str, tuple[float, float]], fractional: Collection[str]) -> None:
    """Refuse the name or a number that a recipe does not take.

    Args:
        recipe: has the attributes ``name`` and those of ``limits``.
        limits: field -> smallest and largest number.
        fractional: the fields that need not be integers.

    Raises:
        ParameterError: which field, and what it takes.
    """
    if not isinstance(recipe.name, str) or not recipe.name.isprintable() or not 0 < len(recipe.name) <= 100:
        raise ParameterError(f"{recipe.name!r:.60} is not a name for a recipe", help="give a short text")
    for field, (least, most) in limits.items():
        value = getattr(recipe, field)
        kind = (int, float) if field in fractional else int
        if not isinstance(value, kind) or isinstance(value, bool) or not least <= value <= most:
            what = "a number" if field in fractional else "an integer"
            raise ParameterError(f"invalid {field}: {value!r:.60}", help=f"give {what} from {least:g} to {most:g}")


def changed_base(
    path: str | os.PathLike[str], bases: Sequence[str], make: Callable[[str, dict[str, Any]], T], help: str
) -> T:
    """A recipe from a file: the name of a ``base``, and the fields that differ from it.

    Args:
        path: the file.
        bases: names of recipes.
        make: makes a recipe of the base and the other fields, the name among them; by default that of the file.
        help: what a file should hold.

    Raises:
        UnknownNameError: not the name of a JSON or TOML file.
        ResourceError: a file that holds no recipe.
    """
    name = os.fspath(path)
    if Path(name).suffix not in (".json", ".toml"):
        raise UnknownNameError(
            f"there is no recipe {name!r}",
            help=f"{did_you_mean(name, bases)}give {', '.join(bases)}, or a file (.json, .toml)",
        )
    content = read_table(path, "a recipe", help)
    try:
        base = content.pop("base", None)
        if base not in bases:
            raise ParameterError(f"the recipe has no base, or an unknown one: {base!r:.60}", help=help)
        return make(base, {"name": Path(name).stem, **content})
    except CaptiousError as error:
        where = "\n".join(filter(None, [name, error.where]))
        raise ResourceError(error.message, where=where, help=error.help or help) from error
