"""nginx in front of a server, with the configuration that ``captious serve nginx-config`` prints."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from server.tests.golden.commands import done
from server.tests.support.server import free_port


def program() -> str | None:
    """Return the path of nginx; None if it is not installed. Debian has it in a folder that users have not."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


class Nginx:
    """A running nginx. A context manager, which stops it in the end.

    Args:
        folder: where it keeps its files; made if needed.
        upstream: port of the server behind it.
        options: of ``captious serve nginx-config``.
        changes: what is replaced in the configuration, such as deadlines for which no test waits.
    """

    def __init__(self, folder: Path, upstream: int, *options: str, changes: Mapping[str, str] | None = None) -> None:
        self.port = free_port()
        self.file = folder / "nginx.conf"
        self._log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(exist_ok=True)
        words = ["serve", "nginx-config", "--listen", f"127.0.0.1:{self.port}", "--upstream", str(upstream)]
        text = done(*words, "--folder", folder, *options).out
        root = {"user www-data;": "user root;"} if os.geteuid() == 0 else {}  # whose files only root reads
        for old, new in {**root, **(changes or {})}.items():
            assert old in text, old
            text = text.replace(old, new)
        self.file.write_text(text)

    def __enter__(self) -> Nginx:
        found = program()
        assert found is not None
        with self._log.open("wb") as log:
            command = [found, "-c", str(self.file), "-g", "daemon off;"]
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        for _ in range(300):
            assert self._process.poll() is None, self._log.read_text()
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            time.sleep(0.05)
        raise TimeoutError(self._log.read_text())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, t: TracebackType | None) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait(60)

    def connect(self, sent: bytes = b"", address: str = "127.0.0.1") -> socket.socket:
        """Return a connection from an address of this machine, on which something was sent."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=600, source_address=(address, 0))
        connection.sendall(sent)
        return connection
