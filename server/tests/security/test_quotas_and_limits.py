"""Dates, quotas, rate limits and sizes, through the page and through the API, and what others may cancel or delete."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest
from django.core.handlers.wsgi import WSGIRequest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from captious.errors import ResourceError
from captious_server import actions
from captious_server.models import Attempt, Phase, Submission, Team
from captious_server.people import accounts
from captious_server.scoring import queue
from captious_server.scoring.queue import queue_again
from captious_server.submissions import intake
from captious_server.submissions.upload import Problem
from server.tests.security.world import World, upload

WAYS = ("page", "api")


def take(world: World, way: str, user: str = "ann", content: bytes | None = None, **values: str) -> Any:
    """Submit through the page or the API; gives the response."""
    given = {"phase": "main", "team": user, "method": "Mine", **values}
    content = upload() if content is None else content
    if way == "page":
        form = world.site.form(world.users[user], content, filename="captions.zip", **given)
        return world.as_user(user).post("/challenges/open/submit", form)
    given.pop("action", "")  # of forms
    query = urlencode({"filename": "captions.zip", **given})
    return world.call(user, "POST", f"/api/v1/challenges/open/submissions?{query}", content)


def is_taken(response: Any) -> bool:
    assert response.status_code in {201, 302, 400, 409, 422}, response.content.decode()[:500]
    return response.status_code in {201, 302}


@pytest.fixture
def uploads_without_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uploads are not read in a process of their own: one that is b"bad" has a problem, and none looks like a probe."""

    def read(path: Any, *_: Any) -> list[Problem]:
        return [Problem("x.json", "It is bad.")] if path.read_bytes() == b"bad" else []

    monkeypatch.setattr(intake, "read_upload", read)
    monkeypatch.setattr(intake, "why_held", lambda *_: "")


@pytest.fixture
def one_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """All requests come within one minute."""
    monkeypatch.setattr(accounts, "time", SimpleNamespace(time=lambda: 1_800_000_000.0))


pytestmark = pytest.mark.usefixtures("uploads_without_a_process", "one_minute")


def latest() -> Any:
    return Submission.objects.latest("pk")


@pytest.mark.parametrize("address", ["/challenges/open/submissions", "/api/v1/challenges/open/submissions"])
def test_submission_list_has_a_constant_number_of_queries(sandbox: World, address: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client = sandbox.as_user("ann")
            response = sandbox.call("ann", "GET", address) if "api" in address else client.get(address)
        assert response.status_code == 200
        return len(captured)

    queries()  # which notes that the token is used
    few = queries()
    submission = Submission.objects.get(pk=sandbox.submissions["public"].pk)
    for n in range(10):
        submission.pk, submission.folder_name = None, f"copy-{n}"
        submission.save(force_insert=True)
    assert Submission.objects.filter(folder_name="copy-9").exists()
    assert queries() <= few


@pytest.mark.parametrize("way", WAYS)
class TestDates:
    def test_upload_outside_the_dates_is_refused(self, sandbox: World, way: str) -> None:
        before = Attempt.objects.count()
        for phase in ("past", "future"):
            assert not is_taken(take(sandbox, way, phase=phase))
        assert Attempt.objects.count() == before

    @pytest.mark.parametrize("seconds", [-2, 2])
    def test_upload_begun_before_the_close_is_accepted(
        self, sandbox: World, way: str, monkeypatch: pytest.MonkeyPatch, seconds: int
    ) -> None:
        """The time of the first byte counts, as the proxy says it."""
        sandbox.site.configure(behind_proxy=True)
        began = self.arrived(monkeypatch, 300)
        Phase.objects.filter(name="main").update(closes=began + timedelta(seconds=seconds))
        assert is_taken(take(sandbox, way)) == (seconds > 0)

    def test_upload_that_arrives_for_too_long_is_refused(
        self, sandbox: World, way: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Otherwise, one could begin before the deadline and send the captions much later."""
        sandbox.site.configure(behind_proxy=True, upload_seconds=200)
        self.arrived(monkeypatch, 300)
        assert take(sandbox, way).status_code == 408

    def test_only_a_proxy_says_when_an_upload_began(
        self, sandbox: World, way: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        began = self.arrived(monkeypatch, 300)
        Phase.objects.filter(name="main").update(closes=began + timedelta(seconds=2))
        assert not is_taken(take(sandbox, way))

    def arrived(self, monkeypatch: pytest.MonkeyPatch, seconds: float) -> datetime:
        """Let a request take so long to arrive, as a proxy says it; gives the time at which it began."""
        now, original = datetime.now(UTC), WSGIRequest.__init__
        header = {"HTTP_X_ARRIVAL": f"{now.timestamp():.3f} {seconds:.3f}"}
        monkeypatch.setattr(WSGIRequest, "__init__", lambda request, environ: original(request, {**environ, **header}))
        return now - timedelta(seconds=seconds)

    def test_upload_to_an_unknown_phase_is_refused(self, sandbox: World, way: str) -> None:
        """This includes phases of other challenges and phases that were removed."""
        for phase in ("nothing", "", "1", "main "):
            assert not is_taken(take(sandbox, way, phase=phase)) or latest().phase.name == "main"
        Phase.objects.filter(name="main").update(is_retired=True)
        assert not is_taken(take(sandbox, way))

    def test_details_stay_editable_after_the_close(self, sandbox: World, way: str) -> None:
        """The description can be edited; captions and time cannot."""
        submission = sandbox.submissions["public"]
        Phase.objects.filter(pk=submission.phase_id).update(closes="2020-01-01T00:00:00Z", opens=None)
        form = {
            "method": "New",
            "public": "on",
            "created": "2019-01-01",
            "phase": "future",
            "team": "ann",
            "status": "queued",
            "shown_scores": "",
        }
        assert sandbox.as_user("ann").post(f"{submission.url}edit", form).status_code == 302
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
        assert not is_taken(take(sandbox, way, phase="main"))


@pytest.mark.parametrize("way", WAYS)
class TestQuotas:
    @pytest.mark.parametrize("phase", ["daily", "total"])
    def test_daily_quota_limits_scored_submissions(self, sandbox: World, way: str, phase: str) -> None:
        assert [is_taken(take(sandbox, way, phase=phase)) for _ in range(3)] == [True, True, False]

    @pytest.mark.parametrize(("phase", "again"), [("daily", True), ("total", False)])
    def test_daily_quota_renews_the_next_day(self, sandbox: World, way: str, phase: str, again: bool) -> None:
        for _ in range(2):
            take(sandbox, way, phase=phase)
        Submission.objects.update(created=F("created") - timedelta(days=1))
        assert is_taken(take(sandbox, way, phase=phase)) is again

    def test_refused_uploads_count_as_attempts(self, sandbox: World, way: str) -> None:
        """They do not count as scored submissions."""
        assert not is_taken(take(sandbox, way, content=b"bad", phase="attempts"))
        assert is_taken(take(sandbox, way, phase="attempts"))
        assert not is_taken(take(sandbox, way, phase="attempts"))
        assert not is_taken(take(sandbox, way, content=b"bad", phase="daily"))
        assert [is_taken(take(sandbox, way, phase="daily")) for _ in range(3)] == [True, True, False]

    def test_second_team_of_the_same_user_shares_the_quota(self, sandbox: World, way: str) -> None:
        assert is_taken(take(sandbox, way, phase="daily", team="alpha"))
        assert is_taken(take(sandbox, way, phase="daily", team="ann"))
        for team in ("alpha", "ann"):
            assert not is_taken(take(sandbox, way, phase="daily", team=team))

    def test_new_team_of_the_same_user_shares_the_quota(self, sandbox: World, way: str) -> None:
        for _ in range(2):
            take(sandbox, way, phase="daily")
        sandbox.as_user("ann").post("/account/", {"action": "team", "team-name": "Third"})
        assert not is_taken(take(sandbox, way, phase="daily", team="third"))

    def test_members_of_a_team_share_the_quota(self, sandbox: World, way: str) -> None:
        sandbox.as_user("bob").post(f"/teams/join/{sandbox.invitation}")
        for user in ("ann", "bob"):
            assert is_taken(take(sandbox, way, user, phase="daily", team="alpha"))
        for user in ("ann", "bob"):
            assert not is_taken(take(sandbox, way, user, phase="daily", team="alpha"))
            assert is_taken(take(sandbox, way, user, phase="daily"))  # for the own team, one is left to each

    def test_leaving_a_team_does_not_renew_the_quota(self, sandbox: World, way: str) -> None:
        for _ in range(2):
            take(sandbox, way, phase="daily", team="alpha")
        sandbox.as_user("ann").post("/teams/alpha/leave")
        assert not is_taken(take(sandbox, way, phase="daily", team="ann"))
        sandbox.as_user("bob").post(f"/teams/join/{sandbox.invitation}")
        assert not is_taken(take(sandbox, way, "bob", phase="daily", team="alpha"))

    def test_storage_quota_counts_all_stored_files(
        self, sandbox: World, way: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It covers unpacked captions in all phases, of an account and of a team."""

        def read(path: Any, filename: Any, expected: Any, limits: Any, output: Any) -> list[Problem]:
            (output / "val.json").write_bytes(bytes(1 << 20))
            return []

        monkeypatch.setattr(intake, "read_upload", read)
        sandbox.site.configure(stored_mebibytes=2)
        assert [is_taken(take(sandbox, way, phase=phase)) for phase in ("main", "hidden", "main")] == [
            True,
            True,
            False,
        ]
        assert not is_taken(take(sandbox, way, team="alpha"))
        response = take(sandbox, way, content=b"bad")
        assert "which is the limit. Delete some" in response.content.decode()
        assert is_taken(take(sandbox, way, "bob"))
        sandbox.as_user("ann").post(f"/submissions/{latest().pk - 1}/delete")
        assert is_taken(take(sandbox, way))

    def test_canceled_submissions_are_free(self, sandbox: World, way: str) -> None:
        for _ in range(4):
            assert is_taken(take(sandbox, way, phase="daily"))
            if way == "page":
                sandbox.as_user("ann").post(f"{latest().url}cancel")
            else:
                sandbox.call("ann", "POST", f"/api/v1/submissions/{latest().pk}/cancel")
            assert latest().status == "canceled"

    def test_submissions_deleted_before_scoring_are_free(self, sandbox: World, way: str) -> None:
        for _ in range(3):
            assert is_taken(take(sandbox, way, phase="daily"))
            sandbox.as_user("ann").post(f"{latest().url}delete")

    @pytest.mark.parametrize("how", ["delete", "cancel"])
    def test_scored_submissions_count_even_if_deleted(self, sandbox: World, way: str, how: str) -> None:
        for _ in range(2):
            take(sandbox, way, phase="daily")
            rows = Submission.objects.filter(pk=latest().pk)
            rows.update(status="done", finished=timezone.now())
            if how == "cancel":  # an organizer has it scored again, and it waits once more
                queue_again(rows)
            sandbox.as_user("ann").post(f"{latest().url}{how}")
            sandbox.call("ann", "POST", f"/api/v1/submissions/{latest().pk}/cancel")
            assert latest().status == {"delete": "deleted", "cancel": "queued"}[how]
        assert not is_taken(take(sandbox, way, phase="daily"))

    def test_server_failures_are_free(self, sandbox: World, way: str) -> None:
        sandbox.site.configure(scoring_tries=1)
        Submission.objects.filter(status="queued").update(status="failed")
        for _ in range(3):
            assert is_taken(take(sandbox, way, phase="daily"))
            queue.give_back(queue.take("test"), "an error")
            assert latest().status == "failed"

    def test_server_failures_during_upload_are_free(
        self, sandbox: World, way: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = Attempt.objects.count()
        for error in (OSError(28, "No space left on device"), ResourceError("broken")):
            with monkeypatch.context() as patch:
                patch.setattr(intake, "read_upload", Mock(side_effect=error))
                assert take(sandbox, way, phase="attempts").status_code == 503
        assert Attempt.objects.count() == before

    def test_dry_runs_are_free_but_limited(self, sandbox: World, way: str) -> None:
        before = Attempt.objects.count(), Submission.objects.count()
        sandbox.site.configure(requests_per_minute=5)
        answers = [take(sandbox, way, phase="attempts", action="check", dry_run="1").status_code for _ in range(6)]
        assert answers == [200] * 5 + [429]
        assert (Attempt.objects.count(), Submission.objects.count()) == before

    def test_dry_runs_that_take_too_long_count(self, sandbox: World, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(intake, "read_upload", lambda *_: [Problem("x.json", "It takes long.", is_slow=True)])
        answers = [take(sandbox, way, phase="attempts", action="check", dry_run="1").status_code for _ in range(4)]
        assert answers == [422] * 3 + [429]
        monkeypatch.undo()
        assert not is_taken(take(sandbox, way, phase="attempts"))  # they count as uploads

    def test_page_and_api_share_quotas(self, sandbox: World, way: str) -> None:
        others = {"page": "api", "api": "page"}
        assert is_taken(take(sandbox, way, phase="daily"))
        assert is_taken(take(sandbox, others[way], phase="daily"))
        assert not is_taken(take(sandbox, way, phase="daily"))
        assert not is_taken(take(sandbox, others[way], phase="daily"))


class TestRates:
    def limited(self, world: World, ask: Callable[[], Any]) -> bool:
        """Whether the sixth request within a minute is refused, and the fifth is not."""
        world.site.configure(requests_per_minute=5)
        statuses = [ask().status_code for _ in range(6)]
        world.site.configure(requests_per_minute=60)
        return statuses[5] == 429 and 429 not in statuses[:5]

    def test_sign_up_is_limited(self, sandbox: World) -> None:
        assert self.limited(sandbox, lambda: sandbox.site.client().post("/sign-up", {"username": "x"}))
        sandbox.site.configure(requests_per_minute=5)
        there = sandbox.site.client().post("/sign-up", {"username": "x"}, REMOTE_ADDR="10.9.9.9")
        forged = sandbox.site.client().post("/sign-up", {"username": "x"}, HTTP_X_FORWARDED_FOR="10.9.9.9")
        assert (there.status_code, forged.status_code) == (200, 429)

    def test_reset_mails_are_limited(self, sandbox: World) -> None:
        emails = (f"{n}@example.org" for n in range(9))
        assert self.limited(sandbox, lambda: sandbox.site.client().post("/account/reset", {"email": next(emails)}))

    def test_token_creation_is_limited(self, sandbox: World) -> None:
        form = {"action": "token", "token-name": "x"}
        assert self.limited(sandbox, lambda: sandbox.as_user("ann").post("/account/", form))

    def test_team_and_invitation_creation_is_limited(self, sandbox: World) -> None:
        names = iter(range(100))
        ann = sandbox.as_user("ann")
        assert self.limited(
            sandbox, lambda: ann.post("/account/", {"action": "team", "team-name": f"team {next(names)}"})
        )
        assert self.limited(sandbox, lambda: sandbox.as_user("mia").post("/teams/alpha/invite"))
        assert self.limited(sandbox, lambda: sandbox.as_user("bob").get("/teams/join/guess"))

    def test_submission_edits_are_limited(self, sandbox: World) -> None:
        ann, pk = sandbox.as_user("ann"), sandbox.submissions["public"].pk
        form = {"method": "Mine", "public": "on"}
        assert self.limited(sandbox, lambda: ann.post(f"/submissions/{pk}/edit", form))

    def test_number_of_teams_is_limited(self, sandbox: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(actions, "MAX_TEAMS", 3)
        for name in ("one", "two", "three"):
            sandbox.as_user("ann").post("/account/", {"action": "team", "team-name": name})
        assert [Team.objects.filter(name=name).exists() for name in ("one", "two", "three")] == [True, False, False]

    def test_wrong_tokens_are_limited(self, sandbox: World) -> None:
        wrong = {"Authorization": "Bearer wrong"}
        client = sandbox.site.client()
        assert self.limited(sandbox, lambda: client.get("/api/v1/challenges/open", headers=wrong))
        assert sandbox.call("ann", "GET", "/api/v1/challenges/open").status_code == 200  # from the same address

    @pytest.mark.parametrize("way", WAYS)
    def test_uploads_are_limited(self, sandbox: World, way: str) -> None:
        assert self.limited(sandbox, lambda: take(sandbox, way, content=b"bad"))


class TestSizes:
    def test_too_large_upload_is_refused_before_it_is_read(self, sandbox: World) -> None:
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
                client = sandbox.as_user(role)
                response = client.request(REQUEST_METHOD=method, PATH_INFO=address, **kind, **large)
                assert response.status_code == 413, (role, address)
        address = "/api/v1/challenges/open/submissions"
        response = sandbox.call("ann", "POST", f"{address}?phase=main&method=x&team=ann", **large)
        assert response.status_code == 413
        assert sandbox.call("visitor", "POST", address, **large).status_code == 401

    @pytest.mark.parametrize("length", ["", "-1", "1e3", "+5", "٣", "5, 5", "0x10"])
    def test_upload_without_a_length_is_refused(self, sandbox: World, length: str) -> None:
        address = "/api/v1/challenges/open/submissions?phase=main&method=x&team=ann"
        assert sandbox.call("ann", "POST", address, upload(), CONTENT_LENGTH=length).status_code == 411
        assert [*(sandbox.site.data / "incoming").iterdir()] == []

    def test_upload_shorter_than_its_length_is_refused(self, sandbox: World) -> None:
        before = Attempt.objects.count()
        address = "/api/v1/challenges/open/submissions?phase=main&method=x&team=ann"
        body = {"wsgi.input": io.BytesIO(upload()), "CONTENT_LENGTH": str(len(upload()) + 1)}
        response = sandbox.call("ann", "POST", address, **body)
        assert response.status_code == 400
        assert "interrupted" in response.json()["error"]
        assert Attempt.objects.count() == before
        assert [*(sandbox.site.data / "incoming").iterdir()] == []

    def test_pages_accept_large_files_from_users_only(self, sandbox: World) -> None:
        """Visitors have a limit of a megabyte, and nothing is kept."""
        sandbox.site.configure(upload_mebibytes=2)
        content = b"x" * (3 << 19)
        assert take(sandbox, "page", content=content).status_code in {302, 422}
        form = sandbox.site.form(sandbox.users["ann"], content)
        assert sandbox.as_user("visitor").post("/challenges/open/submit", form).status_code == 413
        assert [*(sandbox.site.data / "incoming").iterdir()] == []


class TestDeletion:
    def test_deletion_frees_storage_and_page_explains_it(self, sandbox: World) -> None:
        take(sandbox, "page")
        submission = latest()
        scores = submission.all_scores.create(
            version=1, set_keys={}, outputs={}, set_warnings={}, results_file="results-1.npz", finished=timezone.now()
        )
        type(submission).objects.update(status="done", finished=timezone.now(), shown_scores=scores)
        (submission.folder / "results-1.npz").write_bytes(b"x")
        page = sandbox.as_user("ann").get(f"{submission.url}delete").content.decode()
        assert "disappears from the leaderboard" in page
        assert "ranks of other submissions are recomputed" in page
        assert "still counts toward the quota" in page
        assert submission.folder.exists()  # nothing happens before it is confirmed
        sandbox.as_user("ann").post(f"{submission.url}delete")
        assert not submission.folder.exists()
        for role, status in (("ann", 404), ("olga", 200)):
            assert sandbox.as_user(role).get(submission.url).status_code == status
            assert sandbox.as_user(role).get(f"{submission.url}file").status_code == 404

    def test_deletion_of_a_queued_submission_is_free(self, sandbox: World) -> None:
        page = sandbox.as_user("ann").get(f"{sandbox.submissions['queued'].url}delete").content.decode()
        assert "does not count toward the quota" in page

    def test_submission_being_scored_cannot_be_deleted(self, sandbox: World) -> None:
        submission = sandbox.submissions["queued"]
        Submission.objects.filter(pk=submission.pk).update(status="running")
        for how in ("cancel", "delete"):
            sandbox.as_user("ann").post(f"{submission.url}{how}")
            submission.refresh_from_db()
            assert submission.status == "running"
            assert submission.folder.exists()

    def test_organizer_of_another_challenge_cannot_act(self, sandbox: World) -> None:
        submission = sandbox.submissions["public"]
        for action in ("hide", "show", "rescore"):
            form = {"action": action, "submission": submission.pk}
            assert sandbox.as_user("otto").post("/challenges/other/manage", form).status_code == 404
        submission.refresh_from_db()
        assert (submission.status, submission.is_hidden) == ("done", False)


class TestDryRuns:
    """Dry runs report everything that would refuse the submission, and count nothing."""

    def remarks(self, world: World, phase: str, content: bytes | None = None) -> list[str]:
        answer = take(world, "api", content=content, phase=phase, dry_run="1")
        assert answer.status_code == (422 if content else 200)
        found: list[str] = answer.json()["remarks"]
        return found

    def test_dry_run_in_an_open_phase_has_no_remarks(self, sandbox: World) -> None:
        assert self.remarks(sandbox, "main") == []
        assert "would be refused" not in take(sandbox, "page", action="check").content.decode()

    def test_dry_run_in_a_closed_phase_gives_its_dates(self, sandbox: World) -> None:
        [past] = self.remarks(sandbox, "past")
        [future] = self.remarks(sandbox, "future")
        assert past.startswith("The phase past closed on 2020-12-31")
        assert future.startswith("The phase future opens on 2120-01-01")
        assert self.remarks(sandbox, "past", b"bad") == [past]
        Phase.objects.filter(name="past").update(closes=datetime(2020, 12, 31, 4, 25, 36, tzinfo=UTC))
        assert self.remarks(sandbox, "past") == ["The phase past closed on 2020-12-31 04:25:36 UTC."]

    def test_dry_run_reports_an_exhausted_quota(self, sandbox: World) -> None:
        for phase, said in (
            ("daily", "Today's quota is exhausted: 2 scored submissions per day."),
            ("total", "The quota of this phase is exhausted: 2 scored submissions in total."),
            ("attempts", "Today's quota is exhausted: 2 uploads per day."),
        ):
            for _ in range(2):
                assert self.remarks(sandbox, phase) == []
                assert is_taken(take(sandbox, "api", phase=phase))
            assert self.remarks(sandbox, phase) == [said]
            text = take(sandbox, "page", phase=phase, action="check").content.decode()
            assert "A submission would be refused now." in text
            assert said.replace("'", "&#x27;") in text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"phase": "nope"}, "There is no phase 'nope'; phases: main, hidden, past, "),
        ({"phase": ""}, "Choose a phase: main, hidden, daily, total, attempts."),
        ({"team": "beta"}, "You are not in a team 'beta'; your teams: alpha, ann."),
        ({"team": ""}, "Choose a team: alpha, ann."),
    ],
)
def test_phase_and_team_must_be_chosen_when_ambiguous(sandbox: World, given: dict[str, str], said: str) -> None:
    answer = take(sandbox, "api", **given)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(said)
