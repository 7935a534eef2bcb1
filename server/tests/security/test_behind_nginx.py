"""nginx, as ``captious serve nginx-config`` configures it, keeps slow, large and frequent requests from the server."""

from __future__ import annotations

import json
import re
import resource
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from server.tests.support.nginx import Nginx, program
from server.tests.support.server import Server, free_port
from server.tests.support.site import EXAMPLES

UPLOAD = "/api/v1/challenges/open/submissions"
FORM = "/challenges/open/submit"


class Echo(BaseHTTPRequestHandler):
    """Answers with the headers of a request and the size of its body.

    /held is answered when the server's event is set, /large with 64 MiB.
    """

    protocol_version = "HTTP/1.1"
    server: Upstream

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.paths.append(self.path)
        if self.path == "/held":
            self.server.go_on.wait(60)
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = (
            bytes(64 << 20) if self.path == "/large" else json.dumps({"headers": headers, "size": len(body)}).encode()
        )
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_GET  # noqa: N815 - the name that http.server calls

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class Upstream(ThreadingHTTPServer):
    """Stands for the server.

    Attributes:
        paths: of the requests that have arrived.
        go_on: lets requests of /held be answered.
    """

    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Echo)
        self.paths: list[str] = []
        self.go_on = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients of tests do not wait for answers."""


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    if program() is None:
        pytest.skip("no nginx")
    with Upstream() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.go_on.set()
        server.shutdown()


NewProxy = Callable[..., Nginx]


@pytest.fixture(scope="module")
def new_proxy(upstream: Upstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewProxy]:
    """Start nginx with options and changes of its configuration."""
    with ExitStack() as stack:

        def new(*options: str, **changes: str) -> Nginx:
            place = tmp_path_factory.mktemp("nginx")
            return stack.enter_context(Nginx(place, upstream.server_port, *options, changes=changes))

        yield new


@pytest.fixture(scope="module")
def proxy(new_proxy: NewProxy, tmp_path_factory: pytest.TempPathFactory) -> Nginx:
    """nginx in front of a server that takes uploads of 2 MiB."""
    data = tmp_path_factory.mktemp("data")
    (data / "captious.toml").write_text("upload_mebibytes = 2\n")
    return new_proxy("--data", str(data))


def request(path: str = "/", size: int | None = None, body: bytes = b"", **headers: str) -> bytes:
    lines = [f"{'GET' if size is None else 'POST'} {path} HTTP/1.1", "Host: site.example", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if size is not None:
        lines.append(f"Content-Length: {size}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def answer(connection: socket.socket) -> tuple[int, str, bytes]:
    """The status, the headers and the body of an answer; 0 if there is none."""
    with connection, connection.makefile("rb") as file:
        try:
            head = ""
            while (line := file.readline()) not in {b"", b"\r\n"}:
                head += line.decode()
            length = re.search(r"(?im)^Content-Length: (\d+)", head)
            body = file.read(int(length[1])) if length else b""
        except ConnectionError:
            return 0, "", b""
    status = re.match(r"HTTP/1\.\d (\d+)", head)
    return int(status[1]) if status else 0, head, body


def echoed(connection: socket.socket) -> dict[str, Any]:
    status, head, body = answer(connection)
    assert status == 200, head
    document: dict[str, Any] = json.loads(body)
    return document


def test_server_learns_address_scheme_host_and_time_from_the_proxy_only(proxy: Nginx) -> None:
    forged = {"X_Forwarded_For": "192.0.2.9", "X_Forwarded_Proto": "https", "X_Arrival": "1.0 1.0"}
    headers = echoed(proxy.connect(request(**forged), "127.0.0.7"))["headers"]
    assert headers["x-forwarded-for"] == "127.0.0.7"
    assert headers["x-forwarded-proto"] == "http"
    assert headers["host"] == "site.example"
    assert abs(float(headers["x-arrival"].split()[0]) - time.time()) < 60


def test_server_gets_whole_bodies_and_the_time_at_which_they_began(proxy: Nginx, upstream: Upstream) -> None:
    connection = proxy.connect(request(UPLOAD + "?slow", 6, b"x"))
    began = time.time()
    time.sleep(1.2)
    assert UPLOAD + "?slow" not in upstream.paths
    connection.sendall(b"xxxxx")
    found = echoed(connection)
    end, seconds = map(float, found["headers"]["x-arrival"].split())
    assert found["size"] == 6
    assert seconds >= 1
    assert abs(end - seconds - began) < 1


def test_chunked_uploads_get_a_length(proxy: Nginx) -> None:
    head = request(UPLOAD, None, Transfer_Encoding="chunked").replace(b"GET", b"POST")
    found = echoed(proxy.connect(head + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"))
    assert (found["size"], found["headers"]["content-length"]) == (5, "5")
    assert "transfer-encoding" not in found["headers"]


@pytest.mark.parametrize(
    ("path", "size"),
    [(UPLOAD, 2 << 20), (FORM, (2 << 20) + (256 << 10)), ("/sign-in", 1 << 20), ("/api/v1/teams", 1 << 20)],
)
def test_sizes_are_limited_by_path_before_the_body_is_sent(proxy: Nginx, path: str, size: int) -> None:
    assert echoed(proxy.connect(request(path, size, bytes(size))))["size"] == size
    status, head, body = answer(proxy.connect(request(path, size + 1)))
    assert status == 413
    if path.startswith("/api/"):
        assert json.loads(body) == {"error": "The file is larger than this server accepts."}
    else:
        assert b"<p>The file is larger than this server accepts.</p>" in body
        assert "Content-Type: text/html" in head
    chunks = b"100000\r\n" + bytes(1 << 20) + b"\r\n"
    head_of_chunks = request(path, None, Transfer_Encoding="chunked").replace(b"GET", b"POST")
    assert answer(proxy.connect(head_of_chunks + chunks * (size // (1 << 20) + 1)))[0] == 413


@pytest.mark.parametrize(
    ("head", "statuses"),
    [
        (f"GET /{'a' * 9000} HTTP/1.1\r\nHost: x\r\n\r\n", {414}),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: " + "y" * 100_000 + "\r\n\r\n", {400}),
    ],
)
def test_long_headers_are_refused(proxy: Nginx, head: str, statuses: set[int]) -> None:
    assert answer(proxy.connect(head.encode()))[0] in statuses


@pytest.mark.parametrize("kind", ["idle", "headers", "body"])
def test_slow_connections_are_closed(new_proxy: NewProxy, upstream: Upstream, kind: str) -> None:
    """Headers have one deadline, however they drip; a body, and a client that sends nothing, may not be silent."""
    deadlines = {
        "client_header_timeout 10s": "client_header_timeout 1s",
        "client_body_timeout 20s": "client_body_timeout 1s",
    }
    slow = new_proxy(**deadlines)
    sent = {"idle": b"", "headers": b"GET /drips HTTP/1.1\r\nX: ", "body": request("/drips", 100, b"x")}[kind]
    began = time.monotonic()
    with slow.connect(sent) as connection:
        connection.settimeout(0.3)
        while True:
            try:
                assert connection.recv(1) == b""
                break
            except TimeoutError:
                if kind == "headers":
                    connection.sendall(b"x")
            except ConnectionError:
                break
    assert time.monotonic() - began < 30
    assert "/drips" not in upstream.paths


def test_clients_that_read_nothing_are_disconnected(new_proxy: NewProxy, upstream: Upstream) -> None:
    """However many requests they send on a connection, the server answers one."""
    proxy = new_proxy(**{"send_timeout 30s": "send_timeout 1s"})
    upstream.paths.clear()
    with proxy.connect(request("/large").replace(b"Connection: close", b"X: y") * 20) as connection:
        for _ in range(300):
            time.sleep(0.1)
            if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                break
        else:
            pytest.fail("the connection is still open")
    assert upstream.paths == ["/large"]


@pytest.mark.parametrize(
    ("sent", "limit"),
    [(request("/held"), 20), (request(UPLOAD, 100, b"x"), 8), (request(FORM, 100, b"x"), 8)],
    ids=["pages", "uploads by API", "uploads by form"],
)
def test_one_address_cannot_take_all_connections(
    new_proxy: NewProxy, upstream: Upstream, sent: bytes, limit: int
) -> None:
    proxy = new_proxy()
    upstream.go_on.clear()
    with ExitStack() as stack:
        held = [stack.enter_context(proxy.connect(sent, "127.0.0.3")) for _ in range(limit)]
        time.sleep(0.5)  # until nginx has read them
        for status, head, _ in [answer(proxy.connect(sent, "127.0.0.3")) for _ in range(3)]:
            assert (status, "Retry-After: 30" in head) == (429, True)
        assert echoed(proxy.connect(request(), "127.0.0.4"))["size"] == 0
        upstream.go_on.set()
        if b"/held" in sent:
            assert [echoed(each)["size"] for each in held] == [0] * limit


def test_one_address_cannot_send_all_requests(proxy: Nginx) -> None:
    """It may send 30 a second, and 200 more at once."""
    count = b"".join(request().replace(b"Connection: close", b"X: y") for _ in range(99)) + request()
    statuses: list[bytes] = []
    for _ in range(4):
        with proxy.connect(count, "127.0.0.5") as connection:
            received = b""
            while more := connection.recv(65536):
                received += more
        statuses += re.findall(rb"HTTP/1\.1 (\d+) ", received)
    assert statuses[:200] == [b"200"] * 200
    assert b"429" in statuses
    assert echoed(proxy.connect(request(), "127.0.0.6"))["size"] == 0


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ("192.0.2.{}", "192.0.2.100", False),
        ("2001:db8::{}", "2001:db8::1:100", True),
        ("2001:db8::{}", "2001:db8:0:1::100", False),
        ("::ffff:192.0.2.{}", "::ffff:192.0.2.100", False),
    ],
)
def test_network_of_ipv6_counts_as_one_address(
    new_proxy: NewProxy, upstream: Upstream, first: str, second: str, *, together: bool
) -> None:
    told = "set_real_ip_from 127.0.0.1; real_ip_header X-Told; limit_conn connections 20;"
    proxy = new_proxy(**{"limit_conn connections 20;\n  limit_req": f"{told}\n  limit_req"})
    upstream.go_on.clear()
    with ExitStack() as stack:
        for n in range(20):
            stack.enter_context(proxy.connect(request("/held", X_Told=first.format(n + 1))))
        time.sleep(0.5)
        status = answer(proxy.connect(request(X_Told=second)))[0]
        upstream.go_on.set()
    assert status == (429 if together else 200)


def test_server_that_is_away_is_reported(tmp_path: Path, upstream: Upstream) -> None:
    with Nginx(tmp_path / "nginx", free_port()) as proxy:
        status, head, body = answer(proxy.connect(request()))
        assert (status, "Retry-After: 30" in head) == (502, True)
        assert b"temporarily unavailable" in body
        assert json.loads(answer(proxy.connect(request("/api/v1/challenges")))[2])["error"]


def test_tls_and_its_redirect(tmp_path: Path, upstream: Upstream) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    subprocess.run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    plain = free_port()
    options = ["--certificate", str(certificate), "--key", str(key), "--redirect", f"127.0.0.1:{plain}"]
    with Nginx(tmp_path / "nginx", upstream.server_port, *options) as proxy:
        context = ssl.create_default_context(cafile=str(certificate))
        with urlopen(f"https://localhost:{proxy.port}/", context=context, timeout=60) as page:
            assert json.load(page)["headers"]["x-forwarded-proto"] == "https"
        with socket.create_connection(("127.0.0.1", plain)) as connection:
            connection.sendall(request("/challenges/?x=1"))
            status, head, _ = answer(connection)
        assert (status, "Location: https://site.example/challenges/?x=1" in head) == (301, True)


# The whole, with captious behind nginx, under everything at once.

#: Looks at the board until it is killed, in a process of its own, whose times the attack does not change.
LOOK = """
import http.client, sys, time
while True:
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), 600, source_address=("127.0.0.9", 0))
    connection.request("GET", "/challenges/demo/leaderboard")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    print(time.perf_counter() - began, answer.status, flush=True)
    time.sleep(0.1)
"""


class Attack:
    """Slow sockets, sign-ins and uploads from many addresses, while somebody looks at the board.

    Attributes:
        statuses: of sign-ins and uploads that were answered.
        board: seconds of each view of the board, and its status.
    """

    def __init__(self, proxy: Nginx, token: str) -> None:
        self._proxy, self._token = proxy, token
        self._over = threading.Event()
        self.statuses: dict[str, Counter[int]] = {"sign-in": Counter(), "upload": Counter()}
        self.board: list[tuple[float, int]] = []

    def run(self, seconds: float) -> None:
        with ThreadPoolExecutor(300) as pool:
            running = [pool.submit(self._hold)]
            time.sleep(2)
            running += [pool.submit(self._upload, f"127.0.10.{n + 1}", n) for n in range(100)]
            end, n = time.monotonic() + seconds, 0
            command = [sys.executable, "-c", LOOK, str(self._proxy.port)]
            looking = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            while time.monotonic() < end:
                running.append(pool.submit(self._sign_in, f"127.0.11.{n % 250 + 1}"))
                n += 1
                time.sleep(1 / 24)
            looking.terminate()
            for line in looking.communicate()[0].splitlines():
                waited, status = line.split()
                self.board.append((float(waited), int(status)))
            self._over.set()
            for each in running:
                each.result()

    def _hold(self) -> None:
        """Send a byte a second on 1,500 sockets, if anything; open others when they are closed."""
        first = (b"", request(X_Slow="").removesuffix(b"\r\n\r\n"), request(UPLOAD, 100_000, b"x"))
        places = [(sent, f"127.0.{n + 1}.{place // 5 + 1}") for n, sent in enumerate(first) for place in range(500)]
        with ExitStack() as stack:
            sockets = [self._proxy.connect(*place) for place in places]
            stack.callback(lambda: [each.close() for each in sockets])
            while not self._over.wait(1):
                for n, (sent, address) in enumerate(places):
                    sockets[n].settimeout(0)
                    try:
                        if sent:
                            sockets[n].sendall(b"x")
                        if sockets[n].recv(65536) == b"":
                            raise ConnectionResetError
                    except BlockingIOError:
                        pass
                    except OSError:
                        sockets[n].close()
                        sockets[n] = self._proxy.connect(sent, address)

    def _upload(self, address: str, number: int) -> None:
        path = f"/api/v1/challenges/demo/submissions?method=method-{number}"
        content = (EXAMPLES / "improved.json").read_bytes()
        sent = request(path, len(content), content, Authorization=f"Bearer {self._token}")
        self.statuses["upload"][answer(self._proxy.connect(sent, address))[0]] += 1

    def _sign_in(self, address: str) -> None:
        head = answer(self._proxy.connect(request("/sign-in"), address))[1]
        csrf = re.search("captious_csrf=([^;]+)", head)
        if csrf is not None:
            form = f"csrfmiddlewaretoken={csrf[1]}&login=somebody&password=wrong".encode()
            kind = "application/x-www-form-urlencoded"
            sent = request("/sign-in", len(form), form, Cookie=f"captious_csrf={csrf[1]}", Content_Type=kind)
            self.statuses["sign-in"][answer(self._proxy.connect(sent, address))[0]] += 1


@pytest.mark.slow
@pytest.mark.nightly  # it needs the processors for itself
def test_board_is_answered_under_attack(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """500 idle sockets, 500 with dripping headers and 500 with dripping bodies, 24 sign-ins a second, 100 uploads."""
    if program() is None:
        pytest.skip("no nginx")
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    settings = {"CAPTIOUS_SERVER_REQUESTS_PER_MINUTE": "1000"}
    with (
        Server(tmp_path / "data", "--demo", "--behind-proxy", environment=settings) as server,
        Nginx(tmp_path / "nginx", server.port) as proxy,
    ):
        attack = Attack(proxy, server.token())
        attack.run(30)
    seconds = sorted(seconds for seconds, _ in attack.board)
    record_property("board_p50", seconds[len(seconds) // 2])
    record_property("board_p95", seconds[int(0.95 * len(seconds))])
    print(
        f"the board, seconds: p50 {seconds[len(seconds) // 2]:.3f}, p95 {seconds[int(0.95 * len(seconds))]:.3f}, "
        f"slowest {seconds[-1]:.3f}, of {len(seconds)} views; {attack.statuses}"
    )
    assert {status for _, status in attack.board} == {200}
    assert {*attack.statuses["upload"]} <= {201, 429}
    assert attack.statuses["upload"][201] >= 50
    assert {*attack.statuses["sign-in"]} <= {200, 429}
    assert sum(attack.statuses["sign-in"].values()) > 24
