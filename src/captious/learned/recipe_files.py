"""Small JSON or TOML tables that users write by hand, and the base class of recipes among them."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Self, TypeVar

from captious.entry_points import did_you_mean
from captious.errors import CaptiousError, ParameterError, ResourceError, UnknownNameError
from captious.files.decompression import user_text


def read_table(path: str | os.PathLike[str], what: str, help: str) -> dict[str, Any]:
    """Return the object of a JSON file, or of a TOML file (.toml).

    Args:
        path: the file.
        what: its content in messages, such as "a feature set".
        help: advice for errors.

    Raises:
        ResourceError: no such file, neither JSON nor TOML, or not an object.
    """
    text = user_text(path, what, help)
    try:
        table = tomllib.loads(text) if Path(path).suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ResourceError(f"this is not {what}: {error}", where=str(path), help=help) from error
    if not isinstance(table, dict):
        raise ResourceError(f"this is not {what}: not an object", where=str(path), help=help)
    return table


def number(least: float, most: float, default: Any = MISSING) -> Any:
    """Define a recipe field: a number in a range."""
    return _range_field(int | float, "a number", least, most, default)


def whole(least: int, most: int, default: Any = MISSING) -> Any:
    """Define a recipe field: an integer in a range."""
    return _range_field(int, "an integer", least, most, default)


def choice(choices: Sequence[str], default: Any = MISSING, refusal: str = "invalid {name}: {value!r:.60}") -> Any:
    """Define a recipe field: one of some names."""

    def check(name: str, value: Any) -> None:
        if value not in choices:
            raise ParameterError(refusal.format(name=name, value=value), help=f"give {' or '.join(choices)}")

    return _checked(default, check)


def several(choices: Sequence[str], default: Any = MISSING) -> Any:
    """Define a recipe field: at least one of some names, each once."""

    def check(name: str, values: Any) -> None:
        if not values or not isinstance(values, tuple) or {*values} - {*choices} or len({*values}) < len(values):
            raise ParameterError(f"invalid {name}: {values!r:.60}", help=f"give some of {', '.join(choices)}")

    return _checked(default, check)


def _checked(default: Any, check: Callable[[str, Any], None]) -> Any:
    return field(default=default, metadata={"check": check})


def _range_field(kind: Any, what: str, least: float, most: float, default: Any) -> Any:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, kind) or isinstance(value, bool) or not least <= value <= most:
            raise ParameterError(f"invalid {name}: {value!r:.60}", help=f"give {what} from {least:g} to {most:g}")

    return _checked(default, check)


@dataclass(frozen=True)
class AnyRecipe:
    """Base class of recipes: a name, fields with validation, and conversion to and from files.

    Raises:
        ParameterError: an invalid value.
    """

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isprintable() or not 0 < len(self.name) <= 100:
            raise ParameterError(f"{self.name!r:.60} is not a name for a recipe", help="give a short text")
        for declared in fields(self):
            if check := declared.metadata.get("check"):
                check(declared.name, getattr(self, declared.name))

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as plain values for files."""
        values = {declared.name: getattr(self, declared.name) for declared in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Restore a recipe from the values of ``to_dict``.

        Raises:
            ParameterError: an unknown field, or an invalid value.
        """
        names = sorted(declared.name for declared in fields(cls))
        if unknown := {*content} - {*names}:
            raise ParameterError(f"a recipe has no {min(unknown)!r:.60}", help=f"its fields: {', '.join(names)}")
        values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in content.items()}
        return cls(**values)


R = TypeVar("R", bound=AnyRecipe)


def read_recipe(path: str | os.PathLike[str], names: Sequence[str], built_in: Callable[[str], R], help: str) -> R:
    """Return a built-in recipe by its name, or read one from a file with the name of a ``base`` and the fields that
    differ from it.

    Args:
        path: the name or the file. A recipe in a file is named after the file unless it has a ``name``.
        names: names of the built-in recipes.
        built_in: returns the recipe of a name.
        help: advice on the content of a file.

    Raises:
        UnknownNameError: neither the name of a recipe nor of a JSON or TOML file.
        ResourceError: a file without a recipe.
    """
    name = os.fspath(path)
    if name in names:
        return built_in(name)
    if Path(name).suffix not in (".json", ".toml"):
        raise UnknownNameError(
            f"there is no recipe {name!r}",
            help=f"{did_you_mean(name, names)}give {', '.join(names)}, or a file (.json, .toml)",
        )
    content = read_table(path, "a recipe", help)
    try:
        base = content.pop("base", None)
        if base not in names:
            raise ParameterError(f"the recipe has no base, or an unknown one: {base!r:.60}", help=help)
        recipe = built_in(base)
        return recipe.from_dict({**recipe.to_dict(), "name": Path(name).stem, **content})
    except CaptiousError as error:
        where = "\n".join(filter(None, [name, error.where]))
        raise ResourceError(error.message, where=where, help=error.help or help) from error
