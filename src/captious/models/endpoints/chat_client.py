"""The chat protocol over HTTP: one question, one answer, with retries after transient failures."""

from __future__ import annotations

import base64
import json
import random
import time
from email.utils import parsedate_to_datetime
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from captious.errors import EndpointError, MissingExtraError
from captious.models.endpoints.questions import REFUSED, Answer, Question, image_bytes

if TYPE_CHECKING:
    import httpx

    from captious.models.endpoints.chat_model import ChatModel

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
            from captious.models.endpoints.chat_model import INSTALL

            raise MissingExtraError("endpoints need httpx", help=INSTALL) from None
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
                        "wait until it works, or lower concurrency, or raise timeout",
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
        if status in (400, 403, 413, 422) and (code := _error_code(content)) in REFUSED:  # only this question
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
                f"no server can be reached: {self._hide_key(str(error))}", "start the server, or correct the address"
            ) from None
        except self._errors.HTTPError as error:
            raise _PassingError(f"the connection broke ({type(error).__name__})") from None

    def _server_message(self, content: bytes) -> str:
        """Return the server's message about an error, shortened, and without the API key."""
        text = " ".join(_error_message(content).split())
        return f": {self._hide_key(text)[:300]}" if text else ""

    def _hide_key(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text

    def _failed(self, message: str, help: str) -> EndpointError:
        return EndpointError(message, where=f"{self._model.name} at {self._model.endpoint}", help=help)


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


def _error(content: bytes) -> Any:
    try:
        document = json.loads(content)
    except ValueError:
        return content.decode("utf-8", "replace")
    return document.get("error", document) if isinstance(document, dict) else document


def _error_message(content: bytes) -> str:
    error = _error(content)
    return str(error.get("message", error)) if isinstance(error, dict) else str(error)


def _error_code(content: bytes) -> str:
    error = _error(content)
    return str(error.get("code", "")) if isinstance(error, dict) else ""
