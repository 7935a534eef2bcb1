"""Written files are read back exactly, for any captions, ids and names."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import captious
from captious.cli.data import items
from captious.evaluation.report import score_table
from captious.files import csv_text, harmless
from captious.parsing.parse_files import read_parses, write_parses
from captious.parsing.parses import Parse
from captious.report import formats
from captious.report.formats import write_captions

AWKWARD = "\r\n\t\",;|'\\ \0\x0b\x0c\x1c\x1e\x85\u2028\u2029\ufeff=#a7é🐕"
texts = st.text(st.sampled_from(AWKWARD) | st.characters(exclude_categories=["Cs"]), max_size=12)
ids = st.lists(st.integers(1 - 10**18, 10**18 - 1), min_size=1, max_size=4, unique=True) | st.lists(
    texts, min_size=1, max_size=4, unique=True
)


def by_csv(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


def by_pandas(path: Path) -> list[dict[str, str]]:
    return pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")


def by_json(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().decode().split("\n")[:-1]]


def by_parquet(path: Path) -> list[dict[str, Any]]:
    return pl.read_parquet(path).to_dicts()


READERS: list[tuple[str, Callable[[Path], list[dict[str, Any]]]]] = [
    (".csv", by_csv),
    (".csv", by_pandas),
    (".jsonl", by_json),
    (".parquet", by_parquet),
]


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")  # a candidate may be one of its references
@pytest.mark.parametrize(("extension", "reader"), READERS)
@given(ids=ids, system=texts, data=st.data())
@settings(max_examples=40, deadline=None)
@example(ids=["a\rb"], system="s\r", data=None)
def test_caption_scores(
    extension: str, reader: Callable[[Path], list[dict[str, Any]]], ids: list[int | str], system: str, data: Any
) -> None:
    candidates = {i: data.draw(texts) if data else "x\ry" for i in ids}
    references = {i: ["a", "b c"] for i in ids}
    reports = [captious.score(candidates, references, ["rouge-l"], system=name) for name in (system, f"{system}2")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"scores{extension}")
        write_captions(path, reports)
        rows = reader(path)
        assert [row["system"] for row in rows] == [report.system for report in reports for _ in ids]
        assert [str(row["id"]) for row in rows] == 2 * [str(i) for i in ids]
        assert [row["candidate"] for row in rows] == 2 * [*candidates.values()]
        write_captions(path, reports[:1])
        again = captious.read_captions(path, references)
        assert dict(zip(again.ids, again.candidates, strict=True)) == candidates


@given(st.lists(st.lists(texts, min_size=3, max_size=3), min_size=1, max_size=5))
@example([["a\rb", "\r", "\n"]])
@example([["=1+1", "-1", "1-1"]])
def test_csv_rows_are_read_back_by_pandas(rows: list[list[str]]) -> None:
    text = csv_text(["a", "b", "c"], rows)
    assert text.endswith("\n")
    assert not text.startswith("a,b,c\r")
    shown = [[harmless(cell) for cell in row] for row in rows]
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == [["a", "b", "c"], *shown]
    frame = pd.read_csv(io.BytesIO(text.encode()), dtype=str, keep_default_na=False)
    assert frame.to_numpy().tolist() == shown


@given(system=texts)
@settings(max_examples=25, deadline=None)
@example(system="a\rb")
@example(system="-a")
@pytest.mark.filterwarnings("ignore:.*single letters:captious.CaptiousWarning")
def test_corpus_scores(system: str) -> None:
    report = captious.score({1: "a b"}, {1: ["a c"]}, ["rouge-l"], system=system)
    (row,) = csv.DictReader(io.StringIO(formats.csv(score_table([report])), newline=""))
    assert (row["system"], float(row["score"])) == (harmless(system), report["rouge-l"].score)
    assert json.loads(formats.json_text(score_table([report])))["systems"][0]["name"] == system


@pytest.mark.parametrize("form", ["csv", "jsonl"])
@given(rows=st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=2, max_size=4))
@settings(max_examples=25, deadline=None)
@example(rows=[("a\rb", ["c\r", "\r"]), ("", ["d"])])
def test_judged_items_are_read_back(form: str, rows: list[tuple[str, list[str]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        own, written = Path(folder, "own.jsonl"), Path(folder, f"items.{form}")
        lines = [{"candidate": text, "references": refs, "rating": rating} for rating, (text, refs) in enumerate(rows)]
        own.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        items.main([str(own), "--format", form, "-o", str(written)], standalone_mode=False)
        if form == "jsonl":
            judged = [(row["candidate"], row["references"]) for row in by_json(written)]
        else:
            judged = [
                (row["candidate"], [row[f"reference_{k}"] for k in range(1, 1 + len(refs))])
                for row, (_, refs) in zip(by_csv(written), rows, strict=True)
            ]
        assert judged == rows


@given(st.dictionaries(texts, st.lists(texts.filter(bool), min_size=1, max_size=4), min_size=1, max_size=3))
@settings(deadline=None)
def test_parses_are_read_back(captions: dict[str, list[str]]) -> None:
    parses = {}
    for caption, words in captions.items():
        n = len(words)
        edges = ((0, 1, "root"), *((1, k, "dep") for k in range(2, n + 1)), (1, 1 + n, "conj:\r"))
        parses[caption] = Parse(
            tuple(words), ("NN",) * n, tuple(words), (0, *[1] * (n - 1)), ("root", *["dep"] * (n - 1)), edges
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "parses.jsonl")
        write_parses(path, ((caption, parse, "") for caption, parse in parses.items()), made_by="a\rb")
        read = read_parses(path)
    assert read.parses == parses
    assert read.made_by == ("a\rb",)
