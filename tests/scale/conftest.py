"""Fixtures of the tests of captious.scale: rows, and shards of them in every format."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Row: TypeAlias = dict[str, Any]
Write: TypeAlias = Callable[..., Path]

EXAMPLES = Path(__file__).parents[2] / "examples"


def example_rows(system: str = "improved") -> list[Row]:
    """Return the captions of the project's examples as rows of a shard, 24 of them."""
    references = json.loads((EXAMPLES / "references.json").read_text())
    candidates = {str(row["image_id"]): row["caption"] for row in json.loads((EXAMPLES / f"{system}.json").read_text())}
    return [
        {"id": int(image), "candidate": candidates[image], "references": texts} for image, texts in references.items()
    ]


def write(path: Path, rows: Sequence[Row]) -> Path:
    """Write a shard in the format that its name says."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=5)
        return path
    if name.endswith((".csv", ".tsv")):
        cells = [
            {key: value for key, value in row.items() if key != "references"}
            | {f"ref{i}": text for i, text in enumerate(row["references"])}
            for row in rows
        ]
        columns = list(dict.fromkeys(key for row in cells for key in row))
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, columns, delimiter="," if name.endswith(".csv") else "\t")
            writer.writeheader()
            writer.writerows(cells)
        return path
    text = (
        json.dumps(list(rows), indent=1) if name.endswith(".json") else "".join(json.dumps(row) + "\n" for row in rows)
    )
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.name.endswith(".gz") else data)
    return path


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """A folder with the examples in four shards, part-0.jsonl to part-3.jsonl."""
    rows = example_rows()
    for number in range(4):
        write(tmp_path / f"part-{number}.jsonl", rows[number * 6 : number * 6 + 6])
    return tmp_path
