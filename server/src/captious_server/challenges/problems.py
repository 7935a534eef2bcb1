"""``ChallengeError``, which names every problem of a challenge folder at once, and errors as sentences about a key."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from captious.errors import CaptiousError, shown

_HELP = "captious challenge init creates a folder that shows the format"

#: By pydantic's type of an error: the message about the key. Fields of the error's context may be inserted.
_SENTENCES = {
    "missing": "is required",
    "bool_type": "must be true or false",
    "images": "must be a share of the images, above 0 and below 1, or a file with their ids",
    "int_type": "must be a whole number",
    "string_type": "must be text",
    "dict_type": "must be a table",
    "mapping_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le:,} or less",
    "string_too_long": "must not be longer than {max_length} characters",
    "string_too_short": "must not be empty",
    "too_short": "needs at least {min_length} entry",
    "string_pattern_mismatch": "must consist of lower-case letters, digits and hyphens",
}


class ChallengeError(CaptiousError):
    """A challenge folder that cannot be used.

    Args:
        problems: all problems, each a sentence that begins with the key or file.
        folder: the folder or file, for messages.
    """

    def __init__(self, problems: Iterable[str], folder: str) -> None:
        self.problems = list(dict.fromkeys(problems))
        n = len(self.problems)
        # As in "phases[1].closes"; metrics have square brackets, too.
        is_counted = any(re.match(r"[a-z_]+\[[0-9]+\]", problem) for problem in self.problems)
        super().__init__(
            f"{folder} has {n:,} problem{'s' if n > 1 else ''}",
            where="\n".join(self.problems),
            hint=f"tables are counted from 1; {_HELP}" if is_counted else _HELP,
        )


def at(location: Iterable[int | str]) -> str:
    """A key's place in the file, such as ``phases[1].closes``; tables are counted from 1."""
    place = ""
    for step in location:
        place += f"[{step + 1}]" if isinstance(step, int) else f".{step}" if place else step
    return place


def place_of(problem: str) -> str:
    """The place at the beginning of a problem."""
    return problem.partition(": ")[0]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A suggestion for an unknown name, followed by a space; empty if no name is close."""
    close = difflib.get_close_matches(name, names, 1, 0.7)
    return f"did you mean {close[0]}? " if close else ""


def unknown_key(key: str, keys: Iterable[str]) -> str:
    """The message for a key that the format does not have."""
    keys = list(keys)
    return f"unknown key; {did_you_mean(key, keys).strip() or 'known are ' + ', '.join(keys)}"


def sentences(error: ValidationError, keys: Mapping[str, Iterable[str]]) -> list[str]:
    """Pydantic's errors as plain sentences, each with the place of its key.

    ``keys`` are those of the tables of each list ("phases"), and of the file itself ("").
    """
    texts: dict[str, str] = {}
    for details in error.errors(include_url=False):
        context: dict[str, Any] = details.get("ctx", {})
        kind, cause = details["type"], context.get("error")
        location = [step for step in details["loc"] if step != "[key]"]  # of a table
        if location[-2:-1] == ["images"]:  # the last step names a type of its union
            location, kind = location[:-1], "images"
        if kind == "default_factory_not_called" or (kind == "too_short" and details["input"]):
            continue  # what it depends on, or each of its entries, has its own message
        if kind == "extra_forbidden":
            text = unknown_key(str(location[-1]), keys["" if len(location) == 1 else str(location[0])])
        elif cause is not None:
            text = str(cause)
        elif kind in {"tuple_type", "list_type"} and isinstance(details["input"], dict):
            text = f"must be a list of tables: write [[{location[-1]}]]"
        elif kind in _SENTENCES:
            text = _SENTENCES[kind].format(**context)
        else:
            text = details["msg"][:1].lower() + details["msg"][1:]
        texts.setdefault(at(location), text)
    return [f"{place}: {text}" if place else text for place, text in texts.items()]


def one_line(error: Exception, folder: Path | None = None) -> str:
    """An error as one sentence: the message, the place in the folder, and the help if it is short."""
    if not isinstance(error, CaptiousError):
        return str(error)
    message, where, help = (shown(text, "challenge") for text in (error.message, error.where, error.hint))
    where = where.replace(f"{folder}/", "") if folder is not None else where
    help = "" if "\n" in help else help
    return f"{message}{f' ({where})' if where else ''}{f'; {help}' if help else ''}"
