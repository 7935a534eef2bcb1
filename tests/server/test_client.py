"""The client of the API: what it says where the server refuses, and what a dry run finds."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from captious.server.client import Client, ServerError


class _Answers(BaseHTTPRequestHandler):
    """Answers as the server does: pages outside the API, and a challenge "open" with a quota that is used up."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.startswith("/api/"):
            self.answer(404, "<h1>Page not found</h1>")
        elif not self.path.startswith("/api/v1/challenges/open/"):
            self.answer(404, json.dumps({"error": "There is no such page, or you may not see it."}))
        else:
            self.answer(200, json.dumps({"problems": [], "remarks": ["Today's quota is used up."]}))

    def answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "captions.json"
    path.write_text("[]")
    return path


def test_an_unknown_challenge_is_named(address: str, file: Path) -> None:
    with pytest.raises(ServerError) as caught:
        Client(address, "x").submit(file, "nope", method="Mine")
    assert caught.value.message == f"there is no challenge 'nope' on {address}, or you may not see it"
    assert caught.value.status == 404


@pytest.mark.parametrize("path", ["/challenges", "/challenges/open/"])
def test_an_address_within_the_site(address: str, file: Path, path: str) -> None:
    with pytest.raises(ServerError) as caught:
        Client(address + path, "x").submit(file, "open", method="Mine")
    assert caught.value.help == f"give the address of the site, such as {address}"


def submit(address: str, file: Path, *more: str) -> Result:
    from captious.cli.submit import submit as command

    place = ["--server", address, "--challenge", "open", "--token", "x", "--method", "Mine", "--dry-run"]
    return CliRunner().invoke(command, [str(file), *place, *more])


def test_a_dry_run_says_what_would_be_refused(address: str, file: Path) -> None:
    found = submit(address, file)
    assert found.output.splitlines() == [
        "no problems found",
        "a submission would be refused now: Today's quota is used up.",
    ]
    assert json.loads(submit(address, file, "--format", "json").stdout)["remarks"] == ["Today's quota is used up."]
