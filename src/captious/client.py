"""A client of the server's API, for ``captious submit`` and for scripts. It needs the standard library only."""

from __future__ import annotations

import http.client
import json
import math
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from captious.errors import CaptiousError, InputError, ParameterError, option
from captious.progress import Progress

# HTTP calls of the client, with retries.

T = TypeVar("T")

_TIMEOUT_SECONDS = 300  # seconds without data from the server
_RETRY_PERIOD_SECONDS = 300.0  # seconds after which a call is no longer retried
_FIRST_RETRY_WAIT, _MAX_RETRY_WAIT = 1.0, 60.0  # seconds between retries, unless the server sets the interval
_TEMPORARY_STATUSES = {429, 502, 503, 504}  # of the server or a proxy


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
        OSError, HTTPException: the connection was lost.
    """
    request = urllib.request.Request(address, body, dict(headers), method=method)
    try:
        answer = _opener.open(request, timeout=_TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        content: bytes = answer.read()
        pause = answer.headers.get("Retry-After", "")
        return answer.status, float(pause) if pause.isdecimal() else None, content


def retry(attempt: Callable[[], T], tell: Callable[[str], None]) -> T:
    """Call a function until it succeeds, for up to five minutes.

    Args:
        attempt: raises ``TemporaryError`` if it may succeed later.
        tell: called with a sentence about the reason and time of a retry.
    """
    deadline, wait = time.monotonic() + _RETRY_PERIOD_SECONDS, _FIRST_RETRY_WAIT
    while True:
        try:
            return attempt()
        except TemporaryError as problem:
            pause = wait if problem.after is None else problem.after
            if time.monotonic() + pause > deadline:
                raise problem.error from None
            tell(f"{problem.error.message}; trying again in {pause:.0f} s")
        time.sleep(pause)
        wait = min(2 * wait, _MAX_RETRY_WAIT)


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


# The client.

_CHUNK_BYTES = 256 * 1024
_ROWS_PER_PAGE = 100  # rows per page of the server's list of submissions
_FIRST_WAIT, _MAX_WAIT = 0.2, 5.0  # seconds between polls of a submission
_RANK_SECONDS = 3.0  # seconds that a rank is waited for
#: Final statuses, and "held", which ends when an organizer decides.
_FINAL_STATUSES = {"held", "done", "failed", "canceled", "deleted"}


class ServerError(CaptiousError):
    """The server answered with an error, or could not be reached.

    Args:
        status: HTTP status; 0 if there was no answer.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "", status: int = 0) -> None:
        super().__init__(message, where=where, hint=hint)
        self.status = status


class Client:
    """An evaluation server, seen by one user.

    Args:
        server: its address, such as ``https://challenges.example.org``.
        token: the token of the user, from the account page or ``captious serve token``. None for public data only.

    Raises:
        ParameterError: not an http or https address.
    """

    def __init__(self, server: str, token: str = "") -> None:
        parts = urlsplit(server)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise ParameterError(
                f"{server!r} is not the address of a server", hint="use an address that begins with https:// or http://"
            )
        self._root = server.rstrip("/")
        self._token = token
        self._was_reached = False

    def submit(
        self,
        file: Path,
        challenge: str,
        *,
        method: str,
        phase: str = "",
        team: str = "",
        link: str = "",
        description: str = "",
        public: bool = True,
        anonymous: bool = False,
        may_publish: bool = False,
        fields: Mapping[str, str] | None = None,
        accept_terms: bool = False,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Submit a file of captions.

        Args:
            file: json, or zip with all files of the phase.
            challenge: the challenge, by its slug, as in its address.
            method: name of the method on the leaderboard.
            phase: the phase. By default, the one that is open.
            team: the team. Defaults to your only team.
            link: a paper or repository.
            description: a few sentences about the method.
            public: show the submission on the leaderboard.
            anonymous: do not show the name of the team.
            may_publish: let the organizers publish the captions in an archive of the challenge.
            fields: the values of fields that the challenge declares, by name.
            accept_terms: accept the current terms of the challenge for the team first.
            dry_run: only check the file, and say whether it would be refused now; nothing is submitted, and nothing
                counts.

        Returns:
            The submission as the API shows it; with ``dry_run``,
            ``{"problems": [], "remarks": [...], "warnings": [...]}``, where remarks say why it would be refused now,
            such as a quota that is used up, and warnings what may be a mistake, such as empty captions.

        Raises:
            InputError: the file cannot be read, or its captions are not valid: all problems.
            ServerError: anything else that the server refuses.
        """
        parameters = {
            "filename": file.name,
            "method": method,
            "phase": phase,
            "team": team,
            "link": link,
            "description": description,
            "public": str(int(public)),
            "anonymous": str(int(anonymous)),
            "may_publish": str(int(may_publish)),
            **({"dry_run": "1"} if dry_run else {}),
        }
        pairs = [*parameters.items(), *(("field", f"{name}={value}") for name, value in (fields or {}).items())]
        address = f"/api/v1/challenges/{quote(challenge, safe='')}/submissions?{urlencode(pairs)}"
        key = uuid.uuid4().hex  # so that a repeated upload is not another submission
        if accept_terms:
            self._accept_terms(challenge, team)
        try:
            with file.open("rb") as content:
                size = file.stat().st_size
                with Progress(max(size, 1)) as progress:

                    def send() -> Any:
                        content.seek(0)
                        body = _chunks(content, progress, f"uploading {file.name}")
                        return self._send("POST", address, body, size, key=key, challenge=challenge)

                    return retry(send, lambda why: progress.reach(0, why))
        except OSError as error:
            raise InputError(f"{file} cannot be read", where=error.strerror or str(error)) from None

    def _accept_terms(self, challenge: str, team: str) -> None:
        """Accept the current terms of a challenge, if it has any."""
        address = f"/api/v1/challenges/{quote(challenge, safe='')}/terms"
        try:
            terms = retry(lambda: self._send("GET", address), _ignore)
        except ServerError as error:
            if error.status == 404:  # without terms; an unknown challenge is reported by what follows
                return
            raise
        accepted = f"{address}?{urlencode({'version': terms['version'], 'team': team})}"
        retry(lambda: self._send("POST", accepted), _ignore)

    def challenges(self) -> list[dict[str, Any]]:
        """Return the challenges that the user may see, as the API shows them, the newest first."""
        return retry(lambda: self._send("GET", "/api/v1/challenges"), _ignore)

    def submissions(self, challenge: str) -> list[dict[str, Any]]:
        """Return the submissions of the user's teams to a challenge, as the API shows them, the newest first.

        Args:
            challenge: the challenge, by its slug, as in its address.
        """
        address = f"/api/v1/challenges/{quote(challenge, safe='')}/submissions"
        rows: dict[int, dict[str, Any]] = {}
        for page in count(1):  # a new submission may move others to the next page
            send = partial(self._send, "GET", f"{address}?page={page}", challenge=challenge)
            page_rows: list[dict[str, Any]] = retry(send, _ignore)
            rows |= {row["id"]: row for row in page_rows}
            if len(page_rows) < _ROWS_PER_PAGE:
                break
        return [*rows.values()]

    def quotas(self, challenge: str, team: str = "") -> list[dict[str, Any]]:
        """Return the used and remaining quotas of a team in each phase, as the API shows them.

        Args:
            challenge: the challenge, by its slug, as in its address.
            team: the team. Defaults to your only team.
        """
        address = f"/api/v1/challenges/{quote(challenge, safe='')}/quotas?{urlencode({'team': team})}"
        return retry(lambda: self._send("GET", address, challenge=challenge), _ignore)

    def file(self, number: int) -> bytes:
        """Return the file of a submission as it was uploaded."""
        address = f"/api/v1/submissions/{number}/file"
        content: bytes = retry(lambda: self._send("GET", address, as_file=True), _ignore)
        return content

    def submission(self, number: int) -> dict[str, Any]:
        """Return a submission as the API shows it."""
        return self._submission(number, _ignore)

    def wait(self, number: int) -> dict[str, Any]:
        """Wait until scoring has ended, across short interruptions of the connection; return the submission.

        Its rank, if it has one, follows its scores within seconds.
        """
        wait, rank_deadline = _FIRST_WAIT, math.inf
        with Progress(100) as progress:
            while True:
                submission = self._submission(number, lambda why: progress.reach(progress.done, why))
                if submission["status"] in _FINAL_STATUSES:
                    has_rank = submission["status"] == "done" and submission["public"] and submission["scores"]
                    rank_deadline = min(rank_deadline, time.monotonic() + _RANK_SECONDS)
                    if not has_rank or submission["rank"] is not None or time.monotonic() >= rank_deadline:
                        return submission
                    wait = _FIRST_WAIT
                place = submission.get("place")
                text = f"place {place} in the queue" if place else submission.get("doing") or "waiting"
                progress.reach(submission["progress"], text)
                time.sleep(wait)
                wait = min(wait * 1.3, _MAX_WAIT)

    def _submission(self, number: int, tell: Callable[[str], None]) -> dict[str, Any]:
        return retry(lambda: self._send("GET", f"/api/v1/submissions/{number}"), tell)

    def _send(
        self,
        method: str,
        address: str,
        body: Iterable[bytes] | None = None,
        size: int = 0,
        *,
        key: str = "",
        challenge: str = "",
        as_file: bool = False,
    ) -> Any:
        """Return the answer to one call, as plain values or, with ``as_file``, as bytes.

        Raises:
            TemporaryError: there is no answer, but a retry may help.
            ServerError, InputError: the server refuses it, or cannot be reached.
        """
        headers = {"Accept": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if body is not None:
            kind = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
            headers |= {**kind, "Idempotency-Key": key}
        try:
            status, pause, content = call(self._root + address, method, headers, body)
        except urllib.error.URLError as error:
            unreachable = ServerError(
                f"{self._root} cannot be reached", where=str(error.reason), hint="check the address and try again"
            )
            if self._was_reached:
                raise TemporaryError(unreachable) from None
            raise unreachable from None
        except (OSError, http.client.HTTPException) as error:
            why = str(error) or type(error).__name__
            lost = ServerError(f"the connection to {self._root} was lost", where=why, hint="try again")
            raise TemporaryError(lost) from None
        self._was_reached = True
        if status >= 400:
            refusal = _refusal(status, content, self._root, challenge)
            raise TemporaryError(refusal, pause) if status in _TEMPORARY_STATUSES else refusal
        if as_file:
            return content
        try:
            return json.loads(content)
        except ValueError:
            raise ServerError(
                f"{self._root} does not answer like an evaluation server", hint=_check_address(self._root)
            ) from None


def _ignore(why: str) -> None:
    """Ignore progress, for short calls."""


def _chunks(content: IO[bytes], progress: Progress, text: str) -> Iterator[bytes]:
    n_bytes = 0
    while chunk := content.read(_CHUNK_BYTES):
        yield chunk
        n_bytes += len(chunk)
        progress.reach(n_bytes, text)


def _refusal(status: int, content: bytes, root: str, challenge: str) -> CaptiousError:
    try:
        answer = json.loads(content)
        message = str(answer.get("error", "The captions are not valid."))
    except (ValueError, AttributeError):
        return ServerError(f"{root} answered with status {status}", hint=_check_address(root), status=status)
    if status == 404 and challenge:
        return ServerError(
            f"there is no challenge {challenge!r} on {root}, or you do not have access to it",
            hint="use the name in its address, /challenges/NAME/",
            status=404,
        )
    problems = answer.get("problems") or []
    if problems:
        return InputError(
            message.rstrip("."),
            where="\n".join(map(_as_text, problems)),
            hint=f"correct the file; {option('dry_run')} only checks it",
        )
    return ServerError(message.rstrip("."), where=root, status=status)


def _check_address(root: str) -> str:
    parts = urlsplit(root)
    return (
        f"use the address of the site, such as {parts.scheme}://{parts.netloc}" if parts.path else "check the address"
    )


def _as_text(problem: dict[str, Any]) -> str:
    ids = ", ".join(map(str, problem.get("ids", [])))
    ellipsis = ", ..." if problem.get("n", 0) > len(problem.get("ids", [])) > 0 else ""
    place = f"{problem['file']}: " if problem.get("file") else ""
    return f"{place}{problem['message']}{f' Images: {ids}{ellipsis}' if ids else ''}"
