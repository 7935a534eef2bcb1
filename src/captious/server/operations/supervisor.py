"""The processes of a server: web, workers, and the supervisor that ``captious serve`` is.

The supervisor starts the others, starts them again when they end, and ends them when it is told to stop. Should it be
killed, they notice that the pipe to it is closed, and end by themselves.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from captious.server.operations import logs
from captious.server.operations.setup import set_up

__all__ = ["run_web", "run_worker", "supervise"]

_log = logging.getLogger("captious.serve")
_PIPE_VARIABLE = "CAPTIOUS_SERVER_PIPE"
_GRACE = 20.0  # seconds in which processes may finish
_LONGEST_WAIT = 30.0  # seconds between two starts of a process that keeps ending


def run_web(data: Path, host: str, port: int) -> None:
    """Serve the site until told to stop."""
    set_up(data)
    logs.configure()
    from django.conf import settings
    from gunicorn.app.base import BaseApplication

    ours = settings.CAPTIOUS

    class Web(BaseApplication):
        def load_config(self) -> None:
            values = {
                "bind": f"{f'[{host}]' if ':' in host else host}:{port}",
                "worker_class": "gthread",
                "workers": ours.web_processes,
                "threads": ours.web_threads,
                "timeout": 300,  # of an upload through a slow line
                "graceful_timeout": int(_GRACE) - 5,
                "keepalive": 5,
                "max_requests": 20_000,
                "max_requests_jitter": 2_000,
                "limit_request_line": 8190,
                "forwarded_allow_ips": "*" if ours.behind_proxy else "",
                "worker_tmp_dir": "/dev/shm" if os.path.isdir("/dev/shm") else None,
                "accesslog": None,
                "errorlog": "-",
                "loglevel": "warning",
                "control_socket_disable": True,
            }
            for name, value in values.items():
                if name in self.cfg.settings:
                    self.cfg.set(name, value)

        def load(self) -> object:
            from captious.server.wsgi import application

            return application

    _end_with_supervisor()
    Web().run()


def run_worker(data: Path) -> None:
    """Score submissions until told to stop; one that is being scored is finished first."""
    set_up(data)
    logs.configure()
    from captious.server.scoring.worker import run

    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.is_set():  # a second signal: now
            os._exit(128 + number)
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    _end_with_supervisor()
    run(stop)


def supervise(data: Path, host: str, port: int, workers: int) -> int:
    """Run web and workers until told to stop; returns the exit status."""
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    program = [sys.executable, "-P", "-m", "captious", "serve"]
    place = ["--data", str(data)]
    commands = [
        [*program, "web", *place, "--host", host, "--port", str(port)],
        *[[*program, "worker", *place]] * workers,
    ]
    children = [_Child(command, reading) for command in commands]
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    try:
        while not stop.wait(0.2):
            for child in children:
                child.watch()
    finally:
        _end(children)
        os.close(writing)  # only now: to those that finish something, it would be a second signal
    return 0


class _Child:
    """A process that is started again when it ends, later and later if it keeps ending at once."""

    def __init__(self, command: Sequence[str], pipe: int) -> None:
        self._command = list(command)
        self._pipe = pipe
        self._wait = 0.5
        self._start_at = 0.0
        self._began = 0.0
        self.process: subprocess.Popen[bytes] | None = None

    def watch(self) -> None:
        """Start it if it does not run and it is time to."""
        now = time.monotonic()
        if self.process is not None:
            status = self.process.poll()
            if status is None:
                return
            self.process = None
            self._wait = 0.5 if now - self._began > 2 * _LONGEST_WAIT else min(2 * self._wait, _LONGEST_WAIT)
            self._start_at = now + self._wait
            _log.error(
                "a process ended; starting it again", extra={"command": " ".join(self._command[4:6]), "status": status}
            )
        if now >= self._start_at:
            self._began = now
            environment = {**os.environ, _PIPE_VARIABLE: str(self._pipe)}
            self.process = subprocess.Popen(
                self._command, env=environment, pass_fds=[self._pipe], start_new_session=True
            )


def _end(children: Sequence[_Child]) -> None:
    """Let all finish, and kill those that do not."""
    running = [child.process for child in children if child.process is not None]
    for process in running:
        process.terminate()
    until = time.monotonic() + _GRACE
    for process in running:
        try:
            process.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _end_with_supervisor() -> None:
    """End this process when the pipe to its supervisor closes; without one, nothing happens."""
    pipe = os.environ.pop(_PIPE_VARIABLE, None)
    if pipe is None:
        return

    def wait() -> None:
        os.read(int(pipe), 1)  # returns when the last writer is gone
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="supervisor", daemon=True).start()
