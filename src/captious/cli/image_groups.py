"""``--group-by``: what images are grouped by, a file, a column of a file that is read anyway, or a length."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from captious.data import Groups, References, read_groups
from captious.data.prepared_files import is_prepared
from captious.data.source import images
from captious.errors import ParameterError, UnknownNameError
from captious.evaluation import length_groups
from captious.metrics.contract.settings import Settings

__all__ = ["group_option", "groups_of"]

F = TypeVar("F", bound=Callable[..., Any])

_LENGTH = "length"

group_option = click.option(
    "--group-by",
    metavar="FILE|COLUMN",
    help="Also show scores by group of images: a file of groups, the column of a file (FILE:COLUMN), a column or field "
    "of the references or candidates, or 'length' of the references (length:8,10,12 for other bounds than quartiles).",
)


def groups_of(given: str | None, files: Sequence[Path], references: References, settings: Settings) -> Groups | None:
    """The groups that the option names.

    Args:
        given: the value of the option; without one there are no groups (None).
        files: the files that the command reads, the references first.
        references: the images.
        settings: whose tokenizer counts the words of references.

    Raises:
        ParameterError: neither a file nor a column, or both readings are possible.
        InputError: as ``read_groups`` does.
    """
    if given is None:
        return None
    tokenizer = settings.tokenizer or "ptb"
    if os.path.isfile(given):
        return read_groups(given)
    file, _, column = given.rpartition(":")
    if file and os.path.isfile(file):
        return read_groups(file, column=column)
    name, _, bounds = given.partition(":")
    if name == _LENGTH and bounds:
        return length_groups(references, _numbers(given, bounds), tokenizer=tokenizer)
    found, absent = _columns(given, files)
    if given == _LENGTH:
        if found:
            raise ParameterError(
                f"{_LENGTH!r} is also a column",
                where=found[0].source,
                help=f"for the column: --group-by {found[0].source}:{_LENGTH}; for the number of words of the "
                f"references: {_LENGTH}:8,10,12, which are the largest numbers",
            )
        return length_groups(references, tokenizer=tokenizer)
    if not found:
        raise ParameterError(
            f"{given!r} is neither a file nor a column",
            where="; ".join(absent),
            help="give a file of groups, FILE:COLUMN, the name of a column or field of these files, or length",
        )
    _check_agreement(given, found)
    return found[0]


def _numbers(given: str, text: str) -> list[float]:
    try:
        return [float(piece) for piece in text.split(",")]
    except ValueError:
        raise ParameterError(
            f"{given!r} is not a list of lengths", where="--group-by", help="give numbers of words: length:8,10,12"
        ) from None


def _columns(column: str, files: Sequence[Path]) -> tuple[list[Groups], list[str]]:
    """Groups from every file that has the column, and where the others were looked through."""
    found, absent = [], []
    for file in dict.fromkeys(files):
        if is_prepared(file):
            absent.append(f"{file}: prepared references have no columns")
            continue
        try:
            found.append(read_groups(file, column=column))
        except UnknownNameError as error:
            absent.append(error.where)
    return found, absent


def _check_agreement(column: str, found: Sequence[Groups]) -> None:
    """Several files may have the column if they say the same of every image."""
    first, *others = ({str(image): name for image, name in groups.group_of.items()} for groups in found)
    for groups, other in zip(found[1:], others, strict=True):
        differing = [
            image for image in groups.group_of if first.get(str(image), other[str(image)]) != other[str(image)]
        ]
        if differing:
            raise ParameterError(
                f"{len(differing):,} images have a different {column} in two files",
                where=f"{found[0].source}, {groups.source}: {images(differing)}",
                help=f"say which file is meant: --group-by {found[0].source}:{column}",
            )
