"""Teams that need the approval of the organizers before they submit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from captious_server.models import AuditEvent, Challenge, Membership, Team, TeamApproval, User
from captious_server.people import teams
from captious_server.people.teams import create_team
from server.tests.support.site import Site
from server.tests.support.small_challenge import upload, write_folder

TEAMS = "/challenges/small/teams"
CALLS = "/api/v1/challenges/small/teams"


@pytest.fixture
def small_site(site: Site, tmp_path: Path) -> Site:
    """A challenge of Olga, whose teams need approval."""
    folder = write_folder(tmp_path / "small")
    text = (folder / "challenge.toml").read_text()
    (folder / "challenge.toml").write_text(f'team_approval = true\norganizers = ["olga"]\n{text}')
    site.user("olga")
    site.load(folder)
    return site


def named(name: str) -> Any:
    return User.objects.get(username=name)


def submit(site: Site, name: str = "ann", **values: Any) -> Any:
    return site.submit(named(name), json.loads(upload()), challenge="small", **values)


def decide(site: Site, action: str, team: str = "ann", by: str = "olga", **values: str) -> Any:
    return site.client(named(by)).post(TEAMS, {"action": action, "team": team, **values})


def test_approved_team_can_submit(small_site: Site) -> None:
    ann = small_site.user("ann")
    refused = submit(small_site)
    assert refused.status_code == 422
    assert "Request approval for ann: /challenges/small/teams" in refused.content.decode()
    assert b"Request approval or see the decision" in small_site.client(ann).get("/challenges/small/submit").content
    assert (
        small_site.client(ann).post(TEAMS, {"action": "ask", "team": "ann", "message": "Lab\u202e of X"}).status_code
        == 302
    )
    refused = submit(small_site)
    assert "is waiting for the organizers" in refused.content.decode()
    page = small_site.client(named("olga")).get(TEAMS).content.decode()
    assert "Lab of X" in page
    assert "1 team waiting" in small_site.client(named("olga")).get("/challenges/small/manage").content.decode()
    assert decide(small_site, "approve").status_code == 302
    assert submit(small_site).status_code == 302
    assert "Request approval" not in small_site.client(ann).get(TEAMS).content.decode()
    assert [*AuditEvent.objects.filter(action__contains="approv").order_by("pk").values_list("actor", "action")] == [
        ("ann", "ask for approval"),
        ("olga", "approve team"),
    ]


def test_organizers_see_thousands_of_teams(small_site: Site) -> None:
    challenge, now, n = Challenge.objects.get(), timezone.now(), 1_200
    users = User.objects.bulk_create(User(username=f"user-{i}") for i in range(n))
    crews = Team.objects.bulk_create(Team(name=f"Crew {i}", slug=f"crew-{i}") for i in range(n))
    Membership.objects.bulk_create(Membership(team=t, user=u) for t, u in zip(crews, users, strict=True))
    TeamApproval.objects.bulk_create(TeamApproval(challenge=challenge, team=t, asked=now) for t in crews)
    page = small_site.client(named("olga")).get(TEAMS)
    assert page.status_code == 200
    assert "Crew 1199" in page.content.decode()


def test_form_shows_the_approval_of_the_selected_team(small_site: Site) -> None:
    ann = small_site.user("ann")
    create_team("Alpha", ann), create_team("Beta", ann)
    challenge = Challenge.objects.get()
    teams.decide(teams.ask(challenge, Team.objects.get(slug="alpha")), approved=True)
    for team, said in (("alpha", ""), ("beta", "Beta has not been approved."), ("ann", "ann has not been approved.")):
        page = small_site.client(ann).get(f"/challenges/small/submit?team={team}").content.decode()
        assert ("has not been approved" in page) is bool(said), team
        assert said in page


def test_refusal_has_a_reason_and_can_be_reversed(small_site: Site) -> None:
    ann = small_site.user("ann")
    small_site.client(ann).post(TEAMS, {"action": "ask", "team": "ann"})
    decide(small_site, "refuse")
    assert (
        "is waiting for the organizers" in submit(small_site).content.decode()
    )  # without a reason, nothing is decided
    decide(small_site, "refuse", reason="Who are you?")
    assert "did not approve ann: Who are you?" in submit(small_site).content.decode()
    assert "Who are you?" in small_site.client(ann).get(TEAMS).content.decode()
    small_site.client(ann).post(TEAMS, {"action": "ask", "team": "ann", "message": "Ann of X"})
    assert "is waiting for the organizers" in submit(small_site).content.decode()
    decide(small_site, "approve")
    small_site.client(ann).post(TEAMS, {"action": "ask", "team": "ann"})
    assert submit(small_site).status_code == 302  # who is approved stays so
    decide(small_site, "refuse", reason="Two accounts.")
    assert "Two accounts." in submit(small_site).content.decode()


def test_outsiders_cannot_request_or_decide_approval(small_site: Site) -> None:
    for name in ("ann", "bob"):
        small_site.user(name)
    assert small_site.client(named("bob")).post(TEAMS, {"action": "ask", "team": "ann"}).status_code == 404
    small_site.client(named("ann")).post(TEAMS, {"action": "ask", "team": "ann", "message": "Secret"})
    assert decide(small_site, "approve", by="ann").status_code == 404
    assert decide(small_site, "approve", team="bob").status_code == 404  # who has not asked
    assert "Secret" not in small_site.client(named("bob")).get(TEAMS).content.decode()
    assert TeamApproval.objects.get().status == "asked"
    assert submit(small_site, "bob").status_code == 422


def test_check_mentions_missing_approval_and_baselines_need_none(small_site: Site) -> None:
    small_site.user("ann")
    assert "Request approval for ann" in submit(small_site, action="check").content.decode()


def test_challenge_without_approval_has_no_approval_page(site: Site, tmp_path: Path) -> None:
    site.load(write_folder(tmp_path / "small"))
    ann = site.user("ann")
    assert site.client(ann).get(TEAMS).status_code == 404
    assert submit(site).status_code == 302


def test_approval_withdrawn_during_an_upload_refuses_it(small_site: Site, while_reading: Any) -> None:
    ann = small_site.user("ann")
    small_site.client(ann).post(TEAMS, {"action": "ask", "team": "ann"})
    decide(small_site, "approve")
    while_reading(lambda: TeamApproval.objects.update(status="refused", reason="Too late."))
    assert "Too late." in submit(small_site).content.decode()
    assert small_site.submissions() == []


def test_api_requests_and_decides_approval(small_site: Site) -> None:
    ann, bob = small_site.user("ann"), small_site.user("bob")
    tokens = {user.username: small_site.token(user) for user in (ann, bob, named("olga"))}

    def call(name: str, method: str, address: str) -> Any:
        return small_site.client().generic(method.upper(), address, headers={"Authorization": f"Bearer {tokens[name]}"})

    assert small_site.client().get("/api/v1/challenges/small").json()["team_approval"] is True
    asked = call("ann", "post", f"{CALLS}?message=Lab")
    assert (asked.status_code, asked.json()["status"], asked.json()["message"]) == (200, "asked", "Lab")
    assert [row["team"] for row in call("olga", "get", CALLS).json()] == ["ann"]
    assert call("bob", "get", CALLS).json() == []
    assert call("bob", "post", f"{CALLS}/ann?approved=true").status_code == 404
    assert call("olga", "post", f"{CALLS}/ann").status_code == 400
    assert (
        call("olga", "post", f"{CALLS}/ann?approved=false").json()["error"] == "Give a reason; it is shown to the team."
    )
    assert call("olga", "post", f"{CALLS}/ann?approved=false&reason=No").json()["reason"] == "No"
    assert call("olga", "post", f"{CALLS}/ann?approved=true").json()["status"] == "approved"
    assert submit(small_site).status_code == 302
