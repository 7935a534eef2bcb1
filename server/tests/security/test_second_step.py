"""The second step of signing in: no way around it, each code once, and few guesses."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from click.testing import CliRunner
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import TestCase, override_settings

from captious_server.commands import serve
from captious_server.models import AuditEvent
from server.tests.security.test_sessions_and_passwords import is_signed_in, sign_in
from server.tests.security.world import World
from server.tests.support.site import PASSWORD, prove

PAGE = "/account/second-step/"
CODE_PAGE = f"{PAGE}authenticate/"


class Device:
    """An app that has the secret of a user.

    Attributes:
        codes: the recovery codes of the user.
    """

    def __init__(self, client: Any) -> None:
        """Set it up in a browser in which its user has signed in."""
        page = client.get(f"{PAGE}totp/activate/").content.decode()
        secret = re.search(r"Secret: <code>([A-Z2-7]+)</code>", page)
        assert "<svg" in page
        self.secret = secret[1]
        with TestCase.captureOnCommitCallbacks(execute=True):  # the world is in a transaction, which never ends
            form = {"code": self.code(steps=-1)}
            shown = client.post(f"{PAGE}totp/activate/", form, follow=True).content.decode()
        self.codes = re.findall(r"\b\d{8}\b", shown.partition("<textarea")[2])

    def code(self, *, steps: int = 0) -> str:
        return str(format_hotp_value(hotp_value(self.secret, int(time.time()) // 30 + steps)))


@pytest.fixture
def device(sandbox: World) -> Device:
    """Ann's."""
    device = Device(sandbox.as_user("ann"))
    assert len(device.codes) == 10
    return device


@pytest.fixture(autouse=True)
def later(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Stop the clock, so that no code grows old while it is sent; the result moves time on by seconds."""
    now = [time.time()]
    monkeypatch.setattr(time, "time", lambda: now[0])

    def move(seconds: float) -> None:
        now[0] += seconds

    return move


def enter(client: Any, code: str, name: str = "ann", **options: Any) -> Any:
    """Both steps."""
    assert sign_in(client, name, **options)["Location"] == CODE_PAGE
    return client.post(CODE_PAGE, {"code": code}, **options)


class TestSigningIn:
    def test_password_alone_opens_no_page(self, sandbox: World, device: Device) -> None:
        client = sandbox.site.client()
        assert sign_in(client, "ann")["Location"] == CODE_PAGE
        assert not is_signed_in(client)
        assert "Account of ann" not in client.get("/").content.decode()

    def test_password_and_code_sign_in(self, sandbox: World, device: Device) -> None:
        client = sandbox.site.client()
        to = "/challenges/open/leaderboard?sort=rouge-l"
        client.post("/sign-in", {"login": "ann", "password": PASSWORD, "next": to})
        assert AuditEvent.objects.first().action != "sign in"
        assert client.post(CODE_PAGE, {"code": device.code(steps=1)})["Location"] == f"{PAGE}trust/"
        assert not is_signed_in(client)
        assert client.post(f"{PAGE}trust/", {"action": "skip"})["Location"] == to
        assert is_signed_in(client)
        assert AuditEvent.objects.first().action == "sign in"

    def test_code_works_once(self, sandbox: World, device: Device) -> None:
        assert enter(sandbox.site.client(), device.code()).status_code == 302
        again = sandbox.site.client()
        assert enter(again, device.code()).status_code == 200
        assert not is_signed_in(again)

    def test_code_that_set_it_up_does_not_sign_in(self, sandbox: World, device: Device) -> None:
        client = sandbox.site.client()
        assert enter(client, device.code(steps=-1)).status_code == 200
        assert not is_signed_in(client)

    @pytest.mark.parametrize(("steps", "status"), [(-2, 200), (-1, 302), (0, 302), (1, 302), (2, 200)])
    def test_clock_may_differ_by_half_a_minute(self, sandbox: World, later: Any, steps: int, status: int) -> None:
        device = Device(sandbox.as_user("ann"))
        later(300)
        assert enter(sandbox.site.client(), device.code(steps=steps)).status_code == status

    def test_recovery_code_works_once(self, sandbox: World, device: Device) -> None:
        assert enter(sandbox.site.client(), device.codes[3]).status_code == 302
        assert enter(sandbox.site.client(), device.codes[3]).status_code == 200

    def test_administration_sign_in_needs_the_second_step(self, sandbox: World) -> None:
        device = Device(sandbox.as_user("root"))
        client = sandbox.site.client()
        address = client.get("/admin/", follow=True).redirect_chain[-1][0]
        assert address == "/sign-in?next=%2Fadmin%2F"
        client.post(address, {"login": "root", "password": PASSWORD, "next": "/admin/"})
        assert client.get("/admin/").status_code == 302
        client.post(CODE_PAGE, {"code": device.code(steps=1)})
        assert client.post(f"{PAGE}trust/", {"action": "skip"})["Location"] == "/admin/"
        assert client.get("/admin/").status_code == 200

    def test_tokens_need_no_second_step(self, sandbox: World, device: Device) -> None:
        assert sandbox.call("ann", "GET", "/api/v1/challenges/open/submissions").status_code == 200


class TestGuessing:
    def guess(self, world: World) -> None:
        """Wrong codes, each from another address."""
        for i in range(settings.CAPTIOUS.wrong_passwords):
            assert enter(world.site.client(), "wrong!", REMOTE_ADDR=f"10.0.{i}.1").status_code == 200

    def test_wrong_codes_are_limited(self, sandbox: World, later: Any) -> None:
        """The limit holds for any number of addresses, for a while."""
        device = Device(sandbox.as_user("ann"))
        later(300)
        self.guess(sandbox)
        assert {event.action for event in AuditEvent.objects.all()[:2]} == {"wrong code"}
        for code in (device.code(), device.codes[0]):
            assert "Too many failed login attempts" in enter(sandbox.site.client(), code).content.decode()
        later(settings.CAPTIOUS.lock_minutes * 60 + 1)
        assert enter(sandbox.site.client(), device.code()).status_code == 302

    def test_guesses_do_not_lock_out_a_trusted_browser(self, sandbox: World, device: Device) -> None:
        """Whoever knows the password can lock the account, except for browsers that its owner trusts."""
        client = sandbox.site.client()
        enter(client, device.code(steps=1))
        client.post(f"{PAGE}trust/", {"action": "trust"})
        assert (client.cookies["mfa_trusted"]["httponly"], client.cookies["mfa_trusted"]["samesite"]) == (True, "Lax")
        client.post("/sign-out")
        self.guess(sandbox)
        assert sign_in(client, "ann")["Location"] == "/"
        assert is_signed_in(client)
        stranger = sandbox.site.client()
        stranger.cookies["mfa_trusted"] = "guessed"
        assert sign_in(stranger, "ann")["Location"] == CODE_PAGE


class TestSettingUp:
    def test_database_alone_makes_no_codes(self, sandbox: World, device: Device) -> None:
        rows = str([*Authenticator.objects.values()])
        sessions = str([session.get_decoded() for session in Session.objects.all()])
        assert len(device.secret) == 32
        assert device.secret not in rows + sessions
        assert not any(code in rows + sessions for code in device.codes)

    def test_another_key_of_the_server_ends_codes(self, sandbox: World, device: Device) -> None:
        with override_settings(SECRET_KEY="another"):
            assert enter(sandbox.site.client(), device.code(steps=1)).status_code == 200

    def test_recovery_codes_are_shown_once(self, sandbox: World, device: Device) -> None:
        page = sandbox.as_user("ann").get(f"{PAGE}recovery-codes/").content.decode()
        assert not any(code in page for code in device.codes)

    @pytest.mark.parametrize("action", ["on", "off"])
    def test_other_sessions_end(self, sandbox: World, action: str) -> None:
        here, there = sandbox.site.client(), sandbox.site.client()
        if action == "off":
            device = Device(sandbox.as_user("ann"))
            for client, steps in ((here, 1), (there, 0)):
                enter(client, device.code(steps=steps))
                client.post(f"{PAGE}trust/", {"action": "skip"})
        else:
            sign_in(here, "ann")
            sign_in(there, "ann")
        assert is_signed_in(there)
        prove(here, sandbox.users["ann"])
        if action == "off":
            assert here.post(f"{PAGE}totp/deactivate/").status_code == 302
        else:
            Device(here)
        assert is_signed_in(here)
        assert not is_signed_in(there)

    def test_changes_are_logged(self, sandbox: World, device: Device) -> None:
        client = sandbox.as_user("ann")
        with TestCase.captureOnCommitCallbacks(execute=True):
            client.post(f"{PAGE}recovery-codes/generate/")
        client.post(f"{PAGE}totp/deactivate/")
        events = AuditEvent.objects.filter(target="ann").values_list("action", flat=True)
        assert [*events[:3]] == ["turn off second step", "make recovery codes", "turn on second step"]

    @pytest.mark.parametrize("how", ["administrator", "command"])
    def test_lost_device_is_reset(self, sandbox: World, device: Device, how: str) -> None:
        elsewhere = sandbox.site.client()
        enter(elsewhere, device.code(steps=1))
        elsewhere.post(f"{PAGE}trust/", {"action": "skip"})
        assert is_signed_in(elsewhere)
        if how == "administrator":
            form = {"action": "reset_second_step", "_selected_action": [sandbox.users["ann"].pk]}
            sandbox.as_user("root").post("/admin/captious/user/", form)
        else:
            command = ["reset-second-step", "--data", str(sandbox.site.data), "--user", "ann"]
            done = CliRunner().invoke(serve, command)
            assert done.exit_code == 0, done.output
            again = CliRunner().invoke(serve, command)
            assert "ann has no second step" in str(again.exception)
        assert not is_signed_in(elsewhere)
        assert sign_in(sandbox.site.client(), "ann")["Location"] == "/"


class TestRequirement:
    @pytest.mark.parametrize(
        ("audience", "asked"),
        [("nobody", set()), ("organizers", {"olga", "root"}), ("everybody", {"ann", "olga", "root"})],
    )
    def test_users_must_set_it_up_first(self, sandbox: World, audience: str, asked: set[str]) -> None:
        sandbox.site.configure(second_step_for=audience)
        for name in ("ann", "olga", "root"):
            client = sandbox.as_user(name)
            for path in ("/", "/account/", "/challenges/open/submit", "/account/password"):
                assert (client.get(path).get("Location") == PAGE) is (name in asked), (name, path)
            assert client.get(PAGE).status_code == 200
            Device(client)
            assert client.get("/account/").status_code == 200

    def test_proof_and_sign_out_are_open(self, sandbox: World) -> None:
        sandbox.site.configure(second_step_for="everybody")
        client = sandbox.site.client(sandbox.users["ann"], proved=False)
        page = client.get(f"{PAGE}totp/activate/")["Location"]
        assert client.get(page).status_code == 200
        assert client.post(page, {"password": PASSWORD})["Location"] == f"{PAGE}totp/activate/"
        assert sandbox.call("ann", "GET", "/api/v1/challenges/open/submissions").status_code == 200  # as before
        assert client.post("/sign-out")["Location"] == "/"
        assert not is_signed_in(client)
