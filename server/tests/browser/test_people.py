"""Accounts, teams, tokens and the organizers' page in a browser."""

from __future__ import annotations

import base64
import hmac
import re
import struct
import time
import urllib.error
from collections.abc import Callable
from typing import Any

import pytest

from server.tests.browser.checks import check
from server.tests.browser.steps import at_widths, methods, prove, see_scores, sign_in, sign_up
from server.tests.support.server import ADMIN, PASSWORD, Server

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
widths = pytest.mark.parametrize(("width", "scripts"), [(1280, True), (360, False)], ids=["desktop", "phone"])


@widths
def test_invitation_link_adds_a_team_member(open_page: Callable[..., Any], width: int, scripts: bool) -> None:
    page = open_page(width=width, scripts=scripts)
    sign_up(page, f"captain-{width}")
    team = f"Team {width}"
    page.get_by_role("link", name="Account of").click()
    page.get_by_label("Name of the team").fill(team)
    page.get_by_role("button", name="Create team").click()
    page.get_by_role("button", name="Create an invitation link").click()
    prove(page)
    link = page.get_by_label("Invitation link").input_value()
    page.reload()
    expect(page.get_by_label("Invitation link")).to_have_count(0)

    other = open_page(width=width, scripts=scripts)
    other.goto(link)
    other.get_by_role("navigation", name="Site").get_by_role("link", name="Sign up").click()
    other.get_by_label("Username").fill(f"member-{width}")
    other.get_by_label("Password", exact=True).fill(PASSWORD)
    other.get_by_label("Password (again)").fill(PASSWORD)
    other.get_by_role("button", name="Sign up").click()
    expect(other.get_by_role("heading", name=f"Join {team}?")).to_be_visible()
    other.get_by_role("button", name="Join").click()
    expect(other.get_by_role("status")).to_have_text(f"You are now a member of {team}.")
    expect(other.get_by_role("table", name="Members").get_by_role("row")).to_have_count(3)

    other.goto("/challenges/demo/submit")
    expect(other.get_by_label("Team").get_by_role("option")).to_have_text([team, f"member-{width}"])
    other.goto(f"/teams/team-{width}/")
    other.get_by_role("button", name="Revoke the link").click()
    expect(other.get_by_role("status")).to_have_text("The invitation link was revoked.")
    expect(other.get_by_role("button", name="Remove")).to_have_count(0)  # captains only
    other.get_by_role("button", name="Leave team").click()
    expect(other.get_by_role("status")).to_have_text(f"You left {team}.")


def test_account_page_creates_and_revokes_tokens(open_page: Callable[..., Any], server: Server) -> None:
    page = open_page("ursula", width=360)
    page.goto("/account/")
    page.get_by_label("Name of the token").fill("workstation")
    page.get_by_role("button", name="Create token").click()
    prove(page)
    token = page.get_by_label("New token").input_value()
    assert server.get("/api/v1/challenges/demo/submissions", token=token) is not None
    page.reload()
    expect(page.get_by_label("New token")).to_have_count(0)
    page.get_by_role("button", name="Revoke workstation").click()
    expect(page.get_by_role("status")).to_have_text("The token was revoked.")
    with pytest.raises(urllib.error.HTTPError) as refused:
        server.get("/api/v1/challenges/demo/submissions", token=token)
    assert refused.value.code == 401
    refused.value.close()


@widths
def test_password_is_changed_on_the_account_page(open_page: Callable[..., Any], width: int, scripts: bool) -> None:
    name = f"changer-{width}"
    page = open_page(width=width, scripts=scripts)
    sign_up(page, name)
    page.goto("/account/")
    page.get_by_role("link", name="Change password").click()
    page.get_by_label("Current Password").fill(PASSWORD)
    page.get_by_label("New Password", exact=True).fill("another-horse-88")
    page.get_by_label("New Password (again)").fill("another-horse-88")
    page.get_by_role("button", name="Change Password").click()
    expect(page.get_by_role("status")).to_have_text("Password successfully changed.")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    sign_in(page, name, PASSWORD)
    expect(page.get_by_role("alert")).to_contain_text("not correct")
    sign_in(page, name, "another-horse-88")
    expect(page.get_by_role("link", name=f"Account of {name}")).to_be_visible()


def test_administrator_creates_a_password_reset_link(open_page: Callable[..., Any], server: Server) -> None:
    sign_up(open_page(), "forgetful")
    page = open_page(ADMIN)
    page.goto("/admin/captious/user/?q=forgetful")
    page.get_by_role("checkbox", name=re.compile("Select this object")).check()
    page.get_by_role("combobox", name="Action").select_option("Create password reset links")
    page.get_by_role("button", name=re.compile("^(Go|Run)$")).click()
    link = re.search(r"http\S+/account/reset/\S+", page.get_by_text("Send this link to forgetful").inner_text())
    owner = open_page(width=360)
    owner.goto(link.group())
    owner.get_by_label("New Password", exact=True).fill("another-horse-88")
    owner.get_by_label("New Password (again)").fill("another-horse-88")
    owner.get_by_role("button", name="Change Password").click()
    expect(owner.get_by_text("Your password is now changed.")).to_be_visible()
    sign_in(owner, "forgetful", "another-horse-88")
    expect(owner.get_by_role("link", name="Account of forgetful")).to_be_visible()


def test_administrator_adds_a_team_member(open_page: Callable[..., Any]) -> None:
    page = open_page(ADMIN)
    page.goto("/admin/captious/team/1/change/")
    rows = page.locator(".inline-related:not(.empty-form)")
    before = rows.count()
    page.get_by_role("button", name="Add another Membership").or_(page.get_by_text("Add another Membership")).click()
    expect(rows).to_have_count(before + 1)


@widths
def test_organizer_manages_a_challenge(open_page: Callable[..., Any], width: int, scripts: bool) -> None:
    name = f"participant-{width}"
    guest = open_page(refused=(403, 404))
    sign_up(guest, name)
    assert guest.goto("/challenges/scenes/").status == 404

    page = open_page("olga", width=width, scripts=scripts, refused=(422,))
    page.goto("/challenges/scenes/")
    page.get_by_role("link", name="Manage").click()
    page.locator("summary", has_text="Add participants").click()
    page.get_by_label("User names").fill(f"{name} nobody-of-that-name")
    page.get_by_role("button", name="Add participants").click()
    expect(page.get_by_role("main")).to_contain_text("Unknown users: nobody-of-that-name")
    page.get_by_label("User names").fill(name)
    page.get_by_role("button", name="Add participants").click()
    expect(page.get_by_role("status")).to_have_text(f"Added as participants: {name}.")
    guest.goto("/challenges/scenes/leaderboard?phase=test")
    assert methods(guest) == ["Improved", "Baseline"]

    # a submission
    page.get_by_role("row").filter(has_text="Improved baseline").get_by_role("button", name="Hide").click()
    expect(page.get_by_role("heading", name="Hide “Improved” of Baselines in Final?")).to_be_visible()
    look(page, scripts)
    page.get_by_role("button", name="Hide it").click()
    expect(page.get_by_role("status")).to_have_text("“Improved” of Baselines in Final is hidden.")
    expect(page.get_by_role("row").filter(has_text="hidden by an organizer")).to_have_count(1)
    guest.reload()
    assert methods(guest) == ["Baseline"]
    page.get_by_role("button", name="Show Improved").click()
    expect(page.get_by_role("row").filter(has_text="hidden by an organizer")).to_have_count(0)
    guest.reload()
    assert methods(guest) == ["Improved", "Baseline"]

    # a leaderboard
    page.get_by_role("button", name="Hide the leaderboard of Final").click()
    page.get_by_role("button", name="Hide it").click()
    expect(page.get_by_role("status")).to_have_text("The leaderboard of Final is now hidden.")
    gone = guest.reload()
    assert gone.status == 403
    guest.goto("/challenges/scenes/leaderboard")
    expect(guest.get_by_role("navigation", name="Phase").get_by_role("link")).to_have_text(["Development", "Late"])
    page.get_by_role("button", name="Publish the leaderboard of Final").click()
    expect(page.get_by_role("status")).to_have_text("The leaderboard of Final is now public.")

    # scores
    page.get_by_role("button", name="Score again Improved on val").click()
    page.get_by_role("link", name="Go back").click()
    page.get_by_role("button", name="Score again Improved on val").click()
    page.get_by_role("button", name="Score it again").click()
    expect(page.get_by_role("status")).to_contain_text("“Improved on val” of Baselines in")
    expect(page.get_by_role("status")).to_contain_text("will be scored again.")
    page.get_by_role("link", name="Improved on val").first.click()
    see_scores(page, scripts)
    expect(page.get_by_role("table", name="History")).to_contain_text("rescore")

    page.get_by_role("link", name="Manage").click()
    page.get_by_role("button", name=f"Remove {name}").click()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_role("button", name=f"Remove {name}")).to_have_count(0)
    expect(page.get_by_role("table", name="Log")).to_contain_text("remove participant")
    assert guest.goto("/challenges/scenes/leaderboard").status == 404


@widths
def test_second_step_is_set_up_and_used(open_page: Callable[..., Any], width: int, scripts: bool) -> None:
    """By keyboard, with a code of the app and with a recovery code."""
    name = f"careful-{width}"
    page = open_page(width=width, scripts=scripts)
    sign_up(page, name)
    page.goto("/account/")
    page.get_by_role("link", name="Set up a second step").press("Enter")
    look(page, scripts)
    page.get_by_role("link", name="Set up an app").press("Enter")
    prove(page)
    expect(page.get_by_role("img", name="QR code of the secret")).to_be_visible()
    secret = page.get_by_text("Secret:").locator("code").inner_text()
    look(page, scripts)
    page.get_by_label("Authenticator code").fill(code_of(secret))
    page.get_by_label("Authenticator code").press("Enter")
    codes = page.get_by_label("Unused codes").input_value().split()
    assert len(codes) == 10
    look(page, scripts)
    if scripts:
        page.get_by_label("I have saved my recovery codes").check()
    page.goto("/account/")
    expect(page.get_by_role("link", name="Second step and passkeys: on")).to_be_visible()
    for code in (code_of(secret, 1), codes[0]):
        page.get_by_role("button", name="Sign out").click()
        page.goto("/account/")
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_label("Password").press("Enter")
        page.get_by_label("Code", exact=True).fill("000 000")
        page.get_by_label("Code", exact=True).press("Enter")
        expect(page.get_by_text("Incorrect code.")).to_be_visible()
        look(page, scripts)
        page.get_by_label("Code", exact=True).fill(code)
        page.get_by_label("Code", exact=True).press("Enter")
        look(page, scripts)
        page.get_by_role("button", name="Don't Trust").click()
        expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    page.get_by_role("link", name="Second step and passkeys: on").click()
    look(page, scripts)
    page.get_by_role("link", name="Turn off").click()
    prove(page)
    page.get_by_role("button", name="Deactivate").click()
    expect(page.get_by_role("link", name="Set up an app")).to_be_visible()


def test_passkey_signs_in(open_page: Callable[..., Any], server: Server) -> None:
    """With Chromium's virtual authenticator. Passkeys need a name, so the page is that of localhost."""
    page = open_page()
    key = page.context.new_cdp_session(page)
    key.send("WebAuthn.enable")
    about = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    about |= {"isUserVerified": True, "automaticPresenceSimulation": True}
    key.send("WebAuthn.addVirtualAuthenticator", {"options": about})
    home = server.url.replace("127.0.0.1", "localhost")
    page.goto(f"{home}/sign-up")
    page.get_by_label("Username").fill("keyed")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.goto(f"{home}/account/second-step/")
    page.get_by_role("link", name="Add a passkey").click()
    prove(page)
    page.get_by_label("Name").fill("Laptop")
    page.get_by_label("Passwordless").check()
    check(page)
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_label("Unused codes")).to_be_visible()
    page.get_by_label("I have saved my recovery codes").check()
    page.goto(f"{home}/account/second-step/")
    expect(page.get_by_text("Laptop", exact=False).first).to_be_visible()
    check(page)
    page.get_by_role("button", name="Sign out").click()

    page.goto(f"{home}/sign-in?next=/account/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", level=1, name="keyed")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()

    page.goto(f"{home}/sign-in?next=/account/")
    page.get_by_label("Username").fill("keyed")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Use a security key").click()
    page.get_by_role("button", name="Don't Trust").click()
    expect(page.get_by_role("heading", level=1, name="keyed")).to_be_visible()


def test_pages_of_the_account_do_not_scroll_sideways(open_page: Callable[..., Any]) -> None:
    page = open_page()
    sign_up(page, "wide")
    page.goto("/account/second-step/totp/activate/")
    prove(page)
    for path in (
        "/account/",
        "/account/address",
        "/account/password",
        "/account/sites",
        "/account/sessions",
        "/account/mail",
        "/account/delete",
        "/account/second-step/",
        "/account/second-step/totp/activate/",
        "/account/second-step/webauthn/",
        "/account/second-step/webauthn/add/",
        "/account/second-step/recovery-codes/generate/",
    ):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        check(page)
        for width in at_widths(page, 390, 768, 1280, 1440):
            assert page.evaluate("document.documentElement.scrollWidth") == width, path
            for region in page.get_by_role("region").all():
                assert region.evaluate("element => element.scrollWidth - element.clientWidth") == 0, path
    visitor = open_page()
    for path in ("/sign-in", "/sign-up", "/account/reset", "/sign-in/inactive", "/sign-in/confirm"):
        visitor.goto(path)
        for width in at_widths(visitor, 390, 768, 1280, 1440):
            assert visitor.evaluate("document.documentElement.scrollWidth") == width, path


def test_other_sessions_are_ended(open_page: Callable[..., Any]) -> None:
    here, there = open_page(), open_page()
    sign_up(here, "everywhere")
    sign_in(there, "everywhere")
    here.goto("/account/sessions")
    expect(here.get_by_role("row")).to_have_count(3)
    here.get_by_role("button", name="Sign out other sessions").click()
    expect(here.get_by_role("row")).to_have_count(2)
    there.goto("/account/")
    expect(there.get_by_role("heading", name="Sign in")).to_be_visible()


def test_user_signs_in_with_an_identity_provider(open_page: Callable[..., Any]) -> None:
    page = open_page()
    page.goto("/challenges/demo/submit")
    page.get_by_role("button", name="Sign in with Local").click()
    expect(page.get_by_role("heading", name="Sign Up")).to_be_visible()
    check(page)
    page.get_by_role("button", name="Sign Up").click()
    expect(page.get_by_role("heading", name="Submit")).to_be_visible()
    page.goto("/account/sites")
    expect(page.get_by_text("zoe").first).to_be_visible()
    check(page)
    other = open_page()
    other.goto("/sign-in")
    other.get_by_role("button", name="Sign in with Local").click()
    expect(other.get_by_role("link", name="Account of zoe")).to_be_visible()


def code_of(secret: str, steps: int = 0) -> str:
    """What an app shows, or will show."""
    digest = hmac.digest(base64.b32decode(secret), struct.pack(">Q", int(time.time()) // 30 + steps), "sha1")
    (number,) = struct.unpack(">I", digest[digest[-1] & 15 :][:4])
    return f"{(number & 0x7FFFFFFF) % 1_000_000:06}"


def look(page: Any, scripts: bool) -> None:
    """Pages without JavaScript are the same, and cannot be asked."""
    if scripts:
        check(page)
