"""Answers of the site as documents of the record: without what differs from run to run."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow.parquet as pq

#: What differs from run to run -> what the record has instead. The dates of the challenges are in 2020 and 2120.
_RULES = [
    (re.compile(r"\b(?!2020|2120)2[01]\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z|\+00:00)?"), "<time>"),
    (re.compile(r"\b(?!2020|2120)2[01]\d\d-\d\d-\d\d\b"), "<date>"),
    (re.compile(r"\?v=[0-9a-f]{12}"), "?v=<digest>"),
    (re.compile(r"\bcap_[\w-]{6,}"), "cap_<token>"),
    (re.compile(r"\bwhsec_[\w-]+"), "whsec_<secret>"),
    (re.compile(r"/teams/join/[\w-]{20,}"), "/teams/join/<invitation>"),
    (re.compile(r"/account/email/[\w:-]{30,}"), "/account/email/<secret>"),
    (re.compile(r"'sha256-[\w+/=]+'"), "'sha256-<digest>'"),
    (re.compile(r"\bcaptious([ :=]+)\d+\.\d[\w.+]*"), r"captious\1<version>"),
    (re.compile(r"\b127\.0\.0\.1:\d+"), "127.0.0.1:<port>"),
]
_SPACE = re.compile(r"\s+")
Names: TypeAlias = Mapping[str, str]


def plain_text(text: str, names: Names | None = None) -> str:
    """A text without dates, secrets and digests.

    Args:
        names: other texts to replace, such as folders -> what stands for them.
    """
    for old, new in (names or {}).items():
        text = text.replace(old, new)
    for pattern, new in _RULES:
        text = pattern.sub(new, text)
    return text


def plain_value(value: Any, names: Names | None = None) -> Any:
    """A value as JSON has them, all texts in it plain."""
    if isinstance(value, str):
        return plain_text(value, names)
    if isinstance(value, dict):
        return {
            plain_text(key, names): "<year>" if key == "publicationYear" else plain_value(each, names)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [plain_value(each, names) for each in value]
    return value


def folder_names(**folders: Path) -> Names:
    """Folders -> their names in the record."""
    return {str(folder): f"<{name}>" for name, folder in folders.items()}


def content_of(response: Any) -> bytes:
    """The content of an answer; files that are served are closed."""
    content = b"".join(response.streaming_content) if response.streaming else response.content
    for closer in response._resource_closers:  # not response.close(), which closes the database as well
        closer()
    return bytes(content)


def json_of(response: Any) -> Any:
    """The JSON of an answer, plain."""
    return plain_value(json.loads(content_of(response)))


class _Html(HTMLParser):
    """Title, headings, forms and tables of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.title = ""
        self.headings: list[str] = []
        self.forms: list[list[str]] = []
        self.rows: list[list[str]] = []
        self._into: list[str] | None = None
        self._tag = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = {name: value or "" for name, value in attrs}
        self.handle_data(" ")
        if tag in {"h1", "h2"}:
            self._begin(tag, self.headings)
        elif tag == "title" and not self.title:
            self._begin(tag, [])
        elif tag == "tr":
            self.rows.append([])
        elif tag in {"td", "th"} and self.rows:
            self._begin(tag, self.rows[-1])
        elif tag == "form":
            self.forms.append([f"{about.get('method', 'get').upper()} {about.get('action', '')}".strip()])
        elif tag in {"input", "select", "textarea", "button"} and self.forms and about.get("name"):
            # A secret, and the value of what says more than its name.
            value = f"={about['value']}" if tag == "button" and "value" in about else ""
            if about["name"] != "csrfmiddlewaretoken":
                self.forms[-1].append(about["name"] + value)

    def _begin(self, tag: str, into: list[str]) -> None:
        into.append("")
        self._into, self._tag = into, tag

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == self._tag and self._into is not None:
            self._into[-1] = _SPACE.sub(" ", self._into[-1]).strip()
            if tag == "title":
                self.title = self._into[-1]
            self._into, self._tag = None, ""
        elif tag == "form" and self.forms:
            self.forms[-1] = [*dict.fromkeys(self.forms[-1])]


def answer_of(response: Any, *, tables: bool = False, forms: bool = True) -> dict[str, Any]:
    """What an answer is: status, type, where it leads, title, headings and forms of a page; the error of the API.

    Args:
        tables: whether the text of tables is part of it.
        forms: whether headings and forms are.
    """
    answer: dict[str, Any] = {"status": response.status_code}
    if where := response.get("Location", ""):
        answer["to"] = where
    content = content_of(response)
    kind = response.get("Content-Type", "")
    if kind and not (where and not content):
        answer["type"] = kind
    if "Content-Disposition" in response:
        answer["saved as"] = response["Content-Disposition"]
    if kind.startswith("text/html"):
        page = _Html(content.decode())
        answer["title"] = page.title
        if forms:
            answer["headings"], answer["forms"] = page.headings, page.forms
        if tables:
            answer["rows"] = [row for row in page.rows if row]
    elif kind.startswith("application/json") and response.status_code >= 400:
        answer["error"] = json.loads(content).get("error", "")
    found: dict[str, Any] = plain_value(answer)
    return found


def by_answer(answers: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Who gets the same answer -> the answer."""
    groups: list[tuple[list[str], Any]] = []
    for role, answer in answers:
        for roles, known in groups:
            if known == answer:
                roles.append(role)
                break
        else:
            groups.append(([role], answer))
    return {" ".join(roles): answer for roles, answer in groups}


_NUMBER = re.compile(r"-?\d+\.\d+(e-?\d+)?")


def table_of(text: str) -> list[list[Any]]:
    """The rows of a CSV file, plain; decimal fractions are numbers."""
    rows = csv.reader(io.StringIO(text, newline=""))
    return [[float(cell) if _NUMBER.fullmatch(cell) else plain_text(cell) for cell in row] for row in rows]


def file_of(name: str, content: bytes, names: Names | None = None) -> Any:
    """A file in the record: JSON as it is, CSV as a table, text as lines; the schema of a Parquet file, and the digest
    of everything else."""
    if name.endswith(".parquet"):
        table = pq.read_table(io.BytesIO(content))
        return {"rows": table.num_rows, "types": {field.name: str(field.type) for field in table.schema}}
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return hashlib.sha256(content).hexdigest()
    if name.endswith(".json"):
        return plain_value(json.loads(text), names)
    if name.endswith(".csv"):
        return table_of(text)
    return plain_text(text, names).splitlines()


def files_of(archive: bytes, names: Names | None = None) -> dict[str, Any]:
    """The files in a zip file, in their order; archives in it are digests."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {plain_text(name, names): file_of(name, opened.read(name), names) for name in opened.namelist()}


def short(files: dict[str, Any], *most: str) -> dict[str, Any]:
    """Files with digests in place of captions and references, which are the same everywhere.

    Args:
        most: names of folders whose files are shortened.
    """
    return {name: digest_of(content) if name.startswith(most) else content for name, content in files.items()}


def digest_of(value: Any) -> str:
    """The digest of a value as JSON has them."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
