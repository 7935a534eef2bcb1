"""The archive of a phase: what is in it, what is not, and that the library computes the same scores from it."""

from __future__ import annotations

import io
import json
import re
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.test import override_settings

from captious_server.models import Phase, User
from captious_server.people.accounts import make_token
from server.tests.boards.archives import archive, commands, computed_again, table
from server.tests.security.world import MARKERS, World
from server.tests.support.site import EXAMPLES, Site


def test_everything(demo: Site) -> None:
    files = archive(demo)
    rows = table(files)
    assert {row["method"] for row in rows} >= {"'=named", "nameless", "private", "Improved", "Human captions"}
    assert {row["team"] for row in rows} == {"ann", "Baselines"}
    for submission in demo.submissions():
        candidates = json.loads(files[f"captions/{submission.pk}/captions.json"])
        assert {row["image_id"]: row["caption"] for row in candidates} == {
            row["image_id"]: row["caption"] for row in json.loads((EXAMPLES / "improved.json").read_text())
        }
    assert archive(demo) == files
    assert (
        files["challenge/challenge.toml"] == (demo.data / "challenges" / "demo" / "1" / "challenge.toml").read_bytes()
    )


def test_without_names(demo: Site) -> None:
    files = archive(demo, anonymous="1")
    rows = [row for row in table(files) if row["team"] != "Baselines"]
    assert {row["team"] for row in rows} == {"Team 1", "Team 2"}  # an anonymous submission is in a team of its own
    assert {row["method"] for row in rows} == {f"Submission {row['submission']}" for row in rows}
    assert {row["submitted"] for row in rows} == {""}
    assert not re.search(rb"\b(ann|named|nameless|private)\b", files["scores.csv"])
    assert not re.search(rb"\bann\b", b"".join(files.values()))
    numbers = [int(row["submission"]) for row in table(files)]
    assert numbers == sorted(numbers)
    assert {*numbers} == {*range(1, 7)}
    assert archive(demo, anonymous="1") == files


def test_numbers_of_submissions_depend_on_a_secret(demo: Site) -> None:
    """Their order is not that of the ids that the site shows."""
    orders = set()
    for key in "abcdefgh":
        with override_settings(SECRET_KEY=key):
            rows = table(archive(demo, anonymous="1"))
        orders.add(tuple(row["method"] for row in rows if row["output"] == "cider-d"))
    assert len(orders) > 1


def test_what_everybody_may_see(demo: Site) -> None:
    files = archive(demo, public="1")
    named = {row["method"]: row["team"] for row in table(files)}
    assert "private" not in named
    assert (named["'=named"], named["nameless"]) == ("ann", "Anonymous")
    ours = {row.method: f"captions/{row.pk}/captions.json" for row in demo.submissions()}
    assert [method for method, name in ours.items() if name in files] == ["=named"]  # whose team agreed
    assert "has the captions of 4 of 5 submissions, whose teams agreed to it" in files["README.md"].decode()
    demo_files = {name for name in files if name.startswith("challenge/")}
    texts = {"challenge/challenge.toml", "challenge/overview.md", "challenge/rules.md"}
    baselines = {f"challenge/baselines/{name}.json" for name in ("baseline", "improved", "human")}
    assert demo_files == {*texts, *baselines, "challenge/references/c4.json"}


def test_parquet(demo: Site) -> None:
    files = archive(demo)
    read = pq.read_table(io.BytesIO(files["scores.parquet"])).to_pylist()
    assert [str(row["score"]) for row in read] == [row["score"] for row in table(files)]


def test_captious_score_computes_the_same(demo: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command in the README gives every score, every interval and every signature, to the last bit."""
    files = archive(demo, public="1")
    assert len(commands(files)) == 1
    rows = table(files)
    assert len({row["submission"] for row in rows}) == 5
    with_captions = {name.split("/")[1] for name in files if name.startswith("captions/")}
    assert len(with_captions) == 4
    assert computed_again(files, tmp_path, monkeypatch) == 4 * len(rows) // 5


def test_private_references_and_exact_scores_stay(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(Site(site.data, monkeypatch), tmp_path)
    for query in ("phase=main", "phase=main&public=1", "anonymous=1", "public=1", ""):
        response = world.as_user("olga").get(f"/challenges/open/archive.zip?{query}")
        with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as opened:
            files = {name: opened.read(name) for name in opened.namelist()}
        text = b"".join(files.values()).decode(errors="replace")
        assert not any(marker in text for marker in MARKERS)
        assert ("captions/1/test.json" in files) == ("public" not in query)
        assert ("captions/1/val.json" in files) == ("public" not in query)
        scores = [row["score"] for row in table(files) if row["captions"] == "test"]
        assert scores
        assert all(len(score) <= len("0.1234") for score in scores)


@pytest.mark.parametrize(
    ("withheld", "said"),
    [
        ({"board": "hidden"}, "The organizers have hidden the leaderboard"),
        ({"scores_shown": "at-end", "closes": datetime(2120, 3, 1, tzinfo=UTC)}, "on 2120-03-01 00:10 UTC."),
        ({"scores_shown": "never"}, "This phase does not show scores."),
    ],
)
def test_no_public_archive_while_scores_are_withheld(demo: Site, withheld: dict[str, Any], said: str) -> None:
    Phase.objects.update(**withheld)
    root = User.objects.create(username="root", is_superuser=True)
    page = demo.client(root).get("/challenges/demo/archive.zip?phase=main&public=1")
    assert (page.status_code, said in page.content.decode()) == (403, True)
    headers = {"Authorization": f"Bearer {make_token(root, 'x')}"}
    for query in ("public=1", "public=true", "public=yes&anonymous=1"):
        answer = demo.client().get(f"/api/v1/challenges/demo/archive?phase=main&{query}", headers=headers)
        assert (answer.status_code, said in answer.json()["error"]) == (403, True)
    assert table(archive(demo))  # which only organizers get


def test_the_public_archive_of_a_phase_that_has_ended(demo: Site) -> None:
    Phase.objects.update(scores_shown="at-end", closes=datetime(2020, 3, 1, tzinfo=UTC))
    assert table(archive(demo, public="1"))
