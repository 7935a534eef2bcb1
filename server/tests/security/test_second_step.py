"""The second step of signing in: no way around it, each code once, and few guesses."""

from __future__ import annotations

import re
import time
from typing import Any

import pyotp
import pytest

from server.tests.security.test_sessions_and_passwords import is_signed_in, sign_in
from server.tests.security.world import World
from server.tests.support.site import PASSWORD


class Clock:
    """The time of day, which tests move on."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "time", clock.time)
    return clock


class Device:
    """What holds the secret of a user."""

    def __init__(self, secret: str, clock: Clock, codes: list[str]) -> None:
        self._totp, self._clock = pyotp.TOTP(secret), clock
        self.codes = codes

    def code(self, *, steps: int = 0) -> str:
        return str(self._totp.at(int(self._clock.now) + 30 * steps))

    def next(self) -> str:
        """A code that was not used yet."""
        self._clock.now += 30
        return self.code()


def set_up(client: Any, clock: Clock, **more: str) -> Device:
    """Turn on the second step of whoever has signed in, as the page says."""
    page = client.get("/account/second-step").content.decode()
    salt = re.search(r'name="salt" value="([^"]+)"', page)
    secret = re.search(r"Secret: <code>([A-Z2-7 ]+)</code>", page)
    assert salt is not None
    assert secret is not None
    assert "<svg" in page
    assert "<style" not in page.partition("</head>")[2]
    device = Device(secret[1].replace(" ", ""), clock, [])
    form = {"salt": salt[1], "code": device.code(), "proof": PASSWORD, **more}
    response = client.post("/account/second-step", form)
    device.codes = re.findall(r"<code>([a-z2-7-]{19})</code>", response.content.decode())
    return device


@pytest.fixture
def device(sandbox: World, clock: Clock) -> Device:
    """Ann's."""
    device = set_up(sandbox.as_user("ann"), clock)
    assert len(device.codes) == 10
    return device


def enter(client: Any, code: str, name: str = "ann", **options: Any) -> Any:
    """Both steps."""
    assert sign_in(client, name, **options)["Location"] == "/sign-in/code"
    return client.post("/sign-in/code", {"code": code}, **options)


class TestSigningIn:
    def test_password_alone_opens_no_page(self, sandbox: World, device: Device) -> None:
        client = sandbox.site.client()
        response = sign_in(client, "ann")
        assert response["Location"] == "/sign-in/code"
        assert not is_signed_in(client)
        assert "ann" not in client.get("/").content.decode()
        assert client.get("/sign-in/code").status_code == 200

    def test_password_and_code_sign_in(self, sandbox: World, device: Device) -> None:
        from captious_server.models import AuditEvent

        client = sandbox.site.client()
        to = "/challenges/open/leaderboard?sort=rouge-l"
        client.post("/sign-in", {"username": "ann", "password": PASSWORD, "next": to})
        before = client.cookies["captious_session"].value
        assert AuditEvent.objects.first().action != "sign in"
        assert client.post("/sign-in/code", {"code": device.next()})["Location"] == to
        assert is_signed_in(client)
        assert client.cookies["captious_session"].value != before
        assert AuditEvent.objects.first().action == "sign in"

    def test_codes_may_have_spaces_and_dashes(self, sandbox: World, device: Device) -> None:
        code = device.next()
        assert enter(sandbox.site.client(), f" {code[:3]} {code[3:]} ").status_code == 302
        assert enter(sandbox.site.client(), device.codes[0].upper().replace("-", " ")).status_code == 302

    def test_code_works_once(self, sandbox: World, device: Device) -> None:
        code = device.next()
        assert enter(sandbox.site.client(), code).status_code == 302
        again = sandbox.site.client()
        assert enter(again, code).status_code == 422
        assert enter(again, device.code(steps=-1)).status_code == 422  # nor is an earlier one
        assert not is_signed_in(again)
        assert enter(again, device.next()).status_code == 302

    def test_code_of_the_setup_cannot_be_used_again(self, sandbox: World, device: Device) -> None:
        assert enter(sandbox.site.client(), device.code()).status_code == 422

    @pytest.mark.parametrize(("steps", "status"), [(-2, 422), (-1, 302), (0, 302), (1, 302), (2, 422)])
    def test_clock_may_differ_by_half_a_minute(self, sandbox: World, device: Device, steps: int, status: int) -> None:
        for _ in range(3):
            code = device.next()
        assert code
        assert enter(sandbox.site.client(), device.code(steps=steps)).status_code == status

    @pytest.mark.parametrize(
        "code", ["", "000", "00000000", "ａｂｃｄｅｆ", "１２３４５６", "\x00", "x" * 5000, "-" * 19]
    )
    def test_text_that_is_not_a_code_is_refused(self, sandbox: World, device: Device, code: str) -> None:
        client = sandbox.site.client()
        assert enter(client, code).status_code == 422
        assert not is_signed_in(client)

    def test_codes_of_another_account_are_refused(self, sandbox: World, device: Device, clock: Clock) -> None:
        bobs = set_up(sandbox.as_user("bob"), clock)
        client = sandbox.site.client()
        for code in (bobs.next(), bobs.codes[0]):
            assert enter(client, code).status_code == 422
        assert not is_signed_in(client)

    def test_recovery_code_works_once(self, sandbox: World, device: Device) -> None:
        assert enter(sandbox.site.client(), device.codes[3]).status_code == 302
        assert enter(sandbox.site.client(), device.codes[3]).status_code == 422
        client = sandbox.site.client()
        assert enter(client, device.codes[4]).status_code == 302
        assert "8 recovery codes left" in client.get("/account/second-step").content.decode()

    def test_first_step_expires(self, sandbox: World, device: Device, clock: Clock) -> None:
        client = sandbox.site.client()
        sign_in(client, "ann")
        clock.now += 601
        assert client.post("/sign-in/code", {"code": device.code()})["Location"] == "/sign-in"
        assert not is_signed_in(client)

    @pytest.mark.parametrize("change", ["password", "inactive"])
    def test_new_password_or_deactivation_ends_the_first_step(
        self, sandbox: World, device: Device, change: str
    ) -> None:
        from captious_server.models import User

        client = sandbox.site.client()
        sign_in(client, "ann")
        ann = User.objects.get(username="ann")
        if change == "password":
            ann.set_password("another-horse-78")
        ann.is_active = change != "inactive"
        ann.save()
        assert client.post("/sign-in/code", {"code": device.next()})["Location"] == "/sign-in"
        assert not is_signed_in(client)

    def test_code_without_a_password_is_refused(self, sandbox: World, device: Device) -> None:
        client = sandbox.site.client()
        assert client.post("/sign-in/code", {"code": device.next()})["Location"] == "/sign-in"
        assert not is_signed_in(client)

    def test_administration_sign_in_needs_the_second_step(self, sandbox: World, clock: Clock) -> None:
        device = set_up(sandbox.as_user("root"), clock)
        client = sandbox.site.client()
        form = {"username": "root", "password": PASSWORD}
        address = client.get("/admin/", follow=True).redirect_chain[-1][0]
        assert address == "/sign-in?next=%2Fadmin%2F"
        for path in ("/admin/login/", "/admin/login/?next=/admin/", "/admin/"):
            client.post(path, {**form, "next": "/admin/"})
            assert client.get("/admin/").status_code == 302
        client.post(address, {**form, "next": "/admin/"})
        assert client.get("/admin/").status_code == 302
        assert client.post("/sign-in/code", {"code": device.next()})["Location"] == "/admin/"
        assert client.get("/admin/").status_code == 200

    def test_new_password_keeps_the_second_step(self, sandbox: World, device: Device) -> None:
        new = "another-horse-78"
        client = sandbox.site.client()
        enter(client, device.next())
        form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
        assert client.post("/account/password", form).status_code == 302
        assert is_signed_in(client)
        assert sign_in(sandbox.site.client(), "ann", new)["Location"] == "/sign-in/code"

    def test_tokens_need_no_second_step(self, sandbox: World, device: Device) -> None:
        assert sandbox.call("ann", "GET", "/api/v1/challenges/open/submissions").status_code == 200


class TestGuessing:
    def guess(self, world: World, n: int, start: int = 0) -> list[str]:
        """Wrong codes, each from another address."""
        texts = []
        for i in range(start, start + n):
            response = enter(world.site.client(), "wrong!", REMOTE_ADDR=f"10.0.{i}.1")
            assert response.status_code == 422
            texts.append(response.content.decode())
        return texts

    def test_wrong_codes_are_limited(self, sandbox: World, device: Device, clock: Clock) -> None:
        """The limit holds for any number of addresses."""
        from django.conf import settings

        most = settings.CAPTIOUS.wrong_passwords
        assert not any("too many" in text for text in self.guess(sandbox, most))
        client = sandbox.site.client()
        response = enter(client, device.next())
        assert "too many wrong codes" in response.content.decode()
        assert not is_signed_in(client)
        assert "too many" in self.guess(sandbox, 1, most)[0]
        assert enter(client, device.codes[0]).status_code == 302  # which nobody guesses

    def test_guesses_do_not_lock_out_a_known_browser(self, sandbox: World, device: Device, clock: Clock) -> None:
        """Whoever knows the password can lock the account, except for the owner's browser."""
        from django.conf import settings

        most = settings.CAPTIOUS.wrong_passwords
        client = sandbox.site.client()
        enter(client, device.next())
        client.post("/sign-out")
        self.guess(sandbox, most + 1)
        stranger = sandbox.site.client()
        stranger.cookies["captious_device"] = "guessed"
        assert "too many wrong codes" in enter(stranger, device.next()).content.decode()
        assert enter(client, device.next()).status_code == 302
        assert is_signed_in(client)
        assert "too many wrong codes" in enter(stranger, device.next()).content.decode()  # that tells nobody more

    def test_browser_of_the_setup_is_known(self, sandbox: World, clock: Clock) -> None:
        from django.conf import settings

        client = sandbox.as_user("ann")
        device = set_up(client, clock)
        cookie = client.cookies["captious_device"]
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
        self.guess(sandbox, settings.CAPTIOUS.wrong_passwords)
        assert client.post("/account/second-step", {"action": "codes", "proof": device.next()}).status_code == 200
        client.post("/sign-out")
        assert enter(client, device.next()).status_code == 302

    def test_wrong_codes_from_a_known_browser_are_limited(self, sandbox: World, device: Device) -> None:
        from django.conf import settings

        client = sandbox.site.client()
        enter(client, device.next())
        client.post("/sign-out")
        for _ in range(settings.CAPTIOUS.wrong_passwords):
            enter(client, "wrong!")
        assert "too many wrong codes" in enter(client, device.next()).content.decode()
        assert enter(sandbox.site.client(), device.next()).status_code == 302  # nor does it lock others

    def test_browser_of_another_user_is_not_known(self, sandbox: World, device: Device, clock: Clock) -> None:
        from django.conf import settings

        mallory = sandbox.as_user("bob")
        set_up(mallory, clock)
        mallory.post("/sign-out")
        self.guess(sandbox, settings.CAPTIOUS.wrong_passwords)
        assert "too many wrong codes" in enter(mallory, device.next()).content.decode()

    def test_known_browsers_are_limited_and_forgotten_with_the_secret(self, sandbox: World, device: Device) -> None:
        from captious_server.models import KnownDevice

        client = sandbox.site.client()
        for _ in range(12):
            enter(sandbox.site.client(), device.next())
        enter(client, device.next())
        kept = client.cookies["captious_device"].value
        client.post("/sign-out")
        enter(client, device.next())
        assert client.cookies["captious_device"].value == kept
        assert KnownDevice.objects.count() == 10
        assert kept not in str([*KnownDevice.objects.values()])
        client.post("/account/second-step", {"action": "off", "proof": PASSWORD})
        assert not KnownDevice.objects.exists()

    def test_another_code_is_checked_after_a_while(
        self, sandbox: World, device: Device, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from datetime import timedelta

        from django.conf import settings
        from django.utils import timezone

        most, wait = settings.CAPTIOUS.wrong_passwords, settings.CAPTIOUS.lock_minutes
        self.guess(sandbox, most)
        later = timezone.now() + timedelta(minutes=wait, seconds=1)
        monkeypatch.setattr(timezone, "now", lambda: later)
        assert "too many" not in self.guess(sandbox, 1, most)[0]
        assert "too many" in enter(sandbox.site.client(), device.next()).content.decode()

    def test_right_code_resets_the_count(self, sandbox: World, device: Device) -> None:
        from django.conf import settings

        for start in (0, 100):
            self.guess(sandbox, settings.CAPTIOUS.wrong_passwords - 1, start)
            assert enter(sandbox.site.client(), device.next()).status_code == 302

    def test_wrong_passwords_are_not_wrong_codes(self, sandbox: World, device: Device) -> None:
        client = sandbox.site.client()
        enter(client, device.next())
        for _ in range(12):
            assert client.post("/account/second-step", {"proof": "not my password"}).status_code == 422
        assert enter(sandbox.site.client(), device.next()).status_code == 302

    def test_wrong_codes_are_logged(self, sandbox: World, device: Device) -> None:
        from captious_server.models import AuditEvent

        self.guess(sandbox, 1)
        event = AuditEvent.objects.first()
        assert (event.action, event.target, event.address) == ("wrong code", "ann", "10.0.0.1")

    def test_one_address_cannot_try_many_codes(self, sandbox: World, device: Device) -> None:
        client = sandbox.site.client()
        sign_in(client, "ann")
        sandbox.site.configure(requests_per_minute=3)
        statuses = [client.post("/sign-in/code", {"code": "wrong!"}).status_code for _ in range(4)]
        assert statuses[-1] == 429


class TestSettingUp:
    def test_database_alone_makes_no_codes(self, sandbox: World, device: Device) -> None:
        from django.contrib.sessions.models import Session

        from captious_server.models import RecoveryCode, User
        from captious_server.people.accounts import secret_of

        stored = str([*User.objects.values(), *RecoveryCode.objects.values()])
        stored += str([session.get_decoded() for session in Session.objects.all()])
        assert secret_of(User.objects.get(username="ann").totp_salt) == device._totp.secret
        assert device._totp.secret not in stored
        assert not any(code in stored or code.replace("-", "") in stored for code in device.codes)

    def test_setup_ends_other_sessions(self, sandbox: World, clock: Clock) -> None:
        here, there = sandbox.as_user("ann"), sandbox.as_user("ann")
        set_up(here, clock)
        assert is_signed_in(here)
        assert not is_signed_in(there)

    @pytest.mark.parametrize("wrong", [{"proof": "wrong"}, {"code": "000000"}, {"salt": "x"}, {"proof": ""}], ids=str)
    def test_setup_needs_password_and_code(self, sandbox: World, clock: Clock, wrong: dict[str, str]) -> None:
        from captious_server.models import User

        device = set_up(sandbox.as_user("ann"), clock, **wrong)
        assert device.codes == []
        assert User.objects.get(username="ann").totp_salt == ""

    def test_setup_page_of_another_user_is_refused(self, sandbox: World, clock: Clock) -> None:
        page = sandbox.as_user("bob").get("/account/second-step").content.decode()
        salt = re.search(r'name="salt" value="([^"]+)"', page)
        assert salt is not None
        assert set_up(sandbox.as_user("ann"), clock, salt=salt[1]).codes == []

    def test_wrong_code_keeps_the_secret(self, sandbox: World, clock: Clock) -> None:
        client = sandbox.as_user("ann")
        page = client.get("/account/second-step").content.decode()
        [salt] = re.findall(r'name="salt" value="([^"]+)"', page)
        [secret] = re.findall(r"Secret: <code>([A-Z2-7 ]+)</code>", page)
        again = client.post("/account/second-step", {"salt": salt, "code": "000000", "proof": PASSWORD})
        assert secret in again.content.decode()

    def test_recovery_codes_are_shown_once_and_not_cached(self, sandbox: World, clock: Clock) -> None:
        client = sandbox.as_user("ann")
        device = set_up(client, clock)
        page = client.get("/account/second-step")
        assert device.codes[0] not in page.content.decode()
        assert page["Cache-Control"] == "private, no-store"

    @pytest.mark.parametrize("what", ["password", "code", "recovery code"])
    def test_second_step_is_turned_off_with_a_proof(self, sandbox: World, device: Device, what: str) -> None:
        client = sandbox.site.client()
        enter(client, device.next())
        proof = {"password": PASSWORD, "code": device.next(), "recovery code": device.codes[0]}[what]
        assert client.post("/account/second-step", {"action": "off", "proof": "wrong"}).status_code == 422
        assert client.post("/account/second-step", {"action": "off", "proof": proof}).status_code == 302
        assert is_signed_in(client)
        assert sign_in(sandbox.site.client(), "ann")["Location"] == "/"

    def test_new_recovery_codes_replace_the_old_ones(self, sandbox: World, device: Device) -> None:
        client = sandbox.site.client()
        enter(client, device.next())
        page = client.post("/account/second-step", {"action": "codes", "proof": PASSWORD}).content.decode()
        codes = re.findall(r"<code>([a-z2-7-]{19})</code>", page)
        assert len(set(codes) - {*device.codes}) == 10
        assert enter(sandbox.site.client(), device.codes[0]).status_code == 422
        assert enter(sandbox.site.client(), codes[0]).status_code == 302


class TestResets:
    def test_administrator_resets_the_second_step(self, sandbox: World, device: Device) -> None:
        client = sandbox.site.client()
        enter(client, device.next())
        form = {"action": "reset_second_step", "_selected_action": [sandbox.users["ann"].pk]}
        assert sandbox.as_user("root").post("/admin/captious/user/", form).status_code == 302
        assert not is_signed_in(client)
        assert sign_in(sandbox.site.client(), "ann")["Location"] == "/"

    @pytest.mark.parametrize("action", ["reset_second_step", "reset_link", "deactivate"])
    def test_staff_with_view_permission_cannot_reset(self, sandbox: World, device: Device, action: str) -> None:
        from django.contrib.auth.models import Permission

        from captious_server.models import AuditEvent, User

        User.objects.filter(username="bob").update(is_staff=True)
        sandbox.users["bob"].user_permissions.add(Permission.objects.get(codename="view_user"))
        form = {"action": action, "_selected_action": [sandbox.users["ann"].pk]}
        page = sandbox.as_user("bob").post("/admin/captious/user/", form, follow=True).content.decode()
        assert "Send this link" not in page
        assert User.objects.get(username="ann").totp_salt
        assert User.objects.get(username="ann").is_active
        assert not AuditEvent.objects.filter(actor="bob", target="ann").exists()

    def test_command_resets_the_second_step(self, sandbox: World, device: Device) -> None:
        from click.testing import CliRunner

        from captious_server.commands import serve

        command = ["reset-second-step", "--data", str(sandbox.site.data), "--user"]
        assert CliRunner().invoke(serve, [*command, "ann"]).exit_code == 0
        assert sign_in(sandbox.site.client(), "ann")["Location"] == "/"
        assert "has no second step" in str(CliRunner().invoke(serve, [*command, "ann"]).exception)


class TestRequirement:
    @pytest.mark.parametrize(
        ("asked", "names"),
        [("nobody", set()), ("organizers", {"olga", "otto", "root"}), ("everybody", {"ann", "olga", "otto", "root"})],
    )
    def test_required_second_step_blocks_pages(self, sandbox: World, asked: str, names: set[str]) -> None:
        sandbox.site.configure(second_step_for=asked)
        for name in ("ann", "olga", "otto", "root"):
            client = sandbox.as_user(name)
            for address in ("/", "/account/", "/challenges/open/manage", "/admin/"):
                response = client.get(address)
                assert (response.get("Location") == "/account/second-step") is (name in names), (name, address)
            assert client.post("/teams/alpha/invite").get("Location") != "/account/second-step" or name in names
            assert client.get("/account/second-step").status_code == 200
            assert sandbox.call(name, "GET", "/api/v1/challenges/open/submissions").status_code == 200
        assert sandbox.site.client().get("/").status_code == 200

    def test_pages_open_after_setup(self, sandbox: World, clock: Clock) -> None:
        sandbox.site.configure(second_step_for="organizers")
        client = sandbox.as_user("olga")
        assert client.post("/challenges/open/manage", {})["Location"] == "/account/second-step"
        set_up(client, clock)
        assert client.get("/challenges/open/manage").status_code == 200

    def test_users_who_create_challenges_need_it(self, sandbox: World) -> None:
        from django.contrib.auth.models import Permission

        sandbox.site.configure(second_step_for="organizers")
        sandbox.users["bob"].user_permissions.add(Permission.objects.get(codename="add_challenge"))
        assert sandbox.as_user("bob").get("/")["Location"] == "/account/second-step"

    def test_sign_out_works_without_it(self, sandbox: World) -> None:
        sandbox.site.configure(second_step_for="everybody")
        client = sandbox.as_user("ann")
        assert client.post("/sign-out")["Location"] == "/"
        assert client.get("/").status_code == 200
