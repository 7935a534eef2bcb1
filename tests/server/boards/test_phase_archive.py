"""A phase as one zip file: what is in it, what is not, and that the library computes the same scores from it."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("django")

from tests.support.site import EXAMPLES, Site
from tests.support.small_challenge import queue, write_folder


@pytest.fixture
def demo(site: Site) -> Site:
    """The demonstration, whose captions are public, with two submissions of Ann's."""
    site.demo()
    ann = site.user("ann")
    site.submit(ann, method="=named", link="https://example.org/ann", may_publish="on")
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
    ours = {row.method: f"captions/{row.pk}/captions.json" for row in demo.submissions()}
    assert [method for method, name in ours.items() if name in files] == ["=named"]  # whose team agreed
    assert "has the captions of 4 of 5 submissions, whose teams agreed to it" in files["README.md"].decode()
    demo_files = {name for name in files if name.startswith("challenge/")}
    texts = {"challenge/challenge.toml", "challenge/overview.md", "challenge/rules.md"}
    assert demo_files == {*texts, "challenge/baselines/baseline.json", *REFERENCES}


REFERENCES = {"challenge/references/c4.json"}


def test_parquet(demo: Site) -> None:
    import pyarrow.parquet as pq

    files = archive(demo)
    read = pq.read_table(io.BytesIO(files["scores.parquet"])).to_pylist()
    assert [str(row["score"]) for row in read] == [row["score"] for row in table(files)]


class TestDataCite:
    """``datacite.json``, against DataCite's own schema."""

    def record(self, site: Site, **values: Any) -> Any:
        schema45 = pytest.importorskip("datacite.schema45")
        from captious.server.models import Challenge

        challenge = Challenge.objects.get()
        challenge.definition_values |= values
        challenge.save()
        files = archive(site, public="1")
        record = json.loads(files["datacite.json"])
        schema45.validator.validate(record)
        return record

    def test_the_demonstration(self, demo: Site) -> None:
        from captious.version import __version__

        record = self.record(demo)
        assert record["titles"] == [{"title": "Demo: Main phase"}]
        assert record["publisher"] == {"name": "captious"}
        assert record["types"]["resourceTypeGeneral"] == "Dataset"
        assert record["contributors"] == [{"name": "ann", "contributorType": "Producer"}]
        assert f"captious {__version__}" in record["descriptions"][0]["description"]
        assert "datacite.json" not in archive(demo)

    def test_creators_rights_and_publications(self, demo: Site) -> None:
        demo.configure(hosts=("captions.example.org",), https=True, site_name="Captions of X")
        record = self.record(
            demo,
            organized_by=["Ann Smith, University of X, Y", "Society of Captions"],
            license="CC-BY-SA 4.0",
            citation="@inproceedings{x, doi = {10.1109/CVPR.2015.7299087}}\nSee arXiv:1504.00325, and more.",
        )
        assert record["creators"] == [
            {"name": "Ann Smith", "affiliation": [{"name": "University of X, Y"}]},
            {"name": "Society of Captions"},
        ]
        assert record["rightsList"] == [
            {
                "rights": "CC-BY-SA 4.0",
                "rightsUri": "https://creativecommons.org/licenses/by-sa/4.0/",
                "rightsIdentifier": "CC-BY-SA-4.0",
                "rightsIdentifierScheme": "SPDX",
            }
        ]
        assert [(each["relatedIdentifier"], each["relationType"]) for each in record["relatedIdentifiers"]] == [
            ("10.1109/CVPR.2015.7299087", "IsSupplementTo"),
            ("arXiv:1504.00325", "IsSupplementTo"),
            ("https://captions.example.org/challenges/demo/", "IsDocumentedBy"),
        ]
        assert record["publisher"] == {"name": "Captions of X"}

    @pytest.mark.parametrize(
        ("license", "address"),
        [
            ("CC BY 4.0", "https://creativecommons.org/licenses/by/4.0/"),
            ("CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
            ("Images: CC BY-NC-ND 3.0", "https://creativecommons.org/licenses/by-nc-nd/3.0/"),
            ("Ask us", None),
        ],
    )
    def test_licenses(self, demo: Site, license: str, address: str | None) -> None:
        [rights] = self.record(demo, license=license)["rightsList"]
        assert (rights["rights"], rights.get("rightsUri")) == (license, address)

    def test_without_names_there_are_none(self, demo: Site) -> None:
        assert b"ann" not in archive(demo, public="1", anonymous="1")["datacite.json"]

    def test_the_year_in_which_a_phase_closed(self, demo: Site) -> None:
        from captious.server.models import Phase

        Phase.objects.update(opens=datetime(2019, 1, 1, tzinfo=UTC), closes=datetime(2020, 2, 1, tzinfo=UTC))
        record = self.record(demo)
        assert record["publicationYear"] == "2020"
        assert record["dates"] == [{"date": "2019-01-01/2020-02-01", "dateType": "Collected"}]


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
    with_captions = {name.split("/")[1] for name in files if name.startswith("captions/")}
    assert len(with_captions) == 4
    for submission in with_captions:
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
        assert ("captions/1/val.json" in files) == (query != "&public=1")
        scores = [row["score"] for row in table(files) if row["captions"] == "test"]
        assert scores
        assert all(len(score) <= len("0.1234") for score in scores)


@pytest.mark.parametrize(
    ("withheld", "said"),
    [
        ({"board": "hidden"}, "The organizers have hidden the leaderboard"),
        ({"scores_shown": "at-end", "closes": datetime(2120, 3, 1, tzinfo=UTC)}, "soon after 2120-03-01 00:00 UTC."),
        ({"scores_shown": "never"}, "This phase does not show scores."),
    ],
)
def test_no_public_archive_while_scores_are_withheld(demo: Site, withheld: dict[str, Any], said: str) -> None:
    from captious.server.models import Phase, User
    from captious.server.people.secrets import make_token

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
    from captious.server.models import Phase

    Phase.objects.update(scores_shown="at-end", closes=datetime(2020, 3, 1, tzinfo=UTC))
    assert table(archive(demo, public="1"))


class TestReadme:
    """No sentence of the README ends in nothing."""

    def test_private_references_and_captions(self, site: Site, tmp_path: Path) -> None:
        from captious.server.models import User

        site.load(write_folder(tmp_path / "small"))
        queue()
        site.work()
        root = User.objects.create(username="root", is_superuser=True)
        response = site.client(root).get("/challenges/small/archive.zip?phase=main&public=1")
        with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as opened:
            readme = opened.read("README.md").decode()
        assert "There are no captions, as the captions files of this phase are not public." in readme
        assert "They cannot be computed once more from this archive, as no references are public." in readme
        assert not readme.rstrip().endswith(":")
        assert "captious score" not in readme

    def test_no_team_has_agreed(self, demo: Site) -> None:
        from captious.server.models import Submission

        Submission.objects.update(may_publish=False, is_baseline=False)
        files = archive(demo, public="1")
        readme = files["README.md"].decode()
        assert "There are no captions, as no team has agreed to that." in readme
        assert "Where references are public, captions can be scored like that:" in readme
        assert not any(name.startswith("captions/") for name in files)

    def test_nobody_has_submitted(self, demo: Site) -> None:
        from captious.server.models import Submission

        Submission.objects.update(public=False)
        assert "There are no captions, as no submission has scores." in archive(demo, public="1")["README.md"].decode()

    def test_the_creator(self, demo: Site) -> None:
        from captious.server.models import Challenge

        sentence = "the creator there is this site, captious: edit it."
        challenge = Challenge.objects.get()
        for names in ([], ["Ann Smith"]):
            challenge.definition_values |= {"organized_by": names}
            challenge.save()
            assert (sentence in archive(demo, public="1")["README.md"].decode()) is not bool(names)
            assert sentence not in archive(demo)["README.md"].decode()


def test_others_get_nothing(demo: Site) -> None:
    from captious.server.models import User

    client = demo.client(User.objects.get(username="ann"))
    assert client.get("/challenges/demo/archive.zip?phase=main").status_code == 404
