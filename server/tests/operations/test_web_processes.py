"""Web processes: several on one socket, which outlives them, on IPv4 and IPv6."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
from pathlib import Path

import pytest

from captious.errors import ParameterError
from captious_server.operations import processes
from captious_server.operations.processes import listen
from server.tests.support.server import Server, wait_for


@pytest.mark.slow
def test_web_processes_share_a_socket(tmp_path: Path) -> None:
    """Requests that arrive during a restart wait and are answered."""
    settings = {"CAPTIOUS_SERVER_WEB_PROCESSES": "2", "CAPTIOUS_SERVER_WORKERS": "1"}
    with Server(tmp_path / "data", environment=settings) as server:
        first = wait_for(lambda: len(server.processes("web")) == 2 and server.processes("web"))
        os.kill(first[0], signal.SIGKILL)
        assert server.get("/healthz")["status"] == "ok"
        server.kill("web")
        assert server.get("/healthz")["status"] == "ok"
        wait_for(lambda: len(server.processes("web")) == 2)
        assert not {*first} & {*server.processes("web")}
    assert server.processes("web") == []


def test_port_in_use_is_refused() -> None:
    with listen("127.0.0.1", 0) as first, pytest.raises(ParameterError, match="cannot listen on 127"):
        listen("127.0.0.1", first.getsockname()[1])


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="not here: no IPv6")
def test_listener_accepts_ipv4_and_ipv6() -> None:
    with listen("::", 0) as listener:
        for host in ("127.0.0.1", "::1"):
            socket.create_connection((host, listener.getsockname()[1]), timeout=10).close()


def test_log_lines_are_json_and_name_their_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes._JsonFormatter, "process", "supervisor")
    record = logging.LogRecord("captious_server", logging.ERROR, "x.py", 1, "a process %s", ("ended",), None)
    line = json.loads(processes._JsonFormatter().format(record))
    assert {name: line[name] for name in ("level", "process", "logger", "message")} == {
        "level": "error",
        "process": "supervisor",
        "logger": "captious_server",
        "message": "a process ended",
    }
