"""``CaptionFile``: a file of captions of which certain columns and one split are read."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self, TypeAlias

from captious.errors import InputError, ParameterError, option

#: The content of a source.
Role: TypeAlias = Literal["candidates", "references", "objects", "parses", "groups", "rows"]

#: Names of columns as they are given.
ColumnNames: TypeAlias = "str | Mapping[str, str | Sequence[str]] | Columns"

_KEYS = ("id", "caption", "candidate", "references")


@dataclass(frozen=True)
class Columns:
    """Names of columns; empty for those that are detected.

    Args:
        id: column of ids.
        candidate: column of candidates.
        references: columns of references, each cell one text or a list of texts.
        caption: columns of captions, candidates or references depending on the source.
    """

    id: str | None = None
    candidate: str | None = None
    references: tuple[str, ...] = ()
    caption: tuple[str, ...] = ()

    @classmethod
    def of(cls, names: ColumnNames | None) -> Self:
        """Parse text such as ``id=image_id,candidate=caption,references=ref1,references=ref2``, or convert a mapping.

        Raises:
            ParameterError: other text, or a name that is not a kind of column.
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
        """Return the columns of captions that are named for a role."""
        if role == "candidates" and self.candidate is not None:
            return (self.candidate,)
        if role in ("references", "objects") and self.references:
            return self.references
        return self.caption if role in ("candidates", "references", "objects") else ()

    @property
    def names(self) -> dict[str, str]:
        """Role of each column that was named, such as {"image_id": "id"}."""
        ids = {} if self.id is None else {self.id: "id"}
        candidate = {} if self.candidate is None else {self.candidate: "candidate"}
        texts = dict.fromkeys(self.references, "references") | dict.fromkeys(self.caption, "caption")
        return texts | candidate | ids


def _pairs(names: ColumnNames | None) -> list[tuple[str, str]]:
    """Return pairs such as ("id", "image_id")."""
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
    """Columns and splits to read from sources.

    Sources that are read together share these options. A column or split that is named need not be in all of them, but
    must be in at least one.

    Args:
        columns: names of columns.
        splits: names of splits; empty for all of a source.
        n_sources: number of sources that share the options.
    """

    columns: Columns
    splits: tuple[str, ...] = ()
    n_sources: int = 1
    # Columns that a source has; None stands for the splits.
    _names_used: set[str | None] = field(default_factory=set, init=False, compare=False, repr=False)
    _columns: dict[str, str] = field(default_factory=dict, init=False, compare=False, repr=False)
    _sources: set[tuple[str, Role]] = field(default_factory=set, init=False, compare=False, repr=False)

    def note_used(self, names: Collection[str | None]) -> None:
        """Record that a source has columns of these names, or the splits if None."""
        self._names_used.update(names)

    def note_columns(self, source: str, names: Collection[object]) -> None:
        """Record which columns a source has, for messages."""
        self._columns[source] = ", ".join(map(repr, names)) or "none"

    def finish(self, source: str, role: Role) -> None:
        """Record that a source has been read, and call ``check`` after the last one."""
        self._sources.add((source, role))
        if len(self._sources) >= self.n_sources:
            self.check()

    def check(self) -> None:
        """Check that each column and split was in at least one of the sources.

        Raises:
            InputError: no source has one of the columns or splits.
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
    """Read options from user arguments; None to read everything.

    Args:
        columns: see ``Columns.of``.
        split: the name of a split; several are a sequence, or separated by commas.
        n_sources: number of sources that share the options.

    Raises:
        ParameterError: invalid names.
    """
    if columns is None and split is None:
        return None
    names = split.split(",") if isinstance(split, str) else [*(split or ())]
    splits = tuple(name.strip() for name in names)
    if split is not None and not (splits and all(splits)):
        raise ParameterError(f"{split!r} is not the name of a split", help="name one, such as test")
    return ReadOptions(Columns.of(columns), splits, n_sources)


class CaptionFile(os.PathLike[str]):
    """A file of captions, of which certain columns or one split are read. It is accepted wherever a path is.

    Args:
        path: the file.
        columns: names of columns: ``"id=key,caption=text"``, or a mapping.
        split: name of a split, such as "test"; several are a sequence, or separated by commas.

    Raises:
        ParameterError: invalid names.
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
        """Create a file that shares read options with other sources."""
        file = cls(path)
        file.read_options = read_options
        return file

    @property
    def name(self) -> str:
        """File name without folders."""
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
