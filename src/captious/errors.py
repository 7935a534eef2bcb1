"""Exceptions that captious raises, its warnings, and the text of both.

Each states the problem, its place (file, line or image id) and a remedy; the command line prints them without a
traceback and exits with status 2. Messages hold options as data: Python shows ``clean="prompt"`` where the command line
shows ``--clean prompt``.

    CaptiousError
    ├── InputError                    invalid captions
    │   ├── CaptionFileError              a file of unknown format, or a damaged one
    │   │   ├── TruncatedFileError            a truncated file
    │   │   ├── EncodingError                 a file that is not UTF-8 text
    │   │   └── EmptyInputError               a file without captions
    │   ├── CaptionTypeError              a caption or an id of a wrong type; also a TypeError
    │   ├── DuplicateCandidateError       two candidates for one image
    │   ├── MissingReferencesError        an image that is known but has no references
    │   ├── MissingObjectsError           an image whose objects are unknown
    │   ├── UnknownImageError             a candidate for an image the references do not know
    │   └── MissingCandidatesError        references without a candidate
    ├── UnknownNameError              no metric, output, variant or tokenizer of that name; also a KeyError
    ├── ParameterError                a parameter out of range, or contradictory parameters; also a ValueError
    ├── ResourceError                 a resource file that is damaged or unsuitable
    ├── EndpointError                 a model behind an endpoint that gives no answers
    ├── ShardError                    shards of a corpus that could not be scored
    ├── OutputError                   a file that cannot be written
    └── MissingExtraError             an optional dependency or resource that is not installed
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, Self, TypeAlias

# Text for people who write in Python, on the command line, or in a challenge.toml. What they write differently is a
# span of data in the text: OPEN, its kind, and its fields, each after a SEPARATOR; CLOSE. The three are noncharacters,
# which no text from outside should have. Fields of ``either`` may hold spans.

#: Who reads a text.
Front: TypeAlias = Literal["python", "command line", "challenge"]

_OPEN, _SEPARATOR, _CLOSE = "\ufdd0", "\ufdd1", "\ufdd2"
_FIELD = f"{_SEPARATOR}[^{_OPEN}{_SEPARATOR}{_CLOSE}]*"
#: A span that holds no other.
_SPAN = re.compile(f"{_OPEN}(either(?:{_FIELD}){{3}}|(?:option|setting)(?:{_FIELD})+){_CLOSE}")
#: Values that stand for another.
_PLACEHOLDERS = frozenset({"DIR", "FILE", "FOLDER", "ID", "KEY", "LANGUAGE", "MODEL", "N", "NAME", "NUMBER", "URL"})
#: Options that are keywords of ``captious.CaptionFile`` in Python, under the names of the command line.
_OF_FILE = {"columns": "columns", "split": "split", "from": "layout"}


def option(name: str, *values: str) -> str:
    """Return an option for messages: ``clean="prompt"`` in Python, ``--clean prompt`` on the command line.

    Options of input files, such as ``columns``, are those of ``captious.CaptionFile`` in Python.

    Args:
        name: the parameter.
        values: its value or values, or a placeholder in capitals such as ``FILE``; none for a flag.
    """
    return _span("option", name, *filter(None, values))


def setting(name: str, *values: str) -> str:
    """Return a setting for messages, which in Python is a field of ``captious.Settings``; otherwise as ``option``."""
    return _span("setting", name, *filter(None, values))


def either(*, python: str, command: str, challenge: str | None = None) -> str:
    """Return words that differ between those who read messages; a challenge.toml has Python's unless they are given."""
    return _span("either", python, command, python if challenge is None else challenge)


def requesting(request: str) -> str:
    """Return a metric to request for messages: ``"spice:split=sentences"``, ``-m`` before it on the command line."""
    return either(python=f'"{request}"', command=f"-m {request}")


def _span(*parts: str) -> str:
    return f"{_OPEN}{_SEPARATOR.join(parts)}{_CLOSE}"


def shown(text: str, front: Front = "python") -> str:
    """Return a text as its readers write options.

    Args:
        text: a text with spans, a ``Message``, or any other text.
        front: the readers.
    """
    text = marked(text)
    while _OPEN in text:
        text, n = _SPAN.subn(lambda span: _SHOW[front](*span[1].split(_SEPARATOR)), text)
        if not n:  # marks that no function of this module wrote
            break
    return text


def shown_in(value: Any, front: Front) -> Any:
    """Return lists, tuples and mappings with every ``Message`` in them as ``shown``."""
    if isinstance(value, Message):
        return shown(value, front)
    if isinstance(value, Mapping):
        return {key: shown_in(item, front) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [shown_in(item, front) for item in value]
    return value


def marked(text: str) -> str:
    """Return a text with its spans, for another text to include."""
    return text.marked if isinstance(text, Message) else text


def _in_python(kind: str, *parts: str) -> str:
    if kind == "either":
        return parts[0]
    name, *values = parts
    if kind == "option" and name in _OF_FILE:
        return f"captious.CaptionFile(FILE, {_OF_FILE[name]}={_file_value(name, values)})"
    keyword = f"{name}={_python_value(values)}"
    return f"settings=captious.Settings({keyword})" if kind == "setting" else keyword


def _python_value(values: list[str]) -> str:
    if not values:
        return "True"
    literals = [value if value in _PLACEHOLDERS else json.dumps(value, ensure_ascii=False) for value in values]
    return literals[0] if len(literals) == 1 else f"({', '.join(literals)})"


def _file_value(name: str, values: list[str]) -> str:
    if name != "columns":
        return _python_value(values)
    pairs = (piece.partition("=")[::2] for value in values for piece in value.split(","))
    return f"{{{', '.join(f'{_python_value([key])}: {_python_value([column])}' for key, column in pairs)}}}"


def _on_command_line(kind: str, *parts: str) -> str:
    if kind == "either":
        return parts[1]
    name, *values = parts
    flag = f"--{name.replace('_', '-')}"
    if name == "columns" and not any("," in value for value in values):
        values = [",".join(values)]
    return " ".join(f"{flag} {shlex.quote(value)}" for value in values) or flag


def _in_challenge(kind: str, *parts: str) -> str:
    return parts[2] if kind == "either" else f"{parts[0]}={_python_value([*parts[1:]])}"


_SHOW: Mapping[Front, Callable[..., str]] = {
    "python": _in_python,
    "command line": _on_command_line,
    "challenge": _in_challenge,
}


class Message(str):
    """Text as Python writes options, which the command line and challenges show in their own way: ``shown(text, ...)``.

    Args:
        text: a text, perhaps with spans.
    """

    marked: str

    def __new__(cls, text: str) -> Self:
        self = super().__new__(cls, shown(text))
        self.marked = marked(text)
        return self


class CaptiousError(Exception):
    """Base class of all errors: the problem, its place, and a remedy.

    ``message``, ``where`` and ``hint`` name options as Python does; ``captious.errors.shown(error.hint, "command
    line")`` as the command line does.

    Args:
        message: the problem, one sentence.
        where: file with line, record or image ids.
        hint: the remedy, an imperative sentence or a command.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(shown(message))
        self.message = Message(message)
        self.where = Message(where)
        self.hint = Message(hint)

    def __str__(self) -> str:
        return self.shown("python")

    def shown(self, front: Front) -> str:
        """Return the problem, its place and the remedy, each on a line, for those who read them."""
        lines = [marked(self.message)]
        if self.where:
            lines.append(f"  {marked(self.where)}")
        if self.hint:
            lines.append(f"  help: {marked(self.hint)}")
        return shown("\n".join(lines), front)


class InputError(CaptiousError):
    """Invalid captions."""


class CaptionFileError(InputError):
    """A file that cannot be read as captions."""


class TruncatedFileError(CaptionFileError):
    """A truncated file."""


class EncodingError(CaptionFileError):
    """Text that is not valid UTF-8, or a string with lone surrogates."""


class EmptyInputError(CaptionFileError):
    """A source without captions."""


class CaptionTypeError(InputError, TypeError):
    """A caption that is not a string, or an id that is neither an int nor a string."""


class DuplicateCandidateError(InputError):
    """Two candidates for one image in one system."""


class MissingReferencesError(InputError):
    """An image without references."""


class MissingObjectsError(InputError):
    """Images whose objects are unknown."""


class UnknownImageError(InputError):
    """A candidate for an image without references."""


class MissingCandidatesError(InputError):
    """Images with references but without a candidate."""


class UnknownNameError(CaptiousError, KeyError):
    """No metric, output, variant or tokenizer of that name."""


class ParameterError(CaptiousError, ValueError):
    """A parameter out of range, or contradictory parameters."""


class UnusedSettingError(ParameterError):
    """A setting that no metric of a run uses."""


class ResourceError(CaptiousError):
    """A resource file that is damaged or unsuitable."""


class EndpointError(CaptiousError):
    """A model endpoint that does not answer."""


class ShardError(CaptiousError):
    """Shards of a corpus that could not be scored."""


class OutputError(CaptiousError):
    """A file that cannot be written."""


class MissingExtraError(CaptiousError):
    """An optional dependency or resource that is not installed; ``hint`` names the command that installs it."""


@contextmanager
def needed_for(purpose: str, extra: str, *, where: str = "") -> Iterator[None]:
    """Import optional packages within the block.

    Args:
        purpose: the use of the package in messages, such as "plotting".
        extra: the extra of captious that installs it.
        where: file in messages.

    Raises:
        MissingExtraError: a package cannot be imported.
    """
    try:
        yield
    except ImportError as error:
        package = (error.name or "another package").partition(".")[0]
        if package == "captious":
            raise  # an error of captious itself
        help = f"pip install 'captious[{extra}]'"
        raise MissingExtraError(f"{purpose} needs {package}", where=where, hint=help) from error


class CaptiousWarning(UserWarning):
    """A result that is valid but may be misleading."""


class CaptionWarning(Message):
    """A warning of a result: one sentence, with the kind of what may mislead.

    Args:
        text: the sentence.
        kind: short name of the kind, such as "empty"; those of ``captious.check`` are the names of its findings, and of
            other warnings of a metric, its name. A ``CaptionWarning`` as text keeps its own.
        repeated: whether commands print it again after they once did; results always include it.
    """

    kind: str
    repeated: bool

    def __new__(cls, text: str, kind: str = "", *, repeated: bool = True) -> Self:
        self = super().__new__(cls, text)
        self.kind = getattr(text, "kind", "") or kind
        self.repeated = repeated and getattr(text, "repeated", True)
        return self

    def of(self, systems: str) -> CaptionWarning:
        """Return the warning as one about some of several systems."""
        return CaptionWarning(f"{systems}: {self.marked}", self.kind, repeated=self.repeated)


def as_warning(text: str, kind: str = "") -> CaptionWarning:
    """Return a warning that has a kind as it is, and other text as a warning of this kind."""
    return text if isinstance(text, CaptionWarning) and text.kind else CaptionWarning(text, kind)


def reason(error: OSError | ValueError) -> str:
    """Return why a file cannot be opened. Python's wording for a null character in its name varies between versions."""
    if isinstance(error, ValueError) and "null" in str(error):
        return "its name contains a null character"
    return getattr(error, "strerror", None) or str(error)
