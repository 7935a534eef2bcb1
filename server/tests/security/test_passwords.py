"""Signing in costs the server a bounded amount of work, and a changed password ends what was made with the old one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.urls import resolve

from captious_server.operations.setup import make_administrator
from captious_server.people.turns import hashes_password
from server.tests.security.test_sessions_and_passwords import is_signed_in, sign_in
from server.tests.security.world import World
from server.tests.support.site import PASSWORD

NEW = "another-horse-78"
NEW_TWICE = {"password1": NEW, "password2": NEW}


class TestAttempts:
    def test_one_address_cannot_try_many_names(self, sandbox: World) -> None:
        sandbox.site.configure(requests_per_minute=3)
        statuses = [self.attempt(sandbox, name=f"user-{n}").status_code for n in range(4)]
        assert statuses == [200, 200, 200, 429]
        refused = self.attempt(sandbox)
        assert refused.status_code == 429
        assert 1 <= int(refused["Retry-After"]) <= 60
        assert self.attempt(sandbox, address="10.0.0.2").status_code == 200

    def test_ipv6_network_counts_as_one_address(self, sandbox: World) -> None:
        sandbox.site.configure(requests_per_minute=3)
        statuses = [self.attempt(sandbox, address=f"2001:db8::{n}:1").status_code for n in range(4)]
        assert statuses[-1] == 429
        assert self.attempt(sandbox, address="2001:db8:0:1::1").status_code == 200
        assert self.attempt(sandbox, address="::ffff:10.0.0.9").status_code == 200

    def test_passwords_of_an_account_are_limited(self, sandbox: World) -> None:
        sandbox.site.configure(requests_per_minute=3)
        statuses = [sandbox.as_user("ann").post("/account/password").status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 429]

    def attempt(self, world: World, page: str = "/sign-in", name: str = "ann", address: str = "10.0.0.1") -> Any:
        form = {"login": name, "password": "wrong"}
        return world.site.client().post(page, form, REMOTE_ADDR=address)


@pytest.mark.parametrize(
    ("path", "is_slow"),
    [
        ("/sign-in", True),
        ("/sign-up", True),
        ("/account/password", True),
        ("/account/again/", True),
        ("/account/password/set", True),
        ("/account/second-step/authenticate/", False),
        ("/admin/login/", False),  # leads to the page of the site
        ("/account/reset/1-set-password/", True),
        ("/admin/captious/user/add/", True),
        ("/admin/captious/user/1/password/", True),
        ("/account/", False),
        ("/account/reset", False),  # sends a mail
        ("/challenges/open/submit", False),
    ],
)
def test_password_pages_are_known_as_slow(set_up_site: Any, path: str, is_slow: bool) -> None:
    assert resolve(path)
    assert hashes_password("POST", path) == is_slow
    assert not hashes_password("GET", path)


class TestTokens:
    """What a new password ends: whoever knew the old one may have created a token."""

    def change(self, world: World, **more: Any) -> None:
        form = {"oldpassword": PASSWORD, **NEW_TWICE, **more}
        assert world.as_user("ann").post("/account/password", form).status_code == 302

    def reset(self, world: World, **more: Any) -> None:
        ann = world.users["ann"]
        client, key = world.site.client(), default_token_generator.make_token(ann)
        form = client.get(f"/account/reset/{user_pk_to_url_str(ann)}-{key}/", follow=True)
        assert client.post(form.redirect_chain[-1][0], {**NEW_TWICE, **more}).status_code == 302

    def by_administrator(self, world: World) -> None:
        address = f"/admin/captious/user/{world.users['ann'].pk}/password/"
        form = {"password1": NEW, "password2": NEW, "usable_password": "true"}
        assert world.as_user("root").post(address, form).status_code == 302

    def by_command(self, world: World) -> None:
        make_administrator("ann", NEW)

    def test_administrator_page_lists_what_a_new_password_ends(self, sandbox: World) -> None:
        page = sandbox.as_user("root").get(f"/admin/captious/user/{sandbox.users['ann'].pk}/password/").content.decode()
        assert "revokes its tokens (1), and disconnects the other sites through which it signs in (ann)" in page
        assert "passkeys (0) stay" in page
        self.by_administrator(sandbox)
        assert sandbox.users["ann"].socialaccount_set.count() == 0

    @pytest.mark.parametrize("how", [change, reset, by_administrator, by_command])
    def test_new_password_ends_sessions_and_tokens(self, sandbox: World, how: Callable[..., None]) -> None:
        elsewhere = sandbox.as_user("ann")
        how(self, sandbox)
        assert not is_signed_in(elsewhere)
        assert sandbox.call("ann", "GET", "/api/v1/challenges/open").status_code == 401
        assert sandbox.call("bob", "GET", "/api/v1/challenges/open").status_code == 200
        assert sign_in(sandbox.site.client(), "ann", NEW).status_code == 302

    @pytest.mark.parametrize("method", ["get", "post"])
    def test_administration_links_to_the_password_page_of_the_site(self, sandbox: World, method: str) -> None:
        """Django's own page would keep tokens, without a limit or audit events."""
        form = {"oldpassword": PASSWORD, **NEW_TWICE}
        response = getattr(sandbox.as_user("root"), method)("/admin/password_change/", form)
        assert response["Location"] == "/account/password"
        assert sign_in(sandbox.site.client(), "root").status_code == 302

    @pytest.mark.parametrize("how", [change, reset])
    def test_new_password_can_keep_tokens(self, sandbox: World, how: Callable[..., None]) -> None:
        how(self, sandbox, keep_tokens="on")
        assert sandbox.call("ann", "GET", "/api/v1/challenges/open").status_code == 200

    def test_password_page_offers_to_keep_tokens(self, world: World) -> None:
        text = world.as_user("ann").get("/account/password").content.decode()
        assert '<input type="checkbox" name="keep_tokens"' in text
        assert "checked" not in text.partition("</head>")[2]
