"""HTTP calls of the client, with retries. It needs the standard library only."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from captious.errors import CaptiousError

T = TypeVar("T")

_TIMEOUT_SECONDS = 300  # seconds without data from the server
_RETRY_PERIOD_SECONDS = 300.0  # seconds after which a call is no longer retried
_FIRST_WAIT, _MAX_WAIT = 1.0, 60.0  # seconds between retries, unless the server sets the interval
_TEMPORARY_STATUSES = {429, 502, 503, 504}


class ConnectionLost(Exception):
    """The connection ended before there was an answer."""


class TemporaryError(Exception):
    """A call may succeed later.

    Args:
        error: the error to raise if it does not.
        after: seconds to wait, from the server; None if not given.
    """

    def __init__(self, error: CaptiousError, after: float | None = None) -> None:
        super().__init__()
        self.error = error
        self.after = after


def call(
    address: str, method: str, headers: Mapping[str, str], body: Iterable[bytes] | None
) -> tuple[int, float | None, bytes]:
    """Send one request.

    An answer that arrives while the body is being sent, such as 413, is read.

    Returns:
        Status, seconds after which to repeat the request (None if the server does not say), and content.

    Raises:
        URLError: no connection.
        ConnectionLost: the connection was lost.
    """
    request = urllib.request.Request(address, body, dict(headers), method=method)
    try:
        try:
            answer = _opener.open(request, timeout=_TIMEOUT_SECONDS)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            content: bytes = answer.read()
            pause = answer.headers.get("Retry-After", "")
            return answer.status, float(pause) if pause.isdecimal() else None, content
    except urllib.error.URLError:
        raise
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionLost(str(error) or type(error).__name__) from None


def retry(attempt: Callable[[], T], tell: Callable[[str], None]) -> T:
    """Call a function until it succeeds, for up to five minutes.

    Args:
        attempt: raises ``TemporaryError`` if it may succeed later.
        tell: called with a sentence about the reason and time of a retry.
    """
    deadline, wait = time.monotonic() + _RETRY_PERIOD_SECONDS, _FIRST_WAIT
    while True:
        try:
            return attempt()
        except TemporaryError as problem:
            pause = wait if problem.after is None else problem.after
            if time.monotonic() + pause > deadline:
                raise problem.error from None
            tell(f"{problem.error.message}; trying again in {pause:.0f} s")
        time.sleep(pause)
        wait = min(2 * wait, _MAX_WAIT)


def may_succeed_later(status: int) -> bool:
    """Return whether the status means a temporary failure of the server or a proxy."""
    return status in _TEMPORARY_STATUSES


class _PatientConnection(http.client.HTTPConnection):
    """A connection that reads the answer if the server stops reading, as it does after a refusal."""

    _is_broken = False

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()  # errors of the connection are raised
        try:
            if not self._is_broken:
                super().send(data)
        except TimeoutError:
            raise
        except OSError:
            self._is_broken = True


class _PatientTlsConnection(_PatientConnection, http.client.HTTPSConnection):
    """A patient connection with TLS."""


class _HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_PatientConnection, request)


class _HttpsHandler(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_PatientTlsConnection, request, context=self._context)  # type: ignore[attr-defined]


_opener = urllib.request.build_opener(_HttpHandler, _HttpsHandler)
