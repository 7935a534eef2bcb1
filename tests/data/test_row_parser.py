"""The row parser: rows in batches, and problems that are collected instead of raised."""

from __future__ import annotations

import io
from typing import Any

import pytest

from captious.data.formats import MISSING, Batch, Format, parse_rows
from captious.data.rows import RowProblem, Source

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
    ("format", "text", "kinds", "rows"),
    [
        (
            "jsonl",
            '{"id": 1}\n[1]\n{\n{"id": 2, "caption": "a"}\n{"id"',
            [("json", 3), ("truncated", 5), ("record", 2), ("fields", 1)],
            [(1, MISSING), (2, "a")],
        ),
        ("csv", 'id,caption\n1\n2,a\n3,"b', [("cells", 2), ("csv", 4)], [("2", "a")]),
    ],
)
def test_problems_are_collected_or_raised(
    format: Format, text: str, kinds: list[tuple[str, int]], rows: list[tuple[Any, Any]]
) -> None:
    problems: list[RowProblem] = []
    batches = parse(text, format, refuse=problems.append)
    assert [(problem.kind, problem.number) for problem in problems] == kinds
    assert [row for batch in batches for row in zip(*batch.columns, strict=True)] == rows
    with pytest.raises(type(problems[0].error)):
        parse(text, format)
