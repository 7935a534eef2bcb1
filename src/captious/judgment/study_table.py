"""Studies as tables: their records, with settings, data and signatures."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING

from captious.judgment.judgment_table import data_text
from captious.table import Cell, Column, Row, Table
from captious.version import __version__

if TYPE_CHECKING:
    from captious.judgment.study_result import Study

__all__ = ["study_table"]

_FOLD = 100  # columns of a terminal
_HEADS = {"pathology": "corruption"}  # columns that tables call differently from records


def study_table(study: Study) -> Table:
    """The records of a study; csv has the signature of the metric of each record, or all if it has none."""
    texts = {
        "settings": ", ".join(f"{name.replace('_', ' ')} {_setting(value)}" for name, value in study.settings.items()),
        "data": data_text(study.data),
    }
    facts = {label: text for label, text in texts.items() if text}
    signatures = [
        signature if signature.split("|")[0] == metric else f"{metric}: {signature}"
        for metric, signature in study.signatures.items()
    ]
    every = " ".join(study.signatures.values())
    data = " ".join(f"{file}:{crc}" for file, crc in study.data.items())
    comments = [f"captious {__version__}, study {study.name}: {study.title}", *study.notes]
    comments += [f"  {label}: {text}" for label, text in facts.items()]
    return Table(
        columns=[
            Column(
                _HEADS.get(name, name.replace("_", " ")),
                align="right" if any(_is_number(record.get(name)) for record in study.records) else "left",
            )
            for name in study.columns
        ],
        rows=[Row("", [Cell(record.get(name)) for name in study.columns]) for record in study.records],
        records=[
            {
                **{name: record.get(name) for name in study.columns},
                "signature": study.signatures.get(str(record.get("metric")), every),
                "data": data,
            }
            for record in study.records
        ],
        document=study.to_dict(),
        title=study.title,
        caption=study.title,
        notes=study.notes,
        facts={"": facts} if facts else {},
        signatures=signatures,
        comments=comments + (["signatures", *(f"  {signature}" for signature in signatures)] if signatures else []),
        fold=_FOLD,
        pictures=study.pictures,
        warnings=study.warnings,
    )


def _is_number(value: object) -> bool:
    """Whether it is a number, numpy's or not; truth values are not numbers."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _setting(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
