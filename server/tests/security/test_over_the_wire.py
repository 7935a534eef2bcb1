"""Requests that only a socket can send, and many at once, against a server in processes of its own."""

from __future__ import annotations

import http.client
import json
import re
import socket
from collections.abc import Iterator
from contextlib import suppress
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from server.tests.security.world import upload, write_challenge
from server.tests.support.server import ADMIN, PASSWORD, Server

_LIMIT = 1 << 20


@pytest.fixture(scope="module")
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the challenge "open", which takes uploads up to a megabyte."""
    place = tmp_path_factory.mktemp("wire")
    settings = {"UPLOAD_MEBIBYTES": "1", "REQUESTS_PER_MINUTE": "1000", "WORKERS": "1", "CONCURRENT_READS": "4"}
    server = Server(place / "data", environment={f"CAPTIOUS_SERVER_{name}": each for name, each in settings.items()})
    with server:
        folder = write_challenge(place / "open", organizers=[ADMIN])
        done = server.captious("challenge", "load", str(folder), "--data", str(server.data))
        assert done.returncode == 0, done.stderr
        yield server


@pytest.fixture(scope="module")
def token(running_server: Server) -> str:
    return running_server.token()


def address(phase: str = "main", **values: str) -> str:
    query = {"phase": phase, "method": "Mine", "filename": "captions.zip", **values}
    return f"/api/v1/challenges/open/submissions?{urlencode(query)}"


def raw(server: Server, head: str, *pieces: bytes, shut: bool = False) -> tuple[int, bytes]:
    """Send bytes as they are; gives status and answer. ``shut`` ends the sending half."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        lines = head.replace("\n", "\r\n").replace("HOST", f"Host: 127.0.0.1:{server.port}")
        connection.sendall(lines.encode() + b"\r\n\r\n")
        for piece in pieces:
            connection.sendall(piece)
        if shut:
            with suppress(OSError):  # the server may have answered and closed
                connection.shutdown(socket.SHUT_WR)
        answer = b""
        while b"\r\n\r\n" not in answer and (more := connection.recv(65536)):
            answer += more
    status = re.match(rb"HTTP/1\.\d (\d+)", answer)
    return int(status[1]) if status else 0, answer


def leftovers(server: Server) -> list[str]:
    return [path.name for path in (server.data / "incoming").glob("*")]


def submissions(server: Server, token: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = server.get("/api/v1/challenges/open/submissions", token)
    return rows


def test_too_large_upload_is_refused_before_its_body(running_server: Server, token: str) -> None:
    """The answer arrives before the body is sent; nginx does the same by path, and for smaller excesses."""
    for length in (5 * _LIMIT, 1 << 40, 10**18):
        head = f"POST {address()} HTTP/1.1\nHOST\nAuthorization: Bearer {token}\nContent-Length: {length}"
        assert raw(running_server, head)[0] == 413
    for path in ("/sign-in", "/challenges/open/submit", "/account/"):
        kind = "Content-Type: multipart/form-data; boundary=x"
        assert raw(running_server, f"POST {path} HTTP/1.1\nHOST\n{kind}\nContent-Length: {1 << 40}")[0] == 413
    assert leftovers(running_server) == []


def test_chunked_uploads_are_accepted_up_to_the_limit(running_server: Server, token: str) -> None:
    start = f"POST {address()} HTTP/1.1\nHOST\nAuthorization: Bearer {token}\nTransfer-Encoding: chunked"
    content = upload()
    middle = len(content) // 2
    chunks = [b"%x\r\n%b\r\n" % (len(part), part) for part in (content[:middle], content[middle:], b"")]
    assert raw(running_server, start, *chunks)[0] == 201
    chunk = b"80000\r\n" + bytes(0x80000) + b"\r\n"
    assert raw(running_server, start, chunk, chunk, b"1\r\nx\r\n0\r\n\r\n")[0] == 413
    assert leftovers(running_server) == []


def test_truncated_body_is_refused(running_server: Server, token: str) -> None:
    """A partial upload creates nothing and is no attempt."""
    running_server.wait_until_idle()  # earlier uploads change while they are scored
    before = submissions(running_server, token)
    content = upload()
    for length in (len(content) + 1, len(content) * 2, 1000):
        head = f"POST {address('attempts')} HTTP/1.1\nHOST\nAuthorization: Bearer {token}\nContent-Length: {length}"
        assert raw(running_server, head, content[: len(content) // 2], shut=True)[0] in {0, 400, 503}
    assert submissions(running_server, token) == before
    assert leftovers(running_server) == []
    for _ in range(2):  # both attempts are left
        assert send(running_server, token, "attempts")[0] == 201


def test_body_beyond_its_length_is_ignored(running_server: Server, token: str) -> None:
    """What comes after the announced length is not part of the upload."""
    content = upload()
    head = f"POST {address()} HTTP/1.1\nHOST\nAuthorization: Bearer {token}\nContent-Length: {len(content)}"
    assert raw(running_server, head, content + bytes(1000))[0] == 201


@pytest.mark.parametrize(
    "line",
    [
        "GET /" + "a" * 9000 + " HTTP/1.1",
        "GET //evil.example/%2e%2e HTTP/1.1",
        "GET http://evil.example/ HTTP/1.1",
        "GET /static/../../../../../../etc/passwd HTTP/1.1",
        "GET /static/..%2f..%2f..%2fetc/passwd HTTP/1.1",
        "GET /static//etc/passwd HTTP/1.1",
        "GET /%00 HTTP/1.1",
        "GET \\ HTTP/1.1",
        "GET / HTTP/9.9",
        "GET /",
        "\x16\x03\x01",
        "CONNECT evil.example:443 HTTP/1.1",
        "PRI * HTTP/2.0",
        "OPTIONS * HTTP/1.1",
    ],
)
def test_strange_request_lines_are_answered(running_server: Server, line: str) -> None:
    status, answer = raw(running_server, f"{line}\nHOST", shut=True)
    assert status < 500 or status in {501, 505}
    assert b"root:" not in answer
    assert b"Location: http://evil" not in answer
    assert b"Location: //" not in answer


def send(server: Server, token: str, phase: str, **values: str) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("POST", address(phase, **values), upload(), {"Authorization": f"Bearer {token}"})
    response = connection.getresponse()
    answer: dict[str, Any] = json.loads(response.read())
    connection.close()
    return response.status, answer


@pytest.mark.slow
def test_page_lists_submissions_of_the_api(running_server: Server, token: str) -> None:
    browser = build_opener(HTTPCookieProcessor(CookieJar()))

    def page(path: str, form: dict[str, str] | None = None) -> str:
        body = urlencode(form).encode() if form is not None else None
        with browser.open(Request(running_server.url + path, body), timeout=60) as answer:
            return str(answer.read().decode())

    while send(running_server, token, "daily")[0] != 409:
        pass
    match = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page("/sign-in"))
    page("/sign-in", {"csrfmiddlewaretoken": match[1], "login": ADMIN, "password": PASSWORD})
    assert "0 of 2 left today" in page("/challenges/open/submit")
