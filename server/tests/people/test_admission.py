"""Which teams a challenge admits: their size, when they closed, bans; and who is their captain."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress, EmailConfirmationHMAC

from captious_server.challenges.problems import ChallengeError
from captious_server.models import Membership, Submission, TeamBan, User
from captious_server.people.teams import create_team
from server.tests.support.site import Site, parsed
from server.tests.support.small_challenge import upload, write_folder


@pytest.fixture
def team(site: Site, tmp_path: Path) -> Any:
    """The team Alpha of Ann, its captain, and Mia."""
    site.load(write_folder(tmp_path / "small"))
    made = create_team("Alpha", site.user("ann"))
    Membership.objects.create(team=made, user=site.user("mia"))
    return made


def submit(site: Site, name: str = "ann", **values: Any) -> Any:
    user = User.objects.get(username=name)
    return site.submit(user, json.loads(upload()), challenge="small", **{"team": "alpha", **values})


def limited(site: Site, line: str) -> None:
    """The challenge, loaded again with one more line."""
    folder = write_folder(site.data.parent / "small-again")
    (folder / "challenge.toml").write_text(f"{line}\n{(folder / 'challenge.toml').read_text()}")
    site.load(folder)


def manage(site: Site, **values: str) -> Any:
    root, _ = User.objects.get_or_create(username="root", is_superuser=True)
    return site.client(root).post("/challenges/small/manage", values)


class TestTeamLimits:
    def test_team_that_is_too_large_is_refused(self, site: Site, team: Any) -> None:
        limited(site, "team_size = 1")
        refused = submit(site)
        assert refused.status_code == 422
        assert "Teams of this challenge may have 1 member; Alpha has 2." in refused.content.decode()
        limited(site, "team_size = 2")
        assert submit(site).status_code == 302

    def test_member_who_joined_after_teams_closed_is_refused(self, site: Site, team: Any) -> None:
        limited(site, "teams_close = 2020-01-01T00:00:00Z")
        Membership.objects.filter(user__username="ann").update(joined=datetime(2019, 1, 1, tzinfo=UTC))
        assert submit(site, "ann").status_code == 302
        refused = submit(site, "mia")
        assert refused.status_code == 422
        assert "before you joined Alpha" in refused.content.decode()


class TestBans:
    def test_ban_asks_for_confirmation(self, site: Site, team: Any) -> None:
        submit(site, method="scored")
        site.work()
        question = manage(site, action="ban", team="Alpha", reason="Two accounts.").content.decode()
        assert "Ban Alpha?" in question
        assert 'value="Two accounts."' in question
        [row] = parsed(site.client().get("/challenges/small/leaderboard.json"))
        assert row["method"] == "scored"

    def test_ban_hides_and_cancels_submissions(self, site: Site, team: Any) -> None:
        submit(site, method="scored")
        site.work()
        submit(site, method="waiting")
        submit(site, method="probe")
        Submission.objects.filter(method="probe").update(status="held")
        assert manage(site, action="ban", sure="1", team="Alpha", reason="Two accounts.").status_code == 302
        assert parsed(site.client().get("/challenges/small/leaderboard.json")) == []
        assert [row.status for row in site.submissions()] == ["done", "canceled", "canceled"]
        refused = submit(site)
        assert refused.status_code == 422
        assert "Alpha and its members may not submit to this challenge: Two accounts." in refused.content.decode()
        assert submit(site, team="ann").status_code == 422
        assert manage(site, action="lift", team="alpha").status_code == 302
        assert submit(site).status_code == 302
        assert [row["method"] for row in parsed(site.client().get("/challenges/small/leaderboard.json"))] == []

    def test_submission_of_banned_member_for_a_new_team_is_refused(self, site: Site, team: Any) -> None:
        manage(site, action="ban", sure="1", team="Alpha", reason="Two accounts.")
        ann, bob = User.objects.get(username="ann"), site.user("bob")
        create_team("Beta", ann)
        refused = submit(site, team="beta")
        assert refused.status_code == 422
        assert "Alpha and its members may not submit" in refused.content.decode()
        Membership.objects.filter(user=ann, team=team).delete()
        assert submit(site, team="beta").status_code == 422  # nor after leaving
        create_team("Gamma", bob)
        assert submit(site, "bob", team="gamma").status_code == 302
        Membership.objects.create(user=bob, team=team)
        assert submit(site, "bob", team="gamma").status_code == 302  # who joins later is not banned

    def test_ban_reason_is_shown_to_the_team_only(self, site: Site, team: Any) -> None:
        submit(site, method="Mine")
        site.work()
        [mine] = site.submissions()
        pages = ("/challenges/small/", "/challenges/small/submissions", mine.url, "/challenges/small/submit?team=alpha")
        mia, bob = site.client(User.objects.get(username="mia")), site.client(site.user("bob"))
        assert not any("Banned" in mia.get(page).content.decode() for page in pages)
        manage(site, action="ban", sure="1", team="Alpha", reason="Two <accounts>.")
        for page in pages:
            assert "Two &lt;accounts&gt;." in mia.get(page).content.decode(), page
            assert "Two &lt;accounts" not in bob.get(page).content.decode(), page
            assert "Two &lt;accounts" not in site.client().get(page).content.decode(), page
        for page in pages[1:3]:
            assert "hidden by an organizer: Two &lt;accounts&gt;." in mia.get(page).content.decode(), page
        assert "Banned." in mia.get("/challenges/small/submit?team=mia").content.decode()

    def test_check_of_a_banned_team_does_not_offer_submission(self, site: Site, team: Any) -> None:
        assert "press <a" in submit(site, action="check").content.decode()
        manage(site, action="ban", sure="1", team="Alpha", reason="Two accounts.")
        page = submit(site, action="check").content.decode()
        assert "No problems found." in page
        assert "would be refused now" in page
        assert "press <a" not in page

    def test_ban_of_an_unknown_team_is_refused(self, site: Site, team: Any) -> None:
        assert manage(site, action="ban", team="Nobody", reason="x").status_code == 422
        assert manage(site, action="ban", team="Alpha", reason="").status_code == 422
        assert manage(site, action="lift", team="alpha").status_code == 404
        assert not TeamBan.objects.exists()


def test_captaincy_is_transferred(site: Site, team: Any) -> None:
    ann, mia = (User.objects.get(username=name) for name in ("ann", "mia"))
    assert site.client(mia).post(f"/teams/alpha/members/{mia.pk}/captain").status_code == 404
    assert site.client(ann).post(f"/teams/alpha/members/{mia.pk}/captain").status_code == 302
    assert [row.user.username for row in Membership.objects.filter(team=team, is_captain=True)] == ["mia"]
    assert site.client(ann).post(f"/teams/alpha/members/{mia.pk}/remove").status_code == 404


class TestConfirmedMembers:
    """Accounts are free, so that quotas need members with addresses that no other account has."""

    @pytest.fixture
    def mailing(self, site: Site, team: Any) -> Site:
        site.configure(email_url="smtp://mail.example.org", hosts=("captions.example.org",), https=True)
        return site

    def confirm(self, site: Site, name: str, address: str) -> str:
        """Ask for a link to an address, and open it; return the page that follows."""
        user = User.objects.get(username=name)
        User.objects.filter(pk=user.pk).update(email=address)
        row = EmailAddress.objects.create(user=user, email=address.lower(), primary=True)
        link = f"/account/address/{EmailConfirmationHMAC(row).key}"
        page: str = site.client(user).post(link, follow=True, secure=True).content.decode()
        return page

    def test_each_member_confirms_an_address(self, mailing: Site) -> None:
        refused = submit(mailing)
        assert refused.status_code == 422
        assert "In Alpha, these have not: ann, mia." in refused.content.decode()
        assert "You have confirmed ann@example.org" in self.confirm(mailing, "ann", "ann@example.org")
        assert "In Alpha, these have not: mia." in submit(mailing).content.decode()
        self.confirm(mailing, "mia", "mia@example.org")
        assert submit(mailing).status_code == 302

    def test_an_address_counts_for_one_account(self, mailing: Site) -> None:
        self.confirm(mailing, "ann", "ann@example.org")
        assert "already confirmed by a different account" in self.confirm(mailing, "mia", "Ann@Example.org")
        assert "In Alpha, these have not: mia." in submit(mailing).content.decode()

    @pytest.mark.parametrize(("domain", "fits"), [("example.org", True), ("example.edu", False), ("ample.org", False)])
    def test_addresses_are_at_the_domains_of_the_challenge(self, mailing: Site, domain: str, fits: bool) -> None:
        limited(mailing, f'mail_domains = ["{domain}"]')
        self.confirm(mailing, "ann", "ann@example.org")
        self.confirm(mailing, "mia", "mia@cs.example.org")
        assert (submit(mailing).status_code == 302) is fits
        overview = mailing.client().get("/challenges/small/", secure=True).content.decode()
        assert f"confirmed mail address</a> at {domain}" in overview

    def test_sites_without_mail_ask_for_no_address(self, site: Site, team: Any) -> None:
        assert submit(site).status_code == 302
        with pytest.raises(ChallengeError) as caught:
            limited(site, 'mail_domains = ["example.org"]')
        assert caught.value.problems[0].startswith("mail_domains: this server sends no mail")

    def test_challenges_can_do_without(self, mailing: Site) -> None:
        limited(mailing, "confirmed_members = false")
        assert submit(mailing).status_code == 302
