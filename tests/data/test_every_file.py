"""Small files, right and wrong in one way each, as captions and as groups: what is read of them, or the error.

They are in ``tests/data/files``, those of harnesses and endpoints in ``tests/data/logs``; their names say
what is particular about them, after that of the layout in case of logs.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import pytest

from captious.data import CaptionFile, CaptionRows, read_groups, read_rows
from captious.errors import CaptiousError
from tests.golden.command_line import clean
from tests.golden.outcomes import LIBRARIES, refusal
from tests.golden.record import Record

FILES, LOGS = (sorted((Path(__file__).parent / name).iterdir()) for name in ("files", "logs"))


def described(rows: CaptionRows) -> dict[str, Any]:
    found = {
        "ids": [image if isinstance(image, int) else repr(image) for image in rows.ids],
        "texts": rows.texts,
        "places": [rows.place(row) for row in range(len(rows.ids))],
        "ids are": rows.id_form,
    }
    others = {"of": rows.of, "without captions": rows.known_images, "log": rows.log, "prompts": rows.prompts}
    return found | {name: value for name, value in others.items() if value not in ("image", (), "")}


def outcome(path: Path, role: Any, layout: str | None = None) -> dict[str, Any]:
    """Return what is read, or the error: it has a message, a place in the file, and says what to do."""
    try:
        if role == "groups":
            groups = read_groups(path)
            return {"by": groups.by, "groups": {str(image): group for image, group in groups.group_of.items()}}
        return described(
            read_rows(
                CaptionFile(path, layout=layout), role.partition(" ")[2] or role, several=role.startswith("several")
            )
        )
    except CaptiousError as error:
        assert error.message
        assert path.name in error.where
        assert error.hint
        return refusal(error)


def outcomes(path: Path) -> dict[str, Any]:
    found = {role: outcome(path, role) for role in ("candidates", "several candidates", "references", "groups")}
    if found["several candidates"] == found["candidates"]:
        del found["several candidates"]
    shown: dict[str, Any] = clean(found, {str(path.parent): "FOLDER"}, LIBRARIES)
    return shown


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_files_are_read_as_recorded(path: Path, record: Record, tmp_path: Path) -> None:
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow")
    found = outcomes(path)
    record(f"files/{path.name}", found)
    if "gzip" in path.name or path.suffix == ".gz":
        return
    packed = tmp_path / f"{path.name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    names = {f"{path.name}.gz": path.name, str(tmp_path): "FOLDER"}
    for role, of_packed in clean(outcomes(packed), names).items():
        assert of_packed | {"hint": ""} == found[role] | {"hint": ""}


@pytest.mark.parametrize("path", LOGS, ids=[path.name for path in LOGS])
def test_logs_are_read_as_recorded(path: Path, record: Record) -> None:
    """With the layout that their name begins with, and without."""
    if path.suffix == ".xlsx":
        pytest.importorskip("openpyxl")
    layout, roles = path.name.partition(",")[0], ("several candidates", "references")
    limit = csv.field_size_limit()
    named, found = ({role: outcome(path, role, of) for role in roles} for of in (layout, None))
    assert csv.field_size_limit() == limit  # of all readers in this process
    unlike = {role: found[role] for role in roles if found[role] != named[role]}
    record(
        f"logs/{path.name}",
        clean(named | ({"without layout": unlike} if unlike else {}), {str(path.parent): "FOLDER"}, LIBRARIES),
    )
