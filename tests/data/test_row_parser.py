"""The row parser: rows in batches, and the first problem."""

from __future__ import annotations

import io
from typing import Any

import pytest

from captious.data.formats import Batch, Format, parse_rows
from captious.data.rows import Source
from captious.errors import CaptionFileError, TruncatedFileError

SOURCE = Source("c", "candidates", is_file=True)
FIELDS = ("id", "caption")


def parse(text: str, format: Format, **options: Any) -> list[Batch]:
    return [*parse_rows(io.BytesIO(text.encode()), format, SOURCE, lambda names, where: FIELDS, **options)]


@pytest.mark.parametrize("size", [1, 2, 3, None])
@pytest.mark.parametrize(
    ("format", "text", "first"),
    [
        ("json", '[{"id": "a", "caption": "b"}, {"id": "c", "caption": "d"}, {"caption": "f", "id": "e"}]', 1),
        ("jsonl", '{"id": "a", "caption": "b"}\n{"id": "c", "caption": "d"}\n{"id": "e", "caption": "f"}', 1),
        ("csv", "id,caption\na,b\r\nc,d\re,f\n", 2),
        ("tsv", "caption\tid\nb\ta\nd\tc\nf\te\n", 2),
    ],
)
def test_rows_are_parsed_in_batches(format: Format, text: str, first: int, size: int | None) -> None:
    batches = parse(text, format, size=size)
    assert all(len(batch.numbers) <= (size or 3) for batch in batches)
    assert [number for batch in batches for number in batch.numbers] == [first, first + 1, first + 2]
    assert [tuple(row) for batch in batches for row in zip(*batch.columns, strict=True)] == [
        *map(tuple, ("ab", "cd", "ef"))
    ]


@pytest.mark.parametrize(
    ("format", "text", "error", "where"),
    [
        ("jsonl", '{"id": 1}\n[1]\n{\n{"id": 2, "caption": "a"}\n{"id"', CaptionFileError, "c: line 3, column 2"),
        ("jsonl", '{"id": 1}\n\n{"id"\n\n', TruncatedFileError, "c: line 3, column 6"),
        ("jsonl", '{"id": 1, "caption": "a"}\n[1]', CaptionFileError, "c: line 2: [1]"),
        ("jsonl", '{"id": 1, "caption": "a"}\n{"id": 1}', CaptionFileError, "c: line 2: {'id': 1}"),
        ("csv", 'id,caption\n1\n2,a\n3,"b', CaptionFileError, "c: line 2"),
        ("csv", 'id,caption\n2,a\n3,"b', TruncatedFileError, "c: in the row that starts at line 3"),
    ],
)
def test_the_first_problem_is_raised(format: Format, text: str, error: type[CaptionFileError], where: str) -> None:
    with pytest.raises(error) as caught:
        parse(text, format)
    assert type(caught.value) is error
    assert caught.value.where == where
