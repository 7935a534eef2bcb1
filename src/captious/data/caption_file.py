"""``CaptionFile``: a file of captions, with the columns and the split of it that are read."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeAlias

from captious.errors import InputError, ParameterError, option

#: What is read of a source.
Role: TypeAlias = Literal["candidates", "references", "objects", "parses", "groups", "rows"]

#: Names of columns as they are given.
ColumnNames: TypeAlias = "str | Mapping[str, str | Sequence[str]] | Columns"

_KEYS = ("id", "caption", "candidate", "references")


@dataclass(frozen=True)
class Columns:
    """Names of columns; empty for those that are found by themselves.

    Args:
        id: column of ids.
        candidate: column of candidates.
        references: columns of references, each cell one text or a list of texts.
        caption: columns of captions, whichever of the two they are.
    """

    id: str | None = None
    candidate: str | None = None
    references: tuple[str, ...] = ()
    caption: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: ColumnNames | None) -> Self:
        """From text such as ``id=image_id,candidate=caption,references=ref1,references=ref2``, or from a mapping.

        Raises:
            ParameterError: not such text, or something that is not a column of captions.
        """
        if isinstance(names, cls):
            return names
        columns: dict[str, list[str]] = {key: [] for key in _KEYS}
        for key, name in _pairs(names):
            if key not in columns:
                raise ParameterError(f"{key!r} is not a column of captions", help=f"these are {', '.join(_KEYS)}")
            columns[key].append(name)
        for key in ("id", "candidate"):
            if len(columns[key]) > 1:
                raise ParameterError(f"two columns for {key}: {', '.join(columns[key])}", help="give one")
        if columns["caption"] and columns["candidate"] and columns["references"]:
            raise ParameterError("caption names neither candidates nor references", help="leave it out")
        return cls(
            id=next(iter(columns["id"]), None),
            candidate=next(iter(columns["candidate"]), None),
            references=tuple(columns["references"]),
            caption=tuple(columns["caption"]),
        )

    def texts(self, role: Role) -> tuple[str, ...]:
        """The columns that are named for captions of a role."""
        if role == "candidates" and self.candidate is not None:
            return (self.candidate,)
        if role in ("references", "objects") and self.references:
            return self.references
        return self.caption if role in ("candidates", "references", "objects") else ()

    @property
    def names(self) -> dict[str, str]:
        """The role of each name that was given: name -> "id"."""
        ids = {} if self.id is None else {self.id: "id"}
        candidate = {} if self.candidate is None else {self.candidate: "candidate"}
        texts = {name: "references" for name in self.references} | {name: "caption" for name in self.caption}
        return texts | candidate | ids


def _pairs(names: ColumnNames | None) -> list[tuple[str, str]]:
    """Pairs such as ("id", "image_id")."""
    if isinstance(names, Columns):
        names = {key: value for key in _KEYS if (value := getattr(names, key))}
    if not isinstance(names, str):
        names_of_key = {key: [value] if isinstance(value, str) else value for key, value in (names or {}).items()}
        return [(key, name) for key, values in names_of_key.items() for name in values]
    pairs = []
    for piece in names.split(","):
        key, equals, name = (part.strip() for part in piece.partition("="))
        if not (equals and name):
            raise ParameterError(
                f"{piece.strip()!r} does not name a column",
                help="write id=NAME,caption=NAME; captions of one side are candidate=NAME or references=NAME",
            )
        pairs.append((key, name))
    return pairs


@dataclass(frozen=True)
class ReadOptions:
    """The columns and the split that are read of sources.

    Sources that are read together share these options. A name holds for each of them that has such a column or split,
    and at least one must have it.

    Args:
        columns: names of columns.
        splits: names of splits; none for all of a source.
        n_sources: how many sources share it.
    """

    columns: Columns
    splits: tuple[str, ...] = ()
    n_sources: int = 1
    # Columns that a source has; None stands for the splits.
    _names_used: set[str | None] = field(default_factory=set, init=False, compare=False, repr=False)
    _columns: dict[str, str] = field(default_factory=dict, init=False, compare=False, repr=False)
    _sources: set[tuple[str, Role]] = field(default_factory=set, init=False, compare=False, repr=False)

    def note_used(self, names: Collection[str | None]) -> None:
        """Note that a source has columns of these names, or with None, the splits."""
        self._names_used.update(names)

    def note_columns(self, source: str, names: Collection[object]) -> None:
        """Note which columns a source has, for messages."""
        self._columns[source] = ", ".join(map(repr, names)) or "none"

    def finish(self, source: str, role: Role) -> None:
        """Note that a source has been read, and with the last one ``check``."""
        self._sources.add((source, role))
        if len(self._sources) >= self.n_sources:
            self.check()

    def check(self) -> None:
        """Check that each column and split was in one of the sources that have been read.

        Raises:
            InputError: none has a column that is named, or splits.
        """
        names = dict.fromkeys(name for name, _ in sorted(self._sources))
        where = "; ".join(f"{name}: found {self._columns.get(name, 'no columns')}" for name in names)
        for name, key in self.columns.names.items():
            if name not in self._names_used:
                raise InputError(
                    f"there is no column {name!r}",
                    where=where,
                    help=f"name one of these: {option('columns', f'{key}=NAME')}",
                )
        if self.splits and None not in self._names_used:
            raise InputError(
                f"there is no split {' or '.join(map(repr, self.splits))}, as no record says what split it is in",
                where=where,
                help='read all of it, or give the records a field "split"',
            )


def read_options_of(
    columns: ColumnNames | None, split: str | Sequence[str] | None, n_sources: int = 1
) -> ReadOptions | None:
    """The options of reading, from the arguments of a user; None to read everything.

    Args:
        columns: as ``Columns.of`` takes them.
        split: the name of a split; several are a sequence, or separated by commas.
        n_sources: how many sources share it.

    Raises:
        ParameterError: names that cannot be.
    """
    if columns is None and split is None:
        return None
    names = split.split(",") if isinstance(split, str) else [*(split or ())]
    splits = tuple(name.strip() for name in names)
    if split is not None and not (splits and all(splits)):
        raise ParameterError(f"{split!r} is not the name of a split", help="name one, such as test")
    return ReadOptions(Columns.of(columns), splits, n_sources)


class CaptionFile(os.PathLike[str]):
    """A file of captions, read only in part: some of its columns, or one split. It can be given wherever a path can.

    Args:
        path: the file.
        columns: names of columns: ``"id=key,caption=text"``, or a mapping.
        split: name of a split, such as "test"; several are a sequence, or separated by commas.

    Raises:
        ParameterError: names that cannot be.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        columns: ColumnNames | None = None,
        split: str | Sequence[str] | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self.read_options = read_options_of(columns, split)

    @classmethod
    def sharing(cls, path: str | os.PathLike[str], read_options: ReadOptions | None) -> CaptionFile:
        """A file that shares options with others."""
        file = cls(path)
        file.read_options = read_options
        return file

    @property
    def name(self) -> str:
        """The name of the file, without its folders."""
        return os.path.basename(self.path)

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"<CaptionFile {self.path!r}>"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, CaptionFile) and (self.path, self.read_options) == (other.path, other.read_options)

    def __hash__(self) -> int:
        return hash(self.path)
