"""Drafts of challenges: a folder that is edited on the site, its ``challenge.toml``, and the contents of its pages."""

from __future__ import annotations

import hashlib
import re
import shutil
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

import tomlkit
from django.utils.text import slugify

from captious.drawing import shortened
from captious.files import whole_file
from captious_server.challenges.definition import (
    FILE_SETTINGS,
    TABLES,
    ChallengeDefinition,
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
        "texts": [
            {"title": text.title, "slug": slugify(text.title) or f"text-{i}", "html": as_html(source.texts[text.file])}
            for i, text in enumerate(definition.texts, start=1)
        ],
        "downloads": [
            {
                **row.model_dump(),
                "size": (source.folder / row.file).stat().st_size,
                "sha256": source.checksums[Path(row.file).as_posix()],
            }
            for row in definition.downloads
        ],
        "terms_version": hashlib.sha256(terms.encode()).hexdigest()[:16] if definition.terms else "",
        "warnings": [*source.warnings],
        "counts": {
            definition.key(row): len(source.references[row.captions, row.name]) for row in definition.references
        },
    }


# The folder of a draft: a challenge folder whose challenge.toml and texts are edited on the site.
#
# Files on the server that are not part of the folder cannot be named here, see ``outside_problems``.

_TABLE_LINE = re.compile(r"\s*\[\[?\s*([\w-]+)\s*\]\]?\s*(?:#.*)?$")
_PLACE = re.compile(r"([a-z_]+)(?:\[(\d+)\])?(?:\.([a-z_-]+))?")


def values_of(folder: Path) -> dict[str, Any]:
    """The content of challenge.toml with the defaults that depend on other keys; it need not be valid."""
    return with_defaults(tomllib.loads((folder / FILE_NAME).read_text(encoding="utf-8")))


def state_of(folder: Path) -> str:
    """A checksum of challenge.toml and the texts, with which a form detects concurrent edits."""
    digest = hashlib.sha256((folder / FILE_NAME).read_bytes())
    for _, row in tables(values_of(folder), "texts"):
        digest.update(text_of(folder, row).encode())
    return digest.hexdigest()


def text_of(folder: Path, row: Mapping[str, Any]) -> str:
    """The Markdown of a text; empty if its file is missing, not text, or outside the folder."""
    try:
        path = (folder / str(row.get("file", ""))).resolve()
        return path.read_bytes().decode() if path.is_relative_to(folder.resolve()) else ""
    except (OSError, ValueError):
        return ""


def write_draft(folder: Path, text: str, texts: Mapping[str, str]) -> None:
    """Write challenge.toml, and the Markdown of the texts that it names.

    Args:
        texts: file -> Markdown; other files stay.

    Raises:
        TOMLDecodeError: the text is not TOML. Nothing is written.
        OutputError: a file cannot be written.
    """
    values = tomllib.loads(text)
    with whole_file(folder / FILE_NAME) as file:
        file.write(text)
    for _, row in tables(values, "texts"):
        markdown = texts.get(str(row.get("file")))
        if markdown is None or markdown == text_of(folder, row).replace("\r\n", "\n"):
            continue
        path = (folder / str(row["file"])).resolve()
        if path.is_relative_to(folder.resolve()) and path.suffix == ".md":  # the check says so
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                file.write(markdown)


def set_values(folder: Path, values: Mapping[str, Any]) -> None:
    """Set keys of challenge.toml that a starter has, and keep its comments."""
    document = tomlkit.parse((folder / FILE_NAME).read_text(encoding="utf-8"))
    document.update(values)
    with whole_file(folder / FILE_NAME) as file:
        file.write(tomlkit.dumps(document))


def line_of(text: str, problem: str) -> int:
    """The line of challenge.toml that a problem such as "phases[1].closes: ..." is about; 0 if there is none."""
    match = _PLACE.match(problem)
    if match is None:
        return 0
    key, number, field = match.groups()
    table, counts, found = "", Counter[str](), 0
    for n, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE_LINE.match(line):
            table = header[1]
            counts[table] += 1
            found = n if table == key and counts[key] == int(number or 1) else found
        elif not table and re.match(rf"\s*{key}\s*[=.]", line):
            found = n
        elif table == key and counts[key] == int(number or 1) and field and re.match(rf"\s*{field}\s*=", line):
            return n
    return found


def put_file(folder: Path, kind: str, filename: str, upload: Path) -> str:
    """Move an upload into the folder, in place of a file of the same name; return its path in the folder.

    Args:
        kind: "references", "downloads", "baselines" or "logo", the folder that it is put into.
        filename: name of the upload.
    """
    file = f"{kind}/{_safe_name(filename)}"
    (folder / file).parent.mkdir(exist_ok=True)
    shutil.move(upload, folder / file)
    return file


def _safe_name(filename: str) -> str:
    """The name of an upload with only such characters as addresses can have."""
    stem, dot, ending = Path(filename).name.partition(".")
    ending = re.sub(r"[^A-Za-z0-9.]", "", ending)[:20].strip(".").lower()
    return f"{slugify(stem)[:60] or 'file'}{dot if ending else ''}{ending}"


def outside_problems(folder: Path, definition: Mapping[str, Any]) -> list[str]:
    """Metrics and settings that would read files of the server outside the folder, a sentence each.

    Args:
        definition: that of the challenge, loaded by somebody with access to the server; its files may stay.
    """
    published_texts = {*definition.get("metrics", []), *definition.get("settings", {}).values()}
    return [
        f"{place}: {shortened(value)} is a server file or a model; only the operator of the server can use it"
        for place, name, value, text in _named_values(values_of(folder))
        if text not in published_texts and (name == "model" or _is_outside(folder, value))
    ]


def published_problems(folder: Path, before: Path, definition: ChallengeDefinition) -> list[str]:
    """References that are private and would become public, a sentence each: organizers may not know them.

    Args:
        before: the folder of the challenge as it is.
    """
    private, values = private_references(before, definition), values_of(folder)
    public_names = {row.get("name") for _, row in tables(values, "captions") if row.get("public")}
    problems = [
        f"{place}: {shortened(value)}: these references are private; metrics may not have them as a file"
        for place, name, value, text in _named_values(values)
        if text not in (*definition.metrics, definition.settings.get(name))
        if (folder / value).is_file() and _digest(folder / value) in private
    ]
    return problems + [
        f"{at(('references', place))}: these references are private; only the operator of the server can publish them"
        for place, row in tables(values, "references")
        if row.get("captions") in public_names and (folder / str(row.get("file", ""))).is_file()
        if _digest(folder / row["file"]) in private
    ]


def reused_problems(folder: Path, text: str, private: Set[str]) -> list[str]:
    """Other uses of files of private references, which would show them, a sentence each.

    Args:
        text: a challenge.toml.
        private: checksums of private references, as from ``private_references``.
    """
    values = tomllib.loads(text)
    places = [((name, place, "file"), row.get("file")) for name in TABLES for place, row in tables(values, name)]
    return [
        f"{at(place)}: these references are private"
        for place, file in [*places, (("logo",), values.get("logo"))]
        if place[0] != "references" and isinstance(file, str) and "\0" not in file
        if (folder / file).is_file() and _digest(folder / file) in private
    ]


def private_references(folder: Path, definition: ChallengeDefinition) -> set[str]:
    """The checksums of the files of private references in the folder of a challenge."""
    public = {captions.name for captions in definition.captions if captions.public}
    files = [folder / row.file for row in definition.references if row.captions not in public]
    return {_digest(file) for file in files if file.is_file()}


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _named_values(values: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """The values of parameters of metrics and of settings: place, name, value, and the text that has the value."""
    metrics, settings = values.get("metrics"), values.get("settings")
    for i, text in enumerate(metrics if isinstance(metrics, list) else ()):
        for name, value in _parameters(text) if isinstance(text, str) else ():
            yield at(("metrics", i)), name, value, text
    for name, value in settings.items() if isinstance(settings, dict) else ():
        if name in FILE_SETTINGS and isinstance(value, str):
            yield at(("settings", name)), name, value, value


def _parameters(text: str) -> list[tuple[str, str]]:
    """The parameters of a request, without prefixes of formats such as ``spacy:``."""
    pieces = (piece.partition("=") for piece in text.partition(":")[2].split(","))
    return [(name.strip().lower(), value.strip().removeprefix("spacy:")) for name, equals, value in pieces if equals]


def _is_outside(folder: Path, value: str) -> bool:
    value = value.removeprefix("spacy:")
    if value.startswith(("/", "~", ".")) or "\\" in value or "\0" in value or ".." in Path(value).parts:
        return True
    return not (folder / value).exists() and Path(value).exists()
