"""Dates, quotas, rate limits and sizes, through the page and through the API, and what others may cancel or delete."""

from __future__ import annotations

import io
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest

from captious.server.submissions.upload import Problem
from tests.server.security.world import World, upload

WAYS = ("page", "api")


def take(world: World, way: str, user: str = "ann", content: bytes | None = None, **values: str) -> Any:
    """Submit through the page or the API; gives the response."""
    given = {"phase": "main", "team": user, "method": "Mine", **values}
    content = upload() if content is None else content
    if way == "page":
        form = world.site.form(world.users[user], content, filename="captions.zip", **given)
        return world.as_user(user).post("/challenges/open/submit", form)
    query = urlencode({"filename": "captions.zip", **given})
    return world.call(user, "POST", f"/api/v1/challenges/open/submissions?{query}", content)


def is_taken(response: Any) -> bool:
    assert response.status_code in {201, 302, 400, 409, 422}, response.content.decode()[:500]
    return response.status_code in {201, 302}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uploads are not read in a process of their own: one that is b"bad" has a problem."""
    from captious.server.submissions import intake

    def read(path: Any, *_: Any) -> list[Problem]:
        return [Problem("x.json", "It is bad.")] if path.read_bytes() == b"bad" else []

    monkeypatch.setattr(intake, "read_upload", read)


@pytest.fixture
def one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """All requests come within one minute."""
    from captious.server.people import rate_limits

    monkeypatch.setattr(rate_limits, "time", SimpleNamespace(time=lambda: 1_800_000_000.0))


pytestmark = pytest.mark.usefixtures("quick", "one_minute")


def latest() -> Any:
    from captious.server.models import Submission

    return Submission.objects.latest("pk")


@pytest.mark.parametrize("address", ["/challenges/open/submissions", "/api/v1/challenges/open/submissions"])
def test_the_list_of_many_submissions_costs_no_more_queries_than_that_of_few(undone: World, address: str) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from captious.server.models import Submission

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client = undone.as_user("ann")
            response = undone.call("ann", "GET", address) if "api" in address else client.get(address)
        assert response.status_code == 200
        return len(captured)

    queries()  # which notes that the token is used
    few = queries()
    submission = Submission.objects.get(pk=undone.submissions["public"].pk)
    for n in range(10):
        submission.pk, submission.folder_name = None, f"copy-{n}"
        submission.save(force_insert=True)
    assert Submission.objects.filter(folder_name="copy-9").exists()
    assert queries() <= few


@pytest.mark.parametrize("way", WAYS)
class TestDates:
    def test_early_and_late(self, undone: World, way: str) -> None:
        from captious.server.models import Attempt

        before = Attempt.objects.count()
        for phase in ("past", "future"):
            assert not is_taken(take(undone, way, phase=phase))
        assert Attempt.objects.count() == before

    @pytest.mark.parametrize("seconds", [-2, 2])
    def test_of_one_that_closes_during_the_upload(
        self, undone: World, way: str, monkeypatch: pytest.MonkeyPatch, seconds: int
    ) -> None:
        """What counts is when the upload began, as the web server says."""
        from datetime import timedelta

        from django.core.handlers.wsgi import WSGIRequest
        from django.utils import timezone

        from captious.server.models import Phase
        from captious.server.submissions.upload_sizes import ARRIVED

        began = timezone.now() - timedelta(minutes=5)
        Phase.objects.filter(name="main").update(closes=began + timedelta(seconds=seconds))
        original = WSGIRequest.__init__
        monkeypatch.setattr(
            WSGIRequest,
            "__init__",
            lambda request, environ: original(request, {**environ, ARRIVED: began.timestamp()}),
        )
        assert is_taken(take(undone, way)) == (seconds > 0)

    def test_other_phases(self, undone: World, way: str) -> None:
        """Neither a phase that does not exist nor one of another challenge, nor one that was removed."""
        from captious.server.models import Phase

        for phase in ("nothing", "", "1", "main "):
            assert not is_taken(take(undone, way, phase=phase)) or latest().phase.name == "main"
        Phase.objects.filter(name="main").update(is_retired=True)
        assert not is_taken(take(undone, way))

    def test_after_the_close(self, undone: World, way: str) -> None:
        """What is said about a submission can be changed; the captions and the time cannot."""
        from captious.server.models import Phase, Submission

        submission = undone.submissions["public"]
        Phase.objects.filter(pk=submission.phase_id).update(closes="2020-01-01T00:00:00Z", opens=None)
        form = {
            "method": "New",
            "created": "2019-01-01",
            "phase": "future",
            "team": "ann",
            "status": "queued",
            "shown_scores": "",
        }
        assert undone.as_user("ann").post(f"{submission.url}edit", form).status_code == 302
        after = Submission.objects.get(pk=submission.pk)
        assert after.method == "New"
        for name in (
            "created",
            "phase_id",
            "team_id",
            "status",
            "shown_scores_id",
            "folder_name",
            "is_hidden",
            "is_baseline",
        ):
            assert getattr(after, name) == getattr(submission, name)
        assert not is_taken(take(undone, way, phase="main"))


@pytest.mark.parametrize("way", WAYS)
class TestQuotas:
    @pytest.mark.parametrize("phase", ["daily", "total"])
    def test_scored(self, undone: World, way: str, phase: str) -> None:
        assert [is_taken(take(undone, way, phase=phase)) for _ in range(3)] == [True, True, False]

    @pytest.mark.parametrize(("phase", "again"), [("daily", True), ("total", False)])
    def test_the_next_day(self, undone: World, way: str, phase: str, again: bool) -> None:
        from datetime import timedelta

        from django.db.models import F

        from captious.server.models import Submission

        for _ in range(2):
            take(undone, way, phase=phase)
        Submission.objects.update(created=F("created") - timedelta(days=1))
        assert is_taken(take(undone, way, phase=phase)) is again

    def test_attempts(self, undone: World, way: str) -> None:
        """Uploads that are refused because of what is in them count as attempts, and not as scored."""
        assert not is_taken(take(undone, way, content=b"bad", phase="attempts"))
        assert is_taken(take(undone, way, phase="attempts"))
        assert not is_taken(take(undone, way, phase="attempts"))
        assert not is_taken(take(undone, way, content=b"bad", phase="daily"))
        assert [is_taken(take(undone, way, phase="daily")) for _ in range(3)] == [True, True, False]

    def test_a_second_team_of_the_same_user(self, undone: World, way: str) -> None:
        assert is_taken(take(undone, way, phase="daily", team="alpha"))
        assert is_taken(take(undone, way, phase="daily", team="ann"))
        for team in ("alpha", "ann"):
            assert not is_taken(take(undone, way, phase="daily", team=team))

    def test_a_new_team_of_the_same_user(self, undone: World, way: str) -> None:
        for _ in range(2):
            take(undone, way, phase="daily")
        undone.as_user("ann").post("/account/", {"action": "team", "team-name": "Third"})
        assert not is_taken(take(undone, way, phase="daily", team="third"))

    def test_another_member_of_the_team(self, undone: World, way: str) -> None:
        undone.as_user("bob").post(f"/teams/join/{undone.invitation}")
        for user in ("ann", "bob"):
            assert is_taken(take(undone, way, user, phase="daily", team="alpha"))
        for user in ("ann", "bob"):
            assert not is_taken(take(undone, way, user, phase="daily", team="alpha"))
            assert is_taken(take(undone, way, user, phase="daily"))  # for the own team, one is left to each

    def test_who_leaves_the_team(self, undone: World, way: str) -> None:
        for _ in range(2):
            take(undone, way, phase="daily", team="alpha")
        undone.as_user("ann").post("/teams/alpha/leave")
        assert not is_taken(take(undone, way, phase="daily", team="ann"))
        undone.as_user("bob").post(f"/teams/join/{undone.invitation}")
        assert not is_taken(take(undone, way, "bob", phase="daily", team="alpha"))

    def test_what_is_stored(self, undone: World, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of an account and of a team, with the captions that files unpack to, in all phases, until it is deleted."""
        from captious.server.submissions import intake

        def read(path: Any, filename: Any, expected: Any, limits: Any, output: Any) -> list[Problem]:
            (output / "val.json").write_bytes(bytes(1 << 20))
            return []

        monkeypatch.setattr(intake, "read_upload", read)
        undone.site.configure(stored_mebibytes=2)
        assert [is_taken(take(undone, way, phase=phase)) for phase in ("main", "hidden", "main")] == [True, True, False]
        assert not is_taken(take(undone, way, team="alpha"))
        response = take(undone, way, content=b"bad")
        assert "which is the limit: delete some" in response.content.decode()
        assert is_taken(take(undone, way, "bob"))
        undone.as_user("ann").post(f"/submissions/{latest().pk - 1}/delete")
        assert is_taken(take(undone, way))

    def test_cancelled_ones_are_free(self, undone: World, way: str) -> None:
        for _ in range(4):
            assert is_taken(take(undone, way, phase="daily"))
            if way == "page":
                undone.as_user("ann").post(f"{latest().url}cancel")
            else:
                undone.call("ann", "POST", f"/api/v1/submissions/{latest().pk}/cancel")
            assert latest().status == "cancelled"

    def test_so_are_ones_that_are_deleted_before_they_are_scored(self, undone: World, way: str) -> None:
        for _ in range(3):
            assert is_taken(take(undone, way, phase="daily"))
            undone.as_user("ann").post(f"{latest().url}delete")

    @pytest.mark.parametrize("how", ["delete", "cancel"])
    def test_scored_ones_count_whatever_becomes_of_them(self, undone: World, way: str, how: str) -> None:
        from django.utils import timezone

        from captious.server.models import Submission
        from captious.server.scoring.queue import queue_again

        for _ in range(2):
            take(undone, way, phase="daily")
            rows = Submission.objects.filter(pk=latest().pk)
            rows.update(status="done", finished=timezone.now())
            if how == "cancel":  # an organizer has it scored again, and it waits once more
                queue_again(rows)
            undone.as_user("ann").post(f"{latest().url}{how}")
            undone.call("ann", "POST", f"/api/v1/submissions/{latest().pk}/cancel")
            assert latest().status == {"delete": "deleted", "cancel": "queued"}[how]
        assert not is_taken(take(undone, way, phase="daily"))

    def test_failures_of_the_server_are_free(self, undone: World, way: str) -> None:
        from captious.server.models import Submission
        from captious.server.scoring import lease

        undone.site.configure(scoring_tries=1)
        Submission.objects.filter(status="queued").update(status="failed")
        for _ in range(3):
            assert is_taken(take(undone, way, phase="daily"))
            taken = lease.take("test")
            assert taken is not None
            lease.give_back(taken, "an error")
            assert latest().status == "failed"

    def test_failures_while_reading_are_free(self, undone: World, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
        from captious.errors import ResourceError
        from captious.server.models import Attempt
        from captious.server.submissions import intake

        before = Attempt.objects.count()
        for error in (OSError(28, "No space left on device"), ResourceError("broken")):
            with monkeypatch.context() as patch:
                patch.setattr(intake, "read_upload", raising(error))
                assert take(undone, way, phase="attempts").status_code == 503
        assert Attempt.objects.count() == before

    def test_dry_runs_are_free_but_limited(self, undone: World, way: str) -> None:
        from captious.server.models import Attempt, Submission

        before = Attempt.objects.count(), Submission.objects.count()
        undone.site.configure(requests_per_minute=5)
        answers = [take(undone, way, phase="attempts", action="check", dry_run="1").status_code for _ in range(6)]
        assert answers == [200] * 5 + [429]
        assert (Attempt.objects.count(), Submission.objects.count()) == before

    def test_dry_runs_that_take_too_long_are_not(
        self, undone: World, way: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from captious.server.submissions import intake

        monkeypatch.setattr(intake, "read_upload", lambda *_: [Problem("x.json", "It takes long.", is_slow=True)])
        answers = [take(undone, way, phase="attempts", action="check", dry_run="1").status_code for _ in range(4)]
        assert answers == [422] * 3 + [429]
        monkeypatch.undo()
        assert not is_taken(take(undone, way, phase="attempts"))  # they count as uploads

    def test_the_page_and_the_api_share_quotas(self, undone: World, way: str) -> None:
        others = {"page": "api", "api": "page"}
        assert is_taken(take(undone, way, phase="daily"))
        assert is_taken(take(undone, others[way], phase="daily"))
        assert not is_taken(take(undone, way, phase="daily"))
        assert not is_taken(take(undone, others[way], phase="daily"))


def raising(error: Exception) -> Callable[..., Any]:
    def fail(*_: Any) -> None:
        raise error

    return fail


class TestRates:
    def limited(self, world: World, ask: Callable[[], Any]) -> bool:
        """Whether the sixth request within a minute is refused, and the fifth is not."""
        world.site.configure(requests_per_minute=5)
        statuses = [ask().status_code for _ in range(6)]
        world.site.configure(requests_per_minute=60)
        return statuses[5] == 429 and 429 not in statuses[:5]

    def test_sign_up(self, undone: World) -> None:
        assert self.limited(undone, lambda: undone.site.client().post("/sign-up", {"username": "x"}))
        undone.site.configure(requests_per_minute=5)
        there = undone.site.client().post("/sign-up", {"username": "x"}, REMOTE_ADDR="10.9.9.9")
        forged = undone.site.client().post("/sign-up", {"username": "x"}, HTTP_X_FORWARDED_FOR="10.9.9.9")
        assert (there.status_code, forged.status_code) == (422, 429)

    def test_reset_mails(self, undone: World) -> None:
        assert self.limited(undone, lambda: undone.site.client().post("/account/reset", {"email": "x@example.org"}))

    def test_tokens(self, undone: World) -> None:
        form = {"action": "token", "token-name": "x"}
        assert self.limited(undone, lambda: undone.as_user("ann").post("/account/", form))

    def test_teams_and_invitations(self, undone: World) -> None:
        names = iter(range(100))
        ann = undone.as_user("ann")
        assert self.limited(
            undone, lambda: ann.post("/account/", {"action": "team", "team-name": f"team {next(names)}"})
        )
        assert self.limited(undone, lambda: ann.post("/teams/alpha/invite"))
        assert self.limited(undone, lambda: undone.as_user("bob").get("/teams/join/guess"))

    def test_changes(self, undone: World) -> None:
        ann, pk = undone.as_user("ann"), undone.submissions["public"].pk
        form = {"method": "Mine", "public": "on"}
        assert self.limited(undone, lambda: ann.post(f"/submissions/{pk}/edit", form))

    def test_the_number_of_teams(self, undone: World, monkeypatch: pytest.MonkeyPatch) -> None:
        from captious.server.actions import team_changes
        from captious.server.models import Team

        monkeypatch.setattr(team_changes, "MOST_TEAMS", 3)
        for name in ("one", "two", "three"):
            undone.as_user("ann").post("/account/", {"action": "team", "team-name": name})
        assert [Team.objects.filter(name=name).exists() for name in ("one", "two", "three")] == [True, False, False]

    def test_wrong_tokens(self, undone: World) -> None:
        wrong = {"Authorization": "Bearer wrong"}
        client = undone.site.client()
        assert self.limited(undone, lambda: client.get("/api/v1/challenges/open", headers=wrong))
        assert undone.call("ann", "GET", "/api/v1/challenges/open").status_code == 200  # from the same address

    @pytest.mark.parametrize("way", WAYS)
    def test_uploads(self, undone: World, way: str) -> None:
        assert self.limited(undone, lambda: take(undone, way, content=b"bad"))


class TestSizes:
    def test_what_is_too_large_is_refused_before_it_is_read(self, undone: World) -> None:
        class Body:
            """Fails when somebody reads it."""

            def read(self, *_: int) -> bytes:
                raise AssertionError("it was read")

            readline = read

        large = {"CONTENT_LENGTH": str(1 << 40), "wsgi.input": Body()}
        kind = {"CONTENT_TYPE": "multipart/form-data; boundary=x"}
        for role, address in (
            ("ann", "/challenges/open/submit"),
            ("ann", "/account/"),
            ("visitor", "/sign-in"),
            ("visitor", "/challenges/open/submit"),
            ("visitor", "/nothing"),
        ):
            for method in ("POST", "PUT", "PATCH"):
                client = undone.as_user(role)
                response = client.request(REQUEST_METHOD=method, PATH_INFO=address, **kind, **large)
                assert response.status_code == 413, (role, address)
        address = "/api/v1/challenges/open/submissions"
        response = undone.call("ann", "POST", f"{address}?phase=main&method=x&team=ann", **large)
        assert response.status_code == 413
        assert undone.call("visitor", "POST", address, **large).status_code == 401

    @pytest.mark.parametrize("length", ["", "-1", "1e3", "+5", "٣", "5, 5", "0x10"])
    def test_uploads_without_a_length(self, undone: World, length: str) -> None:
        address = "/api/v1/challenges/open/submissions?phase=main&method=x&team=ann"
        assert undone.call("ann", "POST", address, upload(), CONTENT_LENGTH=length).status_code == 411
        assert [*(undone.site.data / "incoming").iterdir()] == []

    def test_uploads_that_are_shorter_than_they_say(self, undone: World) -> None:
        from captious.server.models import Attempt

        before = Attempt.objects.count()
        address = "/api/v1/challenges/open/submissions?phase=main&method=x&team=ann"
        body = {"wsgi.input": io.BytesIO(upload()), "CONTENT_LENGTH": str(len(upload()) + 1)}
        response = undone.call("ann", "POST", address, **body)
        assert response.status_code == 400
        assert "interrupted" in response.json()["error"]
        assert Attempt.objects.count() == before
        assert [*(undone.site.data / "incoming").iterdir()] == []

    def test_pages_take_files_within_the_limit_only_from_users(self, undone: World) -> None:
        """The limit for visitors is a megabyte, which is not kept."""
        undone.site.configure(upload_mebibytes=2)
        content = b"x" * (3 << 19)
        assert take(undone, "page", content=content).status_code in {302, 422}
        form = undone.site.form(undone.users["ann"], content)
        assert undone.as_user("visitor").post("/challenges/open/submit", form).status_code == 413
        assert [*(undone.site.data / "incoming").iterdir()] == []


class TestDeletion:
    def test_storage_is_freed_and_the_page_says_what_happens(self, undone: World) -> None:
        from django.utils import timezone

        take(undone, "page")
        submission = latest()
        scores = submission.all_scores.create(
            version=1, set_keys={}, outputs={}, set_warnings={}, results_file="results-1.npz", finished=timezone.now()
        )
        type(submission).objects.update(status="done", finished=timezone.now(), shown_scores=scores)
        (submission.folder / "results-1.npz").write_bytes(b"x")
        page = undone.as_user("ann").get(f"{submission.url}delete").content.decode()
        assert "disappears from the leaderboard" in page
        assert "ranks of the others are computed again" in page
        assert "still counts towards the quota" in page
        assert submission.folder.exists()  # nothing happens before it is confirmed
        undone.as_user("ann").post(f"{submission.url}delete")
        assert not submission.folder.exists()
        for role, status in (("ann", 404), ("olga", 200)):
            assert undone.as_user(role).get(submission.url).status_code == status
            assert undone.as_user(role).get(f"{submission.url}file").status_code == 404

    def test_one_that_waits_says_that_it_is_free(self, undone: World) -> None:
        page = undone.as_user("ann").get(f"{undone.submissions['queued'].url}delete").content.decode()
        assert "does not count towards the quota" in page

    def test_one_that_is_being_scored_stays(self, undone: World) -> None:
        from captious.server.models import Submission

        submission = undone.submissions["queued"]
        Submission.objects.filter(pk=submission.pk).update(status="running")
        for how in ("cancel", "delete"):
            undone.as_user("ann").post(f"{submission.url}{how}")
            submission.refresh_from_db()
            assert submission.status == "running"
            assert submission.folder.exists()

    def test_others_can_neither_cancel_nor_delete(self, undone: World) -> None:
        submission = undone.submissions["queued"]
        for role in ("visitor", "bob", "paul", "otto", "dora"):
            for how in ("cancel", "delete", "edit"):
                undone.as_user(role).post(f"{submission.url}{how}", {"method": "Changed"})
            undone.call(role, "POST", f"/api/v1/submissions/{submission.pk}/cancel")
        submission.refresh_from_db()
        assert (submission.status, submission.method) == ("queued", "Queued")
        assert submission.folder.exists()

    def test_an_organizer_of_another_challenge_cannot_act_on_it(self, undone: World) -> None:
        submission = undone.submissions["public"]
        for action in ("hide", "show", "rescore"):
            form = {"action": action, "submission": submission.pk}
            assert undone.as_user("otto").post("/challenges/other/manage", form).status_code == 404
        submission.refresh_from_db()
        assert (submission.status, submission.is_hidden) == ("done", False)


class TestDryRuns:
    """They find what would refuse a submission whatever its captions are, and count nothing."""

    def remarks(self, world: World, phase: str, content: bytes | None = None) -> list[str]:
        answer = take(world, "api", content=content, phase=phase, dry_run="1")
        assert answer.status_code == (422 if content else 200)
        found: list[str] = answer.json()["remarks"]
        return found

    def test_an_open_phase(self, undone: World) -> None:
        assert self.remarks(undone, "main") == []
        assert "would be refused" not in take(undone, "page", action="check").content.decode()

    def test_a_closed_phase(self, undone: World) -> None:
        [past] = self.remarks(undone, "past")
        [future] = self.remarks(undone, "future")
        assert past.startswith("The phase past closed on 2020-12-31")
        assert future.startswith("The phase future opens on 2120-01-01")
        assert self.remarks(undone, "past", b"bad") == [past]

    def test_a_quota_that_is_used_up(self, undone: World) -> None:
        for phase, said in (
            ("daily", "Today's quota is used up: 2 scored submissions per day."),
            ("total", "The quota of this phase is used up: 2 scored submissions in total."),
            ("attempts", "Today's quota is used up: 2 uploads per day."),
        ):
            for _ in range(2):
                assert self.remarks(undone, phase) == []
                assert is_taken(take(undone, "api", phase=phase))
            assert self.remarks(undone, phase) == [said]
            text = take(undone, "page", phase=phase, action="check").content.decode()
            assert "A submission would be refused now." in text
            assert said.replace("'", "&#x27;") in text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"phase": "nope"}, "There is no phase 'nope'; phases: main, hidden, past, "),
        ({"phase": ""}, "Choose a phase: main, hidden, daily, total, attempts."),
        ({"team": "beta"}, "You are not in a team 'beta'; yours: alpha, ann."),
        ({"team": ""}, "Choose a team: alpha, ann."),
    ],
)
def test_what_has_to_be_chosen(undone: World, given: dict[str, str], said: str) -> None:
    answer = take(undone, "api", **given)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(said)
