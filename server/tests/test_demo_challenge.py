"""The main job, end to end: upload, validation, scoring, leaderboard; numbers are those of the library."""

from __future__ import annotations

import json
import re
from math import ceil, floor
from pathlib import Path

import pytest
from django.utils import timezone

import captious
from captious.metrics.cider import CiderD
from captious_server.models import Attempt, board_changed
from captious_server.scoring.results import read_results
from server.tests.support.server import Server
from server.tests.support.site import EXAMPLES, Site, example, parsed


@pytest.mark.filterwarnings("ignore:cider-d weights")
def test_scores_equal_those_of_the_library(site: Site) -> None:
    challenge = site.demo()
    ann = site.user()
    response = site.submit(ann)
    assert response.status_code == 302
    site.work()
    [submission] = site.submissions()
    assert submission.status == "done"
    metrics = list(challenge.definition.metrics)
    report = captious.score(EXAMPLES / "improved.json", challenge.folder / "references" / "c4.json", metrics=metrics)
    scores = submission.outputs("c4")
    shown = site.client(ann).get(f"/submissions/{submission.pk}/").content.decode()
    assert re.findall(r'<th scope="row" class="method">([^<]+)<', shown) == ["cider-d", *list(report)[:-1]]
    for name, result in report.items():
        assert scores[name]["score"] == result.score
        assert (scores[name]["low"], scores[name]["high"]) == result.confidence_interval()
        assert scores[name]["signature"] == result.signature


@pytest.mark.filterwarnings("ignore:cider-d weights")
def test_comparison_equals_that_of_the_library(site: Site) -> None:
    challenge = site.demo()
    site.work()
    baselines = {row["method"]: row["url"].split("/")[2] for row in board(site)}
    page = site.client().get("/challenges/demo/compare", {"a": baselines["Baseline"], "b": baselines["Improved"]})
    references = challenge.folder / "references" / "c4.json"
    files = {name: EXAMPLES / f"{name}.json" for name in ("baseline", "improved")}
    expected = captious.compare(files, references, list(challenge.definition.metrics))
    shown = {row.name: row for row in page.context["rows"]}
    assert list(shown) == ["cider-d", *(name for name in expected if name != "cider-d")]  # what ranks comes first
    assert "with p values of the paired bootstrap</caption>" in page.content.decode()
    for name, difference in expected.items():
        row = shown[name]
        assert row.difference == pytest.approx(difference.difference, abs=1.01e-4)  # of the scores that are shown
        low, high = difference.interval
        assert (row.low, row.high) == (floor(low * 1000) / 1000, ceil(high * 1000) / 1000)
        assert row.p == round(difference.p_bootstrap, 3)
        assert row.effect_size == round(difference.effect_size, 2)


def board(site: Site, **query: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = parsed(site.client().get("/challenges/demo/leaderboard.json", query))
    return rows


class TestLeaderboard:
    def test_baselines_are_on_the_leaderboard_from_the_start(self, site: Site) -> None:
        site.demo()
        site.work()
        rows = board(site)
        assert [row["method"] for row in rows] == ["Improved", "Human captions", "Baseline"]
        assert [row["human"] for row in rows] == [False, True, False]

    def test_indistinguishable_systems_share_a_rank(self, site: Site) -> None:
        site.demo()
        site.submit(site.user())  # the captions of "Improved" once more
        site.work()
        ranks = {row["method"]: row["rank"] for row in board(site)}
        assert ranks["Mine"] == ranks["Improved"] == 1
        assert ranks["Baseline"] > 1

    def test_leaderboard_shows_the_best_of_each_team_or_all(self, site: Site) -> None:
        site.demo()
        ann = site.user()
        site.submit(ann, example("baseline"), method="worse")
        site.submit(ann, method="better")
        site.work()
        assert "worse" not in {row["method"] for row in board(site)}
        assert {"worse", "better"} <= {row["method"] for row in board(site, all="1")}

    def test_missing_scores_are_last_in_both_directions(self, site: Site) -> None:
        site.demo()
        site.submit(site.user())
        site.work()
        [submission] = site.submissions()
        submission.outputs("c4")["meteor"]["score"] = None
        submission.shown_scores.finished = timezone.now()
        submission.shown_scores.save()
        board_changed(submission.phase_id)
        for sort in ("meteor", "-meteor"):
            rows = board(site, sort=sort)
            assert rows[-1]["method"] == "Mine"
            assert rows[-1]["rank"] is None

    def test_lower_is_better_outputs_rank_the_lowest_first(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(CiderD, "lower_is_better", frozenset({"cider-d"}))
        site.demo()
        ann = site.user()
        site.submit(ann, example("baseline"), method="lower")
        site.submit(ann, method="higher")
        site.work()
        rows = board(site)
        assert [row["method"] for row in rows] == ["Baseline", "lower", "Human captions", "Improved"]
        assert [row["rank"] for row in rows][:2] == [1, 1]
        assert rows[-1]["rank"] > 1
        assert rows[0]["lower_is_better"] == ["cider-d"]
        assert board(site, sort="-cider-d", all="1")[0]["method"] in {"Improved", "higher"}
        page = site.client().get("/challenges/demo/leaderboard")
        assert "Ranked by cider-d (lower is better)" in page.content.decode()
        best = {
            row.submission.method
            for row in page.context["board"].rows
            for c in row.cells
            if c.best and c.name == "cider-d"
        }
        assert best == {"Baseline", "lower"}
        api = site.client().get("/api/v1/challenges/demo").json()
        assert api["lower_is_better"] == ["cider-d"]

    def test_chair_ranks_by_hallucinated_objects(self, site: Site, tmp_path: Path) -> None:
        folder = tmp_path / "made-up"
        folder.mkdir()
        references = json.loads((EXAMPLES / "references.json").read_text())
        (folder / "references.json").write_text(json.dumps(references))
        objects = {image: ["person", "dog"] for image in references}
        (folder / "objects.json").write_text(json.dumps(objects))
        (folder / "challenge.toml").write_text(
            """
            title = "Made up"
            metrics = ["chair", "length"]
            rank_by = "chair-i"
            distinct_captions = 0
            settings = {objects = "objects.json"}
            captions = [{name = "captions"}]
            references = [{name = "c5", file = "references.json"}]
            phases = [{name = "main", title = "Main", equal_captions = 1.0}]
            """
        )
        site.load(folder)
        ann = site.user()
        texts = {"careful": "a person and a dog", "bold": "a cat, a dog and a train"}
        for method, text in texts.items():
            captions = [{"image_id": int(image), "caption": text} for image in references]
            site.submit(ann, captions, challenge="made-up", method=method)
        site.work()
        rows = parsed(site.client().get("/challenges/made-up/leaderboard.json", {"all": "1"}))
        assert [row["method"] for row in rows] == ["careful", "bold"]
        assert rows[0]["lower_is_better"] == ["chair-s", "chair-i"]
        scores = [submission.outputs("c5")["chair-i"]["score"] for submission in site.submissions()]
        assert scores == [0, 2 / 3]

    def test_undirected_output_has_no_best_score(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(CiderD, "no_direction", frozenset({"cider-d"}))
        site.demo()
        site.work()
        board = site.client().get("/challenges/demo/leaderboard").context["board"]
        marked = {cell.name for row in board.rows for cell in row.cells if cell.best}
        assert marked
        assert "cider-d" not in marked

    def test_private_and_hidden_submissions_are_not_on_the_leaderboard(self, site: Site) -> None:
        site.demo()
        site.submit(site.user(), public="", method="private")
        site.submit(site.user("bob"), method="hidden")
        site.work()
        [private, hidden] = site.submissions()
        type(hidden).objects.filter(pk=hidden.pk).update(is_hidden=True)
        assert not {"private", "hidden"} & {row["method"] for row in board(site)}
        assert site.client().get(private.url).status_code == 404


class TestUpload:
    def test_refused_upload_lists_all_problems(self, site: Site) -> None:
        site.demo()
        rows = example()
        bad = [*rows[2:], rows[2], {"image_id": 999, "caption": "a cat"}]
        page = site.submit(site.user(), bad)
        assert page.status_code == 422
        text = page.content.decode()
        for said in ("more than one caption", "not in the challenge", "no caption", "999"):
            assert said in text
        assert site.submissions() == []

    def test_dry_run_counts_nothing(self, site: Site) -> None:
        site.demo()
        page = site.submit(site.user(), action="check")
        assert page.status_code == 200
        assert "No problems found" in page.content.decode()
        assert site.submissions() == []
        assert Attempt.objects.count() == 0


def test_serve_and_submit_commands_work_together(server: Server, tmp_path: Path) -> None:
    token = server.token()
    place = ["--server", server.url, "--challenge", "demo", "--token", token]
    done = server.captious(
        "submit", str(EXAMPLES / "improved.json"), *place, "--method", "Mine", "--wait", "--format", "json"
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["status"] == "done"
    server.wait_until_idle()
    rows = {row["method"]: row["scores"] for row in server.get("/challenges/demo/leaderboard.json")}
    assert rows["Mine"] == rows["Improved"] == answer["scores"]
    (tmp_path / "bad.json").write_text('[{"image_id": 1, "caption": "a cat"}]')
    refused = server.captious("submit", str(tmp_path / "bad.json"), *place, "--method", "Bad")
    assert refused.returncode == 2
    assert "24 images have no caption" in refused.stderr
    assert server.stop() == 0
    assert server.processes("web") == server.processes("worker") == []
    server.start()  # everything is still there
    assert "Mine" in {row["method"] for row in server.get("/challenges/demo/leaderboard.json")}


def test_leaderboard_survives_lost_files(site: Site) -> None:
    site.demo()
    site.submit(site.user())
    site.work()
    before = board(site)
    [submission] = site.submissions()
    submission.results_path.unlink()
    read_results.cache_clear()
    assert board(site) == before
    site.submit(site.user("bob"), method="Another")
    site.work()
    ranks = {row["method"]: row["rank"] for row in board(site)}
    assert ranks["Mine"] is None
    assert ranks["Improved"] == ranks["Another"] == 1


def test_systems_with_different_numbers_of_resamples_are_compared(site: Site) -> None:
    site.demo()
    site.work()
    before = {row["method"]: row["rank"] for row in board(site)}
    site.configure(resamples=300)
    site.submit(site.user())
    site.work()
    after = {row["method"]: row["rank"] for row in board(site)}
    assert after.pop("Mine") == after["Improved"]
    assert after.keys() == before.keys()
    [submission] = site.submissions()
    baseline = next(str(row["url"]).split("/")[2] for row in board(site) if row["method"] == "Baseline")
    assert site.client().get("/challenges/demo/compare", {"a": baseline, "b": submission.pk}).status_code == 200


@pytest.mark.parametrize("query", [{"phase": "tset"}, {"references": "c400"}, {"phase": "main", "references": "x"}])
def test_unknown_leaderboards_are_not_found(query: dict[str, str], site: Site) -> None:
    site.demo()
    for page in ("leaderboard", "leaderboard.json", "leaderboard.csv", "compare", "captions"):
        assert site.client().get(f"/challenges/demo/{page}", query).status_code == 404
