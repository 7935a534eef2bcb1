"""captious challenges and captious submissions, with a server that answers as ours does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from captious.cli import captious
from tests.support.web_server import answering

ROWS = [
    {
        "id": 7,
        "method": "Mine",
        "team": "Alpha",
        "phase": "main",
        "status": "done",
        "filename": "../captions.json",
        "scores": {"bleu-4": 0.25, "spice": None},
        "digits": 4,
        "withheld": "",
        "references": "val/c5",
    },
    {
        "id": 8,
        "method": "Other",
        "team": "Alpha",
        "phase": "final",
        "status": "done",
        "filename": "captions.json",
        "scores": {"bleu-4": 0.5},
        "digits": 4,
        "withheld": "Scores with test/c40 are shown on 2120-03-01 00:10 UTC.",
        "references": "test/c5",
    },
]
WITHHELD = "Final: This phase does not show scores."
CHALLENGES = [
    {"slug": "demo", "title": "Scenes", "is_open": True, "url": "https://x.org/challenges/demo/", "withheld": []},
    {"slug": "more", "title": "More", "is_open": True, "url": "/", "withheld": [WITHHELD]},
]
TOKEN = "cap_secret"


def answer(request: BaseHTTPRequestHandler) -> tuple[int, object]:
    """Answer as the server does."""
    known = {
        "/api/v1/challenges": CHALLENGES,
        "/api/v1/challenges/demo/submissions?page=1": ROWS,
        "/api/v1/challenges/more/submissions?page=1": [],
        "/empty/api/v1/challenges": [],
        "/api/v1/submissions/7/file": b"[the file]",
        "/api/v1/submissions/8/file": b"[another]",
    }
    needs_token = not request.path.endswith("/api/v1/challenges")
    is_known = request.headers.get("Authorization") == f"Bearer {TOKEN}"
    status = 404 if request.path not in known else 401 if needs_token and not is_known else 200
    return status, known[request.path] if status == 200 else {"error": "Give a token."}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with answering(answer) as address:
        yield address


def run(*arguments: str) -> Result:
    return CliRunner().invoke(captious, [*arguments])


def test_challenges_are_listed(address: str) -> None:
    first, second = run("challenges", "--server", address).stdout.splitlines()
    assert first.split() == ["demo", "Scenes", "open", CHALLENGES[0]["url"]]
    assert second.endswith(WITHHELD)
    assert json.loads(run("challenges", "--server", address, "--format", "json").stdout) == CHALLENGES


def test_submissions_are_listed_and_downloaded(address: str, tmp_path: Path) -> None:
    about = ("--server", address, "--challenge", "demo", "--token", TOKEN)
    first, second = run("submissions", *about).stdout.splitlines()
    assert first.endswith("done  val/c5: bleu-4 .2500")
    assert second.endswith("done  test/c5: bleu-4 .5000 · Scores with test/c40 are shown on 2120-03-01 00:10 UTC.")
    folder = tmp_path / "new" / "mine"
    assert run("submissions", *about, "-o", str(folder)).exit_code == 0
    assert {path.name: path.read_text() for path in folder.glob("7*")} == {"7-captions.json": "[the file]"}
    assert json.loads((folder / "submissions.json").read_text()) == ROWS
    (folder / "7-captions.json").write_text("kept")
    run("submissions", *about, "-o", str(folder))
    assert (folder / "7-captions.json").read_text() == "kept"


def test_empty_lists_are_explained_in_a_sentence(address: str) -> None:
    none = run("challenges", "--server", f"{address}/empty")
    assert (none.exit_code, none.stdout) == (0, "")
    assert none.stderr.startswith("There are no challenges on this server that you can see; with --token")
    known = run("challenges", "--server", f"{address}/empty", "--token", TOKEN)
    assert known.stderr == "There are no challenges on this server that you can see.\n"
    assert json.loads(run("challenges", "--server", f"{address}/empty", "--format", "json").stdout) == []
    empty = run("submissions", "--server", address, "--challenge", "more", "--token", TOKEN)
    assert (empty.stdout, empty.stderr) == ("", "Your teams have not submitted anything to more.\n")


def test_server_errors_are_shown(address: str) -> None:
    refused = run("submissions", "--server", address, "--challenge", "demo", "--token", "wrong")
    assert str(refused.exception).startswith("Give a token")
    unknown = run("submissions", "--server", address, "--challenge", "nope", "--token", TOKEN)
    assert "there is no challenge 'nope'" in str(unknown.exception)
