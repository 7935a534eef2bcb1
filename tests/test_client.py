"""The client of the API: what it says where the server refuses, and what a dry run finds."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from captious import client
from captious.client import Client, ServerError


class _Handler(BaseHTTPRequestHandler):
    """Replies, and writes no log."""

    def reply(self, status: int, answer: object) -> None:
        """Send bytes as they are, and anything else as JSON."""
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


class _Answers(_Handler):
    """Answers as the server does: pages outside the API, and a challenge "open" with a quota that is used up."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.startswith("/api/"):
            self.reply(404, b"<h1>Page not found</h1>")
        elif not self.path.startswith("/api/v1/challenges/open/"):
            self.reply(404, {"error": "There is no such page, or you may not see it."})
        else:
            self.reply(200, {"problems": [], "remarks": ["Today's quota is used up."], "warnings": ["2 are empty."]})


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


def test_unknown_challenge_is_named(address: str, file: Path) -> None:
    with pytest.raises(ServerError) as caught:
        Client(address, "x").submit(file, "nope", method="Mine")
    assert caught.value.message == f"there is no challenge 'nope' on {address}, or you do not have access to it"
    assert caught.value.status == 404


@pytest.mark.parametrize("path", ["/challenges", "/challenges/open/"])
def test_page_address_as_server_is_refused(address: str, file: Path, path: str) -> None:
    with pytest.raises(ServerError) as caught:
        Client(address + path, "x").submit(file, "open", method="Mine")
    assert caught.value.hint == f"use the address of the site, such as {address}"


def submit(address: str, file: Path, *more: str) -> Result:
    from captious.cli.submissions import submit as command

    place = ["--server", address, "--challenge", "open", "--token", "x", "--method", "Mine", "--dry-run"]
    return CliRunner().invoke(command, [str(file), *place, *more])


def test_fields_are_parameters(address: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    call = client.call
    monkeypatch.setattr(client, "call", lambda where, *rest: sent.append(where) or call(where, *rest))
    assert submit(address, file, "--field", "extra-data=no", "--field", "note=a=b & c").exit_code == 0
    assert sent[0].endswith("&field=extra-data%3Dno&field=note%3Da%3Db+%26+c")
    assert "'note' is not NAME=VALUE" in submit(address, file, "--field", "note").output


def test_dry_run_reports_what_would_be_refused(address: str, file: Path) -> None:
    found = submit(address, file)
    assert found.output.splitlines() == [
        "no problems found",
        "warning: 2 are empty.",
        "a submission would be refused now: Today's quota is used up.",
    ]
    assert json.loads(submit(address, file, "--format", "json").stdout)["remarks"] == ["Today's quota is used up."]


class _Script:
    """A server that answers each request as the next line says: a status, "lost" for none, or "early" for one that
    refuses a body before it is read."""

    def __init__(self, *lines: int | str) -> None:
        self.lines = [*lines]
        self.keys: list[str] = []
        self.bodies: list[bytes] = []
        script = self

        class Handler(_Handler):
            def do_POST(self) -> None:
                line = script.lines.pop(0)
                script.keys.append(self.headers["Idempotency-Key"])
                if line == "early":
                    self.reply(413, {"error": "Uploads may have up to 100 MiB."})
                    return
                script.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                if line == "lost":
                    self.close_connection = True
                else:
                    self.reply(int(line), {"id": 1} if line == 201 else {"error": "Try later."})

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.client = Client(f"http://127.0.0.1:{self.server.server_port}", "x")
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., _Script]]:
    monkeypatch.setattr(client, "_FIRST_WAIT", 0.0)
    made: list[_Script] = []

    def make(*lines: int | str) -> _Script:
        made.append(_Script(*lines))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_lost_call_is_repeated_with_its_key(script: Callable[..., _Script], file: Path) -> None:
    server = script(503, "lost", 429, 502, 201)
    assert server.client.submit(file, "open", method="Mine") == {"id": 1}
    assert server.bodies == [b"[]"] * 5
    assert len({*server.keys}) == 1
    assert server.keys[0]
    server.lines = [201]
    server.client.submit(file, "open", method="Mine")
    assert server.keys[5] != server.keys[0]


@pytest.mark.parametrize("line", [400, 409, 500])
def test_permanent_errors_are_not_retried(script: Callable[..., _Script], file: Path, line: int) -> None:
    server = script(line, 201)
    with pytest.raises(ServerError) as caught:
        server.client.submit(file, "open", method="Mine")
    assert caught.value.status == line


def test_client_gives_up_after_repeated_failures(
    script: Callable[..., _Script], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_RETRY_PERIOD_SECONDS", -1.0)
    with pytest.raises(ServerError) as caught:
        script("lost").client.submit(file, "open", method="Mine")
    assert "was lost" in caught.value.message


def test_wrong_address_is_not_retried(file: Path) -> None:
    with pytest.raises(ServerError) as caught:
        Client("http://127.0.0.1:9", "x").submit(file, "open", method="Mine")
    assert "cannot be reached" in caught.value.message


def test_early_refusal_is_reported(script: Callable[..., _Script], tmp_path: Path) -> None:
    """The message is the server's, not "Broken pipe"."""
    file = tmp_path / "captions.json"
    with file.open("wb") as content:
        content.truncate(64 << 20)
    with pytest.raises(ServerError) as caught:
        script("early").client.submit(file, "open", method="Mine")
    assert (caught.value.status, caught.value.message) == (413, "Uploads may have up to 100 MiB")


class _Table:
    """A server that answers each request from a table, as "GET path" to a list of statuses and answers: the next one
    each time, and the last one again and again."""

    def __init__(self, **answers: list[tuple[int, object]]) -> None:
        self.calls: list[str] = []
        table = self

        class Handler(_Handler):
            def do_GET(self) -> None:
                self.answer()

            def do_POST(self) -> None:
                self.answer()

            def answer(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                table.calls.append(f"{self.command} {self.path.removeprefix('/api/v1/')}")
                rows = answers[self.path.partition("?")[0].rpartition("/")[2]]
                self.reply(*(rows.pop(0) if len(rows) > 1 else rows[0]))

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.client = Client(f"http://127.0.0.1:{self._server.server_port}", "x")
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def __enter__(self) -> _Table:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def test_terms_are_accepted_before_a_submission(file: Path) -> None:
    with _Table(terms=[(200, {"version": "3"}), (200, {})], submissions=[(201, {"id": 7})]) as server:
        submitted = server.client.submit(file, "open", method="Mine", team="alpha", accept_terms=True)
    assert submitted == {"id": 7}
    first, second, third = server.calls
    assert first == "GET challenges/open/terms"
    assert second == "POST challenges/open/terms?version=3&team=alpha"
    assert third.startswith("POST challenges/open/submissions?")


def test_a_challenge_may_have_no_terms(file: Path) -> None:
    with _Table(terms=[(404, {"error": "None."})], submissions=[(201, {"id": 7})]) as server:
        assert server.client.submit(file, "open", method="Mine", accept_terms=True) == {"id": 7}
    with _Table(terms=[(403, {"error": "Not for you."})]) as server, pytest.raises(ServerError) as caught:
        server.client.submit(file, "open", method="Mine", accept_terms=True)
    assert (caught.value.status, caught.value.message) == (403, "Not for you")


def test_waiting_ends_with_the_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_FIRST_WAIT", 0.0)
    common = {"progress": 0, "public": True, "scores": {"cider-d": 1.0}, "rank": None}
    states = [{"status": "queued", "place": 2}, {"status": "running", "doing": "scoring"}, {"status": "done"}]
    ranked = {**common, "status": "done", "rank": 4}
    with _Table(**{"7": [(200, {**common, **state}) for state in states] + [(200, ranked)]}) as server:
        assert server.client.wait(7) == ranked
    assert server.calls == ["GET submissions/7"] * 4
    monkeypatch.setattr(client, "_RANK_SECONDS", 0.0)
    with _Table(**{"7": [(200, {**common, "status": "done"})]}) as server:
        assert server.client.wait(7)["rank"] is None  # it does not wait for ever


def test_what_the_api_lists_is_returned_as_it_is() -> None:
    rows = [{"id": number} for number in range(client._ROWS_PER_PAGE + 1, 0, -1)]
    pages = [(200, rows[:-1]), (200, rows[-2:])]  # a row that moved to the next page is counted once
    quotas, challenges = [{"phase": "main", "left": 2}], [{"slug": "open"}]
    with _Table(
        submissions=[*pages], quotas=[(200, quotas)], challenges=[(200, challenges)], file=[(200, b"PK..")]
    ) as server:
        assert server.client.submissions("open") == rows
        assert server.client.quotas("open", "alpha") == quotas
        assert server.client.challenges() == challenges
        assert server.client.file(7) == b"PK.."
    assert server.calls[:3] == [
        "GET challenges/open/submissions?page=1",
        "GET challenges/open/submissions?page=2",
        "GET challenges/open/quotas?team=alpha",
    ]
    with _Table(challenges=[(200, b"<h1>Hello</h1>")]) as server, pytest.raises(ServerError) as caught:
        server.client.challenges()
    assert caught.value.message.endswith("does not answer like an evaluation server")
