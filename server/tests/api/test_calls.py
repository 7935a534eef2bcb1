"""What a team does on the site, done with a token; and what tokens may not do."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from click.testing import CliRunner

from captious.errors import ParameterError
from captious_server.commands import serve
from captious_server.models import Phase, Token, User
from captious_server.people.accounts import make_token
from captious_server.settings import utc_time
from server.tests.support.site import EXAMPLES, PASSWORD, Site, parsed


@pytest.fixture
def ann(site: Site) -> Any:
    def scene() -> None:
        site.demo()
        site.submit(site.user())
        site.work()

    site.build("demonstration with one submission", scene)
    return User.objects.get(username="ann")


def call(site: Site, user: Any, method: str, address: str, *, scopes: Any = ("submit",), body: bytes = b"") -> Any:
    headers = {"Authorization": f"Bearer {make_token(user, 'x', scopes=scopes)}"}
    return site.client().generic(method, f"/api/v1/{address}", body, "application/octet-stream", headers=headers)


def test_api_answers_equal_those_of_the_page(site: Site, ann: Any) -> None:
    [challenge] = call(site, ann, "GET", "challenges").json()
    assert (challenge["slug"], challenge["is_open"]) == ("demo", True)
    assert challenge["url"] == "http://testserver/challenges/demo/"
    rows = parsed(call(site, ann, "GET", "challenges/demo/leaderboard"))
    assert rows == parsed(site.client().get("/challenges/demo/leaderboard.json"))
    assert call(site, ann, "GET", "challenges/demo/leaderboard?phase=none").status_code == 404


def test_api_says_when_withheld_scores_are_shown(site: Site, ann: Any) -> None:
    [submission] = site.submissions()
    root = User.objects.create(username="root", is_superuser=True)
    said = "Scores are shown on 2120-03-01 00:10 UTC."
    for user, values, expected in (
        (ann, {}, ""),
        (ann, {"scores_shown": "at-end", "closes": datetime(2120, 3, 1, tzinfo=UTC)}, said),
        (root, {}, ""),  # who sees them
        (ann, {"scores_shown": "never"}, "This phase does not show scores."),
    ):
        Phase.objects.update(**values) if values else None
        [listed] = call(site, user, "GET", "challenges").json()
        [phase] = call(site, user, "GET", "challenges/demo").json()["phases"]
        answer = call(site, user, "GET", f"submissions/{submission.pk}").json()
        assert (answer["withheld"], phase["withheld"]) == (expected, expected)
        assert listed["withheld"] == ([f"Main phase: {expected}"] if expected else [])
        assert bool(answer["scores"]) is not bool(expected)


def test_unknown_parameters_are_refused(site: Site, ann: Any) -> None:
    """A misspelled one would be ignored otherwise: ``anonymus=1`` would show the name of the team."""
    [submission] = site.submissions()
    address = "challenges/demo/submissions?method=x&anonymus=1"
    answer = call(site, ann, "POST", address, body=(EXAMPLES / "improved.json").read_bytes())
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("The query takes no 'anonymus'; known are method, filename, phase, ")
    assert "Idempotency-Key" not in answer.json()["error"]
    assert site.submissions() == [submission]
    answer = call(site, ann, "GET", f"submissions/{submission.pk}?verbose=1")
    assert (answer.status_code, answer.json()["error"]) == (400, "The query takes no 'verbose'; known are none.")


def test_parameters_in_a_body_are_refused_where_none_is_read(site: Site, ann: Any) -> None:
    """``chosen=0`` in the body would choose a submission otherwise."""
    [submission] = site.submissions()
    for name, body in (("choose", b"chosen=0"), ("edit", b"method=renamed&public=0"), ("cancel", b"{}")):
        answer = call(site, ann, "POST", f"submissions/{submission.pk}/{name}", body=body)
        error = "This call reads no body. Send parameters in the query of its address."
        assert (answer.status_code, answer.json()["error"]) == (400, error)
    [submission] = site.submissions()
    assert (submission.is_chosen, submission.method) == (False, "Mine")
    headers = {"Authorization": f"Bearer {site.token(ann)}"}
    answer = site.client().post("/api/v1/join", {"invitaton": "x"}, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (400, "The body takes no 'invitaton'; known are invitation.")


def test_api_times_have_one_format(site: Site, ann: Any) -> None:
    """The leaderboard gives the same times as the submissions, to the millisecond."""
    [submission] = site.submissions()
    created = call(site, ann, "GET", f"submissions/{submission.pk}").json()["created"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z", created)
    assert created == utc_time(submission.created)
    rows = parsed(call(site, ann, "GET", "challenges/demo/leaderboard"))
    assert created in {row["submitted"] for row in rows}
    table = site.client().get("/challenges/demo/leaderboard.csv")
    assert created in {row["submitted"] for row in csv.DictReader(io.StringIO(table.getvalue().decode()))}
    east = timezone(timedelta(hours=5, minutes=30))
    assert utc_time(datetime(2026, 1, 1, 3, tzinfo=east)) == "2025-12-31T21:30:00Z"
    assert utc_time(datetime(2026, 1, 1, 0, 0, 0, 120_999, tzinfo=UTC)) == "2026-01-01T00:00:00.120Z"


def test_api_downloads_edits_and_deletes_a_submission(site: Site, ann: Any) -> None:
    [submission] = site.submissions()
    address = f"submissions/{submission.pk}"
    file = call(site, ann, "GET", f"{address}/file")
    assert b"".join(file.streaming_content) == (EXAMPLES / "improved.json").read_bytes()
    answer = call(site, ann, "POST", f"{address}/edit?method=Renamed&public=0").json()
    assert (answer["method"], answer["public"], answer["anonymous"]) == ("Renamed", False, False)
    assert call(site, ann, "POST", f"{address}/edit?link=javascript:x").status_code == 400
    assert call(site, ann, "POST", f"{address}/delete").json()["status"] == "deleted"
    assert call(site, ann, "GET", address).status_code == 404


@pytest.mark.parametrize("text", ["maybe", "", "ture", "2"])
def test_api_refuses_values_that_are_not_booleans(site: Site, ann: Any, text: str) -> None:
    [submission] = site.submissions()
    root = User.objects.create(username="root", is_superuser=True)
    for method, address, name in (
        ("POST", f"submissions/{submission.pk}/edit", "public"),
        ("POST", f"submissions/{submission.pk}/choose", "chosen"),
        ("POST", "challenges/demo/submissions?method=x&", "dry_run"),
        ("GET", "challenges/demo/leaderboard", "all"),
        ("GET", "challenges/demo/archive?phase=main&", "public"),
    ):
        answer = call(site, root, method, f"{address}{'' if '?' in address else '?'}{name}={text}")
        assert (answer.status_code, answer.json()) == (400, {"error": f"{name} must be true or false, not {text!r}."})
    submission.refresh_from_db()
    assert submission.public
    for text, value in (("no", False), ("TRUE", True)):
        assert call(site, ann, "POST", f"submissions/{submission.pk}/edit?public={text}").json()["public"] is value


def test_unknown_sort_column_is_refused(site: Site, ann: Any) -> None:
    answer = call(site, ann, "GET", "challenges/demo/leaderboard?sort=-blue-4")
    assert answer.status_code == 400
    assert "bleu-4" in answer.json()["error"]
    for sort in ("", "bleu-4", "-bleu-4", "-date"):
        assert call(site, ann, "GET", f"challenges/demo/leaderboard?sort={sort}").status_code == 200


def test_leaderboard_rows_have_submission_ids(site: Site, ann: Any) -> None:
    ids = {row["id"] for row in parsed(call(site, ann, "GET", "challenges/demo/leaderboard?all=true"))}
    assert {row.pk for row in site.submissions()} < ids
    for pk in ids:
        assert call(site, ann, "GET", f"submissions/{pk}").json()["id"] == pk


def test_api_tells_the_remaining_quota(site: Site, ann: Any) -> None:
    Phase.objects.update(scored_per_day=3, scored_in_total=0, attempts_per_day=1)
    [row] = call(site, ann, "GET", "challenges/demo/quotas").json()
    assert (row["scored_today"], row["scored_per_day"], row["scored_left_today"]) == (1, 3, 2)
    assert (row["scored"], row["scored_in_total"], row["scored_left"]) == (1, 0, None)
    assert (row["attempts_today"], row["attempts_per_day"], row["attempts_left_today"]) == (1, 1, 0)


class TestTokens:
    def test_read_only_token_cannot_submit(self, site: Site, ann: Any) -> None:
        [submission] = site.submissions()
        for address in ("challenges/demo/submissions", f"submissions/{submission.pk}"):
            assert call(site, ann, "GET", address, scopes=()).status_code == 200
        content = (EXAMPLES / "improved.json").read_bytes()
        posts = {"challenges/demo/submissions?method=x": content}
        posts |= {f"submissions/{submission.pk}/{verb}": b"" for verb in ("edit", "delete", "choose", "cancel")}
        for address, body in posts.items():
            answer = call(site, ann, "POST", address, scopes=(), body=body)
            assert (answer.status_code, list(answer.json())) == (403, ["error"]), address
        assert [row.status for row in site.submissions()] == ["done"]

    def test_expired_token_is_refused(self, site: Site, ann: Any) -> None:
        from django.utils import timezone

        headers = {"Authorization": f"Bearer {make_token(ann, 'x', days=1)}"}
        assert site.client().get("/api/v1/challenges", headers=headers).status_code == 200
        Token.objects.update(expires=timezone.now() - timedelta(seconds=1))
        answer = site.client().get("/api/v1/challenges", headers=headers)
        assert (answer.status_code, "expired" in answer.json()["error"]) == (401, True)

    def test_account_page_creates_a_token(self, site: Site, ann: Any) -> None:
        values = {"action": "token", "token-name": "cron", "token-challenge": "demo", "token-days": "30"}
        values["token-proof"] = PASSWORD
        page = site.client(ann).post("/account/", values, follow=True).content.decode()
        token = Token.objects.get()
        assert (token.scopes, token.challenge.slug) == ("", "demo")
        assert 29 < (token.expires - token.created).total_seconds() / 86400 <= 30
        assert "read; demo only" in page
        more = {**values, "token-days": "0", "token-scopes": ["submit", "teams"]}
        refused = site.client(ann).post("/account/", more)
        assert (refused.status_code, "cannot change teams" in refused.content.decode()) == (422, True)
        site.client(ann).post("/account/", {**more, "token-challenge": ""})
        assert Token.objects.filter(expires=None, scopes="submit teams", challenge=None).count() == 1
        for wrong in ({"token-days": "9999"}, {"token-scopes": "everything"}, {"token-challenge": "nothing"}):
            assert site.client(ann).post("/account/", {**values, **wrong}).status_code == 422
        assert Token.objects.count() == 2

    def test_command_creates_a_token(self, site: Site, ann: Any) -> None:
        def made(*options: str) -> Any:
            place = ["token", "--data", str(site.data), "--user", "ann"]
            return CliRunner().invoke(serve, [*place, *options])

        text = made("--scope", "submit", "--scope", "organize", "--challenge", "demo", "--days", "7").stdout.strip()
        token = Token.objects.get()
        assert (token.use, token.expires is not None) == ("read, submit, organize; demo only", True)
        answer = site.client().get("/api/v1/challenges", headers={"Authorization": f"Bearer {text}"})
        assert [row["slug"] for row in answer.json()] == ["demo"]
        made("--scope", "read")
        assert {row.scopes for row in Token.objects.all()} == {"submit organize", ""}
        for options in (["--challenge", "nothing"], ["--challenge", "demo", "--scope", "teams"]):
            assert isinstance(made(*options).exception, ParameterError)
        assert Token.objects.count() == 2
