"""A server in processes of its own, and clients of all kinds against it, for ``server_load.py`` and ``server_soak.py``.

Standard library only. All clients are tasks of one process, which talk HTTP through sockets on the loopback interface.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

REPOSITORY = Path(__file__).parents[1]
PASSWORD = "not-a-secret-5"
OTHER_ADDRESS = "127.0.0.2"  # of clients that take part in no visits
PATIENCE = 120.0  # seconds after which a client gives up


class Site:
    """A running server with the demonstration. A context manager.

    Args:
        source: the folder ``src`` of the checkout to run.
        folder: where its data and its log are kept.
        database: address of an empty PostgreSQL database; empty for SQLite.
        settings: of the server, by name.
    """

    def __init__(self, source: Path, folder: Path, database: str = "", **settings: object) -> None:
        self.source, self.data, self.log = source, folder / "data", folder / "log"
        self.port = free_port()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("CAPTIOUS_")}
        self.environment = {
            **kept,
            "PYTHONPATH": str(source),
            "DATABASE_URL": database,
            "CAPTIOUS_ADMIN": "admin",
            "CAPTIOUS_ADMIN_PASSWORD": PASSWORD,
            **{f"CAPTIOUS_SERVER_{name.upper()}": str(value) for name, value in settings.items()},
        }
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Site:
        command = [sys.executable, "-P", "-m", "captious", "serve", "--demo", "--data", str(self.data)]
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, "--port", str(self.port)], env=self.environment, stdout=log, stderr=log
            )
        self.wait_until_healthy()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(60)

    def wait_until_healthy(self) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with contextlib.suppress(OSError, ValueError):
                health = json.loads(asyncio.run(self.get("/healthz")).body)
                if health["status"] == "ok" and not health["queued"] + health["running"]:
                    return
            time.sleep(0.2)
        raise SystemExit(self.log.read_text()[-4000:])

    def command(self, *arguments: str) -> str:
        """Run a command of captious on the data folder; gives what it prints."""
        command = [sys.executable, "-P", "-m", "captious", *arguments, "--data", str(self.data)]
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.strip()

    def token(self, user: str = "admin") -> str:
        return self.command("serve", "token", "--user", user)

    async def get(self, path: str, **headers: str) -> Answer:
        return await self.send("GET", path, b"", headers)

    async def post(self, path: str, form: dict[str, str], headers: dict[str, str]) -> Answer:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return await self.send("POST", path, urlencode(form).encode(), headers | kind)

    async def upload(self, token: str, content: bytes, **about: str) -> Answer:
        """Submit captions through the API."""
        path = f"/api/v1/challenges/demo/submissions?{urlencode({'method': 'load', **about})}"
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"}
        return await self.send("POST", path, content, headers)

    async def send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        """Return the answer to a request on a connection of its own; status 0 if there is none."""
        lines = {"Host": f"127.0.0.1:{self.port}", "Connection": "close", **headers}
        if method == "POST":
            lines["Content-Length"] = str(len(body))
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items())])
        began = time.perf_counter()
        received = b""
        try:
            async with asyncio.timeout(PATIENCE), self.connected() as (reader, writer):
                writer.write(head.encode() + b"\r\n\r\n" + body)
                with contextlib.suppress(ConnectionError):  # the answer may come before all was sent
                    await writer.drain()
                received = await reader.read()
        except (OSError, TimeoutError):
            pass
        return Answer.parsed(received, time.perf_counter() - began)

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield reader, writer
        finally:
            writer.close()

    def processes(self, role: str) -> list[int]:
        """Return ids of the processes ``web`` or ``worker``."""
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = {*(folder / "cmdline").read_bytes().split(b"\0")}
                if {b"serve", role.encode(), str(self.data).encode()} <= words:
                    found.append(int(folder.name))
        return sorted(found)

    def cpu(self, role: str) -> float:
        """CPU seconds that the processes of a role have used, with their children that have ended."""
        total = 0.0
        for process in self.processes(role):
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
                total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return total

    def memory(self, role: str, kind: str = "VmHWM") -> float:
        """Resident memory of the processes of a role together, MiB: peaks, or with "VmRSS" what they have now."""
        total = 0
        for process in self.processes(role):
            with contextlib.suppress(OSError):
                lines = Path(f"/proc/{process}/status").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:"))
        return total / 1024


@dataclass
class Answer:
    """What a server answers; status 0 if it does not."""

    status: int
    seconds: float
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    @classmethod
    def parsed(cls, received: bytes, seconds: float) -> Answer:
        head, _, body = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        words = first.split(" ", 2)
        status = int(words[1]) if len(words) > 1 and words[1].isdecimal() else 0
        headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)]
        return cls(status, seconds, headers, body)

    def json(self) -> Any:
        return json.loads(self.body)

    def cookies(self) -> dict[str, str]:
        jar: SimpleCookie = SimpleCookie()
        for name, value in self.headers:
            if name == "set-cookie":
                jar.load(value)
        return {name: morsel.value for name, morsel in jar.items()}


async def sign_in(site: Site, user: str, password: str = PASSWORD) -> Answer:
    """Open the form, and send it."""
    form = await site.get("/sign-in")
    csrf = form.cookies().get("captious_csrf", "")
    values = {"csrfmiddlewaretoken": csrf, "login": user, "password": password}
    answer = await site.post("/sign-in", values, {"Cookie": f"captious_csrf={csrf}"})
    answer.seconds += form.seconds
    return answer


class Visitor:
    """Somebody who looks at pages, one after the other, while something else happens."""

    def __init__(self, site: Site, *paths: str, pause: float = 0.1) -> None:
        self._site, self._paths, self._pause = site, paths, pause
        self.answers: list[Answer] = []

    async def visit(self) -> None:
        """Until canceled. A view that is not answered then counts with the time that it has waited."""
        while True:
            for path in self._paths:
                began = time.perf_counter()
                try:
                    self.answers.append(await self._site.get(path))
                except asyncio.CancelledError:
                    if (waited := time.perf_counter() - began) > 1:
                        self.answers.append(Answer(0, waited))
                    raise
                await asyncio.sleep(self._pause)

    @property
    def seconds(self) -> list[float]:
        return [answer.seconds for answer in self.answers]

    @property
    def failures(self) -> int:
        return sum(answer.status != 200 for answer in self.answers)


@contextlib.asynccontextmanager
async def visiting(visitor: Visitor) -> AsyncIterator[None]:
    """Return a context in which a visitor looks at pages."""
    task = asyncio.create_task(visitor.visit())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class SlowClient:
    """A connection on which hardly anything is sent, or nothing read. When the server closes it, the client opens
    another.

    Args:
        site: the server.
        first: what is sent at once.
        drip: whether a byte a second follows.
        silent: read nothing.
    """

    def __init__(self, site: Site, first: bytes, *, drip: bool = False, silent: bool = False) -> None:
        self._site, self._first, self._drip, self._silent = site, first, drip, silent
        #: The status with which the server ended a connection, 0 for none, and after how many seconds.
        self.ends: list[tuple[int, float]] = []
        self.refused = 0

    async def hold(self) -> None:
        """Until canceled."""
        while True:
            try:
                if self._silent:
                    await self._ask_and_read_nothing()
                    continue
                async with self._site.connected() as (reader, writer):
                    await self._hold(reader, writer)
            except OSError:
                self.refused += 1
                await asyncio.sleep(1)

    async def _hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        began = time.perf_counter()
        answering = asyncio.create_task(reader.read())
        try:
            writer.write(self._first)
            while not answering.done():
                await asyncio.wait([answering], timeout=1)
                if self._drip and not answering.done():
                    writer.write(b"x")
            with contextlib.suppress(OSError):
                self.ends.append((Answer.parsed(answering.result(), 0).status, time.perf_counter() - began))
        finally:
            answering.cancel()

    async def _ask_and_read_nothing(self) -> None:
        """Send requests until the server has reset the connection, as one that is only read would not tell."""
        began = time.perf_counter()
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.setblocking(False)
            connection.bind((OTHER_ADDRESS, 0))
            loop = asyncio.get_running_loop()
            await loop.sock_connect(connection, ("127.0.0.1", self._site.port))
            with contextlib.suppress(OSError):
                await loop.sock_sendall(connection, self._first)
                while not connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    await asyncio.sleep(1)
        self.ends.append((0, time.perf_counter() - began))


def slow_clients(site: Site, kind: str, n: int) -> list[SlowClient]:
    """``n`` clients that send nothing ("idle"), unfinished headers ("headers") or a slow body ("bodies"), or that ask
    for 100 files at once and read nothing ("silent").
    """
    host = f"Host: 127.0.0.1:{site.port}\r\n"
    first = {
        "idle": "",
        "headers": f"GET / HTTP/1.1\r\n{host}X-Slow: ",
        "bodies": f"POST /sign-in HTTP/1.1\r\n{host}Content-Length: 100000\r\nCookie: captious_csrf={'x' * 32}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n\r\n",
        "silent": f"GET /challenges/demo/leaderboard HTTP/1.1\r\n{host}\r\n" * 100,
    }[kind]
    drip, silent = kind in {"headers", "bodies"}, kind == "silent"
    return [SlowClient(site, first.encode(), drip=drip, silent=silent) for _ in range(n)]


def quantile(values: list[float], share: float) -> float:
    """Return the smallest value that is not below this share of all; nan if there is none."""
    if not values:
        return math.nan
    return sorted(values)[min(len(values) - 1, math.ceil(share * len(values)) - 1)]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def databases(postgresql: bool) -> Iterator[Any]:
    """Return a function that makes addresses of empty databases; an empty address for SQLite."""
    if not postgresql:
        yield lambda: ""
        return
    sys.path.insert(0, str(REPOSITORY))
    from server.tests.support.postgres import Postgres

    with Postgres() as running:
        yield running.database
