"""Loading a challenge again: what would leave its submissions without scores is refused."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import Mock

import pytest

from captious_server.actions.loading import check_for_server
from captious_server.challenges.definition import ChallengeDefinition
from captious_server.challenges.problems import ChallengeError
from captious_server.challenges.starter import write_demo
from captious_server.models import Challenge, ChallengeVersion, Submission
from server.tests.support.site import Site


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_demo(tmp_path / "demo")
    return tmp_path / "demo"


def test_phases_keep_the_captions_files_of_submissions(site: Site, folder: Path) -> None:
    site.load(folder)
    site.submit(site.user())
    site.work()
    toml = folder / "challenge.toml"
    before = toml.read_text()
    more = '\n[[captions]]\nname = "more"\npattern = "more*.json"\n\n[[references]]\nname = "c4"\ncaptions = "more"\n'
    text = before.replace('name = "captions"', 'name = "captions"\npattern = "captions*.json"').replace(
        'name = "c4"', 'name = "c4"\ncaptions = "captions"'
    )
    text = text.partition("[[baselines]]")[0] + more + 'file = "references/c4.json"\n'
    toml.write_text(text)
    with pytest.raises(ChallengeError) as caught:
        site.load(folder)
    assert any(
        "phases[1].captions: there are submissions with captions only" in problem for problem in caught.value.problems
    )
    [submission] = site.submissions()
    assert submission.status == "done"
    toml.write_text(text.replace('title = "Main phase"', 'title = "Main phase"\ncaptions = ["captions"]') + PHASE)
    site.load(folder)
    site.work()
    [submission] = site.submissions()
    assert submission.status == "done"


PHASE = '\n[[phases]]\nname = "second"\ncaptions = ["more"]\n'


def test_new_images_need_a_new_slug(site: Site, folder: Path) -> None:
    site.load(folder)
    site.submit(site.user())
    references = folder / "references" / "c4.json"
    content = json.loads(references.read_text())
    gone = content["images"].pop()["id"]
    content["annotations"] = [each for each in content["annotations"] if each["image_id"] != gone]
    references.write_text(json.dumps(content))
    toml = folder / "challenge.toml"
    toml.write_text(toml.read_text().partition("[[baselines]]")[0])
    with pytest.raises(ChallengeError, match="1 problem") as caught:
        site.load(folder)
    assert "the images have changed" in caught.value.problems[0]


def test_refused_baseline_leaves_the_challenge_unchanged(site: Site, folder: Path) -> None:
    site.load(folder)
    before = [*Submission.objects.values()]
    file = folder / "baselines" / "improved.json"
    content = json.loads(file.read_text())
    content[0]["caption"] = "x" * 5001
    file.write_text(json.dumps(content))
    for read in (check_for_server, site.load):
        with pytest.raises(ChallengeError, match="1 caption is longer than 5,000 characters"):
            read(folder)
    assert Challenge.objects.get().version == 1
    assert [*Submission.objects.values()] == before


def test_versions_store_no_organizers(site: Site, tmp_path: Path) -> None:
    """Versions outlive the accounts of organizers."""
    site.user("olga")
    write_demo(tmp_path / "organized", organizers=["olga"])
    challenge = site.load(tmp_path / "organized")
    assert challenge.definition.organizers == ("olga",)
    [version] = ChallengeVersion.objects.all()
    assert version.number == challenge.version
    assert "olga" not in json.dumps([version.definition_values, version.files, version.scoring_versions])


def test_definition_is_parsed_once_for_each_version(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """By all pages, a check, a submission and its scoring together."""
    parsed = Mock(wraps=ChallengeDefinition.model_validate)
    monkeypatch.setattr(ChallengeDefinition, "model_validate", parsed)
    site.demo()
    parsed.reset_mock()
    ann = site.user()
    for action in ("check", "submit"):
        assert site.submit(ann, action=action).status_code in {200, 302}
    site.work()
    client = site.client(ann)
    for page in ("", "leaderboard", "submissions", "captions", "leaderboard.csv"):
        assert client.get(f"/challenges/demo/{page}").status_code == 200
    assert parsed.call_count <= 1
