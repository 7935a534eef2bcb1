"""Mail that users asked for, at addresses that they have confirmed."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.conf import settings
from django.core.mail import EmailMessage
from django.utils import timezone

from captious_server.models import Membership, Notice, Phase, Submission, User
from captious_server.notices import delivery
from captious_server.people.teams import baselines_team, create_team
from captious_server.scoring import queue as scoring_queue
from server.tests.support.site import PASSWORD, Site, delivered
from server.tests.support.small_challenge import queue, upload


def told() -> list[Any]:
    """The mail that is sent when a worker looks for events."""
    delivery.ended_submissions()
    delivery.phases_that_close(timezone.now())
    return delivered()


def submitted(site: Site, user: Any, **values: Any) -> Any:
    assert site.submit(user, json.loads(upload()), challenge="small", **values).status_code == 302
    return site.submissions()[-1]


class TestSubmissions:
    def test_submitter_gets_one_mail_when_scored(self, mailing: Site, ann: Any) -> None:
        submission = submitted(mailing, ann)
        assert told() == []
        mailing.work()
        (sent,) = told()
        assert sent.to == ["ann@example.org"]
        assert sent.subject == "[captious] Mine was scored"
        assert f"https://captions.example.org{submission.url}" in sent.body
        assert not re.search(r"\d\.\d", sent.body)  # no scores
        scoring_queue.queue_again(Submission.objects.all())
        mailing.work()
        assert told() == []

    def test_mail_of_a_failure_has_its_reason(self, mailing: Site, ann: Any) -> None:
        submitted(mailing, ann)
        Submission.objects.update(status="failed", reason="It took too long.", finished=timezone.now())
        (sent,) = told()
        assert "could not be scored.\nIt took too long." in sent.body

    @pytest.mark.parametrize(
        "values",
        [
            {"mail_ended": False},
            {"email": "other@example.org"},
            {"is_active": False},
        ],
    )
    def test_unconfirmed_inactive_and_silent_users_get_no_mail(
        self, mailing: Site, ann: Any, values: dict[str, Any]
    ) -> None:
        submitted(mailing, ann)
        mailing.work()
        User.objects.filter(pk=ann.pk).update(**values)
        assert told() == []

    def test_former_members_and_users_who_opted_out_get_no_mail(self, mailing: Site, ann: Any) -> None:
        create_team("Alpha", ann)
        submitted(mailing, ann, team="alpha")
        Membership.objects.filter(team__slug="alpha").delete()
        mailing.work()
        assert told() == []
        submitted(mailing, ann)
        mailing.work()
        delivery.ended_submissions()
        User.objects.update(email="other@example.org")
        assert told() == []

    def test_baselines_and_servers_without_mail_send_none(self, mailing: Site, ann: Any) -> None:
        queue(team=baselines_team(), is_baseline=True)
        mailing.work()
        assert told() == []
        submitted(mailing, ann)
        mailing.work()
        mailing.configure(email_url="")
        assert told() == []
        assert not Notice.objects.exists()
        assert not Submission.objects.filter(is_noticed=False).exists()

    def test_undelivered_mail_is_retried(self, mailing: Site, ann: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        submitted(mailing, ann)
        mailing.work()
        with monkeypatch.context() as patch:
            patch.setattr(EmailMessage, "send", Mock(side_effect=ConnectionRefusedError))
            assert told() == []
        notice = Notice.objects.get()
        assert (notice.sent, notice.tries) == (None, 1)
        assert told() == []  # not yet
        Notice.objects.update(not_before=timezone.now())
        assert len(told()) == 1
        assert told() == []


class TestPhases:
    def test_participants_get_one_mail_a_day_before_the_close(self, mailing: Site, ann: Any) -> None:
        submitted(mailing, ann)
        mailing.user("bob", email="b@example.org", confirmed=True, mail_closing=True)  # takes no part
        for hours, n in ((30, 0), (23, 1), (23, 0), (-1, 0)):
            closes = timezone.now().replace(minute=0, second=0, microsecond=0) + timedelta(hours=hours)
            Phase.objects.update(closes=closes)
            sent = told()
            assert len(sent) == n, hours
        Phase.objects.update(closes=timezone.now() + timedelta(hours=2))
        (sent,) = told()
        assert "Small: main closes on" in sent.subject


class TestAddresses:
    def test_unconfirmed_address_gets_no_notices(self, mailing: Site, ann: Any) -> None:
        submitted(mailing, ann)
        mailing.work()
        ann.emailaddress_set.update(verified=False)
        assert told() == []

    def test_changed_address_is_used_when_it_is_confirmed(self, mailing: Site, ann: Any) -> None:
        client = mailing.client(ann)
        change = {"action_add": "1", "email": "new@example.org"}
        assert client.post("/account/address", change).status_code == 302
        ann.refresh_from_db()
        assert ann.confirmed_email == "ann@example.org"
        client.post("/account/address", {"action_send": "1", "email": "new@example.org"})
        (sent,) = delivered()  # one in ten minutes
        assert sent.to == ["new@example.org"]
        link = re.search(r"https?://\S+?(/account/address/\S+)", sent.body)
        mailing.client().get(link[1])  # programs that follow links confirm nothing
        ann.refresh_from_db()
        assert ann.confirmed_email == "ann@example.org"
        mailing.client().post(link[1])
        ann.refresh_from_db()
        assert ann.confirmed_email == "new@example.org"
        assert "expired or is invalid" in mailing.client().get(link[1]).content.decode()
        submitted(mailing, ann)
        mailing.work()
        (sent,) = told()
        assert sent.to == ["new@example.org"]

    def test_server_without_mail_confirms_no_address(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(settings, "EMAIL_BACKEND", "django.core.mail.backends.dummy.EmailBackend")
        client = site.client()
        client.post("/sign-up", {"username": "eve", "email": "e@x.org", "password1": PASSWORD, "password2": PASSWORD})
        assert "This server sends no mail" in client.get("/account/address").content.decode()
        assert "notifications" not in client.get("/account/").content.decode()
