"""Names of systems, detection of several systems in the arguments of ``score``, and ``Reports``, their scores."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from captious.data import Captions, CaptionSets, same_images
from captious.data.reading.file_contents import EXTENSIONS, is_standard_input
from captious.data.reading.record_shapes import is_document
from captious.errors import ParameterError
from captious.evaluation.caption_checks.caption_warnings import warnings_by_system
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES
from captious.evaluation.score_report import Report
from captious.evaluation.tables.score_tables import score_table
from captious.random_seed import DEFAULT_SEED
from captious.results.displayed import DisplayedMapping
from captious.results.table import Table


class Reports(DisplayedMapping[str, Report]):
    """Scores of several systems, by name of system: ``reports["mine"]["cider-d"].score``.

    Args:
        reports: systems with different names, scored with the same metrics.

    Raises:
        ParameterError: no systems, or two with the same name.
    """

    _unknown = ("{name!r} was not scored", "the systems are")

    def __init__(self, reports: Sequence[Report]) -> None:
        self._parts = {report.system: report for report in reports}
        if not reports:
            raise ParameterError("there are no systems", help="give the captions of at least one")
        if len(self._parts) < len(reports):
            raise ParameterError("two systems have the same name", help="give them different names")

    @property
    def warnings(self) -> list[str]:
        """Warnings about misleading scores, one sentence each; those of only some systems begin with their names."""
        return [
            *warnings_by_system([(system, report.warnings) for system, report in self.items()]),
            *self.different_images,
        ]

    @property
    def different_images(self) -> list[str]:
        """The warning about systems that were scored on different images; empty if all have the same."""
        first = next(iter(self.values()))
        if all(same_images(report.ids, first.ids) for report in self.values()):
            return []
        return ["the systems were scored on different images, so their scores cannot be compared."]

    def to_table(self, *, intervals: bool = False) -> Table:
        """Return the corpus scores as a table, the best of each metric marked.

        Args:
            intervals: show 95% intervals.
        """
        return score_table([*self.values()], intervals=intervals)

    def to_dict(
        self, *, intervals: bool = False, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
    ) -> dict[str, Any]:
        """Return corpus scores as JSON values, as printed by ``captious score --format json``.

        Args:
            intervals, resamples, seed: as for ``Report.to_dict``.
        """
        table = score_table([*self.values()], intervals=intervals, resamples=resamples, seed=seed)
        return dict(table.document)

    def columns(self) -> dict[str, Any]:
        """Return caption scores as columns: system, id, candidate, and outputs; one entry per system and image."""
        columns: dict[str, list[Any]] = {}
        for system, report in self.items():
            for name, values in {"system": [system] * report.n_images, **report.columns()}.items():
                columns.setdefault(name, []).extend(values)
        return columns

    def _pictured(self) -> Table:
        return self.to_table(intervals=True)


def candidates_by_system(candidates: object) -> dict[str, object] | None:
    """Return the candidates of several systems by name; None if these are the candidates of one system.

    A mapping holds systems if each of its values can only be a whole system: a mapping, a data frame, ``Captions``, a
    path, text that ends like the name of a caption file (``.json``, ``.csv.gz``), or records with image ids other than
    the key.
    """
    if not isinstance(candidates, Mapping) or not candidates:
        return None
    if not all(isinstance(name, str) and _is_system(name, value) for name, value in candidates.items()):
        return None
    return None if is_document(candidates, "candidates") else dict(candidates)


def _is_system(name: str, value: object) -> bool:
    if isinstance(value, Mapping | Captions | CaptionSets | os.PathLike):
        return True
    if isinstance(value, str):
        return value.lower().removesuffix(".gz").endswith(EXTENSIONS)
    if isinstance(value, list | tuple):
        return any(isinstance(row, Mapping) and str(row.get("image_id", name)) != name for row in value)
    return hasattr(value, "columns")


def system_names(files: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return a name for each system: its file's without extensions; the whole path if names would be the same.

    Raises:
        ParameterError: a file is given twice.
    """
    stems = [*map(_stem, files)]
    names = [stem if stems.count(stem) == 1 else str(file) for stem, file in zip(stems, files, strict=True)]
    names = [os.fsencode(name).decode(errors="replace") for name in names]  # names of files need not be text
    duplicates = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if duplicates:
        raise ParameterError(f"{duplicates[0]} is given twice", help="give each system once")
    return names


def name_of(candidates: object, default: str) -> str:
    """Return the name of the system of these candidates: that of their file, or else the default."""
    is_path = isinstance(candidates, str | os.PathLike)
    return system_names([Path(candidates)])[0] if is_path else default  # type: ignore[arg-type]


def pair_names(a: object, b: object) -> tuple[str, str]:
    """Return the names of two systems, which may be equal: those of their files, or "a" and "b"."""
    if all(isinstance(candidates, str | os.PathLike) for candidates in (a, b)) and a != b:
        first, second = system_names([Path(a), Path(b)])  # type: ignore[arg-type]
        return first, second
    return name_of(a, "a"), name_of(b, "b")


def _stem(file: str | os.PathLike[str]) -> str:
    if is_standard_input(file):
        return "standard input"
    name = os.path.basename(file)
    return name.removesuffix(".gz").rsplit(".", 1)[0] or name
