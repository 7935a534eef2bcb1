"""Versions of scores: what the board shows while submissions are scored again, and what is scored again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from captious import drawing
from captious_server.models import Phase, Submission
from captious_server.operations import worker
from captious_server.people.teams import personal_team
from captious_server.scoring import queue as lease
from captious_server.scoring.queue import queue_again
from captious_server.submissions import storage
from server.tests.scoring.test_scoring_again import NEW, expected, rounded
from server.tests.support.site import Site, parsed
from server.tests.support.small_challenge import REFERENCES, queue, write_folder

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")


def board(site: Site, **values: str) -> dict[str, dict[str, float]]:
    """The scores on the board, by method."""
    rows = parsed(site.client().get("/challenges/small/leaderboard.json", {"all": "1", **values}))
    return {row["method"]: row["scores"] for row in rows}


def shown(references: dict[int, list[str]]) -> dict[str, float]:
    return rounded(expected(references))


def score_one() -> None:
    worker.score(lease.take("worker"))


def scorings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What is scored from now on: the number of captions in each set of references."""
    seen: list[int] = []
    score_set = worker.score_set

    def counted(candidates: Any, references: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append(len(references.texts))
        return score_set(candidates, references, *args, **kwargs)

    monkeypatch.setattr(worker, "score_set", counted)
    return seen


def test_leaderboard_changes_once_all_are_scored_again(site: Site, folder: Path) -> None:
    rows = queue(2)
    site.work()
    site.load(write_folder(folder, references=NEW))
    old = {"method 0": shown(REFERENCES), "method 1": shown(REFERENCES)}
    new = {"method 0": shown(NEW), "method 1": shown(NEW)}
    assert board(site) == old != new
    score_one()
    assert board(site) == old
    assert site.client().get(rows[0].url).status_code == 200
    score_one()
    assert board(site) == new
    lease = [*rows[0].all_scores.all()]
    assert [scores.version for scores in lease] == [1, 2]
    assert [scores.outputs["c2"]["bleu-4"]["score"] for scores in lease] == [
        expected(REFERENCES)["bleu-4"],
        expected(NEW)["bleu-4"],
    ]
    assert all((rows[0].folder / scores.results_file).is_file() for scores in lease)


def test_cleanup_keeps_the_files_of_all_versions(site: Site, folder: Path) -> None:
    [submission] = queue()
    site.work()
    site.load(write_folder(folder, references=NEW))
    site.work()
    (submission.folder / "results-9.npz").write_bytes(b"of a worker that was killed")
    assert storage.remove_leftovers(min_age=-10) == 1
    kept = {path.name for path in submission.folder.glob("results-*")}
    assert kept == set(submission.all_scores.values_list("results_file", flat=True))
    assert len(kept) == 2


def test_new_submissions_during_scoring_appear_with_the_others(site: Site, folder: Path) -> None:
    queue(1)
    site.work()
    site.load(write_folder(folder, references=NEW))
    ann = site.user()
    [new] = queue(1, method="new", user=ann, team=personal_team(ann))
    old = lease.take("slow")  # is scored again
    score_one()
    new.refresh_from_db()
    assert (new.status, new.outputs("c2")["bleu-4"]["score"]) == ("done", expected(NEW)["bleu-4"])
    assert [*board(site)] == ["method 0"]
    assert site.client().get(new.url).status_code == 404  # nobody else sees it before
    assert b"bleu" in site.client(new.user).get(new.url).content
    Submission.objects.filter(pk=old.submission.pk).update(lease_until="2020-01-01T00:00:00Z")
    site.work()
    assert board(site) == {"method 0": shown(NEW), "new": shown(NEW)}


@pytest.mark.parametrize("end", ["fails", "is deleted"])
def test_failed_scoring_does_not_keep_the_leaderboard_old(site: Site, folder: Path, end: str) -> None:
    site.configure(scoring_tries=1)
    _, second = queue(2)
    admin = site.user("admin", is_superuser=True)
    site.work()
    site.load(write_folder(folder, references=NEW))
    Submission.objects.filter(pk=second.pk).update(not_before="2100-01-01T00:00:00Z")
    score_one()
    assert board(site)["method 0"] == shown(REFERENCES)
    if end == "fails":
        (second.folder / "captions" / "captions.json").unlink()
        Submission.objects.filter(pk=second.pk).update(not_before=None)
        score_one()
        second.refresh_from_db()
        assert (second.status, second.counts) == ("failed", True)  # it was scored before
        assert second.outputs("c2")["bleu-4"]["score"] == expected(REFERENCES)["bleu-4"]
    else:
        site.client(admin).post(f"{second.url}delete")
        assert not second.all_scores.exists()
    assert board(site) == {"method 0": shown(NEW)}
    assert lease.take("worker") is None


def test_leaderboard_columns_change_with_the_scores(site: Site, folder: Path) -> None:
    queue(2)
    site.work()
    toml = folder / "challenge.toml"
    toml.write_text(toml.read_text().replace('["bleu", "rouge-l"]', '["rouge-1"]').replace("bleu-4", "rouge-1"))
    site.load(folder)

    def ranked_by() -> str:
        page = site.client().get("/challenges/small/leaderboard").content.decode()
        return page.partition("Ranked by ")[2].partition(":")[0]

    score_one()
    assert (board(site)["method 0"], ranked_by()) == (shown(REFERENCES), "bleu-4")
    head = site.client().get("/challenges/small/leaderboard.csv").getvalue().decode().partition("\n")[0]
    assert ",rouge-l," in head
    assert "rouge-1" not in head
    score_one()
    assert ([*board(site)["method 0"]], ranked_by()) == (["rouge-1"], "rouge-1")
    assert board(site)["method 0"]["rouge-1"] is not None


def test_other_pages_use_the_version_of_the_leaderboard(site: Site, folder: Path) -> None:
    """Until all is scored, the overview and comparisons show the outputs, signatures and scores of the board."""
    rows = queue(2)
    site.work()
    toml = write_folder(folder, references=NEW) / "challenge.toml"
    toml.write_text(toml.read_text().replace('["bleu", "rouge-l"]', '["rouge-1"]').replace("bleu-4", "rouge-1"))
    addresses = ("/challenges/small/", f"/challenges/small/compare?a={rows[0].pk}&b={rows[1].pk}&all=1")

    def texts() -> list[str]:
        return [site.client().get(address).content.decode() for address in addresses]

    before = texts()
    site.load(folder)
    score_one()
    assert texts() == before
    score_one()
    for old, new in zip(before, texts(), strict=True):
        assert "rouge-l" in old
        assert "rouge-1" not in old
        assert "rouge-1" in new
        assert "rouge-l" not in new


def test_leaderboard_reference_sets_change_with_the_scores(site: Site, folder: Path) -> None:
    """A board shows a set that has another name now, or is no more, and only those until all is scored."""
    public = '[[captions]]\nname = "captions"\npublic = true\n'

    def load(**values: Any) -> None:
        toml = write_folder(folder, **values) / "challenge.toml"
        toml.write_text(toml.read_text() + public)
        site.load(folder)

    load(sets=("c2", "gone"))
    [first, _] = queue(2)
    site.work()
    load(sets=("c3",), references=NEW)
    score_one()
    for key in ("c2", "gone"):
        assert board(site, references=key)["method 0"] == shown(REFERENCES)
        for systems in ("", "&systems=0"):
            assert site.client().get(f"/challenges/small/captions?references={key}{systems}").status_code == 503
    assert site.client().get("/challenges/small/leaderboard?references=c3").status_code == 404
    assert "gone" in site.client().get(first.url).content.decode()
    score_one()
    assert board(site, references="c3")["method 0"] == board(site)["method 0"] == shown(NEW)
    assert site.client().get("/challenges/small/leaderboard?references=gone").status_code == 404


class TestIncrementalScoring:
    def test_only_changed_reference_sets_are_scored_again(
        self, site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site.load(write_folder(folder, sets=("c2", "other")))
        queue()
        seen = scorings(monkeypatch)
        site.work()
        assert seen == [6, 6]
        change_set(folder / "other.json")
        site.load(folder)
        site.work()
        assert seen[2:] == [5]
        assert board(site, references="c2")["method 0"] == shown(REFERENCES)
        assert board(site, references="other")["method 0"] != shown(REFERENCES)

    def test_restored_references_are_scored_again(
        self, site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        queue()
        site.work()
        site.load(write_folder(folder, references=NEW))
        site.work()
        seen = scorings(monkeypatch)
        site.load(write_folder(folder))
        site.work()
        assert seen == []
        assert board(site) == {"method 0": shown(REFERENCES)}

    def test_only_phases_with_changed_reference_sets_get_a_version(self, site: Site, folder: Path) -> None:
        """A phase has a new version if one of its own reference sets has changed."""
        text = (folder / "challenge.toml").read_text().replace('file = "c2.json"', 'file = "c2.json"\ncaptions = "one"')
        text = text.replace('name = "main"\n', 'name = "main"\ncaptions = ["one"]\n')
        text += '[[captions]]\nname = "one"\npattern = "one*"\n[[captions]]\nname = "two"\npattern = "two*"\n'
        text += '[[references]]\nname = "c2"\ncaptions = "two"\nfile = "two.json"\n'
        text += '[[phases]]\nname = "second"\ncaptions = ["two"]\n'
        (folder / "challenge.toml").write_text(text)
        (folder / "two.json").write_bytes((folder / "c2.json").read_bytes())
        site.load(folder)
        before = dict(Phase.objects.values_list("name", "scoring_version"))
        change_set(folder / "two.json")
        site.load(folder)
        after = dict(Phase.objects.values_list("name", "scoring_version"))
        assert after == {"main": before["main"], "second": before["second"] + 1}

    def test_organizer_can_score_everything_again(
        self, site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        [submission] = queue()
        site.work()
        seen = scorings(monkeypatch)
        queue_again(type(submission).objects.all())
        assert board(site) == {"method 0": shown(REFERENCES)}
        site.work()
        assert seen == [6]
        assert [path.name for path in submission.folder.glob("results*")] == ["results-3.npz"]
        assert submission.all_scores.count() == 1


def change_set(file: Path) -> None:
    """Remove a caption from references."""
    values = json.loads(file.read_text())
    del values["annotations"][0]
    file.write_text(json.dumps(values))


def test_new_version_of_captious_scores_again(site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue()
    site.work()
    assert lease.change_program() == 0
    with monkeypatch.context() as newer:
        newer.setattr(lease, "__version__", "99.0")
        assert lease.change_program() == 1
    assert lease.take("of the old version") is None
    monkeypatch.setattr(lease, "__version__", "99.0")
    assert len(board(site)) == 1
    site.work()
    phase = Phase.objects.get()
    assert (phase.shown_version, phase.program) == (2, "99.0")
    assert len(board(site)) == 1


def test_single_image_scores_wait_until_all_are_scored_again(site: Site, folder: Path) -> None:
    """Old scores are only shown with the references they were computed on."""
    toml = write_folder(folder, sets=("c2", "few")) / "challenge.toml"
    toml.write_text(f'{toml.read_text()}[[captions]]\nname = "captions"\npublic = true\n')
    site.load(folder)
    [row] = queue()
    site.work()
    file, board = f"{row.url}scores/captions/few.csv", "/challenges/small/leaderboard?references=few"
    addresses = ("/challenges/small/captions?references=few", "/challenges/small/captions/2?references=few", file)

    def text(address: str) -> str:
        return str(site.client().get(address).content.decode())

    assert [site.client().get(address).status_code for address in addresses] == [200] * 3
    assert file in text(row.url)
    values = json.loads((folder / "few.json").read_text())
    values["annotations"] = [row for row in values["annotations"] if row["image_id"] != 3]
    (folder / "few.json").write_text(json.dumps(values))
    site.load(folder)
    for address in addresses:
        assert site.client().get(address).status_code == 503
        assert "being scored again" in text(address)
    assert site.client().get(f"{row.url}scores/captions/c2.csv").status_code == 200  # has not changed
    assert file not in text(row.url)
    assert "3 images" in text(board)
    site.work()
    assert [site.client().get(address).status_code for address in addresses] == [200] * 3
    assert "2 images" in text(board)


def test_organizers_see_scores_before_and_after(site: Site, folder: Path) -> None:
    rows = queue(2)
    admin = site.client(site.user("root", is_superuser=True))
    site.work()

    def page() -> str:
        return " ".join(admin.get("/challenges/small/versions?sort=-bleu-2").content.decode().split())

    old, new = (f"{expected(references)['bleu-2']:.4f}".removeprefix("0") for references in (REFERENCES, NEW))
    assert "There is no earlier version" in page()
    site.load(write_folder(folder, references=NEW))
    score_one()
    text = page()
    assert "Version 2 is being scored: 1 of 2 submissions" in text
    assert (text.count(old), text.count(new)) == (2, 1)
    assert "version 1, then 2" in " ".join(admin.get("/challenges/small/manage").content.decode().split())
    score_one()
    text = page()
    assert "The leaderboard shows version 2" in text
    assert (text.count(old), text.count(new)) == (2, 2)
    assert drawing.format_difference(float(new) - float(old)) in text
    assert rows[0].method in text
