"""A server process that speaks the chat protocol, with the faults of real ones. Run as a program, it serves.

How it answers is decided by the model's name and the texts of the request:

- model ``clair``: {"score": S} with S = 10 times the number of words of the caption to judge, at most 100;
- model ``geval``: reasoning, then $S, with probabilities .5, .3 and .2 of S, S - 10 and "no" as its last token;
- model ``digits``: the same, but each digit is a token;
- model ``pair``: {"better": "A"} for the longer of two captions, "tie" for equal ones, and always A if one has "first";
- other models: their name is the answer.

A caption with FAULT:name makes a call fail; see ``FAULTS``. ``GET /log`` lists the requests.
"""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from subprocess import PIPE, Popen
from threading import Lock
from typing import Any

import httpx


@dataclass(frozen=True)
class ChatServer:
    """A server.

    Args:
        url: its address, with /v1.
    """

    url: str

    @property
    def log(self) -> list[dict[str, Any]]:
        """The requests so far: body, key, time, and the number of calls that were made at the same time."""
        return httpx.get(f"{self.url}/log").json()  # type: ignore[no-any-return]


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """Yield a server in a process of its own."""
    with Popen([sys.executable, __file__], stdout=PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield ChatServer(f"http://127.0.0.1:{int(process.stdout.readline())}/v1")
        finally:
            process.terminate()


LOCK = Lock()
LOG: list[dict[str, Any]] = []
SEEN: Counter[str] = Counter()
NOW = [0]


def words_of_candidate(text: str) -> list[str]:
    found = re.search(r'Caption to judge:\n(".*")', text)
    return str(json.loads(found[1])).split() if found else text.split()


def tokens_of(pieces: list[str], score: int) -> list[dict[str, Any]]:
    tokens: list[dict[str, Any]] = [{"token": piece, "logprob": 0.0, "top_logprobs": []} for piece in pieces]
    others = [(str(score), 0.5), (str(max(score - 10, 0)), 0.3), ("no", 0.2)]
    tokens[-1]["top_logprobs"] = [{"token": text, "logprob": math.log(p)} for text, p in others]
    return tokens


def answer(body: dict[str, Any]) -> dict[str, Any]:
    content = body["messages"][0]["content"]
    text = content if isinstance(content, str) else content[0]["text"]
    model = body["model"]
    score = min(100, 10 * len(words_of_candidate(text)))
    choice: dict[str, Any] = {"finish_reason": "stop"}
    message = model
    if model.startswith("clair"):
        message = f'Here you are: {{"score": {score}, "reason": "{{words}}"}}'
    elif model in ("geval", "digits", "silent"):
        pieces = ["It has", " words.\n", "$", *([str(score)] if model != "digits" else str(score))]
        message = "".join(pieces)
        if body.get("logprobs") and model != "silent":
            choice["logprobs"] = {"content": tokens_of(pieces, score)}
    elif model.startswith("pair"):
        a, b = (json.loads(line) for line in re.findall(r'^Caption [AB]: (".*")$', text, re.MULTILINE))
        better = "A" if "first" in a + b or len(a) > len(b) else "B" if len(a) < len(b) else "tie"
        message = json.dumps({"better": better})
    choice["message"] = {"role": "assistant", "content": message}
    named = model.replace("-dated", "-2026-01-01")
    return {"model": named, "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    def send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        self.send(200, json.dumps(LOG).encode())

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(raw)
        fault = re.search(rb"FAULT:([a-z0-9-]+)", raw)
        with LOCK:
            NOW[0] += 1
            SEEN[raw.decode()] += 1
            nth = SEEN[raw.decode()]
            key = self.headers.get("Authorization", "")
            LOG.append({"body": body, "key": key, "time": time.monotonic(), "at_once": NOW[0]})
        try:
            self.respond(body, fault[1].decode() if fault else "", nth)
        finally:
            with LOCK:
                NOW[0] -= 1

    def respond(self, body: dict[str, Any], fault: str, nth: int) -> None:
        content = json.dumps(answer(body)).encode()
        first = nth == 1
        key = self.headers.get("Authorization", "")
        if fault == "busy" and first:
            self.send(429, b'{"error": {"message": "too many calls"}}', Retry_After="0.5")
        elif fault == "later":
            self.send(429, b"{}", Retry_After="86400")
        elif fault == "error" and nth <= 2:
            self.send(500, b"oops")
        elif fault == "down":
            self.send(503, b"down")
        elif fault == "slow" and first:
            time.sleep(1.5)
            self.send(200, content)
        elif fault == "drip" and first:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            for byte in content[:20]:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(0.1)
        elif fault == "cut" and first:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            self.close_connection = True
            self.connection.close()
        elif fault == "html" and first:
            self.send(200, b"<html>a proxy is in the way</html>")
        elif fault == "nonsense" and body.get("seed", 0) < 12347:  # two attempts from the default seed
            message = {"model": body["model"], "choices": [{"message": {"content": "I like 7 dogs {}"}}]}
            self.send(200, json.dumps(message).encode())
        elif fault == "never":
            message = {"model": body["model"], "choices": [{"message": {"content": '{"score": "great"} 85'}}]}
            self.send(200, json.dumps(message).encode())
        elif fault == "filter":
            self.send(400, b'{"error": {"message": "no", "code": "content_filter"}}')
        elif fault == "key":
            self.send(401, json.dumps({"error": {"message": f"wrong key {key}"}}).encode())
        else:
            time.sleep(0.02)
            self.send(200, content)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()
