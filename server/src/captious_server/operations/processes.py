"""The processes of a server: web, workers, and the supervisor that ``captious serve`` is.

The supervisor starts the others, restarts them when they end, and ends them when it is told to stop. If it is killed,
they notice that the pipe to it has closed, and end by themselves. All log to standard error, in lines of JSON.
"""

from __future__ import annotations

import json
import logging
import logging.config
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType

from django.conf import settings
from waitress import create_server

from captious.errors import ParameterError
from captious_server.operations.setup import set_up
from captious_server.settings import utc_time

_log = logging.getLogger(__name__)
_PIPE_VARIABLE = "CAPTIOUS_SERVER_PIPE"
_SOCKET_VARIABLE = "CAPTIOUS_SERVER_SOCKET"
_BACKLOG = 1024
_MAX_CONNECTIONS = 500  # of a web process; others wait to be accepted
_HEADER_BYTES = 64 * 1024
_GRACE_SECONDS = 20.0  # seconds in which processes may finish
_MAX_WAIT = 30.0  # seconds between two starts of a process that keeps ending

_STANDARD_ATTRIBUTES = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}
#: Attributes that Django attaches to records and that are not logged.
_DJANGO_ATTRIBUTES = {"request", "server_time"}


class _JsonFormatter(logging.Formatter):
    process = ""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": utc_time(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "process": self.process,
            "logger": record.name,
            "message": record.getMessage(),
            **{k: v for k, v in vars(record).items() if k not in _STANDARD_ATTRIBUTES and k not in _DJANGO_ATTRIBUTES},
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


def configure(process: str, level: str = "INFO") -> None:
    """Log to standard error.

    Args:
        process: "web", "worker" or "supervisor", which every line names.
    """
    _JsonFormatter.process = process
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {"lines": {"()": _JsonFormatter}},
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
            "root": {"handlers": ["stderr"], "level": "WARNING"},
            "loggers": {
                "captious": {"level": level},
                "captious_server": {"level": level},
                "django.security.DisallowedHost": {"level": "CRITICAL"},
                "waitress.queue": {"level": "ERROR"},
            },
        }
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket on which a web server can be reached; ``::`` is all addresses, of IPv4 as well.

    Raises:
        ParameterError: the address cannot be used, or another program uses it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    is_dual_stack = host == "::" and socket.has_dualstack_ipv6()
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG, dualstack_ipv6=is_dual_stack)
    except OSError as error:
        raise ParameterError(
            f"cannot listen on {host}, port {port}",
            where=error.strerror or str(error),
            hint="captious serve --port NUMBER listens on another port",
        ) from None


def run_web(data: Path, host: str, port: int) -> int:
    """Serve the site until told to stop; return the exit status.

    Raises:
        ParameterError: the address cannot be used.
    """
    set_up(data)
    configure("web")

    descriptor = os.environ.pop(_SOCKET_VARIABLE, None)
    if descriptor is None and settings.CAPTIOUS.web_processes > 1:
        return supervise(data, listen(host, port), workers=0)
    from captious_server.people.turns import all_turns
    from captious_server.submissions.storage import incoming_folder
    from captious_server.wsgi import application

    tempfile.tempdir = str(incoming_folder())  # large temporary files go to the data folder
    own = settings.CAPTIOUS
    server = create_server(
        application,
        sockets=[listen(host, port) if descriptor is None else socket.socket(fileno=int(descriptor))],
        threads=sum(turns.threads for turns in all_turns(own)),
        connection_limit=_MAX_CONNECTIONS,
        asyncore_use_poll=True,
        max_request_header_size=_HEADER_BYTES,
        max_request_body_size=4 * own.upload_bytes,  # Django answers what is a little too large with a page
        clear_untrusted_proxy_headers=not own.behind_proxy,
        ident=None,
    )
    stop = _stop_on_signals()
    _end_with_supervisor()

    def serve() -> None:
        try:
            server.run()
        finally:
            stop.set()

    threading.Thread(target=serve, name="waitress", daemon=True).start()
    stop.wait()
    server.accepting = False
    server.pull_trigger()
    deadline = time.monotonic() + _GRACE_SECONDS - 5
    while time.monotonic() < deadline and any(
        channel.requests or channel.total_outbufs_len for channel in [*server.active_channels.values()]
    ):
        time.sleep(0.05)  # answers in progress are finished
    return 0


def run_worker(data: Path) -> None:
    """Score submissions until told to stop; one that is being scored is finished first."""
    set_up(data)
    configure("worker")
    from captious_server.operations.worker import run

    stop = _stop_on_signals()
    _end_with_supervisor()
    run(stop)


def supervise(data: Path, listener: socket.socket, *, workers: int) -> int:
    """Run web processes and workers until told to stop; return the exit status.

    Args:
        data: the data folder, for which Django is set up.
        listener: where the web processes can be reached. It stays open when they end, so that clients wait until
            they are started again.
        workers: how many workers.
    """
    configure("supervisor")
    read_end, write_end = os.pipe()
    program = [sys.executable, "-P", "-m", "captious", "serve"]
    place = ["--data", str(data)]
    web = {_PIPE_VARIABLE: read_end, _SOCKET_VARIABLE: listener.fileno()}
    children = [_Child([*program, "web", *place], web) for _ in range(settings.CAPTIOUS.web_processes)]
    children += [_Child([*program, "worker", *place], {_PIPE_VARIABLE: read_end}) for _ in range(workers)]
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    try:
        while not stop.wait(0.2):
            for child in children:
                child.watch()
    finally:
        listener.close()
        _end(children)
        os.close(write_end)  # only now: for processes that are finishing, it would be a second signal
    return 0


class _Child:
    """A process that is started again when it ends, after increasing delays if it keeps ending.

    Args:
        command: the command to run.
        descriptors: open files to pass on, by the environment variable that names them.
    """

    def __init__(self, command: Sequence[str], descriptors: Mapping[str, int]) -> None:
        self._command = list(command)
        self._descriptors = dict(descriptors)
        self._wait = 0.5
        self._start_at = 0.0
        self._began = 0.0
        self.process: subprocess.Popen[bytes] | None = None

    def watch(self) -> None:
        """Start it if it is not running and its start is due."""
        now = time.monotonic()
        if self.process is not None:
            status = self.process.poll()
            if status is None:
                return
            self.process = None
            self._wait = 0.5 if now - self._began > 2 * _MAX_WAIT else min(2 * self._wait, _MAX_WAIT)
            self._start_at = now + self._wait
            _log.error(
                "a process ended; starting it again", extra={"command": " ".join(self._command[4:6]), "status": status}
            )
        if now >= self._start_at:
            self._began = now
            environment = {**os.environ, **{name: str(number) for name, number in self._descriptors.items()}}
            self.process = subprocess.Popen(
                self._command, env=environment, pass_fds=[*self._descriptors.values()], start_new_session=True
            )


def _end(children: Sequence[_Child]) -> None:
    """Let all finish, and kill those that do not."""
    processes = [child.process for child in children if child.process is not None]
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + _GRACE_SECONDS
    for process in processes:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _stop_on_signals() -> threading.Event:
    """An event that is set when this process receives a signal to stop; a second signal ends it at once."""
    stop = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            os._exit(128 + number)
        stop.set()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, on_signal)
    return stop


def _end_with_supervisor() -> None:
    """End this process when the pipe to its supervisor closes; without one, nothing happens."""
    pipe = os.environ.pop(_PIPE_VARIABLE, None)
    if pipe is None:
        return

    def wait() -> None:
        os.read(int(pipe), 1)  # returns when the last writer is gone
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="supervisor", daemon=True).start()
