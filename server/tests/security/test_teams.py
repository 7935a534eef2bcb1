"""Teams: links that are revoked, members who are removed or leave, and names that become free."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.transaction import Atomic
from django.utils import timezone

from captious_server.models import Attempt, AuditEvent, Invitation, Submission, Team, User
from captious_server.pages import teams
from captious_server.people import access
from captious_server.people.teams import personal_team
from captious_server.submissions import intake
from server.tests.security.world import World, upload


def members(world: World) -> set[str]:
    return set(world.alpha.members.values_list("username", flat=True))


def join(world: World, *names: str) -> None:
    for name in names:
        assert world.as_user(name).post(f"/teams/join/{world.invitation}").status_code == 302


def remove(world: World, by: str, name: str) -> Any:
    return world.as_user(by).post(f"/teams/alpha/members/{world.users[name].pk}/remove")


class TestInvitations:
    def test_link_admits_several_people_until_it_is_revoked(self, sandbox: World) -> None:
        join(sandbox, "bob", "paul")
        text = sandbox.as_user("bob").get("/teams/alpha/").content.decode()
        address = f"/teams/alpha/invitations/{Invitation.objects.get().pk}/revoke"
        assert "several people" in text
        assert f'action="{address}"' in text
        assert sandbox.as_user("bob").post(address).status_code == 302
        assert sandbox.as_user("olga").post(f"/teams/join/{sandbox.invitation}").status_code == 404
        assert members(sandbox) == {"ann", "mia", "dora", "bob", "paul"}

    def test_expired_links_are_not_listed(self, sandbox: World) -> None:
        Invitation.objects.update(expires=timezone.now() - timedelta(seconds=1))
        assert "There are no open invitations." in sandbox.as_user("ann").get("/teams/alpha/").content.decode()


class TestRemoval:
    def test_only_captains_remove_members(self, sandbox: World) -> None:
        join(sandbox, "bob")
        assert remove(sandbox, "bob", "ann").status_code == 404
        assert "/remove" not in sandbox.as_user("bob").get("/teams/alpha/").content.decode()
        assert members(sandbox) == {"ann", "mia", "dora", "bob"}
        address = f"/teams/alpha/members/{sandbox.users['bob'].pk}/remove"
        assert address in sandbox.as_user("ann").get("/teams/alpha/").content.decode()

    @pytest.mark.parametrize("address", ["/teams/join/{invitation}", "/teams/alpha/invite"])
    def test_removed_member_cannot_rejoin_with_a_pending_request(
        self, sandbox: World, monkeypatch: pytest.MonkeyPatch, address: str
    ) -> None:
        """The removal happens as the request begins its first transaction about the team."""
        module = access if address.endswith("invite") else teams  # which counts the request

        def removed_before(atomic: Any) -> None:
            monkeypatch.setattr(Atomic, "__enter__", begin)
            assert remove(sandbox, "ann", "bob").status_code == 302
            begin(atomic)

        def counted(*_: Any, **__: Any) -> None:
            monkeypatch.setattr(module, "limit", limit)
            monkeypatch.setattr(Atomic, "__enter__", removed_before)

        join(sandbox, "bob")
        client, begin, limit = sandbox.as_user("bob"), Atomic.__enter__, module.limit
        monkeypatch.setattr(module, "limit", counted)
        assert client.post(address.format(invitation=sandbox.invitation)).status_code == 404
        assert members(sandbox) == {"ann", "mia", "dora"}
        assert not Invitation.objects.filter(team=sandbox.alpha).exists()

    @pytest.mark.parametrize("change", ["removed", "deactivated"])
    def test_removed_member_cannot_submit_with_a_pending_upload(
        self, sandbox: World, while_reading: Callable[..., None], change: str
    ) -> None:
        def leave() -> None:
            if change == "removed":
                assert remove(sandbox, "ann", "bob").status_code == 302
            else:
                User.objects.filter(username="bob").update(is_active=False)

        join(sandbox, "bob")
        while_reading(leave)
        before = Submission.objects.count()
        with pytest.raises(intake.RefusedError, match="no longer"):
            sandbox.submit("bob", "Mine", team=sandbox.alpha)
        assert Submission.objects.count() == before
        assert Attempt.objects.filter(user__username="bob", submission=None, is_complete=True).exists()

    def test_only_members_can_be_removed(self, sandbox: World) -> None:
        for pk in (sandbox.users["paul"].pk, 10**30):
            assert sandbox.as_user("ann").post(f"/teams/alpha/members/{pk}/remove").status_code == 404
            assert sandbox.as_user("ann").post(f"/teams/alpha/invitations/{10**30}/revoke").status_code == 404

    def test_captaincy_passes_to_another_member(self, sandbox: World) -> None:
        join(sandbox, "bob", "paul")
        sandbox.as_user("ann").post("/teams/alpha/leave")
        captains = sandbox.alpha.memberships.filter(is_captain=True)
        assert [each.user.username for each in captains] == ["dora"]


class TestLastMember:
    def test_name_of_an_abandoned_team_is_free_again(self, sandbox: World) -> None:
        sandbox.as_user("bob").post("/teams/beta/leave")
        assert not Team.objects.filter(slug="beta").exists()
        assert AuditEvent.objects.first().detail == "the team was deleted"
        response = sandbox.as_user("paul").post("/account/", {"action": "team", "team-name": "Beta"})
        assert response["Location"] == "/teams/beta/"

    def test_team_with_submissions_stays(self, sandbox: World) -> None:
        for name in ("mia", "dora"):
            remove(sandbox, "ann", name)
        sandbox.as_user("ann").post("/teams/alpha/leave")
        sandbox.alpha.refresh_from_db()
        assert members(sandbox) == set()
        assert sandbox.submissions["public"].team == sandbox.alpha

    def test_attempts_of_an_abandoned_team_still_count(self, sandbox: World) -> None:
        query = "phase=attempts&method=X&team=beta&filename=captions.zip"
        refused = sandbox.call("bob", "POST", f"/api/v1/challenges/open/submissions?{query}", upload(ids=(11,)))
        assert refused.status_code == 422
        sandbox.as_user("bob").post("/teams/beta/leave")
        assert Team.objects.filter(slug="beta").exists()
        assert Attempt.objects.filter(user=sandbox.users["bob"]).count() == 1


class TestNames:
    @pytest.mark.parametrize("names", [("张伟", "李娜", "北京队"), ("Ωμέγα", "Ψ"), ("Łódź 1", "Łódź 2")])
    def test_names_in_any_script_get_distinct_slugs(self, sandbox: World, names: tuple[str, ...]) -> None:
        """No other name takes the same slug."""
        for name in names:
            answer = sandbox.as_user("ann").post("/account/", {"action": "team", "team-name": name})
            assert answer.status_code == 302, name
            assert sandbox.as_user("ann").get(answer["Location"]).status_code == 200
            again = sandbox.as_user("bob").post("/account/", {"action": "team", "team-name": name.lower()})
            assert again.status_code == 422, name
        assert set(names) <= set(Team.objects.values_list("name", flat=True))

    def test_taken_numbered_slugs_do_not_block_a_name(self, sandbox: World) -> None:
        for number in range(1, 12):
            Team.objects.create(name="carl" if number == 1 else f"carl {number}", slug=f"carl-{number}"[: 7 + number])
        Team.objects.filter(name="carl").update(slug="carl")
        team = personal_team(sandbox.site.user("carl"))
        assert team.name.startswith("carl ")
        assert Team.objects.filter(name__startswith="carl").count() == 12
