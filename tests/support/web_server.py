"""A web server on this machine, that sends parts of files or only whole ones, or fails in the middle."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
    class Handler(BaseHTTPRequestHandler):
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

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        web.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield web
        finally:
            server.shutdown()
            thread.join()
