"""Results of studies: a table of records and, optionally, pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from captious.display import Displayed
from captious.judgment.study_table import study_table
from captious.pictures import Cloud, Clouds, Curve, Curves, Dot, Dots, Matrix, Picture
from captious.table import Table, json_document
from captious.version import __version__

__all__ = ["Cloud", "Clouds", "Curve", "Curves", "Dot", "Dots", "Matrix", "Study"]


@dataclass(frozen=True, eq=False, repr=False)
class Study(Displayed):
    """The result of a study. Displayed as a table.

    Args:
        name: its name on the command line.
        title: one line that says what the table shows.
        columns: column names, in order; also the keys of the records.
        records: one per row of the table; numbers are fractions unless the column says otherwise.
        signatures: metric -> everything that its scores depend on besides the captions.
        data: files that were read: name -> CRC-32.
        settings: everything that the result depends on besides metrics and data: seed, sizes, strengths.
        pictures: curves, matrices, clouds and dots, by file name without extension.
        notes: sentences below the table.
        warnings: warnings about misleading results, one sentence each.
    """

    name: str
    title: str
    columns: Sequence[str]
    records: Sequence[Mapping[str, Any]]
    signatures: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def to_table(self) -> Table:
        """The records, with all that they depend on."""
        return study_table(self)

    def to_dict(self) -> dict[str, Any]:
        """The study as values of JSON, as in its JSON output."""
        return json_document(
            {
                "version": __version__,
                "study": self.name,
                "title": self.title,
                "settings": self.settings,
                "data": self.data,
                "signatures": self.signatures,
                "records": self.records,
                "notes": self.notes,
                **({"warnings": self.warnings} if self.warnings else {}),
            }
        )
