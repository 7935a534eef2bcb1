"""Uploads through the API of a server, one or many at once."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

from server.tests.support.server import Server


def upload(server: Server, token: str, content: bytes, method: str, challenge: str = "demo") -> dict[str, Any]:
    """Submit captions; gives the submission as the API shows it."""
    address = f"{server.url}/api/v1/challenges/{challenge}/submissions?{urlencode({'method': method})}"
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"}
    with urllib.request.urlopen(urllib.request.Request(address, content, headers), timeout=600) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def upload_at_once(
    server: Server, token: str, contents: Sequence[bytes], challenge: str = "demo"
) -> list[dict[str, Any]]:
    """Submit captions, all at the same time, as methods 0, 1, 2 ..."""
    with ThreadPoolExecutor(len(contents)) as pool:
        jobs = [
            pool.submit(upload, server, token, content, f"method {number}", challenge)
            for number, content in enumerate(contents)
        ]
        return [job.result() for job in jobs]
