"""``ChatModel``: a model behind an endpoint, its connection, and limits of its cost."""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from captious.errors import CaptionFileError, ParameterError
from captious.files.decompression import user_text
from captious.models.endpoints.questions import Answer, Question

#: The command that installs what endpoints need.
INSTALL = "pip install 'captious[judges]'"
#: Environment variables: the address of the endpoint, its key, and the most calls, unless arguments give them.
ENDPOINT, KEY, MOST_CALLS = "CAPTIOUS_ENDPOINT", "CAPTIOUS_ENDPOINT_KEY", "CAPTIOUS_MOST_CALLS"


def missing_client() -> str | None:
    """Return the command that installs the requirements of endpoints, or None if they are installed."""
    from importlib.util import find_spec

    return None if find_spec("httpx") else INSTALL


@dataclass(frozen=True)
class ChatModel:
    """A model behind an endpoint that speaks OpenAI's chat protocol: vLLM, Ollama, llama.cpp, or a hosted one.

    Only ``name``, ``body`` and ``omit`` can change answers, so they are part of signatures.

    Args:
        name: the model's name at the endpoint.
        endpoint: the URL up to and including /v1; None for ``CAPTIOUS_ENDPOINT``.
        key_variable: the environment variable that holds the API key. It is read for each call and not stored.
        concurrency: number of concurrent calls, 1 to 256.
        calls_per_minute: maximum calls per minute; None for no limit.
        retries: number of retries after transient failures (too many calls, server errors, timeouts, lost connections),
            0 to 100.
        first_wait: seconds before the first retry, doubled with each, at most 60; a Retry-After header takes
            precedence.
        timeout: timeout of a call in seconds.
        most_calls: maximum calls with this object; if more are needed, none is made. None for ``CAPTIOUS_MOST_CALLS``,
            or 10,000.
        most_tokens: the same for tokens, estimated for questions and at the maximum for answers; None for no limit.
        body: further fields of requests, such as ``{"top_p": 0.9}``.
        omit: fields to leave out of requests, such as ``["seed"]``, for endpoints that refuse them.
        cache: file of the cache of answers; None for answers.sqlite in captious's cache folder.

    Raises:
        ParameterError: an argument outside its range, or no endpoint.
    """

    name: str
    endpoint: str | None = None
    key_variable: str = KEY
    concurrency: int = 8
    calls_per_minute: float | None = None
    retries: int = 6
    first_wait: float = 1.0
    timeout: float = 120.0
    most_calls: int | None = None
    most_tokens: int | None = None
    body: Mapping[str, Any] = field(default_factory=dict, hash=False)
    omit: Sequence[str] = ()
    cache: str | os.PathLike[str] | None = None
    #: Calls and tokens so far; a list because the rest of the object cannot change.
    _spent: list[int] = field(default_factory=lambda: [0, 0], init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip() or {",", "|"} & set(self.name):
            raise ParameterError(
                f"{self.name!r:.60} does not name a model",
                help="give the name that the endpoint knows, without commas and vertical bars",
            )
        object.__setattr__(self, "endpoint", _address(self.endpoint))
        for name, least, most in _RANGES:
            _check_range(name, getattr(self, name), least, most)
        if self.most_calls is None:
            object.__setattr__(self, "most_calls", _most_calls())
        reserved = {"model", "messages", "stream", "n"} & {*self.body}
        if reserved:
            raise ParameterError(f"body cannot set {min(reserved)}", help="leave it out of body")
        object.__setattr__(self, "omit", tuple(self.omit))

    @property
    def label(self) -> str:
        """The model in signatures: the name, and a checksum of ``body`` and ``omit`` if there are any."""
        if not self.body and not self.omit:
            return self.name
        options = json.dumps([self.body, sorted(self.omit)], sort_keys=True)
        return f"{self.name}+{hashlib.sha256(options.encode()).hexdigest()[:8]}"

    @property
    def identity(self) -> str:
        """Key of the model in the cache."""
        return f"{self.endpoint}|{self.label}"

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """Return the answers to questions, from the cache where possible.

        Args:
            questions: equal ones are sent once.

        Raises:
            MissingExtraError: httpx is not installed.
            ParameterError: more calls or tokens than the limits allow; nothing was sent.
            EndpointError: the endpoint cannot be used. Answers so far are in the cache.
            ResourceError: the cache cannot be used.
        """
        from captious.models.endpoints.answers import ask

        return ask(self, questions)

    @property
    def key(self) -> str:
        """The API key; empty if there is none."""
        return os.environ.get(self.key_variable, "").strip()


def as_chat_model(value: Any) -> ChatModel:
    """Return a model itself, by its name at ``CAPTIOUS_ENDPOINT``, or from a TOML file with the arguments of
    ``ChatModel``.

    Raises:
        ParameterError: none of these, or arguments out of range.
        CaptionFileError: a file that cannot be read.
    """
    if isinstance(value, ChatModel):
        return value
    if not isinstance(value, str | os.PathLike):
        raise ParameterError(
            f"{value!r:.60} is not a model behind an endpoint",
            help="give the name of the model, a TOML file, or a captious.ChatModel",
        )
    if os.fspath(value).endswith(".toml"):
        return _read_model(Path(value))
    return ChatModel(os.fspath(value))


def _read_model(path: Path) -> ChatModel:
    try:
        document = tomllib.loads(user_text(path, "the description of a model", "give a TOML file", CaptionFileError))
    except ValueError as error:
        raise CaptionFileError(f"this is not TOML: {error}", where=str(path), help="correct the file") from error
    names = [item.name for item in fields(ChatModel) if item.init]
    if unknown := sorted({*document} - {*names}):
        keyed = "key" in unknown
        raise ParameterError(
            f"{unknown[0]} does not belong in the description of a model",
            where=str(path),
            help="put the key into an environment variable, and its name into key_variable"
            if keyed
            else f"its fields are {', '.join(names)}",
        )
    if "name" not in document:
        raise ParameterError("the description of a model needs a name", where=str(path), help='add name = "MODEL"')
    return ChatModel(**document)


def _address(endpoint: Any) -> str:
    """Return the URL of an endpoint without a trailing slash, from the environment if it is None."""
    address = os.environ.get(ENDPOINT, "") if endpoint is None else endpoint
    if not address:
        raise ParameterError(
            "no endpoint is known for the model",
            help=f"set {ENDPOINT}, as in {ENDPOINT}=http://localhost:8000/v1, or give the model as a TOML file",
        )
    help = "give an address such as http://localhost:8000/v1"
    try:
        parts = urlsplit(address)
        hostname = parts.hostname
    except (ValueError, TypeError, AttributeError):
        raise ParameterError("the endpoint is not an address", help=help) from None
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        # It might hold a key, so it is not repeated.
        raise ParameterError(
            "the address of the endpoint holds more than host and path",
            help=f"{help}; put the key into the environment variable {KEY}",
        )
    if parts.scheme not in ("http", "https") or not hostname:
        raise ParameterError(f"the endpoint is not an address: {address!r:.80}", help=help)
    return str(address).rstrip("/").removesuffix("/chat/completions")


#: The ranges of numbers; None is allowed where it is the default.
_RANGES: Sequence[tuple[str, float, float]] = (
    ("concurrency", 1, 256),
    ("calls_per_minute", 0.01, 1_000_000),
    ("retries", 0, 100),
    ("first_wait", 0, 60),
    ("timeout", 0.01, 86_400),
    ("most_calls", 0, 1_000_000_000),
    ("most_tokens", 0, 1_000_000_000_000),
)
_OPTIONAL = ("calls_per_minute", "most_calls", "most_tokens")
_FRACTIONS = ("calls_per_minute", "first_wait", "timeout")


def _check_range(name: str, value: Any, least: float, most: float) -> None:
    if value is None and name in _OPTIONAL:
        return
    fraction = name in _FRACTIONS
    is_number = isinstance(value, Real if fraction else Integral) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:
        number = "a number" if fraction else "an integer"
        raise ParameterError(
            f"invalid {name} of the model: {value!r:.40}", help=f"{name} must be {number} from {least:g} to {most:,g}"
        )


def _most_calls() -> int:
    text = os.environ.get(MOST_CALLS, "") or "10000"
    if not text.isdecimal():
        raise ParameterError(f"{MOST_CALLS} is not a number: {text!r:.40}", help=f"set {MOST_CALLS}=10000")
    return int(text)
