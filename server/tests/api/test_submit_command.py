"""``captious submit`` from the terms to the rank, on a running server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.tests.support.server import Server
from server.tests.support.small_challenge import upload, write_folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with the challenge "small", which has terms and quotas."""
    folder = write_folder(tmp_path_factory.mktemp("small"), limits="scored_per_day = 3\nscored_in_total = 9")
    text = (folder / "challenge.toml").read_text()
    terms = 'terms = "Terms"\n{}\n[[texts]]\ntitle = "Terms"\nfile = "terms.md"\n\n[[references]]'
    head, tail = text.split("[[references]]", 1)
    (folder / "challenge.toml").write_text(terms.format(head) + tail)
    (folder / "terms.md").write_text("Be fair.")
    with Server(tmp_path_factory.mktemp("server") / "data", "--demo") as running:
        loaded = running.captious("challenge", "load", str(folder), "--data", str(running.data))
        assert loaded.returncode == 0, loaded.stderr
        yield running


@pytest.fixture
def arguments(server: Server, tmp_path: Path) -> list[str]:
    file = tmp_path / "captions.json"
    file.write_bytes(upload())
    place = ["--server", server.url, "--challenge", "small", "--token", server.token()]
    return ["submit", str(file), *place, "--method", "Mine"]


def test_terms_are_named_by_their_address_and_accepted(server: Server, arguments: list[str]) -> None:
    refused = server.captious(*arguments)
    assert refused.returncode != 0
    assert f"must accept the terms first: {server.url}/challenges/small/terms" in refused.stderr
    checked = server.captious(*arguments, "--dry-run")
    assert checked.returncode == 1
    assert f"must accept the terms first: {server.url}/challenges/small/terms" in checked.stdout
    done = server.captious(*arguments, "--accept-terms", "--wait")
    assert done.returncode == 0, done.stderr
    assert server.captious(*arguments, "--dry-run").returncode == 0
    assert "Mine: done" in done.stdout
    assert re.search(r"^  bleu-4 +\.\d{4}  \.\d{3} – 1?\.\d{3}$", done.stdout, re.MULTILINE)
    assert "rank on the leaderboard: 1" in done.stdout
    assert "scored submissions today: 2 of 3 left" in done.stdout
    assert "scored submissions in total: 8 of 9 left" in done.stdout
    again = server.captious(*arguments, "--accept-terms", "--wait", "--format", "json")
    answer = json.loads(again.stdout)
    assert (answer["rank"], answer["quota"]["scored_left_today"]) == (1, 1)


def test_challenges_without_terms_need_none_accepted(server: Server, arguments: list[str]) -> None:
    done = server.captious(*arguments, "--challenge", "demo", "--accept-terms", "--dry-run")
    assert "24 images have no caption" in done.stderr
