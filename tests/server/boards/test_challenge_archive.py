"""A challenge as one zip file: what is in it, what is not, and that the library computes the same scores from it."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import tomlkit

pytest.importorskip("django")

from tests.support.site import EXAMPLES, Site
from tests.support.small_challenge import queue, write_folder


@pytest.fixture
def demo(site: Site) -> Site:
    """The demonstration, whose captions are public, with two submissions of Ann's."""

    def scene() -> None:
        site.demo()
        ann = site.user("ann")
        site.submit(ann, method="=named", link="https://example.org/ann", may_publish="on")
        site.submit(ann, method="nameless", anonymous="on")
        site.submit(ann, method="private", public="")
        site.work()

    site.build("demonstration with three submissions", scene)
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
    from django.test import override_settings

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
        assert record["dates"] == [
            {"date": "2019-01-01/2020-02-01", "dateType": "Collected", "dateInformation": "Main phase"}
        ]


def test_captious_score_computes_the_same(demo: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command in the README gives every score, every interval and every signature, to the last bit."""
    files = archive(demo, public="1")
    assert len(commands(files)) == 1
    rows = table(files)
    assert len({row["submission"] for row in rows}) == 5
    with_captions = {name.split("/")[1] for name in files if name.startswith("captions/")}
    assert len(with_captions) == 4
    assert computed_again(files, tmp_path, monkeypatch) == 4 * len(rows) // 5


def extract(files: dict[str, bytes], folder: Path) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def commented(text: str) -> dict[str, Any]:
    """The part of a challenge.toml that an archive has in comments."""
    lines = text[text.index("# What follows was left out") :].splitlines()
    return tomllib.loads("\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[lines.index("#") :]))


def commands(files: dict[str, bytes]) -> list[str]:
    """What the README says to run."""
    return re.findall(r"^    captious (score .*)$", files["README.md"].decode(), flags=re.MULTILINE)


def computed_again(files: dict[str, bytes], folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the commands of the README for all captions; compare every bit, and return the number of rows."""
    from click.testing import CliRunner

    from captious.cli import captious

    extract(files, folder)
    monkeypatch.chdir(folder / "challenge")
    rows, n = table(files), 0
    for line in commands(files):
        captions, references = re.findall(r"SUBMISSION/(\S+)\.json (\S+)", line)[0]
        for place in sorted(folder.glob(f"captions/*/{captions}.json")):
            run = CliRunner().invoke(captious, shlex.split(line.replace("SUBMISSION", place.parent.name)))
            assert run.exit_code == 0, run.output
            [computed] = json.loads(run.stdout)["systems"]
            expected = {
                row["output"]: row
                for row in rows
                if row["submission"] == place.parent.name
                and (row["captions"], row["references"]) == (captions, Path(references).stem.rpartition("_")[2])
            }
            assert computed["metrics"].keys() == expected.keys()
            for name, row in computed["metrics"].items():
                values = [row["score"], *row["ci95"], row["signature"]]
                assert [*map(str, values)] == [expected[name][key] for key in ("score", "low", "high", "signature")]
            n += len(expected)
    return n


class TestWholeChallenge:
    """All phases of a challenge with public and private captions files in one archive."""

    @pytest.fixture
    def two(self, site: Site, tmp_path: Path) -> Site:
        """Public captions with two reference sets in two phases, private ones in the second of them."""
        folder = tmp_path / "two"
        (folder / "references").mkdir(parents=True)
        rows = json.loads((EXAMPLES / "references.json").read_text())
        for name, n in (("val_c4", 4), ("val_c2", 2), ("test_c3", 3)):
            chosen = {image: texts[:n] for image, texts in rows.items()}
            (folder / "references" / f"{name}.json").write_text(json.dumps(chosen))
        captions = [{"name": "val", "pattern": "val*", "public": True}, {"name": "test", "pattern": "test*"}]
        sets = [("c4", "val"), ("c2", "val"), ("c3", "test")]
        values = {
            "title": "Two phases",
            "summary": "Twenty-four images.",
            "license": "CC BY 4.0",
            "metrics": ["bleu", "rouge-l:beta=1.5", "cider-d"],
            "settings": {"tokenizer": "ptb"},
            "captions": captions,
            "references": [{"name": name, "captions": of, "file": f"references/{of}_{name}.json"} for name, of in sets],
            "phases": [
                {"name": "dev", "title": "Development", "captions": ["val"]},
                {"name": "final", "title": "Final", "scores_shown": "at-end", **FINAL},
            ],
        }
        (folder / "challenge.toml").write_text(tomlkit.dumps(values))
        site.load(folder)
        ann, bob = site.user("ann"), site.user("bob")
        improved = (EXAMPLES / "improved.json").read_text()
        baseline = (EXAMPLES / "baseline.json").read_text()
        for user, method, text in ((ann, "first", baseline), (ann, "second", improved), (bob, "third", improved)):
            self.submit(site, user, method, text, "dev")
            self.submit(site, user, f"{method} of both", text, "final")
        site.work()
        return site

    def submit(self, site: Site, user: Any, method: str, text: str, phase: str) -> None:

        from captious.server.models import Phase, Submission
        from captious.server.people.teams import personal_team
        from captious.server.submissions import intake, storage

        target = Phase.objects.get(name=phase)
        path = storage.incoming_folder() / "upload"
        with zipfile.ZipFile(path, "w") as opened:
            for name in target.captions:
                opened.writestr(f"{name}.json", text)
        row = Submission(phase=target, team=personal_team(user), user=user, method=method, created=DURING)
        row.filename, row.may_publish = "captions.zip", user.username == "ann"
        intake.submit(row, path)

    def get(self, site: Site, **query: str) -> dict[str, bytes]:
        from captious.server.models import User

        root, _ = User.objects.get_or_create(username="root", is_superuser=True)
        response = site.client(root).get("/challenges/two/archive.zip", query)
        with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as opened:
            return {name: opened.read(name) for name in opened.namelist()}

    def test_everything_that_is_public_is_computed_again(
        self, two: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        files = self.get(two, public="1")
        rows = table(files)
        assert {row["phase"] for row in rows} == {"dev", "final"}
        assert {(row["captions"], row["references"]) for row in rows} == {
            *(("val", "c4"), ("val", "c2"), ("test", "c3"))
        }
        assert len(commands(files)) == 2
        assert {name for name in files if name.startswith("challenge/references")} == {
            *("challenge/references/val_c4.json", "challenge/references/val_c2.json")
        }
        assert not any(name.endswith("/test.json") for name in files)
        # Ann agreed: two submissions of each phase, on two reference sets, with six outputs.
        assert computed_again(files, tmp_path / "archive", monkeypatch) == 2 * 2 * 2 * 6
        readme = files["README.md"].decode()
        assert "The references of test/c3 are private; their scores are rounded." in readme
        contents = (
            "`captions/` has the captions of 4 of 6 submissions, whose teams agreed to it, `challenge/` the challenge."
        )
        assert f"{contents} Captions for test are not public." in readme
        assert "are not public" not in self.get(two)["README.md"].decode()

    def test_one_description_for_all_phases(self, two: Site) -> None:
        schema45 = pytest.importorskip("datacite.schema45")
        record = json.loads(self.get(two, public="1")["datacite.json"])
        schema45.validator.validate(record)
        assert record["titles"] == [{"title": "Two phases"}]
        assert record["dates"] == [
            {"date": "2019-01-01/2020-03-01", "dateType": "Collected", "dateInformation": "Final"}
        ]
        assert [row["name"] for row in record["contributors"]] == ["ann"]
        one = json.loads(self.get(two, public="1", phase="final")["datacite.json"])
        assert one["titles"] == [{"title": "Two phases: Final"}]
        assert one["publicationYear"] == "2020"

    def test_phases_whose_scores_are_withheld_are_left_out(self, two: Site) -> None:
        from captious.server.models import Phase

        Phase.objects.filter(name="final").update(scores_shown="never")
        files = self.get(two, public="1")
        assert {row["phase"] for row in table(files)} == {"dev"}
        line = "- Final (`final`), from 2019-01-01 00:00 UTC, until 2020-03-01 00:00 UTC: not in this archive. "
        assert f"{line}This phase does not show scores." in files["README.md"].decode()
        assert {row["phase"] for row in table(self.get(two))} == {"dev", "final"}  # organizers see them

    @pytest.mark.parametrize("query", [{}, {"public": "1"}, {"anonymous": "1"}, {"phase": "dev", "public": "1"}])
    def test_it_can_be_loaded(self, site: Site, two: Site, tmp_path: Path, query: dict[str, str]) -> None:
        """What needs private references is in comments only."""
        from captious.server.models import Challenge

        files = self.get(two, **query)
        text = files["challenge/challenge.toml"].decode()
        values, comments = tomllib.loads(text), commented(text)
        assert [row["name"] for row in values["references"]] == ["c4", "c2"]
        assert [(row["name"], row.get("captions")) for row in values["phases"]] == [("dev", ["val"]), ("final", None)]
        assert [row["file"] for row in comments["references"]] == ["references/test_c3.json"]
        assert [row["name"] for row in comments["captions"]] == ["test"]
        extract(files, tmp_path / "archive")
        (tmp_path / "archive" / "challenge").rename(tmp_path / "again")
        site.load(tmp_path / "again")
        again = Challenge.objects.get(slug="again")
        assert [phase.captions for phase in again.phase_list] == [["val"], ["val"]]

    def test_phases_and_baselines_that_are_left_out(self, site: Site, two: Site, tmp_path: Path) -> None:
        """A phase for private captions only; baselines of it, of both and of public captions."""
        folder = tmp_path / "two"
        values = tomllib.loads((folder / "challenge.toml").read_text())
        values["phases"][1]["captions"] = ["val", "test"]
        values["phases"].append({"name": "hard", "captions": ["test"]})
        values["phases"].append({"name": "easy", "captions": ["val"]})
        text = (EXAMPLES / "baseline.json").read_text()
        phases = {"val": ["easy"], "test": ["hard"], "val test": ["final"]}
        for name in phases:
            with zipfile.ZipFile(folder / f"{name}.zip", "w") as opened:
                for captions in name.split():
                    opened.writestr(f"{captions}.json", text)
        values["phases"][1] |= {"closes": datetime(2120, 1, 1, tzinfo=UTC), "scores_shown": "at-once"}
        values["baselines"] = [{"method": name, "file": f"{name}.zip", "phases": phases[name]} for name in phases]
        (folder / "challenge.toml").write_text(tomlkit.dumps(values))
        site.load(folder)
        site.work()
        for n, query in enumerate(({}, {"public": "1"})):
            files = self.get(two, **query)
            text = files["challenge/challenge.toml"].decode()
            kept, comments = tomllib.loads(text), commented(text)
            assert [row["name"] for row in kept["phases"]] == ["dev", "final", "easy"]
            assert kept["phases"][1]["captions"] == ["val"]
            assert [(row["name"], row["captions"]) for row in comments["phases"]] == [
                ("final", ["val", "test"]),
                ("hard", ["test"]),
            ]
            assert [row["file"] for row in kept["baselines"]] == ["val.zip"]
            assert [row["file"] for row in comments["baselines"]] == ["test.zip", "val test.zip"]
            assert {name for name in files if name.endswith(".zip")} == {"challenge/val.zip"}
            extract(files, tmp_path / f"archive-{n}")
            (tmp_path / f"archive-{n}" / "challenge").rename(tmp_path / f"again-{n}")
            site.load(tmp_path / f"again-{n}")

    def test_of_one_phase(self, two: Site) -> None:
        assert {row["phase"] for row in table(self.get(two, phase="dev"))} == {"dev"}

    def test_phases_that_were_removed_are_for_organizers(self, two: Site) -> None:
        from captious.server.models import Phase

        Phase.objects.filter(name="dev").update(is_retired=True)
        assert {row["phase"] for row in table(self.get(two))} == {"dev", "final"}
        assert {row["phase"] for row in table(self.get(two, public="1"))} == {"final"}

    def test_what_is_scored_again_says_so(self, two: Site) -> None:
        from captious.server.models import Phase

        said = "They are being scored again; these scores are with earlier references"
        assert said not in self.get(two)["README.md"].decode()
        Phase.objects.filter(name="dev").update(scoring_version=2)
        assert said in self.get(two)["README.md"].decode()

    def test_files_of_settings(self, site: Site, two: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """They are in it where all references are public; otherwise the README says what is missing."""
        from captious import CiderD
        from captious.data import read_references
        from captious.server.models import Challenge

        challenge = Challenge.objects.get()
        learned = CiderD().fit_resource(read_references(EXAMPLES / "references.json"))
        assert learned is not None
        learned.save(challenge.folder / "own.idf")
        challenge.definition_values |= {"settings": {"idf": "own.idf"}, "metrics": ["cider-d"]}
        challenge.save()
        files = self.get(two, public="1")
        assert "challenge/own.idf" not in files
        assert "files which are not in the archive, as references are private: own.idf." in files["README.md"].decode()
        for row in challenge.definition_values["captions"]:
            row["public"] = True
        challenge.save()
        files = self.get(two, public="1")
        assert "--idf own.idf" in commands(files)[0]
        assert files["challenge/own.idf"] == (challenge.folder / "own.idf").read_bytes()

    def test_folders_of_the_server_are_not_told(self, two: Site) -> None:
        from captious.server.models import Challenge

        challenge = Challenge.objects.get()
        path = challenge.folder / "challenge.toml"
        path.write_text(path.read_text().replace('"bleu"', '"wmd:vectors=/srv/words.txt"', 1))
        challenge.definition_values |= {"metrics": ["wmd:vectors=/srv/words.txt", "cider-d"]}
        challenge.save()
        files = self.get(two, public="1")
        assert not any(b"/srv" in content for name, content in files.items() if not name.endswith("parquet"))
        assert "wmd:vectors=words.txt" in commands(files)[0]

    def test_another_number_of_resamples(self, two: Site) -> None:
        said = "`report.to_dict(intervals=True, resamples=200)`"
        assert said not in self.get(two)["README.md"].decode()
        two.configure(resamples=200)
        assert said in self.get(two)["README.md"].decode()

    def test_nothing_is_shown_yet(self, two: Site) -> None:
        from captious.server.models import Phase, User
        from captious.server.people.secrets import make_token

        Phase.objects.update(scores_shown="never")
        headers = {"Authorization": f"Bearer {make_token(User.objects.create(username='r', is_superuser=True), 'x')}"}
        answer = two.client().get("/api/v1/challenges/two/archive?public=1", headers=headers)
        assert answer.status_code == 403
        assert "Development: This phase does not show scores. Final: This" in answer.json()["error"]
        assert two.client().get("/api/v1/challenges/two/archive", headers=headers).status_code == 200

    def test_manage_links_to_it(self, two: Site) -> None:
        from captious.server.models import User

        root, _ = User.objects.get_or_create(username="root", is_superuser=True)
        page = two.client(root).get("/challenges/two/manage").content.decode()
        for query in ("", "?anonymous=1", "?public=1", "?phase=dev", "?phase=final&amp;public=1"):
            assert f'href="/challenges/two/archive.zip{query}"' in page


DURING = datetime(2019, 6, 1, tzinfo=UTC)
FINAL = {"opens": datetime(2019, 1, 1, tzinfo=UTC), "closes": datetime(2020, 3, 1, tzinfo=UTC)}


def test_private_references_and_exact_scores_stay(site: Site, tmp_path: Path) -> None:
    from tests.server.security.world import MARKERS, World

    monkeypatch = site._monkeypatch
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
            files = {name: opened.read(name) for name in opened.namelist()}
        readme = files["README.md"].decode()
        assert "There are no captions, as the captions files are not public." in readme
        assert "They cannot be computed again from this archive, as no references are public." in readme
        assert "`challenge/` cannot be loaded into a server, as no references are public." in readme
        assert not readme.rstrip().endswith(":")
        assert "captious score" not in readme
        text = files["challenge/challenge.toml"].decode()
        assert text.startswith("# This challenge cannot be loaded from the archive, as no references are public.")
        assert text.endswith((tmp_path / "small" / "challenge.toml").read_text())

    def test_no_team_has_agreed(self, demo: Site) -> None:
        from captious.server.models import Submission

        Submission.objects.update(may_publish=False, is_baseline=False)
        files = archive(demo, public="1")
        readme = files["README.md"].decode()
        assert "There are no captions, as no team has agreed to that." in readme
        assert "captions can be scored, in the folder `challenge/`. The captions file is one of yours." in readme
        assert "score captions.json references/c4.json" in commands(files)[0]
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
