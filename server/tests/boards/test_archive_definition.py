"""All phases of a challenge, with public and private captions files, in one archive that can be loaded."""

from __future__ import annotations

import io
import json
import tomllib
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import tomlkit

from captious import CiderD
from captious.data import read_references
from captious_server.models import Challenge, Phase, Submission, User
from captious_server.people.accounts import make_token
from captious_server.people.teams import personal_team
from captious_server.submissions import intake, storage
from server.tests.boards.archives import commands, commented, computed_again, extract, table
from server.tests.support.site import EXAMPLES, Site

DURING = datetime(2019, 6, 1, tzinfo=UTC)

FINAL = {"opens": datetime(2019, 1, 1, tzinfo=UTC), "closes": datetime(2020, 3, 1, tzinfo=UTC)}


@pytest.fixture
def two(site: Site, tmp_path: Path) -> Site:
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
        submit(site, user, method, text, "dev")
        submit(site, user, f"{method} of both", text, "final")
    site.work()
    return site


def submit(site: Site, user: Any, method: str, text: str, phase: str) -> None:
    target = Phase.objects.get(name=phase)
    path = storage.incoming_folder() / "upload"
    with zipfile.ZipFile(path, "w") as opened:
        for name in target.captions:
            opened.writestr(f"{name}.json", text)
    row = Submission(phase=target, team=personal_team(user), user=user, method=method, created=DURING)
    row.filename, row.may_publish = "captions.zip", user.username == "ann"
    intake.submit(row, path)


def whole_archive(site: Site, **query: str) -> dict[str, bytes]:
    root, _ = User.objects.get_or_create(username="root", is_superuser=True)
    response = site.client(root).get("/challenges/two/archive.zip", query)
    with zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content))) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_everything_that_is_public_is_computed_again(
    two: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = whole_archive(two, public="1")
    rows = table(files)
    assert {row["phase"] for row in rows} == {"dev", "final"}
    assert {(row["captions"], row["references"]) for row in rows} == {*(("val", "c4"), ("val", "c2"), ("test", "c3"))}
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
    assert "are not public" not in whole_archive(two)["README.md"].decode()


def test_one_description_for_all_phases(two: Site) -> None:
    schema45 = pytest.importorskip("datacite.schema45")
    record = json.loads(whole_archive(two, public="1")["datacite.json"])
    schema45.validator.validate(record)
    assert record["titles"] == [{"title": "Two phases"}]
    assert record["dates"] == [{"date": "2019-01-01/2020-03-01", "dateType": "Collected", "dateInformation": "Final"}]
    assert [row["name"] for row in record["contributors"]] == ["ann"]
    one = json.loads(whole_archive(two, public="1", phase="final")["datacite.json"])
    assert one["titles"] == [{"title": "Two phases: Final"}]
    assert one["publicationYear"] == "2020"


def test_phases_whose_scores_are_withheld_are_left_out(two: Site) -> None:
    Phase.objects.filter(name="final").update(scores_shown="never")
    files = whole_archive(two, public="1")
    assert {row["phase"] for row in table(files)} == {"dev"}
    line = "- Final (`final`), from 2019-01-01 00:00 UTC, until 2020-03-01 00:00 UTC: not in this archive. "
    assert f"{line}This phase does not show scores." in files["README.md"].decode()
    assert {row["phase"] for row in table(whole_archive(two))} == {"dev", "final"}  # organizers see them


@pytest.mark.parametrize("query", [{}, {"public": "1"}, {"anonymous": "1"}, {"phase": "dev", "public": "1"}])
def test_it_can_be_loaded(site: Site, two: Site, tmp_path: Path, query: dict[str, str]) -> None:
    """What needs private references is in comments only."""
    files = whole_archive(two, **query)
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


def test_phases_and_baselines_that_are_left_out(site: Site, two: Site, tmp_path: Path) -> None:
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
    site.load(folder, agree=lambda changes: True)  # a phase is reopened
    site.work()
    for n, query in enumerate(({}, {"public": "1"})):
        files = whole_archive(two, **query)
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


def test_of_one_phase(two: Site) -> None:
    assert {row["phase"] for row in table(whole_archive(two, phase="dev"))} == {"dev"}


def test_phases_that_were_removed_are_for_organizers(two: Site) -> None:
    Phase.objects.filter(name="dev").update(is_retired=True)
    assert {row["phase"] for row in table(whole_archive(two))} == {"dev", "final"}
    assert {row["phase"] for row in table(whole_archive(two, public="1"))} == {"final"}


def test_what_is_scored_again_says_so(two: Site) -> None:
    said = "They are being scored again; these scores are with earlier references"
    assert said not in whole_archive(two)["README.md"].decode()
    Phase.objects.filter(name="dev").update(scoring_version=2)
    assert said in whole_archive(two)["README.md"].decode()


def test_files_of_settings(site: Site, two: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are in it where all references are public; otherwise the README says what is missing."""
    challenge = Challenge.objects.get()
    learned = CiderD().fit_resource(read_references(EXAMPLES / "references.json"))
    learned.save(challenge.folder / "own.idf")
    challenge.definition_values |= {"settings": {"idf": "own.idf"}, "metrics": ["cider-d"]}
    challenge.save()
    files = whole_archive(two, public="1")
    assert "challenge/own.idf" not in files
    assert "files which are not in the archive, as references are private: own.idf." in files["README.md"].decode()
    for row in challenge.definition_values["captions"]:
        row["public"] = True
    challenge.save()
    files = whole_archive(two, public="1")
    assert "--idf own.idf" in commands(files)[0]
    assert files["challenge/own.idf"] == (challenge.folder / "own.idf").read_bytes()


def test_folders_of_the_server_are_not_told(two: Site) -> None:
    challenge = Challenge.objects.get()
    path = challenge.folder / "challenge.toml"
    path.write_text(path.read_text().replace('"bleu"', '"wmd:vectors=/srv/words.txt"', 1))
    challenge.definition_values |= {"metrics": ["wmd:vectors=/srv/words.txt", "cider-d"]}
    challenge.save()
    files = whole_archive(two, public="1")
    assert not any(b"/srv" in content for name, content in files.items() if not name.endswith("parquet"))
    assert "wmd:vectors=words.txt" in commands(files)[0]


def test_another_number_of_resamples(two: Site) -> None:
    """It is that of the scoring, whatever the settings say since."""
    two.configure(resamples=200)
    assert "resamples" not in whole_archive(two)["README.md"].decode()
    submit(two, two.user("cleo"), "fourth", (EXAMPLES / "baseline.json").read_text(), "dev")
    two.work()
    readme = whole_archive(two)["README.md"].decode()
    assert "200 resamples (in Python: `report.to_dict(intervals=True, resamples=200)`) or 1,000 resamples" in readme


def test_nothing_is_shown_yet(two: Site) -> None:
    Phase.objects.update(scores_shown="never")
    headers = {"Authorization": f"Bearer {make_token(User.objects.create(username='r', is_superuser=True), 'x')}"}
    answer = two.client().get("/api/v1/challenges/two/archive?public=1", headers=headers)
    assert answer.status_code == 403
    assert "Development: This phase does not show scores. Final: This" in answer.json()["error"]
    assert two.client().get("/api/v1/challenges/two/archive", headers=headers).status_code == 200


def test_manage_links_to_it(two: Site) -> None:
    root, _ = User.objects.get_or_create(username="root", is_superuser=True)
    page = two.client(root).get("/challenges/two/manage").content.decode()
    for query in ("", "?anonymous=1", "?public=1", "?phase=dev", "?phase=final&amp;public=1"):
        assert f'href="/challenges/two/archive.zip{query}"' in page
