"""JSON files of captions: COCO annotations, COCO results, objects from image to captions, and JSON lines."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from typing import Any

from captious.data.file_contents import line_and_column
from captious.data.rows import CaptionRows, Source, some
from captious.data.shapes import is_coco, rows_of_coco, rows_of_mapping, rows_of_records
from captious.errors import CaptionFileError, DuplicateCandidateError, TruncatedFileError

__all__ = ["read_json", "read_json_lines"]

# By the parser's complaint, what is left of a token when the document ends inside it: literal, number, escape.
_CUT_TOKENS = {
    "Expecting value": r"t|tr|tru|f|fa|fal|fals|n|nu|nul|N|Na|-|-?I|-?In|-?Inf|-?Infi|-?Infin|-?Infini|-?Infinit",
    "Expecting ',' delimiter": r"\.|[eE][+-]?",
    "Invalid \\uXXXX escape": r"u[0-9a-fA-F]{0,4}",
}


def read_json(text: str, source: Source) -> CaptionRows:
    """Rows of a JSON document of one of the three accepted shapes.

    Raises:
        TruncatedFileError: the document is truncated.
        CaptionFileError: not JSON, or of another shape.
        DuplicateCandidateError: an image that appears twice as a key; CaptionFileError among references.
        and what ``caption_rows`` raises.
    """
    if text.count("{") == 1 and text.lstrip().startswith("{"):
        return _read_only_object(text, source)
    document = _parse(text, source, first_line=1)
    if isinstance(document, list):
        return rows_of_records(source, document, unit="record", numbers=range(1, len(document) + 1))
    if not isinstance(document, dict):
        raise source.error("this JSON is neither an object nor a list")
    if is_coco(document, source.role):
        return rows_of_coco(source, document)
    _refuse_repeated_keys(text, len(document), source)
    return rows_of_mapping(source, document, id_form="text")


def _read_only_object(text: str, source: Source) -> CaptionRows:
    """Rows of a document that is an object without objects in it: one pass is enough to find repeated keys."""
    pairs = _parse(text, source, first_line=1, object_pairs_hook=list)
    document = dict(pairs)
    if is_coco(document, source.role):  # without annotations
        return rows_of_coco(source, document)
    if len(document) < len(pairs):
        _refuse_repeated_keys(text, len(document), source)
    return rows_of_mapping(source, document, id_form="text")


def read_json_lines(text: str, source: Source) -> CaptionRows:
    """Rows of JSON lines: an object on every line that is not blank. Raises what ``read_json`` does."""
    # Not splitlines, which also breaks at U+2028 and its like, and those may occur in captions.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip(" \t\r")]
    numbers = [number for number, _ in lines]
    records = [_parse(line, source, first_line=number, may_be_cut=number == numbers[-1]) for number, line in lines]
    return rows_of_records(source, records, unit="line", numbers=numbers)


def _parse(text: str, source: Source, *, first_line: int, may_be_cut: bool = True, **options: Any) -> Any:
    """The document that a text is; its first line is that line of the file. Options are those of ``json.loads``."""
    try:
        return json.loads(text, **options)
    except json.JSONDecodeError as error:
        before = "\n" * (first_line - 1)
        end = text.rstrip()
        if may_be_cut and _ends_in_the_middle(end, error):
            raise TruncatedFileError(
                "the JSON is truncated",
                where=f"{source.name}: {line_and_column(before + end, len(before + end))}",
                help="download or write the file again",
            ) from None
        raise CaptionFileError(
            f"this is not JSON: {error.msg}",
            where=f"{source.name}: {line_and_column(before + text, len(before) + error.pos)}",
            help="fix the file there; python -m json.tool checks whether it is valid JSON",
        ) from None
    except (ValueError, RecursionError) as error:
        # An integer of thousands of digits, or brackets a thousand deep.
        raise CaptionFileError(
            f"this JSON cannot be read: {error}", where=f"{source.name}: from line {first_line}", help="fix the file"
        ) from None


def _ends_in_the_middle(text: str, error: json.JSONDecodeError) -> bool:
    """Whether more text could have completed a document: the parser stopped at its end, or in its last token."""
    if error.msg.startswith("Unterminated string") or error.pos >= len(text):
        return True
    return re.fullmatch(_CUT_TOKENS.get(error.msg, "(?!)"), text[error.pos :]) is not None


def _refuse_repeated_keys(text: str, n_keys: int, source: Source) -> None:
    """Refuse an object in which an image is a key twice, of which ``json.loads`` keeps the last.

    A second pass over the text, because a hook on every object would slow the large COCO files by half, and
    those have no images as keys.
    """
    outermost: list[tuple[str, Any]] = []

    def keep(pairs: list[tuple[str, Any]]) -> None:
        nonlocal outermost
        outermost = pairs  # objects are closed from the inside out

    json.loads(text, object_pairs_hook=keep)
    if len(outermost) == n_keys:
        return
    entries: defaultdict[str, list[int]] = defaultdict(list)
    for entry, (key, _) in enumerate(outermost, start=1):
        entries[key].append(entry)
    repeated = {key: found for key, found in entries.items() if len(found) > 1}
    shown = [f"key {key!r} in " + some([f"entry {entry}" for entry in found]) for key, found in repeated.items()]
    kind = DuplicateCandidateError if source.one_each else CaptionFileError
    raise kind(
        f"{len(repeated):,} of {len(entries):,} images appear more than once as a key",
        where=f"{source.name}: {some(shown, separator='; ')}",
        help=f"keep one {source.role.removesuffix('s')} per image"
        if source.one_each or source.role == "groups"
        else f"put the {source.role} of an image in one list",
    )
