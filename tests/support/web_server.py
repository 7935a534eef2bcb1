"""Web servers on this machine: of files, with the faults of real ones, and of the answers of a function."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class Web:
    """What a server has, and what it was asked.

    Args:
        files: contents by path, such as ``/a.zip``.
        parts: whether it sends parts.
        lengths: whether it says how long an answer is.
        until: bytes of an answer after which the connection breaks.
        shift: how far the parts that it sends are from those that it was asked for, the first one excepted.
        url: where it is.
        spans: the bytes of each answer, from and to.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    parts: bool = True
    lengths: bool = True
    until: int | None = None
    shift: int = 0
    url: str = ""
    spans: list[tuple[int, int]] = field(default_factory=list)

    @property
    def sent(self) -> int:
        """Bytes of contents that were sent."""
        return sum(end - start for start, end in self.spans)


@contextmanager
def serving(web: Web) -> Iterator[Web]:
    class Handler(_Silent):
        def do_GET(self) -> None:
            content = web.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            start, end = 0, len(content)
            if web.parts and asked is not None:
                start, end = int(asked[1]), min(int(asked[2]) + 1, len(content))
                self.send_response(206)
                shown = start + web.shift if web.spans else start
                self.send_header("Content-Range", f"bytes {shown}-{shown + end - start - 1}/{len(content)}")
            else:
                self.send_response(200)
            if web.lengths:
                self.send_header("Content-Length", str(end - start))
            self.end_headers()
            piece = content[start:end][: web.until]
            web.spans.append((start, start + len(piece)))
            self.wfile.write(piece)

    with _running(Handler) as web.url:
        yield web


@contextmanager
def answering(answer: Callable[[BaseHTTPRequestHandler], tuple[int, object] | None]) -> Iterator[str]:
    """Yield the address of a server.

    Args:
        answer: returns the status and the content for a request: bytes, or what is sent as JSON; None to send nothing.
    """

    class Handler(_Silent):
        def do_GET(self) -> None:
            answered = answer(self)
            if answered is None:
                self.close_connection = True
                return
            status, content = answered
            sent = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(sent)

        def do_POST(self) -> None:
            self.do_GET()

    with _running(Handler) as address:
        yield address


def body_of(request: BaseHTTPRequestHandler) -> bytes:
    """Read the body of a request."""
    return request.rfile.read(int(request.headers.get("Content-Length", 0)))


class _Silent(BaseHTTPRequestHandler):
    """Writes no log."""

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def _running(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Yield the address of a server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
