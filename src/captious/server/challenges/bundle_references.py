"""The reference data of a bundle by phase, and the files in it that may be captions."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from captious.server.challenges.bundle_files import unpack
from captious.server.challenges.bundle_values import as_line, tables

_CAPTIONS_SUFFIXES = {".json", ".jsonl", ".csv", ".tsv"}


def reference_data(
    values: Mapping[str, Any], phases: Sequence[Mapping[str, Any]]
) -> tuple[list[str | None], list[str]]:
    """The reference data of each phase by its name in the bundle, and a sentence about each omission.

    Codabench has it in the tasks of a phase. A phase without any uses that of the first phase with some.
    """
    rows = tables(values.get("tasks"))
    tasks = {str(task.get("index", place)): task for place, task in enumerate(rows)}
    data: list[str | None] = []
    omissions: list[str] = []
    for phase in phases:
        numbers = [str(number) for number in phase["tasks"]] if isinstance(phase.get("tasks"), list) else []
        values_of_phase = [tasks[number].get("reference_data") for number in numbers if number in tasks]
        values_of_phase += [phase.get("reference_data"), phase.get("test_annotation_file")]
        names = [*dict.fromkeys(str(name) for name in values_of_phase if name)]
        data.append(names[0] if names else None)
        if names[1:]:
            omissions.append(f"of the phase {as_line(phase.get('name'))}: the reference data {', '.join(names[1:])}")
    task_data = [str(task["reference_data"]) for task in rows if task.get("reference_data")]
    default = next((name for name in [*data, *task_data] if name), None)
    return [name or default for name in data], omissions


def captions_files(data: Path | None, scratch: Path) -> list[Path]:
    """The files of reference data; for an archive or a folder, those that may be captions.

    Args:
        data: the file or folder; None if it is not there.
        scratch: a folder for unpacked files.
    """
    if data is None:
        return []
    if data.is_file() and zipfile.is_zipfile(data):
        place = Path(tempfile.mkdtemp(dir=scratch))
        unpack(data, place)
        data = place
    if data.is_dir():
        return sorted(path for path in data.rglob("*") if path.suffix in _CAPTIONS_SUFFIXES and path.is_file())
    return [data]
