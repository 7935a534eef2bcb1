"""``CaptionFile``: a file of captions, with the columns and the split of it that are read."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from captious.data.columns import ColumnNames, Columns, Role
from captious.errors import InputError, ParameterError, option


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
    _used: set[str | None] = field(default_factory=set, init=False, compare=False, repr=False)
    _columns: dict[str, str] = field(default_factory=dict, init=False, compare=False, repr=False)
    _sources: set[tuple[str, Role]] = field(default_factory=set, init=False, compare=False, repr=False)

    def note_used(self, names: Collection[str | None]) -> None:
        """Note that a source has columns of these names, or with None, the splits."""
        self._used.update(names)

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
            if name not in self._used:
                raise InputError(
                    f"there is no column {name!r}",
                    where=where,
                    help=f"name one of these: {option('columns', f'{key}=NAME')}",
                )
        if self.splits and None not in self._used:
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
