"""``captious serve`` in processes of its own, as users run it."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

ADMIN, PASSWORD = "root", "correct-horse-77"


def wait_for(what: Callable[[], Any], seconds: float = 60) -> Any:
    """Ask again and again until the answer is true; gives it."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := what():
            return found
        time.sleep(0.02)
    raise TimeoutError


class Server:
    """A running server. A context manager, which stops it in the end.

    Args:
        data: its data folder.
        options: of ``captious serve``.
        environment: variables to add.
    """

    #: Makes the database of a server and gives its address; empty for SQLite.
    new_database: Callable[[], str] = staticmethod(lambda: "")

    def __init__(self, data: Path, *options: str, environment: dict[str, str] | None = None) -> None:
        self.data = data
        self.options = options
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("CAPTIOUS_SERVER_")},
            "CAPTIOUS_ADMIN": ADMIN,
            "CAPTIOUS_ADMIN_PASSWORD": PASSWORD,
            **(environment or {}),
        }
        self.environment.setdefault("DATABASE_URL", self.new_database())
        self.log = data.parent / f"{data.name}.log"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, t: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        """Start it, and wait until it is healthy."""
        command = [sys.executable, "-P", "-m", "captious", "serve", "--data", str(self.data), "--port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *self.options], env=self.environment, stderr=log, stdout=log, start_new_session=True
            )
        self.wait_until_healthy()

    def stop(self) -> int:
        """Ask it to stop; gives the exit status."""
        assert self.process is not None
        self.process.terminate()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def wait_until_healthy(self, seconds: float = 300) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            assert self.process is None or self.process.poll() is None, self.log.read_text()
            try:
                if self.get("/healthz")["status"] == "ok":
                    return
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                pass
            time.sleep(0.1)
        raise TimeoutError(self.log.read_text()[-4000:])

    def wait_until_idle(self, seconds: float = 60) -> None:
        """Wait until nothing is queued or scored any more, and leaderboards show it."""

        def is_idle() -> bool:
            answer = self.get("/healthz")
            return not (answer["queued"] or answer["running"] or answer["stale_boards"])

        wait_for(is_idle, seconds)

    def get(self, path: str, token: str = "") -> Any:
        """Return the JSON at a path."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with urllib.request.urlopen(urllib.request.Request(self.url + path, headers=headers), timeout=60) as answer:
            return json.load(answer)

    def captious(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of captious on the data folder's machine."""
        command = [sys.executable, "-P", "-m", "captious", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=self.environment, timeout=300)

    def token(self, user: str = ADMIN) -> str:
        """Return a new token of a user."""
        done = self.captious("serve", "token", "--data", str(self.data), "--user", user)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def processes(self, role: str) -> list[int]:
        """Process ids of ``web`` or ``worker``."""
        found = []
        for folder in Path("/proc").iterdir():
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"serve" in words and role.encode() in words and str(self.data).encode() in words:
                found.append(int(folder.name))
        return sorted(found)

    @contextmanager
    def paused_worker(self) -> Iterator[None]:
        """Yield the only worker is stopped, where it does not lock the database."""
        [worker] = self.processes("worker")
        os.kill(worker, signal.SIGSTOP)
        while self._is_locked():
            os.kill(worker, signal.SIGCONT)
            time.sleep(0.05)
            os.kill(worker, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(worker, signal.SIGCONT)

    def _is_locked(self) -> bool:
        """Return whether a process that does not go on is writing to the database."""
        with closing(sqlite3.connect(self.data / "database.sqlite3", timeout=2)) as database:
            try:
                database.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
            database.rollback()
        return False

    def kill(self, role: str) -> list[int]:
        """Kill all processes of a role with SIGKILL; gives their ids."""
        killed = self.processes(role)
        for process in killed:
            os.kill(process, signal.SIGKILL)
        return killed


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
