"""What systems are called: by the files of their captions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from captious.data.file_contents import is_standard_input
from captious.errors import ParameterError


def system_names(files: Sequence[str | os.PathLike[str]]) -> list[str]:
    """A name for each system: the file's, without its extensions; the whole path where names would be the same.

    Raises:
        ParameterError: a file is given twice.
    """
    stems = [*map(_stem, files)]
    names = [stem if stems.count(stem) == 1 else str(file) for stem, file in zip(stems, files, strict=True)]
    names = [os.fsencode(name).decode(errors="replace") for name in names]  # names of files need not be text
    duplicates = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if duplicates:
        raise ParameterError(f"{duplicates[0]} is given twice", help="give each system once")
    return names


def name_of(candidates: object, default: str) -> str:
    """The name of the system of these candidates: that of their file, or the default where there is none."""
    is_path = isinstance(candidates, str | os.PathLike)
    return system_names([Path(candidates)])[0] if is_path else default  # type: ignore[arg-type]


def pair_names(a: object, b: object) -> tuple[str, str]:
    """The names of two systems: those of their files, or "a" and "b"."""
    if all(isinstance(candidates, str | os.PathLike) for candidates in (a, b)) and a != b:
        first, second = system_names([Path(a), Path(b)])  # type: ignore[arg-type]
        return first, second
    names = name_of(a, "a"), name_of(b, "b")
    return names if names[0] != names[1] else ("a", "b")


def _stem(file: str | os.PathLike[str]) -> str:
    if is_standard_input(file):
        return "standard input"
    name = os.path.basename(file)
    return name.removesuffix(".gz").rsplit(".", 1)[0] or name
