"""Signing in costs the server a bounded amount of work, and a changed password ends what was made with the old one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.server.security.test_sessions_and_passwords import is_signed_in, sign_in
from tests.server.security.world import World
from tests.support.site import PASSWORD

NEW = "another-horse-78"
NEW_TWICE = {"new_password1": NEW, "new_password2": NEW}


class TestAttempts:
    @pytest.mark.parametrize("page", ["/sign-in", "/admin/login/"])
    def test_one_address_cannot_try_many_names(self, undone: World, page: str) -> None:
        undone.site.configure(requests_per_minute=3)
        statuses = [self.attempt(undone, page, f"user-{n}").status_code for n in range(4)]
        assert statuses == [200, 200, 200, 429]
        refused = self.attempt(undone, page, "ann")
        assert refused.status_code == 429
        assert 1 <= int(refused["Retry-After"]) <= 60
        assert self.attempt(undone, page, "ann", address="10.0.0.2").status_code == 200

    def test_a_network_of_ipv6_counts_as_one_address(self, undone: World) -> None:
        undone.site.configure(requests_per_minute=3)
        statuses = [self.attempt(undone, address=f"2001:db8::{n}:1").status_code for n in range(4)]
        assert statuses[-1] == 429
        assert self.attempt(undone, address="2001:db8:0:1::1").status_code == 200
        assert self.attempt(undone, address="::ffff:10.0.0.9").status_code == 200

    @pytest.mark.parametrize("address", ["/account/password", "/account/reset"])
    def test_other_pages_about_passwords(self, undone: World, address: str) -> None:
        undone.site.configure(requests_per_minute=3)
        statuses = [undone.as_user(name).post(address).status_code for name in ("ann", "bob", "paul", "olga")]
        assert statuses == [200, 200, 200, 429]

    def attempt(self, world: World, page: str = "/sign-in", name: str = "ann", address: str = "10.0.0.1") -> Any:
        form = {"username": name, "password": "wrong"}
        return world.site.client().post(page, form, REMOTE_ADDR=address)


def test_hashes_that_run_and_wait_are_few_and_pages_go_on(undone: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.conf import settings
    from django.contrib.auth.hashers import PBKDF2PasswordHasher, make_password
    from django.test import override_settings

    from captious.server.people import passwords
    from captious.server.people.rates import TooManyRequests

    running, most, go_on, lock = 0, 0, threading.Event(), threading.Lock()

    def encode(*_: Any) -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        go_on.wait(60)
        with lock:
            running -= 1
        return "pbkdf2_sha256$1$salt$hash"

    monkeypatch.setattr(PBKDF2PasswordHasher, "encode", encode)
    places = passwords._places._value
    assert settings.CAPTIOUS.concurrent_passwords < places < settings.CAPTIOUS.web_threads
    with override_settings(PASSWORD_HASHERS=["captious.server.people.passwords.LimitedHasher"]):
        make_password(None)  # loads the hashers
        with ThreadPoolExecutor(places) as threads:
            hashes = [threads.submit(make_password, "x") for _ in range(places)]
            while passwords._places._value:
                go_on.wait(0.01)
            with pytest.raises(TooManyRequests):
                make_password("x")
            refused = sign_in(undone.site.client(), "nobody")
            assert (refused.status_code, refused["Retry-After"]) == (429, "5")
            assert undone.site.client().get("/challenges/open/leaderboard").status_code == 200
            go_on.set()
            assert all(hash.result() for hash in hashes)
        assert most == settings.CAPTIOUS.concurrent_passwords
        assert make_password("x")


class TestTokens:
    """What a new password ends. Whoever knew the old one may have made a token."""

    def change(self, world: World, **more: Any) -> None:
        form = {"old_password": PASSWORD, **NEW_TWICE, **more}
        assert world.as_user("ann").post("/account/password", form).status_code == 302

    def reset(self, world: World, **more: Any) -> None:
        from django.contrib.auth.tokens import default_token_generator
        from django.utils.encoding import force_bytes
        from django.utils.http import urlsafe_base64_encode

        ann = world.users["ann"]
        client, name = world.site.client(), urlsafe_base64_encode(force_bytes(ann.pk))
        form = client.get(f"/account/reset/{name}/{default_token_generator.make_token(ann)}/", follow=True)
        assert client.post(form.redirect_chain[-1][0], {**NEW_TWICE, **more}).status_code == 302

    def by_administrator(self, world: World) -> None:
        address = f"/admin/captious/user/{world.users['ann'].pk}/password/"
        form = {"password1": NEW, "password2": NEW, "usable_password": "true"}
        assert world.as_user("root").post(address, form).status_code == 302

    def by_command(self, world: World) -> None:
        from captious.server.operations.setup import make_administrator

        make_administrator("ann", NEW)

    @pytest.mark.parametrize("how", [change, reset, by_administrator, by_command])
    def test_sessions_and_tokens_end(self, undone: World, how: Callable[..., None]) -> None:
        elsewhere = undone.as_user("ann")
        how(self, undone)
        assert not is_signed_in(elsewhere)
        assert undone.call("ann", "GET", "/api/v1/challenges/open").status_code == 401
        assert undone.call("bob", "GET", "/api/v1/challenges/open").status_code == 200
        assert sign_in(undone.site.client(), "ann", NEW).status_code == 302

    @pytest.mark.parametrize("how", [change, reset])
    def test_tokens_can_be_kept(self, undone: World, how: Callable[..., None]) -> None:
        how(self, undone, keep_tokens="on")
        assert undone.call("ann", "GET", "/api/v1/challenges/open").status_code == 200

    def test_the_page_offers_it(self, world: World) -> None:
        text = world.as_user("ann").get("/account/password").content.decode()
        assert '<input type="checkbox" name="keep_tokens"' in text
        assert "checked" not in text
