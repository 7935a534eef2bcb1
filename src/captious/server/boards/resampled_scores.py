"""A file with the scores of all submissions of a phase on one reference set, and on each resample of its images.

Ranks need the resampled scores of all submissions, which would otherwise have to be read from as many files. A record
holds the result of one scoring; records are only appended, so a submission that is scored again has several. The file
can be deleted at any time: it is written again from the results of the submissions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.files.atomic_write import whole_file

#: The submission, and when it was scored, in microseconds.
Record: TypeAlias = tuple[int, int]

_HEADER_BYTES = 1 << 14
_SPARE_RECORDS = 1000  # obsolete records, in addition to the number of current ones, before the file is compacted


class ResampledScores:
    """The file of a reference set, opened by a process that has locked it.

    Args:
        path: path of the file, which need not exist.
        outputs: the outputs in the file. A file with other outputs is rewritten.
        resamples: number per score; longer records are cut, shorter ones are padded with nan.

    Raises:
        OSError, OutputError: it cannot be read or written.
    """

    def __init__(self, path: Path, outputs: Sequence[str], resamples: int) -> None:
        self._path = path
        self._outputs = {name: column for column, name in enumerate(outputs)}
        self._header = json.dumps({"outputs": [*outputs], "resamples": resamples}).encode().ljust(_HEADER_BYTES)
        values = [("scores", "<f8", (len(outputs),)), ("resampled", "<f4", (len(outputs), resamples))]
        self._type = np.dtype([("submission", "<i8"), ("finished", "<i8"), *values])
        self._resamples = resamples
        self._rows: Any = None
        self._open()

    def __contains__(self, record: Record) -> bool:
        return record in self._places

    def append(
        self, record: Record, scores: dict[str, float | None], resampled: dict[str, NDArray[np.float64]]
    ) -> None:
        """Add the result of a scoring.

        Args:
            record: key of the scoring.
            scores: output -> score; None or missing if there is no score.
            resampled: output -> float64[resamples]; missing if lost, so that there is no rank.
        """
        row: Any = np.zeros(1, self._type)
        row["submission"], row["finished"] = record
        row["scores"], row["resampled"] = np.nan, np.nan
        for name, column in self._outputs.items():
            if (score := scores.get(name)) is not None:
                row["scores"][0, column] = score
            if (values := resampled.get(name)) is not None:
                row["resampled"][0, column, : len(values)] = values[: self._resamples]
        with self._path.open("ab") as file:
            file.write(row.tobytes())  # a record that is not complete is cut off when the file is opened
        self._places[record] = len(self._places_of_file)
        self._places_of_file.append(record)
        self._rows = None

    def scores(self, records: Iterable[Record], output: str) -> NDArray[np.float64]:
        """Scores in an output, float64[n]; nan where there is none."""
        return np.asarray(self._read_rows()["scores"][self._where(records), self._outputs[output]])

    def resampled(self, records: Iterable[Record], output: str) -> NDArray[np.float32]:
        """Resampled scores in an output, float32[n, resamples]."""
        return np.asarray(self._read_rows()["resampled"][self._where(records), self._outputs[output]])

    def compact(self, records: Sequence[Record]) -> None:
        """Compact the file if it has many obsolete records."""
        if len(self._places_of_file) <= 2 * len(records) + _SPARE_RECORDS:
            return
        rows = self._read_rows()
        with whole_file(self._path, "wb") as file:
            file.write(self._header)
            for place in self._where(records):
                file.write(rows[place].tobytes())
        self._open()

    def _where(self, records: Iterable[Record]) -> NDArray[np.int64]:
        return np.array([self._places[record] for record in records], dtype=np.int64)

    def _open(self) -> None:
        """Index the records; an invalid file is started over."""
        self._rows = None
        size = self._path.stat().st_size if self._path.exists() else 0
        n = max(size - _HEADER_BYTES, 0) // self._type.itemsize
        if size:
            with self._path.open("rb") as file:
                is_ours = file.read(_HEADER_BYTES) == self._header
        if not size or not is_ours:
            n = 0
            with whole_file(self._path, "wb") as file:
                file.write(self._header)
        elif size > (complete := _HEADER_BYTES + n * self._type.itemsize):
            os.truncate(self._path, complete)
        self._places_of_file: list[Record] = []
        if n:
            rows = self._read_rows()
            self._places_of_file = [*zip(rows["submission"].tolist(), rows["finished"].tolist(), strict=True)]
        self._places: dict[Record, int] = {record: place for place, record in enumerate(self._places_of_file)}

    def _read_rows(self) -> Any:
        if self._rows is None:
            if self._path.stat().st_size == _HEADER_BYTES:
                self._rows = np.zeros(0, self._type)  # an empty file cannot be mapped
            else:
                self._rows = np.memmap(self._path, self._type, "r", offset=_HEADER_BYTES)
        return self._rows
