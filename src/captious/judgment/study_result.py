"""Results of studies: a table of records and, optionally, pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from captious.judgment.judgment_table import data_text
from captious.results.displayed import Displayed
from captious.results.pictures import Cloud, Clouds, Curve, Curves, Dot, Dots, Matrix, Picture
from captious.results.table import Cell, Column, Row, Table, json_document
from captious.version import __version__

__all__ = ["Cloud", "Clouds", "Curve", "Curves", "Dot", "Dots", "Matrix", "Study"]

_FOLD = 100  # columns of a terminal
_HEADS = {"pathology": "corruption"}  # columns that tables call differently from records


@dataclass(frozen=True, eq=False, repr=False)
class Study(Displayed):
    """The result of a study. Displayed as a table.

    Args:
        name: its name on the command line.
        title: one line about the content of the table.
        columns: column names, in order; also the keys of the records.
        records: one per row of the table; numbers are fractions unless the column name says otherwise.
        signatures: metric -> everything that its scores depend on besides the captions.
        data: input files: name -> CRC-32.
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
        """Return a table of the records, with settings, data and signatures.

        csv has the signature of the metric of each record, or all signatures if it has no metric.
        """
        texts = {
            "settings": ", ".join(
                f"{name.replace('_', ' ')} {_setting(value)}" for name, value in self.settings.items()
            ),
            "data": data_text(self.data),
        }
        facts = {label: text for label, text in texts.items() if text}
        signatures = [
            signature if signature.split("|")[0] == metric else f"{metric}: {signature}"
            for metric, signature in self.signatures.items()
        ]
        every = " ".join(self.signatures.values())
        data = " ".join(f"{file}:{crc}" for file, crc in self.data.items())
        comments = [f"captious {__version__}, study {self.name}: {self.title}", *self.notes]
        comments += [f"  {label}: {text}" for label, text in facts.items()]
        return Table(
            columns=[
                Column(
                    _HEADS.get(name, name.replace("_", " ")),
                    "number",
                    align="right" if any(_is_number(record.get(name)) for record in self.records) else "left",
                )
                for name in self.columns
            ],
            rows=[Row("", [Cell(record.get(name)) for name in self.columns]) for record in self.records],
            records=[
                {
                    **{name: record.get(name) for name in self.columns},
                    "signature": self.signatures.get(str(record.get("metric")), every),
                    "data": data,
                }
                for record in self.records
            ],
            document=self.to_dict(),
            title=self.title,
            caption=self.title,
            notes=self.notes,
            facts={"": facts} if facts else {},
            signatures=signatures,
            comments=comments + (["signatures", *(f"  {signature}" for signature in signatures)] if signatures else []),
            fold=_FOLD,
            pictures=self.pictures,
            warnings=self.warnings,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the study as JSON values, as in its JSON output."""
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


def _is_number(value: object) -> bool:
    """Return whether it is a number, numpy's or not; booleans are not numbers."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _setting(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
