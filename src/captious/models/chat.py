"""Models behind HTTP endpoints with OpenAI's chat protocol: questions, answers, a cache on disk, limits.

Nothing here depends on metrics: a question is a text, perhaps with an image, and an answer is a text, perhaps with the
probabilities of its tokens.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import re
import sqlite3
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from email.utils import parsedate_to_datetime
from functools import lru_cache
from numbers import Integral, Real
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from captious.data.harness_logs import message_text
from captious.errors import (
    CaptionFileError,
    EndpointError,
    InputError,
    Message,
    MissingExtraError,
    ParameterError,
    ResourceError,
    either,
    marked,
)
from captious.files import user_text
from captious.progress import Progress
from captious.resources.cache import cache_folder, make_folder, opened_table, rows_of_keys
from captious.words import counted, shortened

if TYPE_CHECKING:
    import httpx

__all__ = ["Answer", "ChatModel", "Question", "Token", "as_chat_model", "missing_client"]


# Questions to a model behind an endpoint, and its answers.

#: Finish reasons of refused answers; another attempt would be refused, too.
REFUSED = frozenset({"content_filter", "content_policy_violation", "context_length_exceeded"})
#: Characters of a token, about: for estimates of costs.
_CHARACTERS_PER_TOKEN = 4
#: Tokens of an image, about: they depend on model and size.
_TOKENS_PER_IMAGE = 1000


@dataclass(frozen=True)
class Question:
    """A question, with everything that can change its answer apart from the model.

    Args:
        text: the message.
        image: an image file to attach.
        temperature: sampling temperature, 0 for the most likely answer.
        seed: random seed of sampling; None to send none.
        answer_tokens: maximum tokens of an answer.
        alternatives: number of alternatives to each token to request with their probabilities; 0 for none.
        attempt: number of the attempt, from 0: a question may be repeated after an invalid answer. The seed that is
            sent is the sum of both.
    """

    text: str
    image: Path | None = None
    temperature: float = 0.0
    seed: int | None = None
    answer_tokens: int = 512
    alternatives: int = 0
    attempt: int = 0

    @property
    def sampling(self) -> dict[str, Any]:
        """The parameters of the request."""
        values: dict[str, Any] = {"temperature": self.temperature, "max_tokens": self.answer_tokens}
        if self.seed is not None:
            values["seed"] = self.seed + self.attempt
        if self.alternatives:
            values |= {"logprobs": True, "top_logprobs": self.alternatives}
        return values

    def key(self, model: str) -> str:
        """Return a hash of everything that the answer of a model depends on.

        Args:
            model: identity of the model.

        Raises:
            InputError: the image cannot be read.
        """
        image = "" if self.image is None else _checksum(self.image)
        parts = [model, self.text, image, self.attempt, sorted(self.sampling.items())]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def tokens(self) -> int:
        """Approximate number of tokens."""
        return len(self.text) // _CHARACTERS_PER_TOKEN + (0 if self.image is None else _TOKENS_PER_IMAGE)


@dataclass(frozen=True)
class Token:
    """A token of an answer.

    Args:
        text: its text in the answer.
        alternatives: the most likely tokens at its position, usually including itself, with natural logarithms of their
            probabilities.
    """

    text: str
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Answer:
    """An answer.

    Args:
        text: text of the model; empty if it refused.
        finish: why it ended, such as "stop", "length" or "content_filter".
        model: the name under which the model answered.
        tokens: tokens of the text, if probabilities were requested.
        usage: tokens of question and answer, as the endpoint counts them.
    """

    text: str
    finish: str = "stop"
    model: str = ""
    tokens: tuple[Token, ...] = ()
    usage: tuple[int, int] = (0, 0)

    @property
    def is_refusal(self) -> bool:
        """Whether the endpoint refused the question and would do so again."""
        return self.finish in REFUSED

    def to_json(self) -> str:
        """Serialize the answer for ``from_json``."""
        tokens = [[token.text, token.alternatives] for token in self.tokens]
        return json.dumps([self.text, self.finish, self.model, tokens, self.usage])

    @classmethod
    def from_json(cls, text: str) -> Answer:
        """Restore an answer from the result of ``to_json``.

        Raises:
            ValueError, TypeError: other text.
        """
        answer, finish, model, tokens, (question_tokens, answer_tokens) = json.loads(text)
        return cls(
            answer,
            finish,
            model,
            tuple(Token(token, _alternatives(alternatives)) for token, alternatives in tokens),
            (question_tokens, answer_tokens),
        )

    @classmethod
    def of_response(cls, document: Mapping[str, Any]) -> Answer:
        """Extract the answer from a response of the protocol.

        Raises:
            ValueError, TypeError, KeyError, IndexError: it is not one.
        """
        choice = document["choices"][0]
        content = message_text(choice["message"].get("content") or "")
        entries = (choice.get("logprobs") or {}).get("content") or []
        tokens = tuple(
            Token(
                str(token["token"]),
                _alternatives([(top["token"], top["logprob"]) for top in token.get("top_logprobs") or []]),
            )
            for token in entries
        )
        usage = document.get("usage") or {}
        costs = (int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
        return cls(content, str(choice.get("finish_reason") or ""), str(document.get("model") or ""), tokens, costs)


def _alternatives(pairs: Sequence[Sequence[Any]]) -> tuple[tuple[str, float], ...]:
    return tuple((str(text), float(logarithm)) for text, logarithm in pairs)


def image_bytes(path: Path) -> bytes:
    """Return the content of an image file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(
            f"the image file {path.name} cannot be read: {error.strerror}",
            where=str(path),
            hint="make the file readable",
        ) from error


@lru_cache(maxsize=100_000)
def _checksum(path: Path) -> str:
    return hashlib.sha256(image_bytes(path)).hexdigest()


# Answers to questions: from the cache, or else from the endpoint, concurrently and within the limits.


@dataclass(frozen=True)
class Cost:
    """The cost of questions, estimated before they are sent.

    Args:
        calls: number of calls.
        prompt_tokens: approximate number of tokens of the questions.
        answer_tokens: maximum number of tokens of the answers.
    """

    calls: int
    prompt_tokens: int
    answer_tokens: int

    @classmethod
    def of(cls, questions: Sequence[Question]) -> Cost:
        """Return the cost of questions that are not in the cache."""
        prompt_tokens, answer_tokens = (
            sum(values) for values in ([q.tokens for q in questions], [q.answer_tokens for q in questions])
        )
        return cls(len(questions), prompt_tokens, answer_tokens)

    def __str__(self) -> str:
        calls = counted(self.calls, "call")
        return f"{calls}, about {self.prompt_tokens:,} tokens, with at most {self.answer_tokens:,} tokens of answers"


def _check_limits(model: ChatModel, cost: Cost, *, n_known: int) -> None:
    new = (cost.calls, cost.prompt_tokens + cost.answer_tokens)
    calls, tokens = (before + more for before, more in zip(model._spent, new, strict=True))
    assert model.most_calls is not None
    for what, number, limit in (("calls", calls, model.most_calls), ("tokens", tokens, model.most_tokens)):
        if limit is not None and number > limit:
            before = model._spent[what == "tokens"]
            raise ParameterError(
                f"the limit of {limit:,} {what} does not allow this run",
                where=f"{model.name}: {cost}; {counted(n_known, 'answer', 'are')} in the cache"
                + (f", and {before:,} {what} were spent before" if before else ""),
                hint=f"raise most_{what} of the model"
                + (" (CAPTIOUS_MOST_CALLS)" if what == "calls" else "")
                + ", or judge fewer captions",
            )
    model._spent[:] = calls, tokens


def _ask(model: ChatModel, questions: dict[str, Question], cache: AnswerCache, cost: Cost) -> dict[str, Answer]:
    """Return the answers of the endpoint; each is in the cache as soon as it arrives."""

    answers: dict[str, Answer] = {}
    with Progress(len(questions)) as progress, ChatClient(model) as client:
        progress.reach(0, f"{model.name}: {cost}")
        pool = ThreadPoolExecutor(min(model.concurrency, len(questions)), thread_name_prefix="captious-endpoint")
        futures = {pool.submit(client.answer, question): key for key, question in questions.items()}
        failure: EndpointError | None = None
        try:
            for future in as_completed(futures):
                try:
                    answer = future.result()
                except EndpointError as error:
                    if failure is None:
                        failure = error
                        client.stop()  # the questions that wait fail at once; cancelled ones would never be completed
                    continue
                answers[futures[future]] = cache.add(futures[future], answer)
                progress.reach(len(answers), f"{model.name}: {cost}")
        finally:
            client.stop()
            pool.shutdown(wait=True, cancel_futures=True)
    if failure is not None:
        unanswered = len(questions) - len(answers)
        model._spent[0] -= unanswered
        if answers:
            known = counted(len(answers), "answer", "are")
            rest = f"{known} in the cache: the next run asks for the other {unanswered:,}"
            failure.hint = Message(f"{marked(failure.hint)}. {rest}")
        raise failure
    return answers


_FORMAT = 1
_PATIENCE = 60.0  # seconds to wait for another process that writes


class AnswerCache:
    """A file of answers that processes can share. Answers are on disk once ``add`` returns.

    Args:
        path: the file; None for answers.sqlite in the cache folder.

    Raises:
        ResourceError: the file cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = cache_folder() / "answers.sqlite" if path is None else Path(path)
        make_folder(self.path.parent)
        with self._usable():
            table = "answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)"
            self._connection = opened_table(self.path, table, format=_FORMAT, seconds=_PATIENCE)

    def __enter__(self) -> AnswerCache:
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()

    def find(self, keys: Sequence[str]) -> dict[str, Answer]:
        """Return the answers in the cache, by key."""
        with self._usable():
            rows = rows_of_keys(self._connection, "SELECT key, answer FROM answers", keys)
            return {key: Answer.from_json(text) for key, text in rows}

    def add(self, key: str, answer: Answer) -> Answer:
        """Add an answer unless the key is present, and return the stored answer."""
        with self._usable():
            self._connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?)", (key, answer.to_json()))
        return self.find([key])[key]

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise ResourceError(
                f"the cache of answers cannot be used: {error}",
                where=str(self.path),
                hint="remove the file, or name another one",
            ) from error


# ``ChatModel``: a model behind an endpoint, its connection, and limits of its cost.

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
                f"{shortened(self.name)} does not name a model",
                hint="give the name that the endpoint knows, without commas and vertical bars",
            )
        object.__setattr__(self, "endpoint", _address(self.endpoint))
        for name, least, most in _RANGES:
            _check_range(name, getattr(self, name), least, most)
        if self.most_calls is None:
            object.__setattr__(self, "most_calls", _most_calls())
        reserved = {"model", "messages", "stream", "n"} & {*self.body}
        if reserved:
            raise ParameterError(f"body cannot set {min(reserved)}", hint="leave it out of body")
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
        keys = [question.key(self.identity) for question in questions]
        by_key = dict(zip(keys, questions, strict=True))
        with AnswerCache(self.cache) as cache:
            answers = cache.find([*by_key])
            waiting = {key: question for key, question in by_key.items() if key not in answers}
            if waiting:
                cost = Cost.of([*waiting.values()])
                _check_limits(self, cost, n_known=len(answers))
                answers |= _ask(self, waiting, cache, cost)
        return [answers[key] for key in keys]

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
            f"{shortened(value)} is not a model behind an endpoint",
            hint="give the name of the model, a TOML file, or a captious.ChatModel",
        )
    if os.fspath(value).endswith(".toml"):
        return _read_model(Path(value))
    return ChatModel(os.fspath(value))


def _read_model(path: Path) -> ChatModel:
    try:
        document = tomllib.loads(user_text(path, "the description of a model", "give a TOML file", CaptionFileError))
    except ValueError as error:
        raise CaptionFileError(f"this is not TOML: {error}", where=str(path), hint="correct the file") from error
    names = [item.name for item in fields(ChatModel) if item.init]
    if unknown := sorted({*document} - {*names}):
        keyed = "key" in unknown
        raise ParameterError(
            f"{unknown[0]} does not belong in the description of a model",
            where=str(path),
            hint="put the key into an environment variable, and its name into key_variable"
            if keyed
            else f"its fields are {', '.join(names)}",
        )
    if "name" not in document:
        raise ParameterError("the description of a model needs a name", where=str(path), hint='add name = "MODEL"')
    return ChatModel(**document)


def _address(endpoint: Any) -> str:
    """Return the URL of an endpoint without a trailing slash, from the environment if it is None."""
    address = os.environ.get(ENDPOINT, "") if endpoint is None else endpoint
    if not address:
        raise ParameterError(
            "no endpoint is known for the model",
            hint=either(python="", command="give its address with --endpoint URL, or ")
            + f"set {ENDPOINT}, as in {ENDPOINT}=http://localhost:8000/v1, or give the model as a TOML file",
        )
    help = "give an address such as http://localhost:8000/v1"
    try:
        parts = urlsplit(address)
        hostname = parts.hostname
    except (ValueError, TypeError, AttributeError):
        raise ParameterError("the endpoint is not an address", hint=help) from None
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        # It might hold a key, so it is not repeated.
        raise ParameterError(
            "the address of the endpoint holds more than host and path",
            hint=f"{help}; put the key into the environment variable {KEY}",
        )
    if parts.scheme not in ("http", "https") or not hostname:
        raise ParameterError(f"the endpoint is not an address: {shortened(address)}", hint=help)
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
            f"invalid {name} of the model: {shortened(value)}",
            hint=f"{name} must be {number} from {least:g} to {most:,g}",
        )


def _most_calls() -> int:
    text = os.environ.get(MOST_CALLS, "") or "10000"
    if not text.isdecimal():
        raise ParameterError(f"{MOST_CALLS} is not a number: {shortened(text)}", hint=f"set {MOST_CALLS}=10000")
    return int(text)


# The chat protocol over HTTP: one question, one answer, with retries after transient failures.

#: Statuses of failures that may pass.
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_LONGEST_WAIT = 60.0  # seconds between repetitions, unless the server says otherwise
_MOST_PATIENCE = 900.0  # seconds that a server may ask to wait
_LARGEST_RESPONSE = 16 << 20
#: Types of images by the bytes that they begin with.
_IMAGE_TYPES = ((b"\x89PNG", "png"), (b"\xff\xd8", "jpeg"), (b"GIF8", "gif"), (b"BM", "bmp"), (b"RIFF", "webp"))


class _PassingError(Exception):
    """A transient failure.

    Args:
        reason: what happened.
        wait: seconds that the server asks to wait, or None.
    """

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class ChatClient:
    """Thread-safe connections to an endpoint. A context manager.

    Args:
        model: the model.

    Raises:
        MissingExtraError: httpx is not installed.
    """

    def __init__(self, model: ChatModel) -> None:
        try:
            import httpx
        except ImportError:
            raise MissingExtraError("endpoints need httpx", hint=INSTALL) from None
        self._model = model
        self._key = model.key
        self._errors: Any = httpx
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        limits = httpx.Limits(max_connections=model.concurrency)
        self._client = httpx.Client(headers=headers, timeout=model.timeout, limits=limits)
        self._stopped = Event()
        self._lock = Lock()
        self._next_call = 0.0
        self._reached = False

    def __enter__(self) -> ChatClient:
        return self

    def __exit__(self, *exception: object) -> None:
        self._client.close()

    def stop(self) -> None:
        """Make no more calls: waiting threads give up."""
        self._stopped.set()

    def answer(self, question: Question) -> Answer:
        """Return the answer to a question.

        Raises:
            EndpointError: there is none, even after retries.
        """
        for repetition in range(self._model.retries + 1):
            self._wait_for_turn()
            try:
                return self._once(question)
            except _PassingError as failure:
                if repetition == self._model.retries:
                    raise self._failed(
                        f"the endpoint gave no answer in {repetition + 1} calls: {failure}",
                        "wait until it works, or lower concurrency or raise timeout"
                        + either(python="", command=" in a file of the model: --judge FILE.toml"),
                    ) from None
                wait = min(self._model.first_wait * 2**repetition, _LONGEST_WAIT) * random.uniform(0.5, 1)
                if failure.wait is not None:
                    if failure.wait > _MOST_PATIENCE:
                        raise self._failed(
                            f"the endpoint asks to wait {failure.wait:,.0f} seconds", "run again later"
                        ) from None
                    wait = failure.wait
                    self._hold(wait)
                self._stopped.wait(wait)
        raise AssertionError

    def _wait_for_turn(self) -> None:
        """Wait as long as the rate limit, or an overloaded server, demands."""
        with self._lock:
            begin = max(self._next_call, time.monotonic())
            per_minute = self._model.calls_per_minute
            self._next_call = begin + (60 / per_minute if per_minute else 0.0)
        while not self._stopped.is_set() and (seconds := begin - time.monotonic()) > 0:
            self._stopped.wait(seconds)
        if self._stopped.is_set():
            raise self._failed("the run was stopped", "run again")

    def _hold(self, seconds: float) -> None:
        """Make all threads wait."""
        with self._lock:
            self._next_call = max(self._next_call, time.monotonic() + seconds)

    def _once(self, question: Question) -> Answer:
        status, headers, content = self._post(self._request(question))
        if status == 200:
            try:
                answer = Answer.of_response(json.loads(content))
            except (ValueError, TypeError, KeyError, IndexError, AttributeError):
                raise _PassingError("it sent something that is not a chat completion") from None
            if question.alternatives and answer.text and not any(token.alternatives for token in answer.tokens):
                raise self._failed(
                    "the endpoint gives no probabilities of tokens", "use value=integer, or an endpoint that gives them"
                )
            return answer
        reason = f"status {status}{self._server_message(content)}"
        if status in _PASSING:
            raise _PassingError(reason, _retry_after(headers.get("retry-after")))
        if status in (400, 403, 413, 422) and (code := _error(content)[1]) in REFUSED:  # only this question
            return Answer("", finish=code)
        help = {
            401: f"put the key into the environment variable {self._model.key_variable}",
            403: f"check the key in the environment variable {self._model.key_variable}",
            404: "check the address, which usually ends in /v1, and the name of the model",
        }.get(status, "check the model and its settings; omit leaves out fields that the endpoint refuses")
        raise self._failed(f"the endpoint refused the call: {reason}", help)

    def _request(self, question: Question) -> dict[str, Any]:
        content: Any = question.text
        if question.image is not None:
            data = image_bytes(question.image)
            kind = next((kind for begin, kind in _IMAGE_TYPES if data.startswith(begin)), "jpeg")
            url = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
            content = [{"type": "text", "text": question.text}, {"type": "image_url", "image_url": {"url": url}}]
        body = {"model": self._model.name, "messages": [{"role": "user", "content": content}], **question.sampling}
        return {name: value for name, value in {**body, **self._model.body}.items() if name not in self._model.omit}

    def _post(self, body: dict[str, Any]) -> tuple[int, httpx.Headers, bytes]:
        """Return status, headers and content of a response, which must be complete before the timeout."""
        until = time.monotonic() + self._model.timeout
        content = bytearray()
        try:
            with self._client.stream("POST", f"{self._model.endpoint}/chat/completions", json=body) as response:
                self._reached = True
                for piece in response.iter_bytes():
                    content += piece
                    if len(content) > _LARGEST_RESPONSE:
                        raise self._failed("the endpoint sent too much", "check the address")
                    if time.monotonic() > until:
                        raise _PassingError(f"its answer was not complete after {self._model.timeout:g} seconds")
                return response.status_code, response.headers, bytes(content)
        except self._errors.TimeoutException:
            raise _PassingError(f"no answer in {self._model.timeout:g} seconds") from None
        except self._errors.ConnectError as error:
            if self._reached:
                raise _PassingError("no connection") from None
            raise self._failed(
                "no server can be reached: " + re.sub(r"^\[Errno -?\d+\] ", "", self._hide_key(str(error))),
                "start the server, or correct the address",
            ) from None
        except self._errors.HTTPError as error:
            raise _PassingError(f"the connection broke ({type(error).__name__})") from None

    def _server_message(self, content: bytes) -> str:
        """Return the server's message about an error, shortened, and without the API key."""
        text = " ".join(_error(content)[0].split())
        return f": {self._hide_key(text)[:300]}" if text else ""

    def _hide_key(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _failed(self, message: str, help: str) -> EndpointError:
        return EndpointError(message, where=f"{self._model.name} at {self._model.endpoint}", hint=help)


def _retry_after(text: str | None) -> float | None:
    """Return the seconds in a header Retry-After, which is a number or a date."""
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, TypeError):
            return None
    return max(seconds, 0.0) if seconds < float("inf") else None


def _error(content: bytes) -> tuple[str, str]:
    """Return the message of an endpoint about an error, and its code; empty if there is none."""
    try:
        error = json.loads(content)
    except ValueError:
        return content.decode("utf-8", "replace"), ""
    error = error.get("error", error) if isinstance(error, dict) else error
    if not isinstance(error, dict):
        return str(error), ""
    return str(error.get("message", error)), str(error.get("code", ""))
