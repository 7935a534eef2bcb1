"""Equal captions in every form make equal tables."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from captious.data import read_captions

Table: TypeAlias = Mapping[int | str, list[str]]


def long_rows(table: Table) -> list[tuple[int | str, str]]:
    return [(image, text) for image, texts in table.items() for text in texts]


def records(table: Table) -> list[dict[str, Any]]:
    return [{"image_id": image, "caption": text} for image, text in long_rows(table)]


def delimited(table: Table, delimiter: str) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter=delimiter).writerows([("image_id", "caption"), *long_rows(table)])
    return buffer.getvalue().encode()


def parquet(table: Table) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame({"id": list(table), "captions": list(table.values())}).write_parquet(buffer)
    return buffer.getvalue()


WRITERS: dict[str, Callable[[Table], bytes]] = {
    "coco.json": lambda table: json.dumps({"annotations": records(table)}).encode(),
    "results.json": lambda table: json.dumps(records(table), ensure_ascii=False).encode(),
    "object.json": lambda table: json.dumps(table).encode(),
    "rows.jsonl": lambda table: "\n".join(json.dumps(row, ensure_ascii=False) for row in records(table)).encode(),
    "rows.csv": lambda table: delimited(table, ","),
    "rows.tsv": lambda table: delimited(table, "\t"),
    "rows.parquet": parquet,
}

texts = st.text(st.characters(exclude_categories=["Cs"]))
ids = st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=5, unique=True) | st.lists(
    texts, min_size=1, max_size=5, unique=True
)


@pytest.mark.parametrize("name", WRITERS)
@given(ids=ids, data=st.data())
@settings(max_examples=30, deadline=None)
def test_every_form_holds_the_same_captions(name: str, ids: list[int | str], data: st.DataObject) -> None:
    assume("" not in ids or name not in ("rows.csv", "rows.tsv"))  # where rows without content are none
    references = {image: data.draw(st.lists(texts, min_size=1, max_size=3)) for image in ids}
    candidates = {image: [data.draw(texts)] for image in data.draw(st.permutations(ids))}
    expected = read_captions(candidates, references)
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for role, table in (("candidates", candidates), ("references", references)):
            paths[role] = Path(folder, f"{role}-{name}")
            paths[role].write_bytes(WRITERS[name](table))
        for one, other in (
            (paths["candidates"], references),
            (candidates, paths["references"]),
            (paths["candidates"], paths["references"]),
        ):
            captions = read_captions(one, other)
            # Where neither side can tell, numbers stay the text they were written as.
            assert list(map(str, captions.ids)) == list(map(str, expected.ids))
            if isinstance(one, dict) or isinstance(other, dict):
                assert captions.ids == expected.ids
            assert captions.candidates == expected.candidates
            assert captions.references.texts == expected.references.texts
            assert captions.references.offsets.tolist() == expected.references.offsets.tolist()
