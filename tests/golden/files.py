"""What is in files that captious writes, as documents for the record."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zipfile
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious

__all__ = ["array", "arrays", "checksum", "contents", "page"]

#: Longer texts are recorded by their checksum, first lines and number of lines.
LONGEST = 12_000
_VERSION = re.compile(rf"(?<![\d.]){re.escape(captious.__version__)}(?![\d.])")


def contents(path: Path) -> Any:
    """Return what is in a file, by its extension: a document, the text, or what its arrays hold."""
    read = _READERS.get(path.suffix)
    return binary(path.read_bytes()) if read is None else read(path)


def checksum(data: bytes | str) -> str:
    """Return the start of a checksum; versions of captious in texts do not count."""
    if isinstance(data, str):
        data = _VERSION.sub("VERSION", data).encode()
    return hashlib.sha256(data).hexdigest()[:16]


def text(content: str) -> Any:
    """Return the lines of a text, or the first of them if it is long."""
    lines = content.splitlines()
    if len(content) <= LONGEST:
        return lines
    return {"lines": len(lines), "checksum": checksum(content), "first": lines[:3]}


def binary(data: bytes) -> dict[str, Any]:
    """Return the size and checksum of a file that cannot be read otherwise."""
    return {"bytes": len(data), "checksum": checksum(data)}


def array(values: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return type and shape of an array with a checksum; floats are summed, in two ways, as their last bits vary."""
    about: dict[str, Any] = {"type": values.dtype.str, "shape": list(values.shape)}
    if values.dtype.kind == "f":
        wide = values.astype(np.float64).ravel()
        weights = np.cos(np.arange(wide.size))
        return about | {"sum": float(wide.sum()), "weighted": float(wide @ weights)}
    if values.dtype.kind == "u" and values.dtype.itemsize == 1:  # bytes: text, often with a version
        return about | {"checksum": checksum(values.tobytes())}
    return about | {"checksum": checksum(np.ascontiguousarray(values).tobytes())}


def arrays(values: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, Any]:
    """Return the same for arrays with names."""
    return {name: array(values[name]) for name in values}


def _json(path: Path) -> Any:
    content = path.read_text(encoding="utf-8")
    return json.loads(content) if len(content) <= LONGEST else text(content)


def _npz(path: Path) -> Any:
    with np.load(path) as loaded:
        found = {name: loaded[name] for name in loaded}
    texts = {name: found.pop(name) for name in ("header", "about") if name in found}
    return {name: bytes(value).decode() for name, value in texts.items()} | arrays(found)


def _prepared(path: Path) -> Any:
    """Read a file of arrays: a magic word, the length of the header, the header and the arrays."""
    data = path.read_bytes()
    start = data.index(b"{")
    header, _ = json.JSONDecoder().raw_decode(data[start:].decode("utf-8", errors="replace"))
    return {"magic": data[:8].decode("latin-1"), "header": header, "bytes": len(data) // 1000}


def _safetensors(path: Path) -> Any:
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        return {
            "about": dict(sorted((file.metadata() or {}).items())),
            "arrays": {name: array(file.get_tensor(name)) for name in sorted(file.keys())},
        }


def _parquet(path: Path) -> Any:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(path)
    about = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    about = {key: value for key, value in sorted(about.items()) if key not in ("pandas", "ARROW:schema")}
    return {"about": about, "columns": table.to_pydict()}


def _xlsx(path: Path) -> Any:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(path)
    return {sheet.title: [[_cell(cell) for cell in row] for row in sheet.iter_rows()] for sheet in book.worksheets}


def _cell(cell: Any) -> Any:
    if cell.value is None:
        return None
    return [cell.value, cell.number_format, "bold" if cell.font.b else "plain"]


class _Page(HTMLParser):
    """The visible lines of a page, its elements, and its styles and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.elements: dict[str, int] = {}
        self.classes: set[str] = set()
        self.code: list[str] = []
        self._within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] = self.elements.get(tag, 0) + 1
        for name, value in attrs:
            if name == "class":
                self.classes.update((value or "").split())
        if tag in ("style", "script"):
            self._within = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._within:
            self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within:
            self.code.append(data)
        elif data.strip():
            self.lines.append(" ".join(data.split()))


def page(content: str) -> Any:
    """Return what an HTML page shows, the numbers of its elements, and checksums."""
    parser = _Page()
    parser.feed(content)
    parser.close()
    shown = parser.lines
    if sum(map(len, shown)) > LONGEST:
        shown = [*shown[:40], f"... {len(shown)} in all, {checksum(' '.join(shown))}"]
    return {
        "text": shown,
        "elements": dict(sorted(parser.elements.items())),
        "classes": sorted(parser.classes),
        "code": checksum("".join(parser.code)),
        "page": checksum(content),
    }


def _gzip(path: Path) -> Any:
    return text(gzip.decompress(path.read_bytes()).decode("utf-8"))


def _zip(path: Path) -> Any:
    with zipfile.ZipFile(path) as file:
        return {name: binary(file.read(name)) for name in sorted(file.namelist())}


def _text(path: Path) -> Any:
    return text(path.read_text(encoding="utf-8"))


_READERS = {
    ".json": _json,
    ".npz": _npz,
    ".idf": _npz,
    ".prepared": _prepared,
    ".safetensors": _safetensors,
    ".parquet": _parquet,
    ".xlsx": _xlsx,
    ".html": lambda path: page(path.read_text(encoding="utf-8")),
    ".gz": _gzip,
    ".zip": _zip,
    ".svg": lambda path: re.findall(r"<!-- (.*?) -->", path.read_text(encoding="utf-8")),
    ".png": lambda path: path.read_bytes()[:4].decode("latin-1"),
    **dict.fromkeys((".jsonl", ".csv", ".tsv", ".md", ".tex", ".txt", ".toml", ".log", ".py", ".sh", ""), _text),
}
