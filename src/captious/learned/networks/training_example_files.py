"""Files of training examples and of judged captions, one JSON object per line; and lists of image ids."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId, References
from captious.errors import CaptionFileError, EmptyInputError
from captious.files.atomic_write import whole_file
from captious.files.decompression import decoded, user_bytes, user_text
from captious.learned.networks.training_examples import Example, Examples

T = TypeVar("T")

_PARTS = ("train", "validation")
_EXAMPLES = "give a file that 'captious learn data' wrote"
_JUDGED = 'write {"candidate": "...", "references": ["..."], "rating": 3} on every line'
_LARGEST_RATING = 1e9


@dataclass(frozen=True)
class ExampleFile:
    """An input file, for provenance.

    Args:
        name: file name without folder.
        checksum: SHA-256 of its uncompressed content.
        rows: number of objects.
    """

    name: str
    checksum: str
    rows: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for files of weights."""
        return {"file": self.name, "sha256": self.checksum, "rows": self.rows}


@dataclass(frozen=True)
class Judged:
    """Captions with human ratings.

    Args:
        captions: the captions; ids are line numbers.
        ratings: float64[n].
    """

    captions: Captions
    ratings: NDArray[np.float64]


def write_examples(path: str | os.PathLike[str], examples: Examples) -> None:
    """Write examples, one JSON object per line.

    Raises:
        OutputError: the file cannot be written.
    """
    with whole_file(path) as file:
        for row in examples.rows:
            fields = {"image": row.image, "candidate": row.candidate, "references": row.references}
            file.write(json.dumps({**fields, "system": row.system, "part": row.part}, ensure_ascii=False) + "\n")


def read_examples(path: str | os.PathLike[str]) -> tuple[Examples, ExampleFile]:
    """Read a file written by ``write_examples``, which may be compressed with gzip.

    Raises:
        CaptionFileError: the file cannot be read, or a line is not an example.
        EmptyInputError: no examples.
    """
    rows, source = _rows(path, _example, _EXAMPLES)
    return Examples(tuple(rows)), source


def read_judged(path: str | os.PathLike[str]) -> tuple[Judged, ExampleFile]:
    """Read captions with ratings: ``{"candidate": ..., "references": [...], "rating": 3}`` on every line.

    The references may also be called ``refs``. The file may be compressed with gzip.

    Raises:
        CaptionFileError: the file cannot be read, or a line is not of that form.
        EmptyInputError: no lines.
    """
    rows, source = _rows(path, _judged, _JUDGED)
    offsets = np.cumsum([0, *(len(references) for _, references, _ in rows)])
    texts = tuple(text for _, references, _ in rows for text in references)
    table = References(tuple(range(len(rows))), texts, offsets, name=source.name)
    captions = Captions(tuple(candidate for candidate, _, _ in rows), table)
    return Judged(captions, np.array([rating for *_, rating in rows])), source


def read_ids(path: str | os.PathLike[str]) -> list[ImageId]:
    """Read image ids: a JSON list, or one per line. The file may be compressed with gzip.

    Raises:
        CaptionFileError: the file cannot be read, or has other content.
    """
    help = "give a JSON list of image ids, or a text file with one on each line"
    text = user_text(path, "image ids", help, CaptionFileError)
    if not text.lstrip().startswith("["):
        return [line.strip() for line in text.split("\n") if line.strip()]
    try:
        ids = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CaptionFileError(f"this is not a list of image ids: {error}", where=str(path)) from error
    if not all(isinstance(image, int | str) and not isinstance(image, bool) for image in ids):
        raise CaptionFileError("this is not a list of image ids", where=str(path), help="give numbers or strings")
    return list(ids)


def _example(row: dict[str, Any]) -> Example | None:
    image, system, part = row.get("image"), row.get("system"), row.get("part")
    texts = _texts(row)
    sound = isinstance(image, int | str) and isinstance(system, str) and part in _PARTS
    if texts is None or not sound:
        return None
    assert image is not None
    return Example(image, *texts, str(system), str(part))


def _judged(row: dict[str, Any]) -> tuple[str, tuple[str, ...], float] | None:
    texts, rating = _texts(row), row.get("rating")
    if texts is None or not isinstance(rating, int | float) or isinstance(rating, bool):
        return None
    return (*texts, float(rating)) if abs(rating) <= _LARGEST_RATING else None  # NaN is not, either


def _texts(row: dict[str, Any]) -> tuple[str, tuple[str, ...]] | None:
    """Return candidate and references, if they are captions."""
    candidate, references = row.get("candidate"), row.get("references", row.get("refs"))
    if not isinstance(candidate, str) or not isinstance(references, list) or not references:
        return None
    texts = (candidate, *references)
    if not all(map(_is_text, texts)):
        return None
    return candidate, tuple(references)


def _is_text(value: object) -> bool:
    """Return whether this is a string without lone surrogates."""
    try:
        return isinstance(value, str) and bool(value.encode() or True)
    except UnicodeEncodeError:
        return False


def _rows(
    path: str | os.PathLike[str], read: Callable[[dict[str, Any]], T | None], help: str
) -> tuple[list[T], ExampleFile]:
    content = user_bytes(path, "the file", help, CaptionFileError)
    rows: list[T] = []
    text = decoded(content, path, "the file", help, CaptionFileError)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CaptionFileError(f"not JSON: {error}", where=f"{path}, line {number}", help=help) from error
        row = read(record) if isinstance(record, dict) else None
        if row is None:
            raise CaptionFileError("this line has another form", where=f"{path}, line {number}", help=help)
        rows.append(row)
    if not rows:
        raise EmptyInputError("the file is empty", where=str(path), help=help)
    return rows, ExampleFile(Path(path).name, hashlib.sha256(content).hexdigest(), len(rows))
