"""The client of the API: what it says where the server refuses, and what a dry run finds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from captious import client
from captious.client import Client, ServerError
from tests.support.web_server import answering, body_of


def answer(request: BaseHTTPRequestHandler) -> tuple[int, object]:
    """Answer as the server does: pages outside the API, and a challenge "open" with a quota that is used up."""
    body_of(request)
    if not request.path.startswith("/api/"):
        return 404, b"<h1>Page not found</h1>"
    if not request.path.startswith("/api/v1/challenges/open/"):
        return 404, {"error": "There is no such page, or you may not see it."}
    return 200, {"problems": [], "remarks": ["Today's quota is used up."], "warnings": ["2 are empty."]}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with answering(answer) as address:
        yield address


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
    assert submit(address, file, "--field", "extra-data=no", "--field", "note=a=b & c").exit_code == 1
    assert sent[0].endswith("&field=extra-data%3Dno&field=note%3Da%3Db+%26+c")
    assert "'note' is not NAME=VALUE" in submit(address, file, "--field", "note").output


def test_dry_run_reports_what_would_be_refused(address: str, file: Path) -> None:
    found = submit(address, file)
    assert found.exit_code == 1
    assert found.output.splitlines() == [
        "no problems found",
        "warning: 2 are empty.",
        "a submission would be refused now: Today's quota is used up.",
    ]
    assert json.loads(submit(address, file, "--format", "json").stdout)["remarks"] == ["Today's quota is used up."]


class _Script:
    """Answers each request as the next line says: a status, "lost" for none, or "early" for one that refuses a body
    before it is read."""

    client: Client

    def __init__(self, *lines: int | str) -> None:
        self.lines = [*lines]
        self.keys: list[str] = []
        self.bodies: list[bytes] = []

    def __call__(self, request: BaseHTTPRequestHandler) -> tuple[int, object] | None:
        line = self.lines.pop(0)
        self.keys.append(request.headers["Idempotency-Key"])
        if line == "early":
            return 413, {"error": "Uploads may have up to 100 MiB."}
        self.bodies.append(body_of(request))
        if line == "lost":
            return None
        return int(line), {"id": 1} if line == 201 else {"error": "Try later."}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., _Script]]:
    monkeypatch.setattr(client, "_FIRST_WAIT", 0.0)
    with ExitStack() as servers:

        def make(*lines: int | str) -> _Script:
            script = _Script(*lines)
            script.client = Client(servers.enter_context(answering(script)), "x")
            return script

        yield make


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


@contextmanager
def table(calls: list[str], **answers: list[tuple[int, object]]) -> Iterator[Client]:
    """Yield a client, whose calls are noted, such as "GET path". The server has a list of statuses and answers for the
    end of a path: it takes the next one each time, and the last one again and again."""

    def answer(request: BaseHTTPRequestHandler) -> tuple[int, object]:
        body_of(request)
        calls.append(f"{request.command} {request.path.removeprefix('/api/v1/')}")
        rows = answers[request.path.partition("?")[0].rpartition("/")[2]]
        return rows.pop(0) if len(rows) > 1 else rows[0]

    with answering(answer) as address:
        yield Client(address, "x")


def test_terms_are_accepted_before_a_submission(file: Path) -> None:
    calls: list[str] = []
    with table(calls, terms=[(200, {"version": "3"}), (200, {})], submissions=[(201, {"id": 7})]) as caller:
        submitted = caller.submit(file, "open", method="Mine", team="alpha", accept_terms=True)
    assert submitted == {"id": 7}
    assert calls[:2] == ["GET challenges/open/terms", "POST challenges/open/terms?version=3&team=alpha"]
    assert [call.partition("?")[0] for call in calls[2:]] == ["POST challenges/open/submissions"]


def test_a_challenge_may_have_no_terms(file: Path) -> None:
    with table([], terms=[(404, {"error": "None."})], submissions=[(201, {"id": 7})]) as caller:
        assert caller.submit(file, "open", method="Mine", accept_terms=True) == {"id": 7}
    with table([], terms=[(403, {"error": "Not for you."})]) as caller, pytest.raises(ServerError) as caught:
        caller.submit(file, "open", method="Mine", accept_terms=True)
    assert (caught.value.status, caught.value.message) == (403, "Not for you")


def test_waiting_ends_with_the_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(client, "_FIRST_WAIT", 0.0)
    common = {"progress": 0, "public": True, "scores": {"cider-d": 1.0}, "rank": None}
    states = [{"status": "queued", "place": 2}, {"status": "running", "doing": "scoring"}, {"status": "done"}]
    ranked = {**common, "status": "done", "rank": 4}
    with table(calls, **{"7": [(200, {**common, **state}) for state in states] + [(200, ranked)]}) as caller:
        assert caller.wait(7) == ranked
    assert calls == ["GET submissions/7"] * 4
    monkeypatch.setattr(client, "_RANK_SECONDS", 0.0)
    with table([], **{"7": [(200, {**common, "status": "done"})]}) as caller:
        assert caller.wait(7)["rank"] is None  # it does not wait for ever


def test_what_the_api_lists_is_returned_as_it_is() -> None:
    calls: list[str] = []
    rows = [{"id": number} for number in range(client._ROWS_PER_PAGE + 1, 0, -1)]
    pages = [(200, rows[:-1]), (200, rows[-2:])]  # a row that moved to the next page is counted once
    quotas, challenges = [{"phase": "main", "left": 2}], [{"slug": "open"}]
    with table(
        calls, submissions=[*pages], quotas=[(200, quotas)], challenges=[(200, challenges)], file=[(200, b"PK..")]
    ) as caller:
        assert caller.submissions("open") == rows
        assert caller.quotas("open", "alpha") == quotas
        assert caller.challenges() == challenges
        assert caller.file(7) == b"PK.."
    assert calls[:3] == [
        "GET challenges/open/submissions?page=1",
        "GET challenges/open/submissions?page=2",
        "GET challenges/open/quotas?team=alpha",
    ]
    with table([], challenges=[(200, b"<h1>Hello</h1>")]) as caller, pytest.raises(ServerError) as caught:
        caller.challenges()
    assert caught.value.message.endswith("does not answer like an evaluation server")
