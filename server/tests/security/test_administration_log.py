"""What is done on the administration pages is in the audit log."""

from __future__ import annotations

import re

from captious_server.models import AuditEvent
from captious_server.people.teams import create_team
from server.tests.security.world import World


def events() -> list[tuple[str, str, str, str]]:
    """Who did what to what, and details; the latest first."""
    return list(AuditEvent.objects.values_list("actor", "action", "target", "detail"))


def inline(world: World, **values: str) -> dict[str, str]:
    """The form of team Beta with its member."""
    [member] = world.beta.memberships.all()
    return {
        "name": "Beta",
        "slug": "beta",
        "memberships-TOTAL_FORMS": "1",
        "memberships-INITIAL_FORMS": "1",
        "memberships-0-id": str(member.pk),
        "memberships-0-team": str(world.beta.pk),
        "memberships-0-user": str(member.user_id),
        **values,
    }


def test_changes_to_users_are_logged(sandbox: World) -> None:
    root = sandbox.as_user("root")
    form = {"username": "eve", "password1": "correct-horse-77", "password2": "correct-horse-77"}
    assert root.post("/admin/captious/user/add/", {**form, "usable_password": "true"}).status_code == 302
    assert events()[0] == ("root", "add user", "eve", "Added.")
    assert "correct-horse" not in str(events())
    gone = sandbox.users["paul"]
    assert (
        root.post(f"/admin/captious/user/{gone.pk}/password/", {**form, "usable_password": "true"}).status_code == 302
    )
    assert events()[0] == ("root", "change user", "paul", "Changed password.")


def test_changes_to_teams_are_logged(sandbox: World) -> None:
    root = sandbox.as_user("root")
    address = f"/admin/captious/team/{sandbox.beta.pk}"
    assert root.post(f"{address}/change/", inline(sandbox, name="Gamma")).status_code == 302
    assert events()[0][:3] == ("root", "change team", "Gamma")
    assert events()[0][3].startswith("Changed Name")
    assert root.post(f"{address}/delete/", {"post": "yes"}).status_code == 302
    assert events()[0] == ("root", "delete team", "Gamma", "")


def test_bulk_deletion_is_logged(sandbox: World) -> None:
    teams = [create_team(name, sandbox.users["bob"]) for name in ("One", "Two")]
    form = {"action": "delete_selected", "_selected_action": [str(team.pk) for team in teams], "post": "yes"}
    assert sandbox.as_user("root").post("/admin/captious/team/", form).status_code == 302
    assert {event[1:3] for event in events()[:2]} == {("delete team", "One"), ("delete team", "Two")}


def test_administration_pages_use_the_words_of_the_site(world: World) -> None:
    """Dates are in ISO format, users sign out, and lists are named after their purpose."""
    client = world.as_user("root")
    page = client.get("/admin/").content.decode()
    assert "Sign out" in page
    assert "Log out" not in page
    assert "Email addresses" not in page
    users = client.get("/admin/captious/user/").content.decode()
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", users)
    assert not re.search(r"[ap]\.m\.|[JFMASOND][a-z]+\. \d", users)
