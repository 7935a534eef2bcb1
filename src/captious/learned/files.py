"""Files of learned metrics: recipes, which users write by hand, and weights."""

from __future__ import annotations

import json
import os
import re
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.errors import CaptiousError, ParameterError, ResourceError, UnknownNameError, marked
from captious.files import checksum, user_text, whole_file
from captious.plugins import choices
from captious.words import shortened

#: Feature sets and recipes that have names.
BUILT_IN: Mapping[str, Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("recipes.toml").read_text("utf-8"))

# Small JSON or TOML tables that users write by hand, and the base class of recipes among them.


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
        raise ResourceError(f"this is not {what}: {error}", where=str(path), hint=help) from error
    if not isinstance(table, dict):
        raise ResourceError(f"this is not {what}: not an object", where=str(path), hint=help)
    return table


@contextmanager
def errors_in(path: str | os.PathLike[str], help: str = "") -> Iterator[None]:
    """Turn errors about the content of a file into those about the file; ``help`` replaces their advice."""
    try:
        yield
    except CaptiousError as error:
        where = "\n".join(filter(None, [os.fspath(path), marked(error.where)]))
        raise ResourceError(error.message, where=where, hint=help or error.hint) from error


def unknown(name: str, names: Sequence[str], what: str) -> UnknownNameError:
    """Return the error about what is neither the name of a built-in recipe or feature set, nor a file."""
    return UnknownNameError(
        f"there is no {what} {name!r}", hint=choices(name, names, "give") + ", or a file (.json, .toml)"
    )


def number(least: float, most: float, default: Any = MISSING) -> Any:
    """Define a recipe field: a number in a range."""
    return _range_field(int | float, "a number", least, most, default)


def whole(least: int, most: int, default: Any = MISSING) -> Any:
    """Define a recipe field: an integer in a range."""
    return _range_field(int, "an integer", least, most, default)


def choice(choices: Sequence[str], default: Any = MISSING, refusal: str = "invalid {name}: {value}") -> Any:
    """Define a recipe field: one of some names."""

    def check(name: str, value: Any) -> None:
        if value not in choices:
            problem = refusal.format(name=name, value=shortened(value))
            raise ParameterError(problem, hint=f"give {' or '.join(choices)}")

    return _checked(default, check)


def several(choices: Sequence[str], default: Any = MISSING) -> Any:
    """Define a recipe field: at least one of some names, each once."""

    def check(name: str, values: Any) -> None:
        if not values or not isinstance(values, tuple) or {*values} - {*choices} or len({*values}) < len(values):
            raise ParameterError(f"invalid {name}: {shortened(values)}", hint=f"give some of {', '.join(choices)}")

    return _checked(default, check)


def _checked(default: Any, check: Callable[[str, Any], None]) -> Any:
    return field(default=default, metadata={"check": check})


def _range_field(kind: Any, what: str, least: float, most: float, default: Any) -> Any:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, kind) or isinstance(value, bool) or not least <= value <= most:
            raise ParameterError(f"invalid {name}: {shortened(value)}", hint=f"give {what} from {least:g} to {most:g}")

    return _checked(default, check)


@dataclass(frozen=True)
class AnyRecipe:
    """Base class of recipes: a name, fields with validation, and conversion to and from files.

    Raises:
        ParameterError: an invalid value.
    """

    name: str

    #: The recipes that have names: the fields that differ from the defaults.
    built_in: ClassVar[Mapping[str, Mapping[str, Any]]]
    #: Advice on the content of a file.
    help: ClassVar[str]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isprintable() or not 0 < len(self.name) <= 100:
            raise ParameterError(f"{shortened(self.name)} is not a name for a recipe", hint="give a short text")
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
            raise ParameterError(f"a recipe has no {shortened(min(unknown))}", hint=f"its fields: {', '.join(names)}")
        values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in content.items()}
        return cls(**values)

    @classmethod
    def of(cls, what: Self | str | os.PathLike[str]) -> Self:
        """Return a built-in recipe by its name, or one from a JSON or TOML file with the name of a ``base`` and the
        fields that differ from it; named after the file unless it has a ``name``.

        Raises:
            UnknownNameError: neither the name of a recipe nor of such a file.
            ResourceError: a file without a recipe.
        """
        if not isinstance(what, str | os.PathLike):
            return what
        name, names = os.fspath(what), tuple(cls.built_in)
        if name in names:
            return cls.from_dict({"name": name, **cls.built_in[name]})
        if Path(name).suffix not in (".json", ".toml"):
            raise unknown(name, names, "recipe")
        content = read_table(name, "a recipe", cls.help)
        with errors_in(name):
            base = content.pop("base", None)
            if base not in names:
                raise ParameterError(f"the recipe has no base, or an unknown one: {shortened(base)}", hint=cls.help)
            return cls.from_dict({**cls.of(base).to_dict(), "name": Path(name).stem, **content})


# Files of weights: safetensors with metadata for everything else that a metric needs.

Arrays = Mapping[str, NDArray[Any]]
W = TypeVar("W", bound="WeightsFile")

_FORMAT = 1


def check_name(name: Any, of: str = "weights") -> None:
    """Check that a name is valid in a signature.

    Raises:
        ParameterError: not letters, digits, dots, - and _, or more than a hundred.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9._-]{1,100}", name):
        problem = f"{shortened(name)} is not a valid name for {of}"
        raise ParameterError(problem, hint="use letters, digits, dots, - and _")


class WeightsFile(ABC):
    """Base class of weights that a safetensors file holds: arrays, and plain values in its metadata."""

    #: The entry of the metadata for the plain values: with several, their order would be left to chance.
    entry: ClassVar[str] = "captious"
    #: The metric, and advice on which file to pass, for messages.
    what: ClassVar[str] = "a learned metric"
    help: ClassVar[str]
    #: Maximum size of the file in bytes.
    largest: ClassVar[int] = 1 << 28

    @abstractmethod
    def _to_arrays(self) -> tuple[Arrays, Mapping[str, Any]]:
        """Return arrays by name, and plain values."""

    @classmethod
    @abstractmethod
    def _from_arrays(cls, arrays: Arrays, values: Any, name: str) -> Self:
        """Restore weights from arrays, plain values, and the name of the file with a checksum; any exception means a
        damaged file.
        """

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a safetensors file. The same content gives the same bytes.

        Raises:
            OutputError: the file cannot be written.
        """
        from safetensors.numpy import save

        arrays, values = self._to_arrays()
        header = json.dumps({"format": _FORMAT, **values}, sort_keys=True, ensure_ascii=False)
        content = save(dict(arrays), {self.entry: header})
        with whole_file(path, "wb") as file:
            file.write(content)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file written by ``save``.

        Raises:
            ResourceError: no such file, one of another version, or not a complete file of these weights.
        """
        from safetensors.numpy import load

        try:
            with open(path, "rb") as file:
                content = file.read(cls.largest + 1)
        except OSError as error:
            raise ResourceError(f"cannot read weights: {error.strerror}", where=str(path), hint=cls.help) from error
        if len(content) > cls.largest:
            raise ResourceError("this file is too large for weights of a metric", where=str(path), hint=cls.help)
        try:
            with errors_in(path, cls.help):
                arrays = load(content)  # checks the header against the size
                size = int.from_bytes(content[:8], "little")
                values: dict[str, Any] = json.loads(json.loads(content[8 : 8 + size])["__metadata__"][cls.entry])
                # Only the weights of the metric concur in the package have no format, and entries of their own.
                written = values.pop("format") if cls.entry == WeightsFile.entry else values.pop("format", _FORMAT)
                if written != _FORMAT:
                    raise ResourceError("these weights were written by another version of captious")
                return cls._from_arrays(arrays, values, f"{Path(path).stem}-{checksum(content)}")
        except (CaptiousError, MemoryError):
            raise
        except Exception as error:  # a hostile file may break anything in it
            message = f"not weights of {cls.what}, or a damaged file"
            raise ResourceError(message, where=f"{path}: {error}", hint=cls.help) from error


def bundled(name: str) -> Path:
    """Return the path of weights of the package."""
    return Path(__file__).parent / "weights" / f"{name}.safetensors"


@cache
def of_package(kind: type[W], name: str) -> W:
    """Return weights of the package."""
    return kind.load(bundled(name))


def packed(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantize rows to 8-bit integers with one scale each, as in weights of the metric concur."""
    scales = np.maximum(np.abs(rows).max(axis=1), 1e-12).astype(np.float32) / np.float32(127)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def unpacked(rows: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Restore rows from the result of ``packed``.

    Raises:
        ValueError: shapes or types that do not match.
    """
    if rows.dtype != np.int8 or rows.ndim != 2 or scales.shape != (len(rows),):
        raise ValueError("rows and scales do not match")
    return rows.astype(np.float32) * scales.astype(np.float32)[:, None]
