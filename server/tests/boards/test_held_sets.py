"""One submission, two boards: scores on a part of the images are shown, and those on the rest when the phase ends."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from captious_server.actions.loading import export_challenge
from captious_server.boards.archive import ChallengeArchive, archive_definition
from captious_server.challenges.folder import check_folder, read_reference_set
from captious_server.challenges.problems import ChallengeError
from captious_server.models import Challenge, Phase, Scores, Submission, User
from server.tests.golden.plain import content_of
from server.tests.support.site import EXAMPLES, Site, example, parsed

PARTS = """
[[references]]
name = "shown"
file = "references.json"
{part}

[[references]]
name = "rest"
file = "references.json"
rest_of = "shown"
scores_shown = "at-end"
"""
SHARE = "images = 0.25\nseed = 3"


def write(folder: Path, part: str = SHARE, phase: str = "closes = 2120-01-01T00:00:00Z", sets: str = PARTS) -> Path:
    """Return the folder of the challenge "parts"."""
    folder.mkdir()
    (folder / "references.json").write_bytes((EXAMPLES / "references.json").read_bytes())
    head = 'title = "Parts"\nslug = "parts"\nmetrics = ["bleu"]\n'
    text = f'{head}{sets.format(part=part)}\n[[phases]]\nname = "main"\n{phase}\n'
    (folder / "challenge.toml").write_text(text)
    return folder


def problems(folder: Path) -> list[str]:
    with pytest.raises(ChallengeError) as caught:
        check_folder(folder)
    return caught.value.problems


@pytest.fixture
def challenge(site: Site, tmp_path: Path) -> Any:
    """The challenge, with two systems: "a" has the better captions of the shown part, "b" of the rest."""
    challenge = site.load(write(tmp_path / "parts"))
    shown = {*check_folder(tmp_path / "parts").references["captions", "shown"].ids}
    good, bad = example("improved"), example("baseline")
    for name in ("a", "b"):
        rows = [g if (g["image_id"] in shown) == (name == "a") else b for g, b in zip(good, bad, strict=True)]
        assert site.submit(site.user(name), rows, challenge="parts", method=name).status_code == 302
    site.work()
    return challenge


def end() -> None:
    Phase.objects.update(closes=timezone.now() - timedelta(days=1))


def test_parts_are_by_share_and_seed_or_by_list(tmp_path: Path) -> None:
    by_share = check_folder(write(tmp_path / "share")).references
    shown, rest = (by_share["captions", name] for name in ("shown", "rest"))
    assert (len(shown), len(rest)) == (6, 18)
    assert not {*shown.ids} & {*rest.ids}
    assert check_folder(write(tmp_path / "again")).references["captions", "shown"].ids == shown.ids
    other = check_folder(write(tmp_path / "other", SHARE.replace("3", "4"))).references
    assert other["captions", "shown"].ids != shown.ids
    folder = write(tmp_path / "list", 'images = "shown.txt"')
    (folder / "shown.txt").write_text("\n".join(map(str, shown.ids)))
    listed = check_folder(folder).references
    assert [listed["captions", name].ids for name in ("shown", "rest")] == [shown.ids, rest.ids]
    (folder / "shown.txt").write_text("1\nnone\n")
    assert problems(folder) == [
        "references[1]: shown.txt has ids that references.json does not have: 1, none",
        "references[2]: shown.txt has ids that references.json does not have: 1, none",
    ]


def test_parts_without_a_seed_are_drawn_once_and_nobody_knows_how(site: Site, tmp_path: Path) -> None:
    """The ids are known, so that a known seed would reveal which images count in the end."""

    def shown(challenge: Any) -> tuple[Any, ...]:
        definition = challenge.definition
        return read_reference_set(challenge.folder, definition, definition.references[0]).ids

    folder = write(tmp_path / "parts", "images = 0.25")
    first = shown(site.load(folder))
    challenge = site.load(folder)
    assert shown(challenge) == first
    assert check_folder(folder).references["captions", "shown"].ids != first
    export_challenge(challenge, tmp_path / "exported")
    assert check_folder(tmp_path / "exported").references["captions", "shown"].ids == first
    site.load(tmp_path / "exported")  # now the seed is stated
    for values in ({"is_public": True}, {"anonymous": True}):
        assert "seed" not in archive_definition(ChallengeArchive(Challenge.objects.get(slug="parts"), **values))


def test_parts_that_would_reveal_something_are_refused(tmp_path: Path) -> None:
    assert problems(write(tmp_path / "open", phase="")) == [
        "phases[1].closes: is required, as scores with 'rest' are shown then"
    ]
    public = PARTS + '[[captions]]\nname = "captions"\npublic = true\n'
    assert problems(write(tmp_path / "public", sets=public)) == [
        "references[2].scores_shown: captions 'captions' are public, so that everybody has these references"
    ]
    unknown = PARTS.replace('rest_of = "shown"', 'rest_of = "none"')
    [problem] = problems(write(tmp_path / "unknown", sets=unknown))
    assert problem == "references[2].rest_of: no other reference set of this file is called 'none'"
    first = PARTS.replace("{part}", 'scores_shown = "at-end"')
    [problem] = problems(write(tmp_path / "first", sets=first))
    assert problem.startswith("references[1].scores_shown: the first reference set")
    again = PARTS + '[[references]]\nname = "all"\nfile = "references.json"\n'
    [warning] = [text for text in check_folder(write(tmp_path / "all", sets=again)).warnings if "NOTHING" in text]
    assert warning.startswith("references[2]: NOTHING IS HIDDEN: 18 of 18 images are also in the phase 'main'")


def test_rest_is_hidden_until_the_end(site: Site, challenge: Any) -> None:
    ann, root = User.objects.get(username="a"), User.objects.create_superuser("root")
    token = {"HTTP_AUTHORIZATION": f"Bearer {site.token(ann)}"}
    [own] = Submission.objects.filter(method="a")
    hidden = Scores.objects.get(submission=own).outputs["rest"]["bleu-1"]
    for user in (None, ann):
        client = site.client(user)
        for page in ("leaderboard", "leaderboard.json", "leaderboard.csv", "compare"):
            assert client.get(f"/challenges/parts/{page}?references=rest").status_code == 404
        page = client.get("/challenges/parts/leaderboard").content.decode()
        assert "Scores with the references rest are shown" in page
        assert "references=rest" not in page
        seen = client.get(own.url).content.decode() + page
        assert f"{hidden['score']:.4f}".lstrip("0") not in seen
    answer = site.client().get(f"/api/v1/submissions/{own.pk}", **token).json()
    assert [*answer["all_scores"]] == ["shown"]
    assert answer["withheld"].startswith("Scores with rest are shown on 2120-01-01")
    own_data = content_of(site.client(ann).post("/account/data.json"))
    assert '"rest"' not in own_data.decode()
    assert site.client(root).get("/challenges/parts/leaderboard?references=rest").status_code == 200
    assert sets_in_archive(site, root) == {"shown"}


def test_rest_is_shown_at_the_end(site: Site, challenge: Any) -> None:
    def best(references: str = "") -> tuple[str, str]:
        rows = parsed(site.client().get("/challenges/parts/leaderboard.json", {"references": references}))
        first = min(rows, key=lambda row: -row["scores"]["bleu-4"])
        return first["method"], first["references"]

    assert best() == ("a", "shown")
    end()
    assert best() == ("b", "rest")
    assert best("shown") == ("a", "shown")
    page = site.client().get("/challenges/parts/leaderboard").content.decode()
    assert "are shown" not in page
    assert sets_in_archive(site, User.objects.create_superuser("root")) == {"shown", "rest"}


def test_best_submission_by_the_shown_part_is_the_entry(site: Site, challenge: Any) -> None:
    ann = User.objects.get(username="a")
    rows = example("improved")
    shown = {*json.loads(challenge.ids_file("captions").read_text())}
    assert len(shown) == len(rows)
    [b] = [row for row in site.submissions() if row.method == "b"]
    captions = json.loads((b.folder / "captions" / "captions.json").read_text())
    site.submit(ann, captions, challenge="parts", method="better at the end")
    site.work()
    end()
    board = parsed(site.client().get("/challenges/parts/leaderboard.json"))
    assert {row["method"] for row in board} == {"a", "b"}


def sets_in_archive(site: Site, user: Any) -> set[str]:
    answer = content_of(site.client(user).get("/challenges/parts/archive.zip?public=1"))
    with zipfile.ZipFile(io.BytesIO(answer)) as archive:
        return {row["references"] for row in csv.DictReader(io.StringIO(archive.read("scores.csv").decode()))}
