"""Shards in every format, in batches, and errors in them."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from captious.errors import (
    CaptionFileError,
    CaptionTypeError,
    DuplicateCandidateError,
    EmptyInputError,
    EncodingError,
    InputError,
    MissingReferencesError,
    ParameterError,
    TruncatedFileError,
)
from captious.scale import GeneratedShard, RowBatch, ShardColumns, as_shards
from tests.scale.conftest import example_rows, write

FORMATS = ("jsonl", "ndjson", "jsonl.gz", "json", "json.gz", "parquet", "csv", "tsv")


def read(path: Path, columns: Any = None, size: int = 7) -> list[RowBatch]:
    (shard,) = as_shards(path)
    return list(shard.batches(ShardColumns.of(columns), size))


def read_text(path: Path, text: str | bytes, **options: Any) -> list[RowBatch]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path, **options)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_same_rows(tmp_path: Path, form: str) -> None:
    rows = example_rows()
    path = write(tmp_path / f"part.{form}", rows)
    tabular = form in ("csv", "tsv")
    columns = ",".join(f"references=ref{i}" for i in range(5)) if tabular else None
    batches = read(path, columns)
    assert all(len(batch) <= 7 for batch in batches)
    ids = [image for batch in batches for image in batch.ids]
    assert ids == [str(row["id"]) if tabular else row["id"] for row in rows]
    assert [text for batch in batches for text in batch.candidates] == [row["candidate"] for row in rows]
    assert [[*texts] for batch in batches for texts in batch.references] == [row["references"] for row in rows]


def test_columns_by_other_names(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"key": "x", "text": "a cat", "ref": "the cat", "more": ["a dog", "dogs"]}])
    (rows,) = read(path, "id=key,candidate=text,references=ref,references=more")
    assert (rows.ids, rows.candidates, rows.references) == (("x",), ("a cat",), (["the cat", "a dog", "dogs"],))
    same = ShardColumns.of({"id": "key", "candidate": "text", "references": ["ref", "more"]})
    assert same == ShardColumns.of("id=key, candidate=text, references=ref, references=more")


@pytest.mark.parametrize("names", ["id", "id=", "image=x", "id=a,id=b", "=x", ""])
def test_names_that_say_nothing(names: str) -> None:
    with pytest.raises(ParameterError):
        ShardColumns.of(names)


def test_csv_reference_may_be_one_text(tmp_path: Path) -> None:
    (rows,) = read_text(tmp_path / "a.csv", 'id,caption,references\n1,a cat,"the ""cat"", here\nand there"\n')
    assert (rows.ids, rows.references) == (("1",), (['the "cat", here\nand there'],))


def test_csv_rows_may_have_fewer_references(tmp_path: Path) -> None:
    (rows,) = read_text(tmp_path / "a.csv", "id,caption,r,s\n1,a,b,c\n2,d,,e\n", columns="references=r,references=s")
    assert rows.references == (["b", "c"], ["e"])


@pytest.mark.parametrize("written", [str, json.dumps])
@pytest.mark.parametrize("size", [1, 7])
def test_csv_cells_may_be_lists_as_other_readers_read_them(tmp_path: Path, written: Any, size: int) -> None:
    rows = [{**row, "references": written(row["references"])} for row in example_rows()]
    text = io.StringIO()
    writer = csv.DictWriter(text, [*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    batches = read_text(tmp_path / "a.csv", text.getvalue(), size=size)
    assert [[*texts] for batch in batches for texts in batch.references] == [
        row["references"] for row in example_rows()
    ]


def test_rows_are_read_as_by_other_readers(tmp_path: Path) -> None:
    row = {"id": 1, "candidate": ["a cat"], "references": [{"caption": "the cat"}, "cats"]}
    (rows,) = read(write(tmp_path / "a.jsonl", [row, {**row, "id": "x", "references": ["a dog"]}]))
    assert (rows.ids, rows.candidates) == ((1, "x"), ("a cat", "a cat"))
    assert [*map(list, rows.references)] == [["the cat", "cats"], ["a dog"]]
    path = write(tmp_path / "b.jsonl", [{"id": 1, "candidate": "a", "r": "", "s": ["b", "c"]}])
    assert read(path, "references=r,references=s")[0].references == (["b", "c"],)


def test_candidates_in_lists_are_rows_if_references_are_elsewhere(tmp_path: Path) -> None:
    rows = [{"id": 1, "candidate": ["a cat", "cats"]}, {"id": 2, "candidate": "a dog"}]
    (shard,) = as_shards(write(tmp_path / "a.jsonl", rows))
    (batch,) = shard.batches(ShardColumns(with_references=False))
    assert (batch.ids, batch.candidates, [*batch.numbers]) == ((1, 1, 2), ("a cat", "cats", "a dog"), [1, 1, 2])


def test_json_list_is_read_in_pieces_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = example_rows()
    for size in (1, 2, 3, 50, 333):
        monkeypatch.setattr("captious.data.formats._PIECE", size)
        assert [image for batch in read(write(tmp_path / "a.json", rows)) for image in batch.ids] == [
            r["id"] for r in rows
        ]


ROW = '{"id": 1, "candidate": "a", "references": ["b"]}'

WRONG: list[tuple[str, str | bytes, type[Exception], str]] = [
    ("a.jsonl", "", EmptyInputError, "no rows"),
    ("a.jsonl", "\n \n", EmptyInputError, "no rows"),
    ("a.json", "[]", EmptyInputError, "no rows"),
    ("a.json", "", EmptyInputError, "no rows"),
    ("a.csv", "", EmptyInputError, "no rows"),
    ("a.csv", "id,candidate,references\n", EmptyInputError, "no rows"),
    ("a.jsonl", ROW + "\n{", TruncatedFileError, "line 2"),
    ("a.jsonl", ROW + "\n{]\n" + ROW, CaptionFileError, "line 2"),
    ("a.jsonl", ROW + "\n[1]\n", InputError, "line 2"),
    ("a.jsonl", "1\n", InputError, "line 1"),
    ("a.jsonl", ROW + '\n\n{"id": 2, "candidate": "a"}\n', InputError, "line 3"),
    ("a.jsonl", ROW + '\n{"id": 2, "candidate": 3, "references": ["b"]}\n', CaptionTypeError, "line 2"),
    ("a.jsonl", ROW + '\n{"id": 2, "candidate": "a", "references": [null]}\n', CaptionTypeError, "line 2"),
    ("a.jsonl", ROW + '\n{"id": 2, "candidate": "a", "references": []}\n', MissingReferencesError, "line 2"),
    ("a.jsonl", ROW + '\n{"id": 1.5, "candidate": "a", "references": ["b"]}\n', CaptionTypeError, "line 2"),
    ("a.jsonl", ROW + '\n{"id": 2, "candidate": "\\ud800", "references": ["b"]}\n', EncodingError, "line 2"),
    ("a.jsonl", ROW + '\n{"id": "\\ud800", "candidate": "a", "references": ["b"]}\n', EncodingError, "line 2"),
    ("a.jsonl", ROW.encode() + b'\n{"id": 2, "candidate": "\xff", "references": ["b"]}\n', EncodingError, "line 2"),
    ("a.jsonl", ROW + '\n{"id": 2, "candidate": ["a", "b"], "references": ["b"]}\n', DuplicateCandidateError, "line 2"),
    ("a.jsonl", ROW + '\n{"id": 2, "candidate": "a", "references": "[\'b\']"}\n', CaptionFileError, "list that was"),
    ("a.csv", "id,candidate,references\n1,a,['b']\n2,a,['b\n", CaptionFileError, "cannot be read"),
    ("a.jsonl", ROW + "\n" + ROW, DuplicateCandidateError, "line 1, line 2"),
    ("a.jsonl", '{"candidate": "a"}', InputError, 'columns="id='),
    ("a.jsonl", ROW[:-1] + ', "refs": ["c"]}', InputError, "both references and refs could be the references"),
    ("a.jsonl", "[" * 100_000, CaptionFileError, "line 1"),
    ("a.json", '{"annotations": []}', CaptionFileError, "list of records"),
    ("a.json", f"[{ROW}", TruncatedFileError, "record 1"),
    ("a.json", f"[{ROW}, ", TruncatedFileError, "record 2"),
    ("a.json", f"[{ROW} {ROW}]", CaptionFileError, "record 1"),
    ("a.json", f"[{ROW}] x", CaptionFileError, "more"),
    ("a.json", "[1, 2]", InputError, "record 1"),
    ("a.json", b"[\xff]", EncodingError, "UTF-8"),
    ("a.csv", "id,candidate,references\n1,a\n", CaptionFileError, "line 2"),
    ("a.csv", 'id,candidate,references\n1,a,"b\n', TruncatedFileError, "line 2"),
    ("a.csv", "id,id,candidate,references\n1,1,a,b\n", InputError, "two columns"),
    ("a.csv", "id,candidate,references\n1,a,b\n2,c,\xff\n".encode("latin1"), EncodingError, "UTF-8"),
    ("a.csv", "id,text,references\n1,a,b\n", InputError, 'columns="candidate='),
    ("a.parquet", b"PAR1", CaptionFileError, "parquet"),
    ("a.jsonl.gz", b"x", CaptionFileError, "gzip"),
    ("a.jsonl.gz", gzip.compress(ROW.encode() * 100)[:-20], TruncatedFileError, "truncated"),
]


@pytest.mark.parametrize(
    ("name", "content", "error", "message"), WRONG, ids=[f"{name}: {message}" for name, _, _, message in WRONG]
)
def test_invalid_shard_is_named_with_its_line(
    tmp_path: Path, name: str, content: str | bytes, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        read_text(tmp_path / name, content)
    assert message in str(caught.value)
    assert name in str(caught.value)


def test_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("captious.data.formats.MOST_BYTES", 1000)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b" " * 100_000))
    with pytest.raises(CaptionFileError, match="1,000 bytes"):
        read(tmp_path / "a.jsonl.gz")
    (tmp_path / "a.json").write_bytes(b'["' + b"x" * 3_000_000)
    with pytest.raises(CaptionFileError, match="record 1"):
        read(tmp_path / "a.json")


@pytest.mark.parametrize("value", [3, None, {"id": 1}])
def test_what_is_no_shard_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="is not a shard"):
        as_shards(["a.jsonl", value][1:])


def test_patterns_select_shards(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "c.csv"):
        write(tmp_path / name, example_rows())
    assert [Path(s.name).name for s in as_shards(f"{tmp_path}/*.jsonl")] == ["a.jsonl", "b.jsonl"]
    both = as_shards([f"{tmp_path}/*.jsonl", tmp_path / "a.jsonl", f"{tmp_path}/c.csv"])
    assert [Path(s.name).name for s in both] == ["a.jsonl", "b.jsonl", "c.csv"]
    (tmp_path / "d.txt").touch()
    for pattern, error in (("x*", CaptionFileError), ("*", CaptionFileError), ("", CaptionFileError)):
        with pytest.raises(error):
            as_shards(f"{tmp_path}/{pattern}")
    with pytest.raises(ParameterError, match="no shards"):
        as_shards([])


def test_names_with_brackets(tmp_path: Path) -> None:
    assert as_shards(write(tmp_path / "a[1].jsonl", example_rows()))[0].name.endswith("a[1].jsonl")


def test_shards_are_read_from_an_object_store(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for number in range(2):
        path = write(tmp_path / "a.jsonl.gz", example_rows())
        memory.pipe(f"/bucket/part-{number}.jsonl.gz", path.read_bytes())
    shards = as_shards("memory://bucket/part-*.jsonl.gz")
    assert [shard.name for shard in shards] == ["memory:///bucket/part-0.jsonl.gz", "memory:///bucket/part-1.jsonl.gz"]
    assert sum(len(batch) for batch in shards[1].batches(ShardColumns())) == 24
    with pytest.raises(CaptionFileError, match="no file matches"):
        as_shards("memory://bucket/other-*")
    with pytest.raises(CaptionFileError, match="protocol"):
        as_shards("nothing://bucket/*")


def test_unreachable_object_store_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")

    def glob(*_: object) -> list[str]:
        raise RuntimeError("no route to host")  # stores raise errors of their own, which are not OSErrors

    monkeypatch.setattr(type(fsspec.filesystem("memory")), "glob", glob)
    with pytest.raises(CaptionFileError, match="the store cannot be read: no route to host"):
        as_shards("memory://bucket/*.jsonl")


def rows_of(n: int) -> list[dict[str, Any]]:
    return [{"id": i, "candidate": "a cat", "references": ["the cat"]} for i in range(n)]


def test_generated_shard_has_a_fingerprint() -> None:
    shard = GeneratedShard("made", rows_of, (5,))
    assert [batch.ids for batch in shard.batches(ShardColumns(), 2)] == [(0, 1), (2, 3), (4,)]
    assert shard.fingerprint != GeneratedShard("made", rows_of, (6,)).fingerprint
    with pytest.raises(ParameterError, match="called 'made'"):
        as_shards([shard, shard])


def test_numeric_and_text_ids_stay_apart(tmp_path: Path) -> None:
    lines = [
        json.dumps({**row, "id": str(row["id"]) if number % 2 else row["id"]})
        for number, row in enumerate(example_rows())
    ]
    ids = [image for batch in read_text(tmp_path / "a.jsonl", "\n".join(lines)) for image in batch.ids]
    assert {type(image) for image in ids} == {int, str}
