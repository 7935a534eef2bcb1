"""Connections that send or read slowly or not at all, and long uploads: pages are answered all the same."""

from __future__ import annotations

import errno
import json
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep, time
from typing import Any

import pytest

from captious_server.operations import web
from captious_server.operations.processes import listen
from captious_server.settings import ARRIVAL_KEY, ServerSettings

UPLOAD = "/api/v1/challenges/open/submissions"
COMPUTING = "/challenges/open/captions/1"
LARGE = 32  # MiB


class Door:
    """The web server in this process, with two threads for pages, one for uploads, and an application that has none.

    Attributes:
        hold: uploads, and pages that take long, are answered only when it is set.
        began: is set when one of them has reached the application.
        n_large: how many large answers were begun.
        addresses: from which requests came, as a proxy says.
        arrived: when they did, as the application is told.
    """

    def __init__(self, data: Path, **settings: Any) -> None:
        self.hold, self.began, self.stop = threading.Event(), threading.Event(), threading.Event()
        self.n_large = 0
        self.addresses: list[str] = []
        self.arrival_time: list[float] = []
        self._connections: list[socket.socket] = []
        listener = listen("127.0.0.1", 0)
        self.port = listener.getsockname()[1]
        settings = {"web_threads": 2, "concurrent_reads": 1, "upload_mebibytes": 2, **settings}
        self.server = web.WebServer(self._answer, listener, ServerSettings(data=data, **settings))
        self.server.adj.cleanup_interval = self.server.adj.asyncore_loop_timeout = 0.1  # not to wait for whole seconds
        self.thread = threading.Thread(target=self.server.serve, args=(self.stop, 30), daemon=True)
        self.thread.start()

    def _answer(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        body = environ["wsgi.input"].read()
        self.arrival_time.append(environ[ARRIVAL_KEY])
        if environ["PATH_INFO"] in {UPLOAD, "/held", "/sign-in", COMPUTING}:
            self.began.set()
            self.hold.wait(60)
        if environ["PATH_INFO"] == "/large":
            self.n_large += 1
            start_response("200 OK", [("Content-Length", str(LARGE << 20))])
            return (bytes(1 << 20) for _ in range(LARGE))
        self.addresses.append(environ.get("HTTP_X_FORWARDED_FOR", ""))
        start_response("200 OK", [("Content-Length", "4")])
        return [b"%4d" % (len(body) % 1000)]

    def close(self) -> None:
        self.hold.set()
        self.stop.set()
        self.server.pull_trigger()
        for connection in self._connections:
            connection.close()  # before the server waits for answers to be taken
        self.thread.join(60)
        for connection in [*self.server.active_channels.values()]:
            connection.handle_close()
        self.server.close()

    def connect(self, sent: bytes = b"", buffer: int = 0, address: str = "127.0.0.1") -> socket.socket:
        connection = socket.socket()
        self._connections.append(connection)
        if buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.settimeout(60)
        connection.bind((address, 0))
        connection.connect(("127.0.0.1", self.port))
        connection.sendall(sent)
        return connection

    def page(self, address: str = "127.0.0.1") -> int:
        with self.connect(get("/", last=True), address=address) as connection:
            return answer(connection)[0]


def upload(size: int = 3, path: str = UPLOAD, body: bytes | None = None) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n"
    return head.encode() + (bytes(size) if body is None else body)


def get(path: str, *, last: bool = False) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n{'Connection: close' if last else 'X: y'}\r\n\r\n".encode()


def answer(connection: socket.socket) -> tuple[int, bytes]:
    """What is received until the server closes: its status, and all of it."""
    received = bytearray()
    while more := connection.recv(65536):
        received += more
    status = re.match(rb"HTTP/1\.\d (\d+)", received)
    return int(status[1]) if status else 0, bytes(received)


@pytest.fixture
def new_door(tmp_path: Path) -> Iterator[Callable[..., Door]]:
    doors: list[Door] = []

    def make(**settings: Any) -> Door:
        doors.append(Door(tmp_path, **settings))
        return doors[-1]

    yield make
    for each in doors:
        each.close()


@pytest.mark.parametrize(
    "second",
    [
        b"GET http://[/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"\xff\r\n\r\n",
    ],
    ids=["address", "length", "bytes"],
)
def test_unreadable_request_ends_only_its_connection(new_door: Callable[..., Door], second: bytes) -> None:
    door = new_door()
    for sent in (second, get("/") + second):
        status, received = answer(door.connect(sent))
        assert (status, received.count(b"HTTP/1.")) in {(400, 1), (200, 2)}
    assert door.thread.is_alive()
    assert door.page() == 200


@pytest.mark.parametrize("path", ["//sign-in", "///sign-in", "http://x//sign-in"])
def test_extra_slashes_do_not_change_the_thread_pool(new_door: Callable[..., Door], path: str) -> None:
    """Passwords are hashed one at a time, however the address is written."""
    door = new_door()
    for _ in range(4):
        door.connect(upload(path=path))
    assert door.began.wait(60)
    assert door.page() == 200


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", upload(100, "/sign-in", b"x"), upload(100, body=b"x")]
)
def test_unfinished_requests_occupy_no_thread(new_door: Callable[..., Door], sent: bytes) -> None:
    door = new_door()
    for _ in range(20):
        door.connect(sent)
    assert [door.page() for _ in range(3)] == [200] * 3


@pytest.mark.parametrize(
    ("sent", "more"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ", b"x"),
        (upload(100, "/sign-in", b"x"), b"x"),
        (upload(100, body=b"x"), b"x"),
        (upload(100, body=b"x"), b""),
    ],
)
def test_slow_requests_end_with_408(
    new_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch, sent: bytes, more: bytes
) -> None:
    """Sending a little now and then does not help."""
    monkeypatch.setattr(web, "_REQUEST_SECONDS", 1)
    with new_door(upload_seconds=1).connect(sent) as connection:
        connection.settimeout(0.3)
        for _ in range(100):
            try:
                status, received = answer(connection)
                break
            except TimeoutError:
                connection.sendall(more)
    assert status == 408
    if UPLOAD.encode() in sent:
        assert json.loads(received.partition(b"\r\n\r\n")[2])["error"]


def test_uploads_have_a_longer_time_limit(new_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "_REQUEST_SECONDS", 0.5)
    door = new_door(upload_seconds=600)
    door.hold.set()
    with door.connect(upload(6, body=b"x")) as connection, door.connect(upload(6, "/sign-in", b"x")) as form:
        assert answer(form)[0] == 408
        connection.sendall(b"xxxxx")
        assert answer(connection)[0] == 200


def test_uploads_do_not_share_threads_with_pages(new_door: Callable[..., Door]) -> None:
    door = new_door()
    uploads = [door.connect(upload()) for _ in range(5)]
    assert door.began.wait(60)
    assert door.page() == 200
    door.hold.set()
    assert [answer(each)[0] for each in uploads] == [200] * 5


def test_senders_of_uploads_take_turns(new_door: Callable[..., Door]) -> None:
    """Uploads of one sender leave a thread to others."""
    door = new_door(concurrent_reads=2)

    def send(token: str) -> socket.socket:
        return door.connect(upload().replace(b"Host: x", f"Host: x\r\nAuthorization: Bearer {token}".encode()))

    first = [send("ann") for _ in range(4)]
    assert door.began.wait(60)
    door.began.clear()
    assert not door.began.wait(0.3)
    other = send("bob")
    assert door.began.wait(60)
    door.hold.set()
    assert [answer(connection)[0] for connection in [*first, other]] == [200] * 5


def test_many_tokens_of_one_address_wait_for_others(new_door: Callable[..., Door]) -> None:
    """Accounts can have any number of tokens, so the queue holds as many uploads of an address as there are threads."""
    door = new_door(behind_proxy=True)

    def send(token: str, address: str) -> socket.socket:
        head = f"Host: x\r\nX-Forwarded-For: {address}\r\nAuthorization: Bearer {token}"
        return door.connect(upload().replace(b"Host: x", head.encode()))

    many = [send(f"token {n}", "192.0.2.1") for n in range(4)]
    assert door.began.wait(60)
    while len(door.server._uploads._waiting) < 3:
        sleep(0.01)
    other = send("other", "192.0.2.2")
    while len(door.server._uploads._waiting) < 4:
        sleep(0.01)
    door.hold.set()
    assert [answer(each)[0] for each in [*many, other]] == [200] * 5
    assert door.addresses == ["192.0.2.1", "192.0.2.2", *["192.0.2.1"] * 3]


def test_uploads_beyond_the_queue_are_refused(new_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "_UPLOAD_PLACES", 1)
    door = new_door()
    uploads = [door.connect(upload())]
    assert door.began.wait(60)
    uploads += [door.connect(upload()) for _ in range(2)]
    status, received = answer(uploads[2])
    assert (status, b"Retry-After: 30" in received) == (429, True)
    door.hold.set()
    assert [answer(each)[0] for each in uploads[:2]] == [200] * 2


@pytest.mark.parametrize(
    ("token", "address"),
    [("ann", "192.0.2.{}"), ("token {}", "192.0.2.1"), ("token {}", "2001:db8::{}")],
    ids=["an account", "an address", "a network of IPv6"],
)
def test_one_sender_cannot_fill_the_queue(
    new_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch, token: str, address: str
) -> None:
    """One account or address may hold two of eight places; the rest are left to others."""
    monkeypatch.setattr(web, "_UPLOAD_PLACES", 8)
    door = new_door(behind_proxy=True)

    def send(token: str, address: str) -> socket.socket:
        head = f"Host: x\r\nX-Forwarded-For: {address}\r\nAuthorization: Bearer {token}"
        return door.connect(upload().replace(b"Host: x", head.encode()))

    taken = [send("first", "198.51.100.1")]  # has the thread
    assert door.began.wait(60)
    taken += [send(token.format(n), address.format(n)) for n in range(1, 3)]
    assert answer(send(token.format(3), address.format(3)))[0] == 429
    taken.append(send("other", "198.51.100.2"))
    assert door.page() == 200
    door.hold.set()
    assert [answer(each)[0] for each in taken] == [200] * 4
    assert answer(send(token.format(4), address.format(4)))[0] == 200


def test_few_addresses_cannot_fill_the_queue(new_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch) -> None:
    """When four have two places each, somebody else gets that of the last upload of one of them."""
    monkeypatch.setattr(web, "_UPLOAD_PLACES", 8)
    door = new_door(behind_proxy=True)

    def send(n: int) -> socket.socket:
        head = f"Host: x\r\nX-Forwarded-For: 192.0.2.{n}\r\nAuthorization: Bearer token {n}"
        return door.connect(upload().replace(b"Host: x", head.encode()))

    first = send(0)  # has the thread
    assert door.began.wait(60)
    taken = [send(n) for n in (1, 2, 3, 4, 1, 2, 3, 4)]
    while len(door.server._uploads._waiting) < 8:
        sleep(0.01)
    other = send(5)
    assert answer(taken[4])[0] == 429
    assert answer(send(2))[0] == 429
    door.hold.set()
    assert [answer(each)[0] for each in [first, *taken[:4], *taken[5:], other]] == [200] * 9


def test_one_address_cannot_take_all_connections(
    new_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have a quarter; closed ones make room. Connections of a proxy share its address."""
    monkeypatch.setattr(web, "_MAX_CONNECTIONS", 40)
    door = new_door()
    idle = [door.connect(b"GET ") for _ in range(30)]
    assert door.page("127.0.0.2") == 200
    ended = [each for each in idle if is_closed(each)]
    assert len(ended) == 20
    assert ended == idle[10:]
    idle[0].close()
    while door.server.connections["127.0.0.1"] == 10:
        sleep(0.01)
    assert door.page() == 200
    proxied = new_door(behind_proxy=True)
    for _ in range(20):
        proxied.connect(b"GET ")
    assert proxied.page() == 200


@pytest.mark.parametrize("sent", [upload(100, body=b"x"), get("/large", last=True)], ids=["uploads", "answers"])
def test_one_address_through_a_proxy_cannot_take_all_connections(
    new_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    """Idle connections, as a proxy keeps them, do not count."""
    monkeypatch.setattr(web, "_MAX_CONNECTIONS", 40)
    monkeypatch.setattr(web, "_SHORT_DRAIN_SECONDS", 0.3)
    door = new_door(behind_proxy=True, web_threads=8)
    taken = [door.connect(sent.replace(b"Host: x", b"X-Forwarded-For: 192.0.2.1"), buffer=4096) for _ in range(80)]
    with door.connect(get("/", last=True).replace(b"Host: x", b"X-Forwarded-For: 192.0.2.2")) as other:
        assert answer(other)[0] == 200
    assert [answer(each)[0] for each in taken[10:40]] == [429] * 30


def is_closed(connection: socket.socket) -> bool:
    connection.settimeout(0.05)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.slow  # answers of 32 MiB
def test_unread_answers_do_not_fill_the_disk(new_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch) -> None:
    """One address may have two unread answers of 32 MiB."""
    monkeypatch.setattr(web, "_MAX_UNREAD_BYTES", 4 * 80 << 20)
    door = new_door()
    slow = [door.connect(get("/large"), buffer=4096) for _ in range(3)]
    other = door.connect(get("/large", last=True), address="127.0.0.2")
    for _ in range(600):
        if len(door.server.active_channels) == 3:
            break
        for each in slow:
            each.settimeout(0.01)
            with suppress(OSError):
                each.recv(1)
        sleep(0.05)
    assert sum(channel.owner == "127.0.0.1" for channel in door.server.active_channels.values()) == 2
    assert len(answer(other)[1]) > LARGE << 20


def test_application_knows_when_a_request_began_to_arrive(new_door: Callable[..., Door]) -> None:
    """Not when it was complete, or when a thread was free."""
    door = new_door()
    door.hold.set()
    with door.connect(upload(6, body=b"x")) as connection:
        while not any(channel.request for channel in [*door.server.active_channels.values()]):
            sleep(0.01)
        sleep(1)
        connection.sendall(b"xxxxx")
        assert answer(connection)[0] == 200
        assert time() - door.arrival_time[0] >= 1


def test_one_address_cannot_use_all_disk_space(new_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight endless uploads of 2 MiB, four stay; the others are refused while they arrive."""
    monkeypatch.setattr(web, "_CONCURRENT_UPLOADS", 16)
    door = new_door()
    size = 2 << 20
    uploads = [door.connect(upload(size, body=bytes(size - 1))) for _ in range(8)]
    assert [answer(each)[0] for each in uploads[4:]] == [429] * 4
    door.hold.set()
    for each in uploads[:4]:
        each.sendall(b"x")
        assert answer(each)[0] == 200


def test_full_disk_is_reported(new_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    door = new_door()
    monkeypatch.setattr("waitress.receiver.FixedStreamReceiver.received", full)
    with door.connect(upload(100, body=b"x")) as connection:
        assert answer(connection)[0] == 503
    assert door.page() == 200


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (f"POST {UPLOAD} HTTP/1.1\r\nContent-Length: {(2 << 20) + 1}", 413),
        (f"POST {UPLOAD} HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: {(2 << 20) + 1}", 413),
        (f"POST /challenges/open/submit HTTP/1.1\r\nContent-Length: {3 << 20}", 413),
        (f"POST /sign-in HTTP/1.1\r\nContent-Length: {(1 << 20) + 1}", 413),
        (f"POST {UPLOAD} HTTP/1.1\r\nTransfer-Encoding: chunked", 411),
        (f"GET /{'a' * 9000} HTTP/1.1", 414),
        ("GET / HTTP/1.1" + "\r\nX: y" * 200, 431),
        ("GET / HTTP/1.1\r\nX: " + "y" * 100_000, 431),
    ],
)
def test_refusal_arrives_before_the_body_is_sent(new_door: Callable[..., Door], head: str, status: int) -> None:
    with new_door().connect(f"{head}\r\n\r\n".encode()) as connection:
        assert answer(connection)[0] == status


@pytest.mark.parametrize("behind_proxy", [False, True])
def test_forwarded_address_is_trusted_from_a_proxy_only(new_door: Callable[..., Door], behind_proxy: bool) -> None:
    door = new_door(behind_proxy=behind_proxy)
    head = b"GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.7\r\nX_Forwarded_For: 192.0.2.8\r\nConnection: close\r\n\r\n"
    assert answer(door.connect(head))[0] == 200
    assert door.addresses == ["192.0.2.7" if behind_proxy else ""]


def test_client_that_keeps_sending_gets_the_refusal(new_door: Callable[..., Door]) -> None:
    """The client reads only after sending everything, which the server drops."""
    size = 64 << 20
    with new_door().connect(upload(size)) as connection:
        assert answer(connection)[0] == 413


def test_pipelined_requests_are_answered_in_order(new_door: Callable[..., Door]) -> None:
    body = upload(12).replace(b"Connection: close", b"X: y").replace(UPLOAD.encode(), b"/form")
    with new_door().connect(get("/") * 3 + body + b"\r\n" + get("/") * 300 + get("/", last=True)) as connection:
        received = answer(connection)[1]
    assert re.findall(rb"\r\n\r\n {2}([ \d]{2})", received) == [b" 0"] * 3 + [b"12"] + [b" 0"] * 301


def test_client_that_reads_nothing_is_disconnected(
    new_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then it occupies one answer, and threads that wait for it continue."""
    monkeypatch.setattr(web, "_STUCK_SECONDS", 0.3)
    door = new_door()
    door.server.adj.outbuf_high_watermark = 1 << 20
    silent = [door.connect(get("/large") * 1000, buffer=4096) for _ in range(4)]
    assert door.page() == 200
    for _ in range(300):
        if door.server.active_channels:
            sleep(0.1)
    assert (door.n_large, door.server.active_channels) == (len(silent), {})


def test_one_address_leaves_threads_to_others(new_door: Callable[..., Door]) -> None:
    door = new_door(behind_proxy=True)

    def ask(path: str, address: str) -> socket.socket:
        return door.connect(get(path, last=True).replace(b"Host: x", f"X-Forwarded-For: {address}".encode()))

    held = [ask("/held", "192.0.2.1") for _ in range(3)]
    assert door.began.wait(60)
    other = ask("/", "192.0.2.2")
    other.settimeout(20)  # less than what is held
    assert answer(other)[0] == 200
    door.hold.set()
    assert [answer(each)[0] for each in held] == [200] * 3


def test_slow_pages_leave_threads_to_others(new_door: Callable[..., Door]) -> None:
    """Any number of addresses may ask for them."""
    door = new_door(behind_proxy=True, web_threads=4)

    def ask(address: str) -> socket.socket:
        return door.connect(get(COMPUTING, last=True).replace(b"Host: x", f"X-Forwarded-For: {address}".encode()))

    held = [ask(f"192.0.2.{n}") for n in range(1, 9)]
    assert door.began.wait(60)
    assert door.page() == 200
    door.hold.set()
    assert [answer(each)[0] for each in held] == [200] * 8
    assert door.addresses[0] == ""


def test_password_hashing_takes_turns_and_pages_continue(new_door: Callable[..., Door]) -> None:
    """One is hashed at a time; an address waits in the queue once and holds no page thread."""
    door = new_door(behind_proxy=True)

    def sign_in(address: str) -> socket.socket:
        return door.connect(upload(path="/sign-in").replace(b"Host: x", f"X-Forwarded-For: {address}".encode()))

    held = [sign_in("192.0.2.1") for _ in range(5)]
    assert door.began.wait(60)
    other = sign_in("192.0.2.2")
    while len(door.server._passwords._gates[0]._passed) < 2:
        sleep(0.01)
    assert door.page() == 200
    door.hold.set()
    assert [answer(each)[0] for each in [*held, other]] == [200] * 6
    assert door.addresses == ["", "192.0.2.1", "192.0.2.2", *["192.0.2.1"] * 4]


def test_slow_reader_gets_the_whole_answer(new_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "_STUCK_SECONDS", 1)
    with new_door().connect(get("/large", last=True), buffer=1 << 18) as connection:
        n = 0
        for _ in range(8):
            sleep(0.2)
            n += len(connection.recv(1 << 18))
        assert n + len(answer(connection)[1]) > LARGE << 20


def test_requests_in_progress_are_answered_at_shutdown(new_door: Callable[..., Door]) -> None:
    door = new_door()
    with door.connect(upload()) as connection, door.connect(b"GET / HTTP/1.1\r\n"):
        assert door.began.wait(60)
        door.stop.set()
        door.server.pull_trigger()
        while door.server.accepting:
            pass
        door.hold.set()
        assert answer(connection)[0] == 200
    door.thread.join(60)
    assert not door.thread.is_alive()
