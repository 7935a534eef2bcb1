"""Signing in through other sites: who is let in, as whom, and what forged, replayed and lying answers achieve."""

from __future__ import annotations

import http.client
import re
import time
from collections.abc import Iterator
from html import escape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from server.tests.security import test_sessions_and_passwords as sessions
from server.tests.security.test_sessions_and_passwords import is_signed_in, sign_in
from server.tests.security.world import World
from server.tests.support.openid_provider import CLIENT, SECRET, OpenIDProvider
from server.tests.support.site import PASSWORD


@pytest.fixture(scope="module")
def running() -> Iterator[OpenIDProvider]:
    with OpenIDProvider() as started:
        yield started


@pytest.fixture
def provider(sandbox: World, running: OpenIDProvider) -> Iterator[OpenIDProvider]:
    """The provider, with which users of the site can sign in."""
    from captious_server.people import accounts

    running.reset()
    accounts._client.cache_clear()
    configure(sandbox, local={"issuer": running.url, "title": "Local"})
    yield running
    accounts._client.cache_clear()


def configure(world: World, **providers: dict[str, str]) -> None:
    from captious_server.settings import Provider

    made = {name: Provider(client_id=CLIENT, client_secret=SECRET, **values) for name, values in providers.items()}
    world.site.configure(sign_in=made)


def visit(client: Any, name: str = "local", *, to: str = "") -> str:
    """Go to the other site; the address to which it sends the user back."""
    response = client.post(f"/sign-in/with/{name}", {"next": to} if to else {})
    assert response.status_code == 200, response.content
    address = response.context["address"]
    assert response["Refresh"] == f'0;url="{address}"'
    assert f'href="{escape(address)}"' in response.content.decode()
    there = urlsplit(address)
    connection = http.client.HTTPConnection(there.netloc)
    connection.request("GET", f"{there.path}?{there.query}")
    location = connection.getresponse().headers["Location"]
    connection.close()
    back = urlsplit(location)
    assert back.netloc == "testserver"
    return f"{back.path}?{back.query}"


def come_back(client: Any, name: str = "local", **options: Any) -> Any:
    return client.get(visit(client, name, **options))


def connected(world: World, provider: OpenIDProvider, name: str, subject: str = "u-1") -> None:
    from captious_server.models import Identity

    user = world.users[name]
    Identity.objects.create(user=user, issuer=provider.url, subject=subject, label="Local: zoe")


def user_of(client: Any) -> str:
    return str(client.get("/account/").context["user"].username)


class TestSignIn:
    def test_connected_user_signs_in(self, sandbox: World, provider: OpenIDProvider) -> None:
        from captious_server.models import AuditEvent

        connected(sandbox, provider, "ann")
        client = sandbox.site.client()
        assert "Sign in with Local" in client.get("/sign-in").content.decode()
        response = come_back(client, to="/challenges/open/leaderboard?sort=rouge-l")
        assert response["Location"] == "/challenges/open/leaderboard?sort=rouge-l"
        assert user_of(client) == "ann"
        event = AuditEvent.objects.first()
        assert (event.actor, event.action, event.detail) == ("ann", "sign in", "through Local")

    def test_sign_in_changes_the_session(self, sandbox: World, provider: OpenIDProvider) -> None:
        connected(sandbox, provider, "ann")
        client = sandbox.site.client()
        back = visit(client)
        before = client.cookies["captious_session"].value
        client.get(back)
        assert client.cookies["captious_session"].value != before

    def test_new_account_has_no_password(self, sandbox: World, provider: OpenIDProvider) -> None:
        from captious_server.models import AuditEvent, User

        provider.user |= {"email": "zoe@example.org", "email_verified": True}
        client = sandbox.site.client()
        page = client.get(come_back(client, to="/challenges/open/")["Location"])
        assert 'value="zoe"' in page.content.decode()
        assert client.post("/sign-in/connect", {"username": "Ann"}).status_code == 422  # taken
        assert client.post("/sign-in/connect", {"username": "zoe"})["Location"] == "/challenges/open/"
        assert user_of(client) == "zoe"
        user = User.objects.get(username="zoe")
        assert (user.email, user.verified_email, user.has_usable_password()) == (*2 * ("zoe@example.org",), False)
        again = sandbox.site.client()
        assert come_back(again).status_code == 302
        assert user_of(again) == "zoe"
        assert sign_in(sandbox.site.client(), "zoe", "").status_code == 200
        assert again.get("/account/delete").status_code == 200
        details = {*AuditEvent.objects.values_list("detail", flat=True)}
        assert {"Local", "through Local"} <= details
        assert not [text for text in details if "zoe" in text]  # who is deleted is not named any more
        own = again.post(f"/account/identities/{user.identities.get().pk}/disconnect", follow=True)
        assert "your only way to sign in" in own.content.decode()
        assert user.identities.count() == 1

    @pytest.mark.parametrize(
        ("email", "verified"),
        [
            *(("zoe@example.org", verified) for verified in (False, None, "true", 1)),
            *((email, True) for email in ("zoe", "z@x.org\r\nBcc: a@x.org", f"{300 * 'z'}@x.org", ["z@x.org"], None)),
        ],
    )
    def test_mail_addresses_of_the_provider_are_not_stored(
        self, sandbox: World, provider: OpenIDProvider, email: Any, verified: Any
    ) -> None:
        from captious_server.models import User

        provider.user |= {"email": email, "email_verified": verified}
        client = sandbox.site.client()
        come_back(client)
        client.post("/sign-in/connect", {"username": "zoe"})
        assert User.objects.get(username="zoe").email == ""

    @pytest.mark.parametrize(("registration", "enters"), [("approval", False), ("closed", False)])
    def test_registration_setting_controls_new_accounts(
        self, sandbox: World, provider: OpenIDProvider, registration: str, enters: bool
    ) -> None:
        sandbox.site.configure(registration=registration)
        client = sandbox.site.client()
        come_back(client)
        client.post("/sign-in/connect", {"username": "zoe"})
        assert is_signed_in(client) is enters
        assert come_back(sandbox.site.client()).status_code == (403 if registration == "approval" else 302)

    def test_inactive_account_is_refused(self, sandbox: World, provider: OpenIDProvider) -> None:
        connected(sandbox, provider, "dora")
        client = sandbox.site.client()
        assert come_back(client).status_code == 403
        assert not is_signed_in(client)

    def test_users_of_another_issuer_are_distinct(self, sandbox: World, provider: OpenIDProvider) -> None:
        from captious_server.models import Identity

        connected(sandbox, provider, "ann")
        Identity.objects.update(issuer="https://elsewhere.example")
        assert come_back(sandbox.site.client())["Location"] == "/sign-in/connect"

    def test_github_user_signs_in(
        self, sandbox: World, provider: OpenIDProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """GitHub offers OAuth 2.0 without an ID token. Its mail address is not used."""
        from captious_server.models import Identity, User
        from captious_server.people import accounts

        monkeypatch.setattr(accounts, "_GITHUB", provider.url)
        monkeypatch.setattr(accounts, "_GITHUB_USER", f"{provider.url}/user")
        configure(sandbox, github={"issuer": provider.url, "title": "GitHub"})
        monkeypatch.setattr(provider, "tokens", lambda *args: (200, {"access_token": "x", "token_type": "Bearer"}))
        client = sandbox.site.client()
        assert come_back(client, "github")["Location"] == "/sign-in/connect"
        assert "scope" not in provider.asked[0]
        client.post("/sign-in/connect", {"username": "octocat"})
        assert Identity.objects.get(subject="583231").label == "GitHub: octocat"
        assert User.objects.get(username="octocat").email == ""


class TestConnecting:
    def test_connecting_needs_the_password(self, sandbox: World, provider: OpenIDProvider) -> None:
        client = sandbox.as_user("ann")
        page = come_back(client)
        assert page["Location"] == "/sign-in/connect"
        assert "Local: zoe" in client.get("/sign-in/connect").content.decode()
        assert client.post("/sign-in/connect", {"proof": "wrong"}).status_code == 422
        assert sandbox.users["ann"].identities.filter(issuer=provider.url).count() == 0
        assert client.post("/sign-in/connect", {"proof": PASSWORD}).status_code == 302
        again = sandbox.site.client()
        come_back(again)
        assert user_of(again) == "ann"

    def test_mail_address_alone_connects_no_account(self, sandbox: World, provider: OpenIDProvider) -> None:
        """Otherwise anyone who gets the address verified elsewhere would get the account."""
        provider.user |= {"email": "ann@example.org", "email_verified": True, "preferred_username": "ann"}
        client = sandbox.site.client()
        assert come_back(client)["Location"] == "/sign-in/connect"
        assert client.post("/sign-in/connect", {"username": "ann"}).status_code == 422
        assert not is_signed_in(client)
        assert sandbox.users["ann"].identities.filter(issuer=provider.url).count() == 0

    def test_identity_of_another_account_is_refused(self, sandbox: World, provider: OpenIDProvider) -> None:
        connected(sandbox, provider, "bob")
        client = sandbox.as_user("ann")
        assert come_back(client).status_code == 403
        assert user_of(client) == "ann"

    def test_accounts_cannot_share_an_identity(self, sandbox: World, provider: OpenIDProvider) -> None:
        from captious_server.models import Identity

        ann, bob = sandbox.as_user("ann"), sandbox.as_user("bob")
        come_back(ann)
        come_back(bob)
        bob.post("/sign-in/connect", {"proof": PASSWORD})
        page = ann.post("/sign-in/connect", {"proof": PASSWORD}, follow=True)
        assert "already connected to an account" in page.content.decode()
        assert Identity.objects.get(issuer=provider.url).user == sandbox.users["bob"]

    def test_pending_connection_expires(
        self, sandbox: World, provider: OpenIDProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client = sandbox.as_user("ann")
        come_back(client)
        later = time.time() + 601
        monkeypatch.setattr(time, "time", lambda: later)
        assert client.post("/sign-in/connect", {"proof": PASSWORD})["Location"] == "/account/"
        assert sandbox.users["ann"].identities.filter(issuer=provider.url).count() == 0

    def test_new_password_disconnects_identities(self, sandbox: World, provider: OpenIDProvider) -> None:
        """Whoever knew the old password may have connected an account."""
        connected(sandbox, provider, "ann")
        new = "another-horse-78"
        form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
        with sandbox.rollback():
            sandbox.as_user("ann").post("/account/password", {**form, "keep_tokens": "on"})
            assert sandbox.users["ann"].identities.filter(issuer=provider.url).count() == 1
        sandbox.as_user("ann").post("/account/password", form)
        assert sandbox.users["ann"].identities.count() == 0


class TestAttacks:
    """An answer that is not the provider's to this browser signs nobody in."""

    @pytest.fixture(autouse=True)
    def ann_is_connected(self, sandbox: World, provider: OpenIDProvider) -> None:
        connected(sandbox, provider, "ann")

    def is_refused(self, client: Any, response: Any) -> bool:
        return response.status_code == 403 and not is_signed_in(client)

    @pytest.mark.parametrize(
        "changes",
        [
            {"nonce": "another"},
            {"nonce": None},
            {"aud": "another-client"},
            {"aud": None},
            {"aud": [CLIENT, "another-client"], "azp": "another-client"},
            {"exp": 1_000_000_000},
            {"exp": None},
            {"iat": None},
            {"iat": 32_503_680_000},
            {"nbf": 32_503_680_000},
            {"iss": "https://elsewhere.example"},
            {"iss": None},
            {"sub": None},
            {"sub": ""},
            {"sub": 1},
            {"sub": ["u-1"]},
            {"sub": "u-1\0"},
            {"sub": 300 * "x"},
            {"at_hash": "another"},
        ],
        ids=str,
    )
    def test_wrong_claims_are_refused(self, sandbox: World, provider: OpenIDProvider, changes: dict[str, Any]) -> None:
        provider.changes = changes
        client = sandbox.site.client()
        assert self.is_refused(client, come_back(client))

    @pytest.mark.parametrize("signing", ["none", "stranger", "HS256", "missing"])
    def test_wrong_signatures_are_refused(self, sandbox: World, provider: OpenIDProvider, signing: str) -> None:
        provider.signing = signing
        client = sandbox.site.client()
        assert self.is_refused(client, come_back(client))

    def test_honest_answer_is_accepted(self, sandbox: World, provider: OpenIDProvider) -> None:
        client = sandbox.site.client()
        assert come_back(client).status_code == 302
        assert user_of(client) == "ann"

    @pytest.mark.parametrize("issuer", ["https://elsewhere.example", 5])
    def test_document_of_another_issuer_is_refused(
        self, sandbox: World, provider: OpenIDProvider, issuer: object
    ) -> None:
        provider.document = {"issuer": issuer}
        client = sandbox.site.client()
        assert client.post("/sign-in/with/local").status_code == 403

    @pytest.mark.parametrize(
        "address", ["http://elsewhere.example/x", "javascript:alert(1)", "//elsewhere.example", "/x", "", 5, None]
    )
    @pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
    def test_endpoints_without_tls_are_refused(
        self, sandbox: World, provider: OpenIDProvider, name: str, address: Any
    ) -> None:
        """An issuer on this host may go without, but only for itself."""
        provider.document = {name: address}
        assert sandbox.site.client().post("/sign-in/with/local").status_code == 403

    @pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token", "/keys"])
    @pytest.mark.parametrize("how", ["large", "moved"])
    def test_large_or_redirected_answers_are_refused(
        self, sandbox: World, provider: OpenIDProvider, path: str, how: str
    ) -> None:
        setattr(provider, how, path)
        client = sandbox.site.client()
        if path.startswith("/."):
            assert client.post("/sign-in/with/local").status_code == 403
        else:
            assert self.is_refused(client, come_back(client))
        assert provider.sent < 32 << 20  # the rest was not taken

    def test_endless_answer_is_cut_off(
        self, sandbox: World, provider: OpenIDProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from captious_server.people import accounts

        monkeypatch.setattr(accounts, "_MAX_SECONDS", -1)
        assert sandbox.site.client().post("/sign-in/with/local").status_code == 403

    def test_sign_in_starts_with_a_form_of_this_site(self, sandbox: World, provider: OpenIDProvider) -> None:
        """Otherwise another site could sign a browser in as somebody else."""
        client = sessions.strict_client()
        assert client.get("/sign-in/with/local").status_code == 405
        assert client.post("/sign-in/with/local").status_code == 403
        assert provider.asked == []
        page = client.get("/sign-in").content.decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token is not None
        assert client.post("/sign-in/with/local", {"csrfmiddlewaretoken": token[1]}).status_code == 200

    @pytest.mark.parametrize("url", ["http://localhost:1", "http://localhost:1/nothing"])
    def test_unreachable_provider_is_reported(self, sandbox: World, provider: OpenIDProvider, url: str) -> None:
        configure(sandbox, local={"issuer": url, "title": "Local"})
        response = sandbox.site.client().post("/sign-in/with/local")
        assert response.status_code == 403
        assert "Local cannot be reached at the moment" in response.content.decode()

    @pytest.mark.parametrize("state", ["", "wrong", None])
    def test_wrong_state_is_refused(self, sandbox: World, provider: OpenIDProvider, state: str | None) -> None:
        client = sandbox.site.client()
        back = visit(client)
        query = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
        query.pop("state")
        given = query if state is None else {**query, "state": state}
        assert self.is_refused(client, client.get(urlsplit(back).path, given))
        assert provider.token_requests == []

    def test_answer_to_another_browser_is_refused(self, sandbox: World, provider: OpenIDProvider) -> None:
        """Otherwise an attacker could sign somebody in as the attacker."""
        mallory, victim = sandbox.site.client(), sandbox.site.client()
        back = visit(mallory)
        visit(victim)
        assert self.is_refused(victim, victim.get(back))

    def test_stolen_code_is_refused(self, sandbox: World, provider: OpenIDProvider) -> None:
        """The state is that of the thief's own browser, whose verifier differs."""
        victim, thief = sandbox.site.client(), sandbox.site.client()
        code = parse_qs(urlsplit(visit(victim)).query)["code"][0]
        back = urlsplit(visit(thief))
        state = parse_qs(back.query)["state"][0]
        assert self.is_refused(thief, thief.get(back.path, {"code": code, "state": state}))

    def test_replayed_answer_is_refused(self, sandbox: World, provider: OpenIDProvider) -> None:
        client = sandbox.site.client()
        back = visit(client)
        assert client.get(back).status_code == 302
        client.post("/sign-out")
        assert self.is_refused(client, client.get(back))
        assert len(provider.token_requests) == 1

    def test_answer_of_another_provider_is_refused(self, sandbox: World, provider: OpenIDProvider) -> None:
        configure(sandbox, local={"issuer": provider.url}, other={"issuer": provider.url})
        client = sandbox.site.client()
        back = visit(client)
        assert self.is_refused(client, client.get(back.replace("/local/", "/other/")))

    def test_refusal_of_the_provider_is_reported(self, sandbox: World, provider: OpenIDProvider) -> None:
        client = sandbox.site.client()
        response = client.get("/sign-in/with/local/return", {"error": "access_denied", "error_description": "<b>x</b>"})
        assert self.is_refused(client, response)
        assert "<b>x" not in response.content.decode()

    def test_names_of_provider_users_are_cleaned(self, sandbox: World) -> None:
        from captious_server.people.accounts import _identity
        from captious_server.settings import Provider

        provider = Provider(issuer="https://id.example.org", client_id="c", client_secret="s", title="Site")
        odd = _identity(provider, "1", "a\ud800b", {})
        assert (odd["name"], odd["label"]) == ("ab", "Site: ab")
        assert _identity(provider, "1", ["a"], {"name": {}})["label"] == "Site: 1"

    def test_names_of_provider_users_run_no_script(self, sandbox: World, provider: OpenIDProvider) -> None:
        from server.tests.security.pages import Page

        script = '"><script>alert(1)</script><img src=x onerror=alert(1)>\r\nX: y\u202e'
        provider.user = {"sub": "hostile", "preferred_username": script, "name": script}
        client = sandbox.as_user("bob")
        assert come_back(client).status_code == 302
        assert Page(client.get("/sign-in/connect").content.decode()).dangers == []
        assert client.post("/sign-in/connect", {"proof": PASSWORD}).status_code == 302
        page = client.get("/account/").content.decode()
        assert "alert(1)" in page
        assert "\u202e" not in page
        assert Page(page).dangers == []
        visitor = sandbox.site.client()
        provider.user["sub"] = "another"
        assert Page(visitor.get(come_back(visitor)["Location"]).content.decode()).dangers == []

    def test_secret_and_verifier_are_not_sent_to_browsers(self, sandbox: World, provider: OpenIDProvider) -> None:
        client = sandbox.site.client()
        come_back(client)
        [asked], [form] = provider.asked, provider.token_requests
        assert asked["code_challenge_method"] == "S256"
        assert asked["redirect_uri"] == "http://testserver/sign-in/with/local/return"
        assert form["code_verifier"] not in str(asked)
        assert SECRET not in str(asked)

    @pytest.mark.parametrize("to", sessions.TestRedirects.ELSEWHERE)
    def test_next_stays_on_the_site(self, sandbox: World, provider: OpenIDProvider, to: str) -> None:
        place = come_back(sandbox.site.client(), to=to)["Location"]
        assert "evil" not in place or place == "evil"
        assert not place.startswith(("//", "/\\", "http", "javascript", "data"))

    def test_sign_in_attempts_are_limited(self, sandbox: World, provider: OpenIDProvider) -> None:
        sandbox.site.configure(requests_per_minute=3)
        statuses = [sandbox.site.client().get("/sign-in/with/local/return").status_code for _ in range(4)]
        assert statuses[-1] == 429

    def test_identity_providers_are_off_by_default(self, sandbox: World) -> None:
        sandbox.site.configure(sign_in={})
        assert sandbox.site.client().get("/sign-in/with/local/return").status_code == 404
        for address in ("/sign-in/with/local", "/sign-in/with/orcid"):
            assert sandbox.site.client().post(address).status_code == 404
        assert "Sign in with" not in sandbox.site.client().get("/sign-in").content.decode()
