"""A PostgreSQL server of the tests, reached through a socket in a temporary folder only."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

_FAST = ("fsync=off", "full_page_writes=off", "listen_addresses=", "max_connections=60", "shared_buffers=32MB")


def programs() -> Path | None:
    """Return the folder with ``postgres`` and ``initdb``; None if they are not installed."""
    places = [Path(found).resolve().parent for name in ("postgres",) if (found := shutil.which(name))]
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda place: int(place.parent.name), reverse=True)
    return next((place for place in places if (place / "initdb").exists() and (place / "postgres").exists()), None)


class Postgres:
    """A running server. A context manager, which stops it in the end."""

    def __init__(self) -> None:
        found = programs()
        assert found is not None
        self._programs = found
        self._place = Path(tempfile.mkdtemp(prefix="captious-pg-"))
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:  # which PostgreSQL refuses
            user = next(each for each in pwd.getpwall() if each.pw_name in {"postgres", "nobody"})
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
            os.chown(self._place, user.pw_uid, user.pw_gid)
        self._process: subprocess.Popen[bytes] | None = None
        self._count = 0

    def __enter__(self) -> Postgres:
        data = self._place / "data"
        made = subprocess.run(
            [self._programs / "initdb", "-D", data, "-U", "captious", "-A", "trust", "-N", "-E", "UTF8", "--no-locale"],
            capture_output=True,
            text=True,
            cwd=self._place,
            **self._as,
        )
        assert made.returncode == 0, made.stderr
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, t: TracebackType | None) -> None:
        self.stop()
        shutil.rmtree(self._place, ignore_errors=True)

    def start(self) -> None:
        options = [part for each in _FAST for part in ("-c", each)]
        with (self._place / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._place / "data", "-k", self._place, *options],
                stdout=log,
                stderr=log,
                cwd=self._place,
                **self._as,
            )
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if subprocess.run([self._programs / "pg_isready", "-h", self._place], capture_output=True).returncode == 0:
                return
            assert self._process.poll() is None, (self._place / "log").read_text()
            time.sleep(0.05)
        raise TimeoutError((self._place / "log").read_text())

    def stop(self) -> None:
        """Stop at once, connections or not."""
        assert self._process is not None
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(60)

    def database(self) -> str:
        """Return the address of a new, empty database."""
        self._count += 1
        name = f"site_{self._count}"
        done = subprocess.run(
            [self._programs / "createdb", "-h", self._place, "-U", "captious", name], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return f"postgres://captious@{quote(str(self._place), safe='')}/{name}"
