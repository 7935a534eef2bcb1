"""Mail of organizers to teams, and the list of teams that take part."""

from __future__ import annotations

import json
from typing import Any

import pytest

from captious_server.models import AuditEvent, Membership, User
from captious_server.people.sign_in import confirm_address
from captious_server.people.teams import create_team
from server.tests.notices.test_mail import submitted, told
from server.tests.support.site import Site

TEAMS = "/challenges/small/teams"


@pytest.fixture
def people(mailing: Site) -> dict[str, Any]:
    """Ann and Bob in the team Alpha, whose captain is Ann; Carl alone; and Dora, who does not take part. Bob's address
    is not confirmed.
    """
    made = {}
    for name in ("ann", "bob", "carl", "dora"):
        address = f"{name}@example.org"
        made[name] = mailing.user(name, email=address, confirmed=name != "bob")
    alpha = create_team("Alpha", made["ann"])
    Membership.objects.create(team=alpha, user=made["bob"])
    submitted(mailing, made["ann"], team="alpha")
    submitted(mailing, made["carl"])
    return {**made, "olga": User.objects.get(username="olga")}


def write(site: Site, user: Any, **values: Any) -> Any:
    post = {"action": "mail", "subject": "New images", "text": "There are\nmore images.", **values}
    return site.client(user).post(TEAMS, post)


def receivers() -> list[str]:
    return sorted(sent.to[0] for sent in told())


def test_organizers_always_see_the_teams(mailing: Site, people: dict[str, Any]) -> None:
    page = mailing.client(people["olga"]).get(TEAMS).content.decode()
    rows = page.partition("<tbody>")[2].partition("</tbody>")[0].split("<tr>")[1:]
    assert ["Alpha" in rows[0], "ann (captain), bob" in rows[0], "carl" in rows[1]] == [True] * 3
    assert len(rows) == 2
    assert TEAMS in mailing.client(people["olga"]).get("/challenges/small/manage").content.decode()
    for user in (people["ann"], people["dora"]):
        assert mailing.client(user).get(TEAMS).status_code == 404
    assert mailing.client().get(TEAMS).status_code == 302  # to the page for signing in


def test_mail_goes_to_confirmed_members_of_all_teams(mailing: Site, people: dict[str, Any]) -> None:
    assert write(mailing, people["olga"]).status_code == 302
    sent = {mail.to[0]: mail for mail in told()}
    assert sorted(sent) == ["ann@example.org", "carl@example.org"]
    mail = sent["ann@example.org"]
    assert mail.subject == "[captious] Small: New images"
    assert mail.body.startswith("There are\nmore images.\n\nhttps://captions.example.org/challenges/small/")
    assert "because your team takes part in Small." in mail.body
    [event] = AuditEvent.objects.filter(action="mail")
    assert (event.actor, event.target) == ("olga", "all teams")
    assert event.detail == "to 2 members: New images\n\nThere are\nmore images."
    log = mailing.client(people["olga"]).get("/challenges/small/manage").content.decode()
    assert "to 2 members: New images" in log


def test_mail_can_go_to_one_team_or_to_captains(mailing: Site, people: dict[str, Any]) -> None:
    assert confirm_address(people["bob"])
    write(mailing, people["olga"], team="alpha")
    assert receivers() == ["ann@example.org", "bob@example.org"]
    write(mailing, people["olga"], captains="on")
    assert receivers() == ["ann@example.org", "carl@example.org"]


def test_only_organizers_write_and_only_to_teams_that_take_part(mailing: Site, people: dict[str, Any]) -> None:
    for user in (people["ann"], people["dora"]):
        assert write(mailing, user).status_code == 404
    assert write(mailing, people["olga"], team="dora").status_code == 422
    assert write(mailing, people["olga"], subject="").status_code == 422
    assert receivers() == []


def test_subject_cannot_add_headers(mailing: Site, people: dict[str, Any]) -> None:
    write(mailing, people["olga"], team="alpha", subject="Hello\r\nBcc: dora@example.org")
    [mail] = told()
    assert mail.subject == "[captious] Small: Hello Bcc: dora@example.org"
    assert "bcc" not in json.dumps(dict(mail.extra_headers)).lower()
