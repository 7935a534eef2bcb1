"""A phase as one zip file: what is in it, what is not, and that the library computes the same scores from it."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("django")

from tests.support.site import EXAMPLES, Site


@pytest.fixture
def demo(site: Site) -> Site:
    """The demonstration, whose captions are public, with two submissions of Ann's."""
    site.demo()
    ann = site.user("ann")
    site.submit(ann, method="=named", link="https://example.org/ann")
    site.submit(ann, method="nameless", anonymous="on")
    site.submit(ann, method="private", public="")
    site.work()
    return site


def archive(site: Site, **query: str) -> dict[str, bytes]:
    from captious.server.models import User

    root, _ = User.objects.get_or_create(username="root", is_superuser=True)
    response = site.client(root).get("/challenges/demo/archive.zip", {"phase": "main", **query})
    content = b"".join(response.streaming_content)
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name) for name in opened.namelist()}


def table(files: dict[str, bytes]) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(files["scores.csv"].decode()))]


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


def test_without_names(demo: Site) -> None:
    files = archive(demo, anonymous="1")
    rows = [row for row in table(files) if row["team"] != "Baselines"]
    assert {row["team"] for row in rows} == {"Team 1", "Team 2"}  # an anonymous submission is in a team of its own
    assert {row["method"] for row in rows} == {f"Submission {row['submission']}" for row in rows}
    assert {row["submitted"] for row in rows} == {""}
    assert not re.search(rb"\b(ann|named|nameless|private)\b", files["scores.csv"])
    assert not re.search(rb"\bann\b", b"".join(files.values()))


def test_what_everybody_may_see(demo: Site) -> None:
    files = archive(demo, public="1")
    named = {row["method"]: row["team"] for row in table(files)}
    assert "private" not in named
    assert (named["'=named"], named["nameless"]) == ("ann", "Anonymous")
    demo_files = {name for name in files if name.startswith("challenge/")}
    texts = {"challenge/challenge.toml", "challenge/overview.md", "challenge/rules.md"}
    assert demo_files == {*texts, "challenge/baselines/baseline.json", *REFERENCES}


REFERENCES = {"challenge/references/c4.json"}


def test_parquet(demo: Site) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    files = archive(demo)
    read = pq.read_table(io.BytesIO(files["scores.parquet"])).to_pylist()
    assert [str(row["score"]) for row in read] == [row["score"] for row in table(files)]


def test_captious_score_computes_the_same(demo: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command in the README gives every score, every interval and every signature, to the last bit."""
    from click.testing import CliRunner

    from captious.cli import captious

    files = archive(demo, public="1")
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    [line] = re.findall(r"^    captious (score .*)$", files["README.md"].decode(), flags=re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    rows = table(files)
    assert len({row["submission"] for row in rows}) == 5
    for submission in {row["submission"] for row in rows}:
        arguments = shlex.split(line.replace("SUBMISSION", submission))
        run = CliRunner().invoke(captious, [*arguments, "--format", "json"])
        assert run.exit_code == 0, run.output
        [computed] = json.loads(run.stdout)["systems"]
        expected = {row["output"]: row for row in rows if row["submission"] == submission}
        assert computed["metrics"].keys() == expected.keys()
        for name, row in computed["metrics"].items():
            values = [row["score"], *row["ci95"], row["signature"]]
            assert [*map(str, values)] == [expected[name][key] for key in ("score", "low", "high", "signature")]


def test_private_references_and_exact_scores_stay(site: Site, tmp_path: Path) -> None:
    from tests.server.security.world import MARKERS, World

    monkeypatch = site._monkeypatch
    world = World(Site(site.data, monkeypatch), tmp_path)
    for query in ("", "&public=1", "&anonymous=1"):
        response = world.as_user("olga").get(f"/challenges/open/archive.zip?phase=main{query}")
        with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as opened:
            files = {name: opened.read(name) for name in opened.namelist()}
        text = b"".join(files.values()).decode(errors="replace")
        assert not any(marker in text for marker in MARKERS)
        assert ("captions/1/test.json" in files) == (query != "&public=1")
        assert "captions/1/val.json" in files
        scores = [row["score"] for row in table(files) if row["captions"] == "test"]
        assert scores
        assert all(len(score) <= len("0.1234") for score in scores)


def test_others_get_nothing(demo: Site) -> None:
    from captious.server.models import User

    client = demo.client(User.objects.get(username="ann"))
    assert client.get("/challenges/demo/archive.zip?phase=main").status_code == 404
