"""Drafts of challenges: a folder that is edited on the site, its ``challenge.toml``, and the contents of its pages."""

from __future__ import annotations

import hashlib
import re
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import tomlkit
from django.utils.text import slugify
from tomlkit import TOMLDocument
from tomlkit.items import AoT, Table

from captious.drawing import shortened
from captious.errors import CaptiousError
from captious.files import whole_file
from captious.metrics.contract.registry import Request
from captious_server.challenges.definition import (
    FILE_SETTINGS,
    TABLES,
    ChallengeDefinition,
    moment,
    tables,
    with_defaults,
)
from captious_server.challenges.folder import FILE_NAME, CheckedChallenge, as_html
from captious_server.challenges.problems import at

# Contents of pages about a challenge folder, which are the same for a loaded challenge and for a draft.


def shown_values(source: CheckedChallenge) -> dict[str, Any]:
    """Fields of ``Challenge`` as plain values: all but its slug, its version and its organizers."""
    definition = source.definition
    terms = next((source.texts[text.file] for text in definition.texts if text.title == definition.terms), "")
    return {
        "title": definition.title,
        "summary": definition.summary,
        "access": definition.access,
        "definition_values": definition.model_dump(mode="json"),
        "texts": shown_texts((text.title, source.texts[text.file]) for text in definition.texts),
        "downloads": [
            {
                **row.model_dump(),
                "size": (source.folder / row.file).stat().st_size,
                "sha256": source.checksums[Path(row.file).as_posix()],
            }
            for row in definition.downloads
        ],
        "terms_version": hashlib.sha256(terms.encode()).hexdigest()[:16] if definition.terms else "",
        "counts": {
            definition.key(row): len(source.references[row.captions, row.name]) for row in definition.references
        },
    }


def shown_texts(texts: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Texts of organizers, as ``Challenge.texts`` has them.

    Args:
        texts: the titles, each with the Markdown.
    """
    return [
        {"title": title, "slug": slugify(title) or f"text-{i}", "html": as_html(markdown)}
        for i, (title, markdown) in enumerate(texts, start=1)
    ]


# challenge.toml as written by the site: keys in the order of the docs, and no comments.


_HEADER_COMMENT = "# A challenge of a captious evaluation server. server/docs/challenges.md describes every key.\n"
#: Keys that begin a group, with an empty line before them.
_GROUP_STARTS = ("organized_by", "terms", "image_url", "metrics")
_ORDER = [*ChallengeDefinition.model_fields]
_LINE_LENGTH = 100


def tidy_toml(values: Mapping[str, Any]) -> str:
    """A challenge.toml with these values, which ``tomllib`` reads from it again."""
    return f"{_HEADER_COMMENT}\n{tidy_tables(values)}"


def tidy_tables(values: Mapping[str, Any]) -> str:
    """Values in the order and form in which a challenge.toml has them."""
    tables = {name: row for name, row in values.items() if isinstance(row, Mapping)}
    lists = {name: rows for name, rows in values.items() if _is_list_of_tables(rows)}
    groups: list[list[str]] = [[]]
    current = 0
    for key in _in_order([key for key in values if key not in tables and key not in lists], _ORDER):
        group = sum(_place(key, _ORDER) >= _ORDER.index(first) for first in _GROUP_STARTS)
        if group != current and groups[-1]:
            groups.append([])
        current = group
        groups[-1].append(_line(key, values[key]))
    groups += [[f"[{_key(name)}]", *_lines(tables[name], ())] for name in _in_order(tables, _ORDER)]
    groups += [
        [f"[[{_key(name)}]]", *_lines(row, [*TABLES[name].model_fields] if name in TABLES else ())]
        for name in _in_order(lists, _ORDER)
        for row in lists[name]
    ]
    return "\n".join("\n".join([*lines, ""]) for lines in groups if lines)


def is_tidy(text: str) -> bool:
    """Return whether a challenge.toml is as ``tidy_toml`` writes it, without text of an organizer to be kept."""
    return tidy_toml(tomllib.loads(text)) == text


def _is_list_of_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _place(key: str, order: list[str]) -> int:
    return order.index(key) if key in order else len(order)


def _in_order(keys: Iterable[str], order: list[str]) -> list[str]:
    return sorted(keys, key=lambda key: _place(key, order))


def _lines(table: Mapping[str, Any], order: Iterable[str]) -> Iterator[str]:
    return (_line(key, table[key]) for key in _in_order(table, [*order]))


def _key(name: str) -> str:
    return tomlkit.key(name).as_string()


def _line(key: str, value: object) -> str:
    item: Any = tomlkit.item(value)
    if isinstance(value, str) and "\n" in value and "\r" not in value:
        item = tomlkit.string(value, multiline=True)
    elif isinstance(value, list) and len(item.as_string()) > _LINE_LENGTH:
        item = item.multiline(True)
    return f"{_key(key)} = {item.as_string()}"


# The folder of a draft: a challenge folder that is edited on the site.
#
# Only changes are written, so that comments, order and spelling of challenge.toml stay as the organizers wrote
# them. Files on the server that are not part of the folder cannot be named here, see ``outside_problems``.

#: A table of a list: its position in the file (None for a new one) and its values (None if it is removed).
Row: TypeAlias = tuple[int | None, dict[str, Any] | None]
#: The end of a line that has a table right below it.
_MISSING_BLANK_LINE = re.compile(r"(?<=[^\n])\n(?=\[\[?\w+\])")


def effective(folder: Path) -> dict[str, Any]:
    """The content of challenge.toml with all defaults, as plain values; it need not be valid."""
    data = with_defaults(_read(folder))
    values = {**_defaults(ChallengeDefinition), **data}
    for name, table in TABLES.items():
        defaults = _defaults(table)
        values[name] = [{**defaults, **row} for _, row in tables(data, name)]
    with suppress(ValueError):
        values["teams_close"] = moment(values["teams_close"])
    for row in values["phases"]:
        row.setdefault("title", row.get("name", ""))
        with suppress(ValueError):  # the check reports the problem
            row |= {name: moment(row[name]) for name in ("opens", "closes")}
    return values


def state_of(folder: Path) -> str:
    """A checksum of challenge.toml and the texts, with which a form detects concurrent edits."""
    digest = hashlib.sha256((folder / FILE_NAME).read_bytes())
    for row in effective(folder)["texts"]:
        digest.update(text_of(folder, row).encode())
    return digest.hexdigest()


def text_of(folder: Path, row: Mapping[str, Any]) -> str:
    """The Markdown of a text; empty if its file is missing, not text, or outside the folder."""
    try:
        path = (folder / str(row.get("file", ""))).resolve()
        return path.read_bytes().decode() if path.is_relative_to(folder.resolve()) else ""
    except (OSError, ValueError):
        return ""


def write_values(folder: Path, values: Mapping[str, Any], lists: Mapping[str, Sequence[Row]]) -> None:
    """Update changed values in challenge.toml; the ``markdown`` of texts is written to their files.

    Args:
        values: top-level keys.
        lists: rows of each list.

    Raises:
        OutputError: it cannot be written.
    """
    text, values_before = (folder / FILE_NAME).read_text(encoding="utf-8"), effective(folder)
    document = tomlkit.parse(text)
    if sum(row is not None for _, row in lists.get("captions", ())) > 1:  # then no name has a default
        for name, key in (("captions", "name"), ("references", "captions")):
            tables_by_place = dict(tables(_read(folder), name))
            for place, row in enumerate(values_before[name]):
                row.pop("" if key in tables_by_place.get(place, {}) else key, None)
    _update(document, values, values_before)
    for name, rows in lists.items():
        rows = [*rows] if name != "texts" else [*_write_texts(folder, values_before["texts"], rows)]
        _update_list(document, name, rows, values_before[name])
    with whole_file(folder / FILE_NAME) as file:
        file.write(as_before(text, document))


def make_tidy(folder: Path) -> None:
    """Write challenge.toml in tidy form, without the comments of the starter for editing it as a file."""
    text = tidy_toml(_read(folder))
    with whole_file(folder / FILE_NAME) as file:
        file.write(text)


def as_before(text: str, document: TOMLDocument) -> str:
    """A changed document as text: tidy if it was, and otherwise with the comments and spelling of its author.

    Args:
        text: the previous text.
    """
    new_text = tomlkit.dumps(document)
    values = tomllib.loads(new_text)
    if is_tidy(text):
        return tidy_toml(values)
    spaced_text = new_text if _MISSING_BLANK_LINE.search(text) else _MISSING_BLANK_LINE.sub("\n\n", new_text)
    return spaced_text if tomllib.loads(spaced_text) == values else new_text  # a text may have such a line


def reference_file(name: str, captions: str, filename: str) -> str:
    """The path of the file of a reference set, which keeps the extensions that determine how it is read."""
    endings = re.search(r"((\.[A-Za-z0-9]{1,8}){1,2})$", Path(filename).name)
    stem = slugify(f"{captions}-{name}" if captions else name)[:80] or "references"
    return f"references/{stem}{endings[1].lower() if endings else ''}"


def put_file(folder: Path, kind: str, name: str, filename: str, upload: Path) -> None:
    """Put an upload into the folder, as the logo, or as the file of a download or a baseline, there or new.

    Args:
        kind: "logo", "downloads" or "baselines".
        name: title of the download, or method of the baseline.
        filename: name of the upload. No other file of the folder is replaced.
    """
    values = effective(folder)
    key = {"downloads": "title", "baselines": "method"}.get(kind, "")
    rows = values[kind] if key else [{"file": values["logo"]}]
    place = next((i for i, row in enumerate(rows) if not key or row.get(key) == name), None)
    old_file = "" if place is None else str(rows[place].get("file", ""))
    files = [str(row.get("file")) for table in TABLES for row in values[table]] + [str(values["logo"])]
    file = f"{kind}/{_safe_name(filename)}"
    if file != old_file or files.count(old_file) > 1:
        stem, dot, ending = file.partition(".")
        names = (f"{stem}{f'-{n}' if n else ''}{dot}{ending}" for n in range(10_000))
        file = next(candidate for candidate in names if not (folder / candidate).exists())
    (folder / file).parent.mkdir(exist_ok=True)
    shutil.move(upload, folder / file)
    if not key:
        write_values(folder, {"logo": file}, {})
    else:
        write_values(folder, {}, {kind: [(place, {key: name, "file": file})]})


def _safe_name(filename: str) -> str:
    """The name of an upload with only such characters as addresses can have."""
    stem, dot, ending = Path(filename).name.partition(".")
    ending = re.sub(r"[^A-Za-z0-9.]", "", ending)[:20].strip(".").lower()
    return f"{slugify(stem)[:60] or 'file'}{dot if ending else ''}{ending}"


def outside_problems(folder: Path, definition: Mapping[str, Any]) -> list[str]:
    """Metrics and settings that would read files of the server outside the folder, a sentence each.

    Args:
        published: the definition loaded by somebody with access to the server; its files may stay.
    """
    data = _read(folder)
    metrics, settings = data.get("metrics"), data.get("settings")
    texts = [text for text in metrics if isinstance(text, str)] if isinstance(metrics, list) else []
    rows = settings.items() if isinstance(settings, dict) else ()
    files = {name: value for name, value in rows if name in FILE_SETTINGS and isinstance(value, str)}
    published_texts = {*definition.get("metrics", []), *definition.get("settings", {}).values()}
    return [
        f"{place}: {shortened(value)} is a server file or a model; only the operator of the server can use it"
        for place, name, value, text in _named_values(texts, files)
        if text not in published_texts and (name == "model" or _is_outside(folder, value))
    ]


def published_problems(folder: Path, before: Path, definition: ChallengeDefinition) -> list[str]:
    """References that are private and would become public, a sentence each: organizers may not know them.

    Args:
        before: the folder of the challenge as it is.
    """
    public = {captions.name for captions in definition.captions if captions.public}
    files = [before / row.file for row in definition.references if row.captions not in public]
    private = {_digest(file) for file in files if file.is_file()}
    values = effective(folder)
    public_names = {row.get("name") for row in values["captions"] if row.get("public")}
    settings = {name: str(value) for name, value in values["settings"].items()}
    problems = [
        f"{place}: {shortened(value)}: these references are private; metrics may not have them as a file"
        for place, name, value, text in _named_values(map(str, values["metrics"]), settings)
        if text not in (*definition.metrics, definition.settings.get(name))
        if (folder / value).is_file() and _digest(folder / value) in private
    ]
    return problems + [
        f"{at(('references', place))}: these references are private; only the operator of the server can publish them"
        for place, row in enumerate(values["references"])
        if row.get("captions") in public_names and (folder / str(row.get("file", ""))).is_file()
        if _digest(folder / row["file"]) in private
    ]


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _named_values(metrics: Iterable[str], settings: Mapping[str, str]) -> Iterator[tuple[str, str, str, str]]:
    """The values of parameters of metrics and of settings: place, name, value, and the text that has the value."""
    for i, text in enumerate(metrics):
        for name, value in _parameters(text):
            yield at(("metrics", i)), name, value, text
    for name, value in settings.items():
        yield at(("settings", name)), name, value, value


def _parameters(text: str) -> list[tuple[str, str]]:
    """The parameters of a request, without prefixes of formats such as ``spacy:``."""
    try:
        parameters = Request.from_text(text).parameters
        return [(name, value.removeprefix("spacy:")) for name, value in parameters.items()]
    except CaptiousError:
        return []  # the check reports the problem


def _is_outside(folder: Path, value: str) -> bool:
    value = value.removeprefix("spacy:")
    if value.startswith(("/", "~", ".")) or "\\" in value or "\0" in value or ".." in Path(value).parts:
        return True
    return not (folder / value).exists() and Path(value).exists()


def _read(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / FILE_NAME).read_text(encoding="utf-8"))


def _defaults(table: Any) -> dict[str, Any]:
    fields = {name: field.get_default(call_default_factory=True) for name, field in table.model_fields.items()}
    return {name: value for name, value in fields.items() if not table.model_fields[name].is_required()}


def _update(table: Any, values: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    for key, value in values.items():
        old = before.get(key)
        if value == (list(old) if isinstance(old, tuple) else old):
            continue
        if value is None:
            table.pop(key, None)
        elif key in table or not isinstance(table, Table):
            table[key] = value
        else:
            _add(table, key, value)


def _add(table: Table, key: str, value: Any) -> None:
    """Add a key after the others of a table, before the comments and empty lines of the next one."""
    body, tail = table.value.body, []
    while body and body[-1][0] is None:
        tail.append(body.pop())
    table.append(key, value)
    body.extend(reversed(tail))


def _update_list(document: Any, name: str, rows: Sequence[Row], before: Sequence[Mapping[str, Any]]) -> None:
    removals = sorted((place for place, row in rows if row is None and place is not None), reverse=True)
    for place, row in rows:
        if row is None:
            continue
        old = before[place] if place is not None else _defaults(TABLES[name])
        if place is not None and all(value == _plain(old.get(key)) for key, value in row.items()):
            continue
        if name not in document:
            document.append(name, tomlkit.aot())
        tables_here = document[name]
        while place is None or len(tables_here) <= place:  # the only captions file may be left out
            tables_here.append(tomlkit.table() if isinstance(tables_here, AoT) else tomlkit.inline_table())
            place = len(tables_here) - 1 if place is None else place
        _update(tables_here[place], row, old)
    for place in removals:
        if name in document and place < len(document[name]):
            del document[name][place]
    if name in document and not document[name]:
        del document[name]


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _write_texts(folder: Path, before: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> Iterator[Row]:
    """Write the Markdown of texts to their files, and yield their rows without it."""
    for place, row in rows:
        if row is None:
            yield place, None
            continue
        row = {**row}
        markdown = row.pop("markdown").replace("\r\n", "\n")
        if place is None:
            row["file"] = _free_name(folder, row["title"])
        old = row if place is None else before[place]
        if place is None or text_of(folder, old).replace("\r\n", "\n") != markdown:
            path = (folder / str(old["file"])).resolve()
            if not path.is_relative_to(folder.resolve()):  # the check says so
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                file.write(markdown)
        yield place, row


def _free_name(folder: Path, title: str) -> str:
    stem = slugify(title)[:60] or "text"
    names = (f"{stem}{f'-{n}' if n else ''}.md" for n in range(10_000))
    return next(name for name in names if not (folder / name).exists())
