"""Teams: links that are revoked, members who are removed or leave, and names that become free."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.security.world import World, upload


def members(world: World) -> set[str]:
    return set(world.alpha.members.values_list("username", flat=True))


def join(world: World, *names: str) -> None:
    for name in names:
        assert world.as_user(name).post(f"/teams/join/{world.invitation}").status_code == 302


def remove(world: World, by: str, name: str) -> Any:
    return world.as_user(by).post(f"/teams/alpha/members/{world.users[name].pk}/remove")


class TestInvitations:
    def test_several_people_use_a_link_until_a_member_revokes_it(self, undone: World) -> None:
        from captious.server.models import Invitation

        join(undone, "bob", "paul")
        text = undone.as_user("bob").get("/teams/alpha/").content.decode()
        address = f"/teams/alpha/invitations/{Invitation.objects.get().pk}/revoke"
        assert "several people" in text
        assert f'action="{address}"' in text
        assert undone.as_user("bob").post(address).status_code == 302
        assert undone.as_user("olga").post(f"/teams/join/{undone.invitation}").status_code == 404
        assert members(undone) == {"ann", "mia", "dora", "bob", "paul"}

    def test_expired_links_are_not_listed(self, undone: World) -> None:
        from datetime import timedelta

        from django.utils import timezone

        from captious.server.models import Invitation

        Invitation.objects.update(expires=timezone.now() - timedelta(seconds=1))
        assert "There are no open invitations." in undone.as_user("ann").get("/teams/alpha/").content.decode()


class TestRemoval:
    def test_by_captains_only(self, undone: World) -> None:
        join(undone, "bob")
        assert remove(undone, "bob", "ann").status_code == 404
        assert "/remove" not in undone.as_user("bob").get("/teams/alpha/").content.decode()
        assert members(undone) == {"ann", "mia", "dora", "bob"}
        address = f"/teams/alpha/members/{undone.users['bob'].pk}/remove"
        assert address in undone.as_user("ann").get("/teams/alpha/").content.decode()

    def test_who_was_removed_cannot_come_back(self, undone: World) -> None:
        join(undone, "bob")
        assert remove(undone, "ann", "bob").status_code == 302
        assert members(undone) == {"ann", "mia", "dora"}
        assert undone.as_user("bob").get("/teams/alpha/").status_code == 404
        assert undone.as_user("bob").post(f"/teams/join/{undone.invitation}").status_code == 404

    @pytest.mark.parametrize("address", ["/teams/join/{invitation}", "/teams/alpha/invite"])
    def test_nor_with_a_request_that_is_under_way(
        self, undone: World, monkeypatch: pytest.MonkeyPatch, address: str
    ) -> None:
        """The member is removed when the request begins the first transaction in which it may write about the team."""
        from django.db.transaction import Atomic

        from captious.server.actions import team_changes
        from captious.server.models import Invitation
        from captious.server.pages import teams

        modules = (team_changes, teams)  # the view of invitation links counts requests itself

        def removed_before(atomic: Any) -> None:
            monkeypatch.setattr(Atomic, "__enter__", begin)
            assert remove(undone, "ann", "bob").status_code == 302
            begin(atomic)

        def counted(*_: Any, **__: Any) -> None:
            for module in modules:
                monkeypatch.setattr(module, "limit", limit)
            monkeypatch.setattr(Atomic, "__enter__", removed_before)

        join(undone, "bob")
        client, begin, limit = undone.as_user("bob"), Atomic.__enter__, team_changes.limit
        if address.endswith("invite"):
            counted()
        else:
            monkeypatch.setattr(teams, "limit", counted)
        assert client.post(address.format(invitation=undone.invitation)).status_code == 404
        assert members(undone) == {"ann", "mia", "dora"}
        assert not Invitation.objects.filter(team=undone.alpha).exists()

    @pytest.mark.parametrize("change", ["removed", "deactivated"])
    def test_nor_with_an_upload_that_is_under_way(
        self, undone: World, monkeypatch: pytest.MonkeyPatch, change: str
    ) -> None:
        from captious.server.models import Attempt, Submission, User
        from captious.server.submissions import intake

        def read(*given: Any) -> Any:
            if change == "removed":
                assert remove(undone, "ann", "bob").status_code == 302
            else:
                User.objects.filter(username="bob").update(is_active=False)
            return read_upload(*given)

        join(undone, "bob")
        read_upload = intake.read_upload
        monkeypatch.setattr(intake, "read_upload", read)
        before = Submission.objects.count()
        with pytest.raises(intake.Refused, match="any more"):
            undone.submit("bob", "Mine", team=undone.alpha)
        assert Submission.objects.count() == before
        assert Attempt.objects.filter(user__username="bob", submission=None, is_complete=True).exists()

    def test_nobody_who_is_no_member(self, undone: World) -> None:
        for pk in (undone.users["paul"].pk, 10**30):
            assert undone.as_user("ann").post(f"/teams/alpha/members/{pk}/remove").status_code == 404
            assert undone.as_user("ann").post(f"/teams/alpha/invitations/{10**30}/revoke").status_code == 404

    def test_captains_do_not_remove_themselves(self, undone: World) -> None:
        assert remove(undone, "ann", "ann").status_code == 302
        assert "ann" in members(undone)

    def test_another_captain_follows(self, undone: World) -> None:
        join(undone, "bob", "paul")
        undone.as_user("ann").post("/teams/alpha/leave")
        captains = undone.alpha.memberships.filter(is_captain=True)
        assert [each.user.username for each in captains] == ["dora"]


class TestTheLastMember:
    def test_the_name_is_free_again(self, undone: World) -> None:
        from captious.server.models import AuditEvent, Team

        undone.as_user("bob").post("/teams/beta/leave")
        assert not Team.objects.filter(slug="beta").exists()
        assert AuditEvent.objects.first().detail == "the team was deleted"
        response = undone.as_user("paul").post("/account/", {"action": "team", "team-name": "Beta"})
        assert response["Location"] == "/teams/beta/"

    def test_a_team_with_submissions_stays(self, undone: World) -> None:
        for name in ("mia", "dora"):
            remove(undone, "ann", name)
        undone.as_user("ann").post("/teams/alpha/leave")
        undone.alpha.refresh_from_db()
        assert members(undone) == set()
        assert undone.submissions["public"].team == undone.alpha

    def test_attempts_are_not_forgotten(self, undone: World) -> None:
        from captious.server.models import Attempt, Team

        query = "phase=attempts&method=X&team=beta&filename=captions.zip"
        refused = undone.call("bob", "POST", f"/api/v1/challenges/open/submissions?{query}", upload(ids=(11,)))
        assert refused.status_code == 422
        undone.as_user("bob").post("/teams/beta/leave")
        assert Team.objects.filter(slug="beta").exists()
        assert Attempt.objects.filter(user=undone.users["bob"]).count() == 1


class TestNames:
    @pytest.mark.parametrize("names", [("张伟", "李娜", "北京队"), ("Ωμέγα", "Ψ"), ("Łódź 1", "Łódź 2")])
    def test_of_all_letters(self, undone: World, names: tuple[str, ...]) -> None:
        """Each has a name and an address of its own, which no other name takes."""
        from captious.server.models import Team

        for name in names:
            answer = undone.as_user("ann").post("/account/", {"action": "team", "team-name": name})
            assert answer.status_code == 302, name
            assert undone.as_user("ann").get(answer["Location"]).status_code == 200
            again = undone.as_user("bob").post("/account/", {"action": "team", "team-name": name.lower()})
            assert again.status_code == 422, name
        assert set(names) <= set(Team.objects.values_list("name", flat=True))

    def test_taken_numbers_do_not_keep_anybody_out(self, undone: World) -> None:
        from captious.server.models import Team
        from captious.server.people.teams import personal_team

        for number in range(1, 12):
            Team.objects.create(name="carl" if number == 1 else f"carl {number}", slug=f"carl-{number}"[: 7 + number])
        Team.objects.filter(name="carl").update(slug="carl")
        team = personal_team(undone.site.user("carl"))
        assert team.name.startswith("carl ")
        assert Team.objects.filter(name__startswith="carl").count() == 12
