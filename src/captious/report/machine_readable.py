"""Results as files and machine-readable text: json, csv, and caption scores as jsonl, csv or parquet.

Files appear atomically. Corpus scores never go without their signature.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from captious.atomic_write import check_place, whole_file
from captious.errors import MissingExtraError, ParameterError
from captious.evaluation import Comparison, GroupedComparison, GroupedReport, Report
from captious.report.latex import (
    comparison_latex,
    grouped_comparison_latex,
    grouped_reports_latex,
    judgment_latex,
    reports_latex,
    study_latex,
)
from captious.version import __version__

if TYPE_CHECKING:
    from captious.judgment import Judgment, Study

__all__ = [
    "CAPTION_FORMATS",
    "check_caption_file",
    "comparison_csv",
    "comparison_json",
    "comparison_latex",
    "csv_text",
    "grouped_comparison_csv",
    "grouped_comparison_latex",
    "grouped_reports_csv",
    "grouped_reports_latex",
    "judgment_csv",
    "judgment_json",
    "judgment_latex",
    "reports_csv",
    "reports_json",
    "reports_latex",
    "study_csv",
    "study_json",
    "study_latex",
    "write_captions",
    "write_text",
]

#: Extensions of files of caption scores.
CAPTION_FORMATS = (".jsonl", ".csv", ".parquet")


def reports_json(reports: Sequence[Report] | Sequence[GroupedReport], *, intervals: bool = False) -> str:
    """Corpus scores of systems, or scores by group, as one JSON document."""
    systems = [report.to_dict(intervals=intervals) for report in reports]
    return _json({"version": __version__, "systems": systems})


def reports_csv(reports: Sequence[Report], *, intervals: bool = False) -> str:
    """Corpus scores of systems, one line per system and output."""
    rows = []
    for report in reports:
        for name, result in report.items():
            low, high = result.confidence_interval() if intervals else ("", "")
            scores = [result.score, low, high, result.lower_is_better]
            rows.append([report.system, report.n_images, name, *scores, result.signature])
    heads = ["system", "n_images", "metric", "score", "ci95_low", "ci95_high", "lower_is_better", "signature"]
    return csv_text(heads, rows)


def grouped_reports_csv(grouped: Sequence[GroupedReport], *, intervals: bool = False) -> str:
    """Scores of systems by group: one line per system, output and group or average."""
    heads = ["system", "part", "group", "n_images", "metric", "score", "ci95_low", "ci95_high", "lower_is_better"]
    rows = []
    for each in grouped:
        for s in each.scores(intervals=intervals):
            low, high = s.interval or ("", "")
            cells = [s.part, s.group, s.n_images, s.metric, s.score, low, high, s.lower_is_better, s.signature]
            rows.append([each.whole.system, *cells])
    return csv_text([*heads, "signature"], rows)


def grouped_comparison_csv(grouped: GroupedComparison) -> str:
    """A comparison by group: one line per output and group or average."""
    heads = ["system_a", "system_b", "part", "group", "n_images", "metric", "score_a", "score_b", "difference", "low"]
    heads += ["high", "p_bootstrap", "p_randomization", "corrected_bootstrap", "corrected_randomization"]
    rows = []
    for d in grouped.differences:
        cells = [grouped.whole.a.system, grouped.whole.b.system, d.part, d.group, d.n_images, d.metric]
        cells += [d.score_a, d.score_b, d.difference, *d.interval, d.p_bootstrap, d.p_randomization]
        cells += [d.corrected_bootstrap, d.corrected_randomization, d.lower_is_better, d.signature]
        rows.append(cells)
    return csv_text([*heads, "lower_is_better", "signature"], rows)


def comparison_json(comparison: Comparison | GroupedComparison, *, examples: int = 0) -> str:
    """A comparison as one JSON document."""
    return _json(comparison.to_dict(examples=examples))


def comparison_csv(comparison: Comparison) -> str:
    """A comparison, one line per output."""
    heads = [
        "system_a",
        "system_b",
        "metric",
        "score_a",
        "score_b",
        "difference",
        "low",
        "high",
        "effect_size",
        "effect_low",
        "effect_high",
    ]
    heads += ["p_bootstrap", "p_randomization", "lower_is_better", "signature"]
    rows = []
    for d in comparison.values():
        systems = [comparison.a.system, comparison.b.system]
        scores = [d.score_a, d.score_b, d.difference, *d.interval, d.effect_size, *d.effect_interval]
        rows.append([*systems, d.name, *scores, d.p_bootstrap, d.p_randomization, d.lower_is_better, d.signature])
    return csv_text(heads, rows)


def judgment_json(judgment: Judgment) -> str:
    """A judgment as one JSON document; values are fractions."""
    return _json(judgment.to_dict())


def judgment_csv(judgment: Judgment) -> str:
    """A judgment, one line per benchmark and metric, and one for every part of a benchmark; values are fractions."""
    rows = judgment.to_rows()
    return csv_text([*rows[0]], [[*row.values()] for row in rows])


def study_json(study: Study) -> str:
    """A study as one JSON document."""
    return _json(study.to_dict())


def study_csv(study: Study) -> str:
    """The records of a study; each with the signature of its metric, or with all if it has none, and the data."""
    every = " ".join(study.signatures.values())
    data = " ".join(f"{file}:{crc}" for file, crc in study.data.items())
    rows: list[list[object]] = []
    for record in study.records:
        signature = study.signatures.get(str(record.get("metric")), every)
        rows.append([*(record.get(column) for column in study.columns), signature, data])
    return csv_text([*study.columns, "signature", "data"], rows)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file, atomically.

    Raises:
        OutputError: the file cannot be written.
    """
    with whole_file(path) as file:
        file.write(text)


def check_caption_file(path: str | os.PathLike[str]) -> None:
    """Refuse a file name that ``write_captions`` would refuse, before any work is done.

    Raises:
        ParameterError: an extension that is not in ``CAPTION_FORMATS``.
        MissingExtraError: parquet without pyarrow.
        OutputError: a place that cannot be written to.
    """
    check_place(path)
    suffix = Path(path).suffix.lower()
    if suffix not in CAPTION_FORMATS:
        raise ParameterError(
            f"caption scores cannot be written as {suffix or 'a file without extension'}",
            where=str(path),
            help=f"use one of these extensions: {', '.join(CAPTION_FORMATS)}",
        )
    if suffix == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise MissingExtraError("parquet needs pyarrow", help="pip install 'captious[parquet]'") from None


def write_captions(path: str | os.PathLike[str], reports: Sequence[Report]) -> None:
    """Write caption scores, one row per image: id, candidate, one column per output; `system` where there are several.

    Several candidates per image are a list, called `candidates`; in csv, the list as JSON.

    Parquet files carry the signatures in their metadata, under the names of the columns.

    Raises:
        ParameterError, MissingExtraError: as ``check_caption_file`` does.
        OutputError: the file cannot be written.
    """
    check_caption_file(path)
    suffix = Path(path).suffix.lower()
    if suffix == ".parquet":
        _write_parquet(path, reports)
        return
    with whole_file(path) as file:
        if suffix == ".jsonl":
            for row in _rows(reports):
                file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
        else:
            writer: Any = None
            for row in _rows(reports):
                if writer is None:
                    writer = _csv_writer(file)
                    writer.writerow(row)
                writer.writerow(_cell(value) for value in row.values())


def _rows(reports: Sequence[Report]) -> Iterator[dict[str, Any]]:
    """One row per system and image, plain values; None where a caption has no score."""
    for report in reports:
        names = list(report)
        scores = [_plain(report[name].per_caption) for name in names]
        system = {"system": report.system} if len(reports) > 1 else {}
        for image, shown, *values in zip(report.ids, report.candidates, *scores, strict=True):
            candidate = {"candidate": shown} if isinstance(shown, str) else {"candidates": shown}
            yield {**system, "id": image, **candidate, **dict(zip(names, values, strict=True))}


def _cell(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def _write_parquet(path: str | os.PathLike[str], reports: Sequence[Report]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = list(_rows(reports))
    ids = [row["id"] for row in rows]
    if not all(isinstance(i, int) and abs(i) < 2**63 for i in ids) and not all(isinstance(i, str) for i in ids):
        # A column has one type, and its integers have 64 bits.
        rows = [{**row, "id": str(row["id"])} for row in rows]
    signatures = {name: result.signature for name, result in reports[0].items()}
    table = pa.Table.from_pylist(rows).replace_schema_metadata(signatures)
    with whole_file(path, "wb") as file:
        pq.write_table(table, file)


def _json(document: Mapping[str, Any]) -> str:
    """JSON with null for what is not a number."""
    return json.dumps(_plain(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "tolist"):  # of numpy
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def csv_text(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Rows under their header, lines ended by line feeds."""
    out = io.StringIO()
    writer = _csv_writer(out)
    writer.writerow(heads)
    writer.writerows(rows)
    return out.getvalue()


class _Lines:
    """A file for a csv writer: drops the carriage return of lines that end in a carriage return and a line feed."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, line: str) -> None:
        self._file.write(line.removesuffix("\r\n") + "\n")


def _csv_writer(file: IO[str]) -> Any:
    # csv.writer puts quotes around the characters that end its lines. Readers take either of the two for a line end.
    return csv.writer(_Lines(file), lineterminator="\r\n")
