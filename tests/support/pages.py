"""Pages of results, read as a browser would: the manifest, and columns by what the manifest says about them."""

from __future__ import annotations

import base64
import json
import re
import zlib
from html.parser import HTMLParser
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Elements", "Page", "parsed"]

_TYPES = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "i4": np.int32, "f8": np.float64}


class Page(HTMLParser):
    """A page.

    Args:
        html: its content.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.html = html
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._in = ""
        self.feed(html)
        self.manifest = json.loads(next(code for about, code in self.scripts if about.get("id") == "manifest"))
        self._columns = [code for about, code in self.scripts if about.get("class") == "column"]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        elif tag == "style":
            self.styles.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in == "script":
            about, before = self.scripts[-1]
            self.scripts[-1] = (about, before + data)
        elif self._in == "style":
            self.styles[-1] += data
        else:
            self.text += data

    @property
    def policy(self) -> dict[str, list[str]]:
        """The content security policy: rule -> sources."""
        [policy] = [
            about["content"] or ""
            for tag, about in self.tags
            if tag == "meta" and about.get("http-equiv") == "Content-Security-Policy"
        ]
        return {name: sources for name, *sources in (rule.split() for rule in policy.split(";"))}

    def integers(self, about: dict[str, Any]) -> NDArray[Any]:
        raw = zlib.decompress(base64.b64decode(self._columns[about["column"]]))
        kind = np.dtype(_TYPES[about["type"]]).newbyteorder("<")
        if about.get("planes"):
            raw = np.frombuffer(raw, np.uint8).reshape(kind.itemsize, -1).T.tobytes()
        return np.frombuffer(raw, kind)

    def numbers(self, about: dict[str, Any]) -> NDArray[np.float64]:
        values = self.integers(about)
        if about["type"] == "f8":
            return values
        return np.where(values == -(2**31), np.nan, values / 10 ** about["digits"])

    def strings(self, about: dict[str, Any]) -> list[str]:
        text = self.integers(about["text"]).tobytes().decode("utf-8").encode("utf-16-le", "surrogatepass")
        ends = 2 * np.cumsum(self.integers(about["lengths"]).astype(np.int64))
        starts = np.concatenate([[0], ends])
        return [text[a:b].decode("utf-16-le") for a, b in zip(starts, ends, strict=False)]

    def lists(self, about: dict[str, Any]) -> list[list[int]]:
        ends = np.cumsum(self.integers(about["counts"]).astype(np.int64))
        return [part.tolist() for part in np.split(self.integers(about["values"]), ends)[: len(ends)]]

    def data(self, about: Any = None) -> Any:
        """Return the manifest with what is in its columns."""
        about = self.manifest if about is None else about
        if isinstance(about, list):
            return [None if value is None else self.data(value) for value in about]
        if not isinstance(about, dict):
            return about
        if "column" in about:
            is_number = about["type"] == "f8" or "digits" in about
            return (self.numbers(about) if is_number else self.integers(about)).tolist()
        if about.keys() == {"text", "lengths"}:
            return self.strings(about)
        return {name: None if value is None else self.data(value) for name, value in about.items()}

    def captions(self, which: int) -> list[str]:
        about = self.manifest["captions"]
        words = self.strings(about["words"])
        return [" ".join(words[i] for i in ids) for ids in self.lists(about["lists"][which])]

    def tokens(self, table: int, which: int) -> list[list[str]]:
        about = self.manifest["explanations"]["tables"][table]
        names, of_words = self.strings(about["tokens"]), self.lists(about["of_words"])
        found = [
            [names[token] for word in ids for token in of_words[word]]
            for ids in self.lists(self.manifest["captions"]["lists"][which])
        ]
        other = next(each for each in about["others"] if each["list"] == which)
        for row, ids in zip(self.integers(other["rows"]).tolist(), self.lists(other), strict=True):
            found[row] = [names[token] for token in ids]
        return found

    def explanation(self, label: str) -> dict[str, Any]:
        return next(each for each in self.manifest["explanations"]["metrics"] if each["label"] == label)

    def addresses(self) -> list[str]:
        """Return the addresses in the page's elements."""
        names = ("src", "href", "action", "data", "srcset", "poster")
        return [about[name] or "" for _, about in self.tags for name in names if name in about]


class Elements(HTMLParser):
    """Names of the elements of a piece of HTML, its texts and those of its cells; elements must nest."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag != "br":
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if {"td", "th"} & {*self.open}:
            self.cells[-1] += data


def parsed(html: str | None) -> Elements:
    assert html is not None
    elements = Elements()
    elements.feed(html)
    assert elements.open == []
    return elements


def imports_of(style: str) -> list[str]:
    """Return the imports of a style sheet."""
    return re.findall(r"@import|url\(", style)
