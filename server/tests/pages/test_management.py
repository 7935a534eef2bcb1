"""The organizers' page: what is asked before it is done, what is going on, and the drafts that were begun."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from captious_server.models import AuditEvent, Challenge, Draft, News, Participant, Phase, Submission, Webhook
from captious_server.people.teams import personal_team
from server.tests.support.site import Site
from server.tests.support.small_challenge import queue

ADDRESS = "/challenges/small/manage"


def done(client: Any, **values: Any) -> str:
    """What the page says when something was done."""
    text: str = client.post(ADDRESS, {**values, "sure": "1"}, follow=True).content.decode()
    return text.partition('class="messages"')[2].partition("</div>")[0]


class TestConfirmation:
    @pytest.mark.parametrize(
        ("action", "question", "said"),
        [
            ("hide", "Hide “Mine” of Testers in main?", "“Mine” of Testers in main is hidden."),
            ("rescore", "Score “Mine” of Testers in main again?", "“Mine” of Testers in main will be scored again."),
        ],
    )
    def test_action_on_a_submission_asks_for_confirmation(
        self, site: Site, root_client: Any, action: str, question: str, said: str
    ) -> None:
        """The first click asks; the second acts and reports it."""
        [row] = queue(method="Mine")
        site.work()
        row.refresh_from_db()
        before, events = (row.is_hidden, row.status), AuditEvent.objects.count()
        asked = root_client.post(f"{ADDRESS}?page=1", {"action": action, "submission": row.pk})
        page = asked.content.decode()
        assert (asked.status_code, question in page, "?page=1" in page) == (200, True, True)
        assert f'name="submission" value="{row.pk}"' in page
        row.refresh_from_db()
        assert ((row.is_hidden, row.status), AuditEvent.objects.count()) == (before, events)
        assert said in done(root_client, action=action, submission=row.pk)
        row.refresh_from_db()
        assert (row.is_hidden, row.status) != before

    def test_confirmation_does_not_name_an_anonymous_team(self, site: Site, root_client: Any) -> None:
        [row] = queue(method="Mine", anonymous=True)
        page = root_client.post(ADDRESS, {"action": "rescore", "submission": row.pk}).content.decode()
        assert "“Mine” of Anonymous" in page
        assert "Testers" not in page.partition("<main")[2]

    def test_other_actions_ask_for_confirmation(self, site: Site, root_client: Any) -> None:
        challenge = Challenge.objects.get()
        hook = Webhook.objects.create(challenge=challenge, url="https://x.example/whsec", secret="s")
        news = News.objects.create(challenge=challenge, title="Late")
        Participant.objects.create(challenge=challenge, user=site.user("bob"))
        for values in (
            {"action": "remove_webhook", "webhook": hook.pk},
            {"action": "remove_news", "news": news.pk},
            {"action": "remove_participant", "name": "bob"},
            {"action": "board", "phase": "main", "board": "hidden"},
        ):
            page = root_client.post(ADDRESS, values).content.decode()
            assert 'name="sure" value="1"' in page, values
            assert "whsec" not in page
        counts = [each.objects.count() for each in (Webhook, News, Participant)]
        assert (counts, Phase.objects.get().board) == ([1, 1, 1], "public")
        assert "https://x.example/… was removed." in done(root_client, action="remove_webhook", webhook=hook.pk)
        assert "“Late” was removed." in done(root_client, action="remove_news", news=news.pk)
        assert "bob is no longer a participant." in done(root_client, action="remove_participant", name="bob")

    def test_showing_a_submission_needs_no_confirmation(self, site: Site, root_client: Any) -> None:
        [row] = queue(method="Mine", is_hidden=True)
        site.work()
        assert root_client.post(ADDRESS, {"action": "show", "submission": row.pk}).status_code == 302

    @pytest.mark.parametrize("submission", ["", "x", "999999", "9" * 40])
    def test_action_on_a_missing_submission_is_not_found(self, site: Site, root_client: Any, submission: str) -> None:
        for sure in ("", "1"):
            answer = root_client.post(ADDRESS, {"action": "hide", "submission": submission, "sure": sure})
            assert answer.status_code == 404


class TestSubmissions:
    def test_summary_counts_submissions(self, site: Site, root_client: Any) -> None:
        rows = queue(4, method="Mine")
        Submission.objects.filter(pk=rows[0].pk).update(created=timezone.now() - timedelta(days=2))
        Submission.objects.filter(pk=rows[1].pk).update(status="failed")
        Submission.objects.filter(pk=rows[2].pk).update(status="deleted")
        summary = root_client.get(ADDRESS).context["summary"]
        assert [summary[name] for name in ("today", "total", "waiting", "failed")] == [3, 3, 2, 1]
        assert [str(phase) for phase in summary["open"]] == ["main"]
        Phase.objects.update(opens=timezone.now() + timedelta(days=1))
        summary = root_client.get(ADDRESS).context["summary"]
        assert (summary["open"], str(summary["upcoming"])) == ([], "main")

    @pytest.mark.parametrize(
        ("query", "methods"),
        [
            ("", ["b", "a"]),
            ("team=BO", ["b"]),
            ("team=nobody", []),
            ("status=failed", ["a"]),
            ("phase=main&status=queued", ["b"]),
            ("phase=nothing", ["b", "a"]),
            ("status=nonsense", ["b", "a"]),
            ("team=%00", ["b", "a"]),
        ],
    )
    def test_list_is_filtered_by_status_and_team(
        self, site: Site, root_client: Any, query: str, methods: list[str]
    ) -> None:
        (first,), (second,) = queue(method="a"), queue(method="b")
        Submission.objects.filter(pk=first.pk).update(status="failed")
        Submission.objects.filter(pk=second.pk).update(team=personal_team(site.user("bob")))
        page = root_client.get(f"{ADDRESS}?{query}")
        assert [row.method for row in page.context["page"]] == methods
        assert ("No matching submissions." in page.content.decode()) is (not methods)

    def test_action_keeps_the_filter(self, site: Site, root_client: Any) -> None:
        [row] = queue(method="a", is_hidden=True)
        site.work()
        address = f"{ADDRESS}?status=done"
        assert root_client.post(address, {"action": "show", "submission": row.pk})["Location"] == address


class TestDrafts:
    def test_drafts_are_listed_and_discarded_after_confirmation(self, site: Site, root_client: Any) -> None:
        for address in ("/", ADDRESS):
            assert "Discard" not in root_client.get(address).content.decode()
        root_client.post("/challenges/small/edit")
        for address in ("/", ADDRESS):
            page = root_client.get(address).content.decode()
            assert 'href="/drafts/small/"' in page
            assert 'action="/drafts/small/discard"' in page
        assert "/drafts/small/" not in site.client(site.user("bob")).get("/").content.decode()
        assert "Discard the draft of" in root_client.post("/drafts/small/discard").content.decode()
        assert Draft.objects.exists()
        root_client.post("/drafts/small/discard", {"sure": "1"})
        assert not Draft.objects.exists()


class TestPhases:
    @pytest.mark.parametrize(
        ("values", "said", "unsaid"),
        [
            ({}, ["public<"], ["organizers only", "when it has closed", "one entry"]),
            ({"scores_shown": "never"}, ["for organizers only<", "not shown to teams"], ["public<"]),
            ({"scores_shown": "at-end"}, ["public when it has closed<", "shown when it has closed<br"], ["public<"]),
            ({"board": "hidden", "scores_shown": "at-end"}, ["hidden<", "shown when it has closed<br"], ["public<"]),
            ({"entries": "one"}, ["public<", "one entry of each team"], []),
        ],
    )
    def test_phase_table_says_who_sees_scores(
        self, root_client: Any, values: dict[str, str], said: list[str], unsaid: list[str]
    ) -> None:
        Phase.objects.update(**values)
        row = root_client.get(ADDRESS).content.decode().partition('id="phases"')[2].partition("</section>")[0]
        assert [text for text in said if text not in row] == []
        assert [text for text in unsaid if text in row] == []


class TestErrors:
    @pytest.mark.parametrize(
        ("values", "field", "said"),
        [
            ({"action": "ban", "team": "Nobody", "reason": "x"}, "id_team", "There is no such team."),
            ({"action": "participants", "names": "nobody"}, "id_names", "Unknown users: nobody."),
            ({"action": "news", "title": ""}, "id_title", "This field is required."),
            ({"action": "webhook", "url": ""}, "id_url", "This field is required."),
        ],
    )
    def test_error_summary_links_to_the_field(
        self, root_client: Any, values: dict[str, str], field: str, said: str
    ) -> None:
        answer = root_client.post(ADDRESS, values)
        page = answer.content.decode()
        assert answer.status_code == 422
        top = page.partition("<main")[2].partition('class="masthead"')[0]
        assert f'href="#{field}"' in top
        assert said in top
        assert page.count(f'id="{field}"') == 1
        assert 'class="problems"' not in root_client.get(ADDRESS).content.decode()

    @pytest.mark.parametrize("kind", ["team", "token"])
    def test_account_error_summary_links_to_the_field(self, root_client: Any, kind: str) -> None:
        page = root_client.post("/account/", {"action": kind, f"{kind}-name": ""}).content.decode()
        top = page.partition("<main")[2].partition("<h1")[0]
        for field in re.findall(r'href="#([^"]+)"', top):
            assert page.count(f'id="{field}"') == 1, field
        assert f'href="#id_{kind}-name"' in top


def test_submissions_are_listed_with_the_ranking_output(site: Site, root_client: Any) -> None:
    """Scores that are withheld elsewhere are included. More rows need no more queries."""
    olga = site.user("olga")
    Challenge.objects.get().organizers.add(olga)
    organizer = site.client(olga)
    Phase.objects.update(scores_shown="never")
    counts = []
    for n in (1, 4):
        queue(n, method="Mine")
        site.work()
        with CaptureQueriesContext(
            connection,
        ) as queries:
            page = organizer.get(ADDRESS).content.decode()
        counts.append(len(queries))
        rows = [row for row in page.split("<tr>") if ">Mine</a>" in row]
        scores = [row.outputs("c2")["bleu-4"]["score"] for row in site.submissions()]
        shown = [
            re.findall(r'<span class="value">(.*?)</span><span class="beneath">bleu-4</span>', row) for row in rows
        ]
        assert sorted(float(score) for [score] in shown) == sorted(round(score, 4) for score in scores)
    assert counts[0] == counts[1]
