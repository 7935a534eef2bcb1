"""``Columns``: the names that a user gives for the columns or fields of captions, where they are not the usual ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from captious.errors import ParameterError

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
        listed = {key: [value] if isinstance(value, str) else value for key, value in (names or {}).items()}
        return [(key, name) for key, values in listed.items() for name in values]
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
