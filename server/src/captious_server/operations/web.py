"""The web server: waitress with deadlines, limits, fair shares for senders, and separate threads for slow requests."""

from __future__ import annotations

import json
import logging
import re
import resource
import socket
import struct
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from typing import Any, Generic, TypeVar

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher, WSGITask
from waitress.utilities import Error

from captious_server.settings import (
    ARRIVAL_KEY,
    ServerSettings,
    client_address,
    is_upload,
    max_request_bytes,
    network,
    sender,
)

# Answers that the web server gives without the application.

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title></head>
<body><main><h1>{title}</h1><p>{message}</p><p><a href="/">Challenges</a></p></main></body>
</html>
"""


class Refusal(Error):
    """A refusal: JSON for programs, otherwise a page."""

    def __init__(self, status: HTTPStatus, message: str, *, as_json: bool) -> None:
        super().__init__(message)
        self.code, self.reason = status.value, status.phrase
        self._as_json = as_json

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        kind, text = "text/html", _PAGE.format(title=self.reason, message=escape(self.body))
        if self._as_json:
            kind, text = "application/json", json.dumps({"error": self.body})
        headers = [("Content-Type", f"{kind}; charset=utf-8")]
        if self.code in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
            headers.append(("Retry-After", "30"))
        return f"{self.code} {self.reason}", headers, text.encode()


# Shares of limited resources: the largest holder is refused first, so that few cannot keep others out.

T = TypeVar("T")


@dataclass(frozen=True)
class Holding(Generic[T]):
    """A part of a limited resource.

    Args:
        item: the holder.
        owner: the party that it counts for.
        amount: the amount held.
        can_end: whether the holding can be ended.
    """

    item: T
    owner: str
    amount: int
    can_end: bool = True


def surplus(holdings: Iterable[Holding[T]], limit: float, share: float) -> list[T]:
    """The items to end so that all owners together hold ``limit`` at most, and each owner ``share``.

    The latest holding of the largest owner is ended first. Holdings that cannot end count, but owners
    of less than an equal part of ``limit`` lose nothing for them; the total may then exceed ``limit``.

    Args:
        holdings: the holdings in order of arrival.
    """
    totals: defaultdict[str, int] = defaultdict(int)
    removable: defaultdict[str, list[Holding[T]]] = defaultdict(list)
    for holding in holdings:
        totals[holding.owner] += holding.amount
        if holding.can_end and holding.amount:
            removable[holding.owner].append(holding)
    items, total = [], sum(totals.values())
    equal_part = limit / max(len(totals), 1)
    while removable:
        owner = max(removable, key=lambda name: totals[name])
        if totals[owner] <= (share if total <= limit else min(share, equal_part)):
            break
        holding = removable[owner].pop()
        if not removable[owner]:
            del removable[owner]
        items.append(holding.item)
        totals[owner] -= holding.amount
        total -= holding.amount
    return items


# The threads of the web server, in which senders take turns.

_Owner = tuple[str, str]


class TurnThreads(ThreadedTaskDispatcher):
    """Answers requests in order of arrival, but only some of each party at the same time.

    Args:
        n: number of threads.
        limits: requests of a party that are answered at the same time; its others come after those of other parties. A
            request may belong to parties of several kinds, such as an account and an address.
    """

    def __init__(self, n: int, *limits: int) -> None:
        super().__init__()
        self._gates = [_Gate(limit) for limit in limits]
        self.set_thread_count(n)

    def add(self, channel: HTTPChannel, *parties: str, begin: Callable[[], bool] = lambda: True) -> None:
        """Queue the first request of a connection for an answer.

        Args:
            parties: one party of each kind.
            begin: called first; returns whether an answer is still wanted.
        """
        self._pass(PendingRequest(self, channel, parties, begin), 0)

    def end(self, turn: PendingRequest) -> None:
        """A party's next request goes to the end of the queue."""
        for i in reversed(range(len(self._gates))):
            if (successor := self._gates[i].leave(turn.parties[i])) is not None:
                self._pass(successor, i + 1)

    def _pass(self, turn: PendingRequest, start: int) -> None:
        for gate, party in zip(self._gates[start:], turn.parties[start:], strict=True):
            if not gate.enter(party, turn):
                return
        self.add_task(turn)


class _Gate:
    """Lets some requests of each party pass; others follow when one of these has ended."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._mutex = threading.Lock()
        self._passed: Counter[str] = Counter()
        self._queues: defaultdict[str, deque[PendingRequest]] = defaultdict(deque)

    def enter(self, party: str, turn: PendingRequest) -> bool:
        """Return whether the request passes now."""
        with self._mutex:
            passes = self._passed[party] < self._limit
            if passes:
                self._passed[party] += 1
            else:
                self._queues[party].append(turn)
            return passes

    def leave(self, party: str) -> PendingRequest | None:
        """Record the end of a task; return the task that takes its place."""
        with self._mutex:
            if self._queues[party]:
                return self._queues[party].popleft()
            del self._queues[party]
            self._passed[party] -= 1
            if not self._passed[party]:
                del self._passed[party]
            return None


@dataclass(frozen=True)
class PendingRequest:
    """A task, as waitress defines it."""

    threads: TurnThreads
    channel: HTTPChannel
    parties: tuple[str, ...]
    begin: Callable[[], bool]

    def service(self) -> None:
        try:
            if self.begin():
                self.channel.service()
        finally:
            self.threads.end(self)

    def cancel(self) -> None:
        self.channel.cancel()


class UploadThreads:
    """Answers uploads, of each sender one at a time, and of each address as many as there are threads.

    Args:
        n: number of threads.
        places: number of uploads that may wait. If all places are taken, an upload of a sender with few places replaces
            the latest one of the sender with the most.
        share: of these, one sender and one address may have ``places / share`` each.
    """

    def __init__(self, n: int, places: int, share: int) -> None:
        self._threads = TurnThreads(n, 1, n)
        self._places, self._places_per_owner = places, max(places // share, 1)
        self._mutex = threading.Lock()
        self._waiting: dict[HTTPChannel, tuple[_Owner, _Owner]] = {}  # latest last
        self._taken: Counter[_Owner] = Counter()  # number of places

    def add(self, channel: HTTPChannel, sender: str, address: str) -> list[HTTPChannel]:
        """Queue the first request of a connection for an answer.

        Returns:
            The connections whose upload has no place: this one, another one that waited until now, or none.
        """
        owners = (("sender", sender), ("address", address))
        channels: list[HTTPChannel] = []
        with self._mutex:
            n = max(self._taken[owner] for owner in owners)
            if n >= self._places_per_owner:
                return [channel]
            if len(self._waiting) >= self._places:
                largest, n_largest = self._taken.most_common(1)[0]
                if n_largest <= n + 1:
                    return [channel]
                channels.append(
                    next(
                        waiting_channel
                        for waiting_channel in reversed(self._waiting)
                        if largest in self._waiting[waiting_channel]
                    )
                )
                self._leave(channels[0])
            self._waiting[channel] = owners
            self._taken.update(owners)

        def begin() -> bool:
            with self._mutex:
                return self._leave(channel)

        self._threads.add(channel, sender, address, begin=begin)
        return channels

    def _leave(self, channel: HTTPChannel) -> bool:
        """Give up a place; False if it had none."""
        owners = self._waiting.pop(channel, None)
        if owners is None:
            return False
        self._taken.subtract(owners)
        self._taken = +self._taken
        return True


# Slow pages, which have their own threads in the web server.

_PASSWORD_PATHS = re.compile(
    r"/sign-(in|up|in/connect)|/account/(|password|mail|delete|second-step)|/account/reset/[^/]+/[^/]+/"
    r"|/admin/captious/user/.*"
)
_SLOW_PATHS = re.compile(
    r"(/api/v1)?/challenges/[^/]+/(captions(/.+)?|compare)|/submissions/\d+/(scores/.+)?|/api/v1/submissions/\d+/scores"
    r"|/sign-in/with/.+"
)


def takes_long(path: str) -> bool:
    """Return whether a page is slow because it computes something or calls another site."""
    return _SLOW_PATHS.fullmatch(path) is not None


def hashes_password(method: str, path: str) -> bool:
    """Return whether a password is hashed to answer a request."""
    return method == "POST" and _PASSWORD_PATHS.fullmatch(path) is not None


# The web server: waitress, which hands a request to a thread only when all of it has arrived.
#
# However slowly clients send, they occupy a socket and no thread. This module adds features missing in waitress: a
# deadline by which a request must have arrived (408), size limits that depend on the address of a page (413), a limit
# on concurrent requests (429), and separate threads for uploads, passwords and slow pages. Pipelined requests of a
# client are answered one by one, those of an address in half of the threads, and a client that stops reading is
# disconnected. No address can take all connections, or fill the disk with unread answers.

_log = logging.getLogger(__name__)
_REQUEST_SECONDS = 30  # seconds within which a request without captions must arrive
_SILENCE_SECONDS = 60  # seconds without a byte after which a connection is closed
_SHORT_DRAIN_SECONDS = 2  # seconds for which input is drained after a refusal if connections are scarce
_STUCK_SECONDS = 30  # seconds after which a client that reads nothing of an answer is disconnected
_SEND_BUFFER_BYTES = 128 * 1024  # bytes of an answer in the socket buffer
_HEADER_BYTES, _LINE_BYTES, _MAX_FIELDS = 64 * 1024, 8190, 100
_MAX_CONNECTIONS = 4000
_FILES_PER_CONNECTION = 3  # file descriptors per connection: a socket, a request and an answer on disk
_UPLOAD_PLACES = 400  # uploads that may wait for a thread
_CONCURRENT_UPLOADS = 20  # uploads of the largest size that may arrive at the same time
_MAX_UNREAD_BYTES = 2 << 30  # bytes of unread answers
_ERROR_PAUSE_SECONDS = 0.1  # seconds to pause after an error of no particular connection
_SHARE = 4  # share of all connections for one address, and of waiting uploads for one account

_Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class _Request(HTTPRequestParser):
    """A request, which may be refused before its body is read."""

    path = ""
    first_line = b""

    def __init__(self, adjustments: Adjustments) -> None:
        super().__init__(adjustments)
        self.began, self.arrival_time = time.monotonic(), time.time()

    @property
    def brings_captions(self) -> bool:
        return bool(self.headers_finished and is_upload(self.path) and self.content_length > 0)

    def received(self, data: bytes) -> int:
        try:
            return int(super().received(data))
        except ValueError:  # waitress checks neither ports and addresses in URLs nor the length of numbers
            self.refuse(HTTPStatus.BAD_REQUEST, "The request is not valid.")
            return len(data)

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        if self.path.startswith("/"):
            self.path = "/" + self.path.lstrip("/")  # as seen by the application
        limit = max_request_bytes(self.path, self.adj.upload_bytes)
        if len(self.first_line) > _LINE_BYTES:
            self.refuse(HTTPStatus.REQUEST_URI_TOO_LONG, "The address is too long.")
        elif header_plus.count(b"\n") > _MAX_FIELDS:
            self.refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "There are too many headers.")
        elif self.chunked:
            self.refuse(HTTPStatus.LENGTH_REQUIRED, "Send the size of the file in the Content-Length header.")
        elif self.content_length > limit:
            noun = "Uploads" if is_upload(self.path) else "Forms"
            self.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{noun} may have up to {limit // 2**20:,} MiB.")

    def refuse(self, status: HTTPStatus, message: str) -> None:
        """Answer with an error, and stop reading."""
        self.error = Refusal(status, message, as_json=self.path.startswith("/api/"))
        self.body_rcv, self.chunked, self.content_length = None, False, 0
        self.expect_continue = False
        self.completed = True


class _Task(WSGITask):
    """Tells the application when the first byte of a request arrived: uploads may take minutes, and wait for others."""

    request: _Request

    def get_environment(self) -> dict[str, Any]:
        environment: dict[str, Any] = super().get_environment()
        environment[ARRIVAL_KEY] = self.request.arrival_time
        return environment


class _Channel(HTTPChannel):
    """A connection, on which one request is read and answered at a time.

    Later input is kept until the answer is sent, so a client that sends requests and reads no answers occupies no more
    than one that sends a single request. After a refusal, further input is drained for a while: a connection that is
    closed earlier is reset, and clients lose the answer.
    """

    parser_class = _Request
    task_class = _Task
    request: _Request | None
    server: WebServer
    sent_continue: bool
    is_refused = False
    #: Seconds for which input is drained after a refusal.
    drain_seconds = _REQUEST_SECONDS
    _drain_end = 0.0  # time.monotonic of the refusal, else 0
    _stuck_since = 0.0  # time.monotonic since the client has stopped reading, else 0
    _next_input = b""  # input after the request that is being answered

    def __init__(
        self, server: WebServer, connection: socket.socket, address: Any, *arguments: Any, **options: Any
    ) -> None:
        self.peer = network(str(address[0]))
        #: The parties that requests and answers on this connection count for.
        self.owner = self.peer
        super().__init__(server, connection, address, *arguments, **options)
        server.connections[self.peer] += 1

    def del_channel(self, map: Any = None) -> None:
        if self._fileno in self.server.active_channels:
            self.server.connections[self.peer] -= 1
            if not self.server.connections[self.peer]:
                del self.server.connections[self.peer]
        super().del_channel(map)

    @property
    def unread_bytes(self) -> int:
        """Bytes of an answer that the client has not read yet; files are not copied."""
        buffers = [part for part in [*self.outbufs] if not isinstance(part, ReadOnlyFileBasedBuffer)]
        return sum(len(part) for part in buffers) if self.connected else 0

    def handle_close(self) -> None:
        if self.is_refused and not self._drain_end:
            self._drain_end = time.monotonic() + self.drain_seconds
            self.will_close = False
            with suppress(OSError):  # the client may have disconnected
                self.socket.shutdown(socket.SHUT_WR)
                return
        super().handle_close()

    def readable(self) -> bool:
        if self._drain_end:
            return True
        if self._next_input and super().readable():  # the answer is sent
            data, self._next_input = self._next_input, b""
            try:
                self.received(data)
            except Exception:  # as waitress does when it reads: an error ends only its own connection
                self.handle_error()
        return bool(super().readable())

    def send(self, data: bytes, do_close: bool = True) -> int:
        n_bytes = int(super().send(data, do_close))
        self._stuck_since = 0.0 if n_bytes else self._stuck_since or time.monotonic()
        return n_bytes

    @property
    def is_busy(self) -> bool:
        """Whether a request arrives, is answered, or its answer is being sent."""
        return not self._drain_end and bool(self.request or self.requests or self.writable())

    def disconnect_if_stuck(self) -> None:
        """Close the connection if its client has read nothing for a while, and stop writers that wait for it."""
        if self._drain_end and time.monotonic() > self._drain_end:
            self.will_close = True
        if self._stuck_since:
            self._flush_exception(self._flush_some_if_lockable, do_close=False)  # poll waits for a lot of space
        if self._stuck_since and time.monotonic() - self._stuck_since > _STUCK_SECONDS:
            self.disconnect()

    def disconnect(self) -> None:
        """Close the connection at once, dropping unsent data."""
        with suppress(OSError):  # including data in the socket buffer
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        super().handle_close()

    def handle_read(self) -> None:
        if not self._drain_end:
            super().handle_read()
        elif self.recv(self.adj.recv_bytes) and time.monotonic() > self._drain_end:
            super().handle_close()

    def received(self, data: bytes) -> bool:
        try:
            return self._read_request(data)
        except OSError:
            _log.exception("a request cannot be stored")
            self.refuse(HTTPStatus.SERVICE_UNAVAILABLE, "The server cannot do this at the moment. Try again later.")
            return False

    def _read_request(self, data: bytes) -> bool:
        """Read data as waitress does, but only up to the end of one request."""
        with self.requests_lock:
            if self.will_close or self.close_when_flushed:
                return False
            while data and not self.requests:
                request = self.request = self.request or self.parser_class(self.adj)
                is_new = not request.headers_finished
                data = data[request.received(data) :]
                if is_new and request.headers_finished:
                    self.server.refuse_if_too_many(self, request)
                if request.expect_continue and request.headers_finished and not self.sent_continue:
                    self.send_continue()
                if request.completed:
                    self.sent_continue, self.request = False, None
                    if not request.empty:
                        self.requests.append(request)
                        self.server.add_task(self)
            self._next_input = data
        return True

    def refuse(self, status: HTTPStatus, message: str) -> None:
        """Refuse the request that is arriving."""
        with self.requests_lock:
            request, self.request = self.request, None
            if request is None:
                return
            if (body := request.body_rcv) is not None:
                body.getbuf().close()
            request.refuse(status, message)
            self.requests.append(request)
            self.server.add_task(self)


class WebServer(TcpWSGIServer):
    """Serves an application on a socket.

    Args:
        application: WSGI.
        listener: a socket that is bound to its address.
        settings: of the server.
    """

    channel_class = _Channel

    def __init__(self, application: _Application, listener: socket.socket, settings: ServerSettings) -> None:
        self._settings = settings
        #: How many connections each peer has.
        self.connections: Counter[str] = Counter()
        self._uploads = UploadThreads(settings.concurrent_reads, _UPLOAD_PLACES, _SHARE)
        self._passwords = TurnThreads(settings.concurrent_passwords, 1)
        self._computing = TurnThreads(max(settings.web_threads // 4, 1), 1)
        self._pages = TurnThreads(settings.web_threads, max(settings.web_threads // 2, 1))
        adjustments = Adjustments(
            sockets=[listener],
            threads=settings.web_threads,
            connection_limit=_connections(),
            channel_timeout=_SILENCE_SECONDS,
            cleanup_interval=1,
            asyncore_loop_timeout=1,
            asyncore_use_poll=True,
            recv_bytes=64 * 1024,
            outbuf_high_watermark=256 * 1024 * 1024,  # answers are buffered on disk instead of blocking a thread
            max_request_header_size=_HEADER_BYTES,
            max_request_body_size=1 << 62,  # per address
            log_socket_errors=False,
            clear_untrusted_proxy_headers=not settings.behind_proxy,
            ident=None,
        )
        adjustments.socket_options = [
            *adjustments.socket_options,
            (socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES),
        ]
        adjustments.upload_bytes = settings.upload_bytes
        super().__init__(
            application,
            _sock=listener,
            dispatcher=self._pages,
            adj=adjustments,
            sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
            bind_socket=False,
        )

    def serve(self, stop: threading.Event, grace: float) -> None:
        """Serve until told to stop; answers in progress are finished within ``grace``."""
        while not stop.is_set():
            self._turn()
        self.accepting = False
        self.del_channel()
        self.socket.close()
        deadline = time.monotonic() + grace
        while time.monotonic() < deadline and any(
            channel.requests or channel.writable() for channel in self.active_channels.values()
        ):
            self._turn()

    def _turn(self) -> None:
        try:
            wasyncore.loop(timeout=self.adj.asyncore_loop_timeout, use_poll=True, map=self._map, count=1)
        except Exception:  # an error of one connection must not end the others
            _log.exception("a turn of the web server failed")
            time.sleep(_ERROR_PAUSE_SECONDS)

    def set_socket_options(self, conn: socket.socket) -> None:
        """waitress calls this for a new connection, and treats an error as the end of the connection."""
        super().set_socket_options(conn)
        peer = network(str(conn.getpeername()[0]))
        if not self._settings.behind_proxy and self.connections[peer] >= self.adj.connection_limit / _SHARE:
            conn.close()
            raise OSError("too many connections of one address")

    def refuse_if_too_many(self, channel: _Channel, request: _Request) -> None:
        """Refuse a request that came through a proxy if those of its address have their share of all connections."""
        channel.owner = owner = self._network(channel, request)
        if owner == channel.peer:
            return
        n = sum(connection.owner == owner and connection.is_busy for connection in self.active_channels.values())
        if n > self.adj.connection_limit / _SHARE:
            channel.drain_seconds = _SHORT_DRAIN_SECONDS
            request.refuse(HTTPStatus.TOO_MANY_REQUESTS, "There are too many requests at once. Try again in a minute.")

    def add_task(self, channel: _Channel) -> None:
        """Queue the first request of a connection for an answer."""
        request = channel.requests[0]
        channel.owner = owner = self._network(channel, request)
        channel.is_refused = request.error is not None
        if not channel.is_refused and request.brings_captions:
            for other in self._uploads.add(channel, sender(request.path, request.headers) or owner, owner):
                other.is_refused = True
                other.requests[0].refuse(
                    HTTPStatus.TOO_MANY_REQUESTS, "There are too many uploads at once. Try again in a minute."
                )
                self._pages.add(other, other.owner)
            return
        self._threads_for(request).add(channel, owner)

    def _threads_for(self, request: _Request) -> TurnThreads:
        if request.error is not None:
            return self._pages
        if hashes_password(request.command, request.path):
            return self._passwords
        return self._computing if takes_long(request.path) else self._pages

    def maintenance(self, now: float) -> None:
        """waitress calls this once a second, and sends nothing until it returns."""
        channels = [*self.active_channels.values()]
        for channel in channels:
            channel.disconnect_if_stuck()
            if (request := channel.request) is None:
                continue
            seconds = self._settings.upload_seconds if request.brings_captions else _REQUEST_SECONDS
            if time.monotonic() - request.began > seconds:
                channel.refuse(
                    HTTPStatus.REQUEST_TIMEOUT, f"The request took longer than {seconds:,} seconds to arrive."
                )
            elif now - channel.last_activity > _SILENCE_SECONDS:
                channel.refuse(HTTPStatus.REQUEST_TIMEOUT, f"Nothing arrived for {_SILENCE_SECONDS} s.")
        max_bytes = _CONCURRENT_UPLOADS * self._settings.upload_bytes
        for channel in surplus(map(self._upload_holding, channels), max_bytes, max_bytes / _SHARE):
            channel.refuse(HTTPStatus.TOO_MANY_REQUESTS, "Too many uploads are in progress. Try again in a minute.")
        unread = (Holding(channel, channel.owner, channel.unread_bytes) for channel in channels)
        for channel in surplus(unread, _MAX_UNREAD_BYTES, _MAX_UNREAD_BYTES / _SHARE):
            channel.disconnect()
        super().maintenance(now)  # closes connections without a request

    def _upload_holding(self, channel: _Channel) -> Holding[_Channel]:
        """The unanswered bytes on a connection; only an incomplete request can be refused."""
        request = channel.request
        requests = [*channel.requests, *([request] if request is not None else [])]
        owner = self._network(channel, requests[0]) if requests else channel.owner
        n_bytes = sum(part.body_bytes_received for part in requests)
        return Holding(channel, owner, n_bytes, can_end=request is not None)

    def _network(self, channel: _Channel, request: _Request) -> str:
        """The address of a request, as counted by limits."""
        forwarded_for = str(request.headers.get("X_FORWARDED_FOR", ""))
        return network(client_address(str(channel.addr[0]), forwarded_for, behind_proxy=self._settings.behind_proxy))


def _connections() -> int:
    """The number of connections that the limit of open files allows, after it is raised as far as possible."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY:
        hard = max(soft, 1 << 16)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return min(_MAX_CONNECTIONS, max(hard // _FILES_PER_CONNECTION - 100, 50))
