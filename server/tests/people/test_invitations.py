"""From an invitation to the challenges of the team, for somebody who has no account yet."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from captious_server.models import Challenge, Invitation, Membership, User
from captious_server.people.accounts import make_invitation, make_token
from captious_server.people.teams import create_team
from server.tests.support.site import PASSWORD, Site


@pytest.fixture
def invitation(site: Site) -> str:
    """The path of an invitation of Ann to the team Herons; the demonstration is there."""
    site.demo()
    ann = site.user("ann")
    return f"/teams/join/{make_invitation(create_team('Herons', ann), ann)}"


def text_of(client: Any, path: str, **values: Any) -> str:
    return str(client.get(path, **values).content.decode())


def test_invitation_names_its_team_and_returns_after_sign_in(site: Site, invitation: str) -> None:
    visitor = site.client()
    page = text_of(visitor, invitation)
    assert "ann invites you to the team Herons." in page
    for path in (f"/sign-in?next={invitation}", f"/sign-up?next={invitation}"):
        assert f'href="{path}"' in page
        assert "To join the team that you are invited to." in text_of(visitor, path)
    form = {"username": "bob", "password1": PASSWORD, "password2": PASSWORD, "next": invitation}
    assert visitor.post("/sign-up", form)["Location"] == invitation
    assert "Join Herons?" in text_of(visitor, invitation)


def test_invitation_needs_an_account(site: Site, invitation: str) -> None:
    answer = site.client().post(invitation)
    assert answer["Location"] == f"/sign-in?next={invitation}"
    assert Membership.objects.filter(team__name="Herons").count() == 1


def test_new_member_is_shown_challenges(site: Site, invitation: str) -> None:
    client = site.client(site.user("bob"))
    assert client.post(invitation)["Location"] == "/teams/herons/"
    page = text_of(client, "/teams/herons/")
    assert "You are now a member of Herons." in page
    assert "/challenges/demo/submit?team=herons" in page
    form = text_of(client, "/challenges/demo/submit?team=herons")
    assert '<option value="herons" selected>' in form
    assert client.get(invitation)["Location"] == "/teams/herons/"  # no second question


def test_team_page_lists_challenges_visible_to_the_member(site: Site, invitation: str) -> None:
    ann = User.objects.get(username="ann")
    site.submit(ann, team="herons")
    page = text_of(site.client(ann), "/teams/herons/")
    assert '<a href="/challenges/demo/submissions">1<' in page
    Challenge.objects.update(access="participants")
    assert "/challenges/demo" not in text_of(site.client(ann), "/teams/herons/")


@pytest.mark.parametrize(
    ("path", "purpose"),
    [("/challenges/demo/submit", "To submit captions."), ("/account/", "To see your account.")],
)
def test_sign_in_page_gives_the_reason(site: Site, path: str, purpose: str) -> None:
    visitor = site.client()
    assert purpose in text_of(visitor, visitor.get(path)["Location"])
    assert '<p class="lead">' not in text_of(visitor, "/sign-in?next=//elsewhere.example.org/")


def test_unusable_invitation_is_refused(site: Site, invitation: str) -> None:
    bob = site.user("bob")
    headers = {"Authorization": f"Bearer {make_token(bob, 'x', scopes=['teams'])}"}

    def check(path: str) -> None:
        for client, method in ((site.client(), "get"), (site.client(bob), "get"), (site.client(bob), "post")):
            answer = getattr(client, method)(path)
            assert answer.status_code == 404
            assert "This invitation does not exist" in answer.content.decode()
        called = site.client().post("/api/v1/join", {"invitation": path}, headers=headers)
        assert called.status_code == 404
        assert "has expired or was revoked. Ask the team for a new one." in called.json()["error"]

    check(f"{invitation}x")
    Invitation.objects.update(expires=timezone.now())
    check(invitation)
