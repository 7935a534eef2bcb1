"""Exceptions that captious raises.

Each states the problem, its place (file, line or image id) and a remedy; the command line prints them without a
traceback and exits with status 2.

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

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias

OptionStyle: TypeAlias = Literal["command line", "python", "challenge"]

_STYLE: ContextVar[OptionStyle] = ContextVar("option style", default="python")


class CaptiousError(Exception):
    """Base class of all errors: the problem, its place, and a remedy.

    Args:
        message: the problem, one sentence.
        where: file with line, record or image ids.
        hint: the remedy, an imperative sentence or a command.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        lines = [self.message]
        if self.where:
            lines.append(f"  {self.where}")
        if self.hint:
            lines.append(f"  help: {self.hint}")
        return "\n".join(lines)


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


class Advice(str):
    """A warning that need not be repeated: commands print it once, and results always include it."""

    __slots__ = ()


def option(name: str, value: str = "") -> str:
    """Format an option for messages: ``--clean prompt`` on the command line, ``clean="prompt"`` in Python.

    Args:
        name: the parameter.
        value: a value, or a placeholder in capitals such as ``FILE``; empty for a flag.
    """
    if _STYLE.get() == "command line":
        return f"--{name.replace('_', '-')} {value}".rstrip()
    if not value:
        return f"{name}=True"
    return f"{name}={value}" if value.isupper() else f'{name}="{value}"'


def setting(name: str, value: str) -> str:
    """Format a setting for messages, which in Python is a field of ``captious.Settings``; otherwise as ``option``."""
    text = option(name, value)
    return f"settings=captious.Settings({text})" if _STYLE.get() == "python" else text


@contextmanager
def option_style(style: OptionStyle) -> Iterator[None]:
    """Choose how messages in the block show options: as flags, as in Python, or as in challenge.toml."""
    token = _STYLE.set(style)
    try:
        yield
    finally:
        _STYLE.reset(token)


def reason(error: OSError | ValueError) -> str:
    """Return why a file cannot be opened. Python's wording for a null character in its name varies between versions."""
    if isinstance(error, ValueError) and "null" in str(error):
        return "its name contains a null character"
    return getattr(error, "strerror", None) or str(error)
