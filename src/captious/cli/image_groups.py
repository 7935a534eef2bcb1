"""``--group-by``: groups of images by a file, by a column of an input file, or by length."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from captious.data import Groups, References, read_groups
from captious.data.formats import is_prepared
from captious.data.rows import image_list
from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract.settings import Settings
from captious.words import counted

_LENGTH = "length"

group_option = click.option(
    "--group-by",
    metavar="FILE|COLUMN",
    help="Also show scores by group of images: a file of groups, the column of a file (FILE:COLUMN), a column or field "
    "of the references or candidates, or 'length' of the references (length:8,10,12 for other bounds than quartiles).",
)


def groups_of(by: str, files: Sequence[Path], references: References, settings: Settings) -> Groups:
    """Return the groups that the option names.

    Args:
        by: the value of the option.
        files: the files that the command reads, the references first.
        references: the images.
        settings: settings with the tokenizer that counts the words of references.

    Raises:
        ParameterError: neither a file nor a column, or ambiguous.
        InputError: as ``read_groups`` does.
    """
    tokenizer = settings.tokenizer or "ptb"
    if os.path.isfile(by):
        return read_groups(by)
    file, _, column = by.rpartition(":")
    if file and os.path.isfile(file):
        return read_groups(file, column=column)
    from captious.evaluation import length_groups

    name, _, bounds = by.partition(":")
    if name == _LENGTH and bounds:
        return length_groups(references, _bounds(by, bounds), tokenizer=tokenizer)
    columns, absent = _columns(by, files)
    if by == _LENGTH:
        if columns:
            raise ParameterError(
                f"{_LENGTH!r} is also a column",
                where=columns[0].source,
                hint=f"for the column: --group-by {columns[0].source}:{_LENGTH}; for the number of words of the "
                f"references: {_LENGTH}:8,10,12, which are the largest numbers",
            )
        return length_groups(references, tokenizer=tokenizer)
    if not columns:
        raise ParameterError(
            f"{by!r} is neither a file nor a column",
            where="; ".join(absent),
            hint="give a file of groups, FILE:COLUMN, the name of a column or field of these files, or length",
        )
    _check_agreement(by, columns)
    return columns[0]


def _bounds(by: str, text: str) -> list[float]:
    try:
        return [float(piece) for piece in text.split(",")]
    except ValueError:
        raise ParameterError(
            f"{by!r} is not a list of lengths", where="--group-by", hint="give numbers of words: length:8,10,12"
        ) from None


def _columns(column: str, files: Sequence[Path]) -> tuple[list[Groups], list[str]]:
    """Return groups from every file that has the column, and where it was searched for in others."""
    columns, absent = [], []
    for file in dict.fromkeys(files):
        if is_prepared(file):
            absent.append(f"{file}: prepared references have no columns")
            continue
        try:
            columns.append(read_groups(file, column=column))
        except UnknownNameError as error:
            absent.append(error.where)
    return columns, absent


def _check_agreement(name: str, columns: Sequence[Groups]) -> None:
    """Refuse columns of several files that assign different groups to an image."""
    first = {str(image): group for image, group in columns[0].group_of.items()}
    for groups in columns[1:]:
        differing = [image for image, group in groups.group_of.items() if first.get(str(image), group) != group]
        if differing:
            raise ParameterError(
                f"{counted(len(differing), 'image', 'have')} a different {name} in two files",
                where=f"{columns[0].source}, {groups.source}: {image_list(differing)}",
                hint=f"say which file is meant: --group-by {columns[0].source}:{name}",
            )
