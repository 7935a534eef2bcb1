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
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from django.test import Client

from captious_server.models import AuditEvent, User
from captious_server.settings import Provider
from server.tests.security.pages import Page
from server.tests.security.test_second_step import CODE_PAGE, Device
from server.tests.security.test_sessions_and_passwords import is_signed_in, sign_in
from server.tests.security.world import World
from server.tests.support.openid_provider import CLIENT, SECRET, OpenIDProvider
from server.tests.support.site import PASSWORD


@pytest.fixture(scope="module")
def running() -> Iterator[OpenIDProvider]:
    with OpenIDProvider() as started:
        yield started


@pytest.fixture
def provider(sandbox: World, running: OpenIDProvider) -> OpenIDProvider:
    """The provider, with which users of the site can sign in."""
    running.reset()
    configure(sandbox, local={"issuer": running.url, "title": "Local"})
    return running


def configure(world: World, **providers: dict[str, str]) -> None:
    made = {name: Provider(client_id=CLIENT, client_secret=SECRET, **values) for name, values in providers.items()}
    world.site.configure(sign_in=made)


def visit(client: Any, name: str = "local", *, to: str = "", query: str = "") -> str:
    """Go to the other site; the address to which it sends the user back."""
    response = client.post(f"/sign-in/with/{name}{query}", {"next": to} if to else {})
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


def connected(world: World, name: str, subject: str = "u-1") -> None:
    world.users[name].socialaccount_set.all().delete()
    world.users[name].socialaccount_set.create(provider="local", uid=subject)


def user_of(client: Any) -> str:
    return str(client.get("/account/").context["user"].username)


class TestSignIn:
    def test_connected_user_signs_in(self, sandbox: World, provider: OpenIDProvider) -> None:
        connected(sandbox, "ann")
        client = sandbox.site.client()
        assert "Sign in with Local" in client.get("/sign-in").content.decode()
        response = come_back(client, to="/challenges/open/leaderboard?sort=rouge-l")
        assert response["Location"] == "/challenges/open/leaderboard?sort=rouge-l"
        assert user_of(client) == "ann"
        event = AuditEvent.objects.first()
        assert (event.actor, event.action, event.detail) == ("ann", "sign in", "through Local")

    def test_new_account_has_no_password(self, sandbox: World, provider: OpenIDProvider) -> None:
        provider.user |= {"email": "zoe@example.org", "email_verified": True}
        client = sandbox.site.client()
        page = client.get(come_back(client, to="/challenges/open/")["Location"])
        assert 'value="zoe"' in page.content.decode()
        form = {"username": "Ann", "email": "zoe@example.org"}
        assert client.post("/sign-in/connect", form).status_code == 200  # taken
        assert client.post("/sign-in/connect", {**form, "username": "zoe"})["Location"] == "/challenges/open/"
        assert user_of(client) == "zoe"
        user = User.objects.get(username="zoe")
        assert (user.email, user.confirmed_email, user.has_usable_password()) == (*2 * ("zoe@example.org",), False)
        again = sandbox.site.client()
        assert come_back(again).status_code == 302
        assert user_of(again) == "zoe"
        assert sign_in(sandbox.site.client(), "zoe", "").status_code == 200
        assert again.get("/account/delete").status_code == 200
        details = {*AuditEvent.objects.values_list("detail", flat=True)}
        assert "through Local" in details
        assert not [text for text in details if "zoe" in text]  # who is deleted is not named any more
        again.post("/account/sites", {"account": user.socialaccount_set.get().pk})
        assert user.socialaccount_set.count() == 1  # the only way to sign in

    @pytest.mark.parametrize("verified", [False, None])
    def test_address_that_the_provider_has_not_verified_is_confirmed_first(
        self, sandbox: World, provider: OpenIDProvider, verified: bool | None
    ) -> None:
        sandbox.site.configure(email_url="smtp://mail.example.org")
        provider.user |= {"email": "zoe@example.org", "email_verified": verified}
        client = sandbox.site.client()
        come_back(client)
        form = {"username": "zoe", "email": "zoe@example.org"}
        assert client.post("/sign-in/connect", form)["Location"] == "/sign-in/confirm"
        assert not is_signed_in(client)

    @pytest.mark.parametrize("registration", ["approval", "closed"])
    def test_registration_setting_controls_new_accounts(
        self, sandbox: World, provider: OpenIDProvider, registration: str
    ) -> None:
        sandbox.site.configure(registration=registration)
        client = sandbox.site.client()
        come_back(client)
        client.post("/sign-in/connect", {"username": "zoe"})
        assert not is_signed_in(client)
        come_back(client)
        assert not is_signed_in(client)

    def test_inactive_account_is_refused(self, sandbox: World, provider: OpenIDProvider) -> None:
        connected(sandbox, "dora")
        client = sandbox.site.client()
        assert come_back(client)["Location"] == "/sign-in/inactive"
        assert not is_signed_in(client)

    def test_second_step_is_asked_for(self, sandbox: World, provider: OpenIDProvider) -> None:
        connected(sandbox, "ann")
        Device(sandbox.as_user("ann"))
        client = sandbox.site.client()
        assert come_back(client)["Location"] == CODE_PAGE
        assert not is_signed_in(client)

    def test_github_user_signs_in(
        self, sandbox: World, provider: OpenIDProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """GitHub offers OAuth 2.0 without an ID token."""
        for name, path in {
            "authorize_url": "/authorize",
            "access_token_url": "/token",
            "profile_url": "/user",
            "emails_url": "/emails",
        }.items():
            monkeypatch.setattr(GitHubOAuth2Adapter, name, f"{provider.url}{path}")
        configure(sandbox, github={"issuer": provider.url, "title": "GitHub"})
        monkeypatch.setattr(provider, "tokens", lambda *args: (200, {"access_token": "x", "token_type": "Bearer"}))
        client = sandbox.site.client()
        assert come_back(client, "github")["Location"] == "/sign-in/connect"
        assert client.post("/sign-in/connect", {"username": "octocat"})["Location"] == "/"
        assert SocialAccount.objects.get(uid="583231").user.username == "octocat"


class TestConnecting:
    def connect(self, client: Any) -> Any:
        return come_back(client, query="?process=connect")

    def subjects(self, world: World, name: str) -> set[str]:
        return {*world.users[name].socialaccount_set.values_list("uid", flat=True)}

    def test_connecting_needs_the_password(self, sandbox: World, provider: OpenIDProvider) -> None:
        client = sandbox.site.client(sandbox.users["ann"], proved=False)
        page = self.connect(client)["Location"]
        assert page == "/account/again/"
        client.post(page, {"password": "wrong"})
        assert self.subjects(sandbox, "ann") == {"ann"}
        assert client.post(page, {"password": PASSWORD})["Location"] == "/account/"
        assert self.subjects(sandbox, "ann") == {"ann", "u-1"}
        again = sandbox.site.client()
        come_back(again)
        assert user_of(again) == "ann"

    def test_mail_address_alone_connects_no_account(self, sandbox: World, provider: OpenIDProvider) -> None:
        """Otherwise anyone who gets the address verified elsewhere would get the account."""
        provider.user |= {"email": "ann@example.org", "email_verified": True, "preferred_username": "ann"}
        client = sandbox.site.client()
        assert come_back(client)["Location"] == "/sign-in/connect"
        for name in ("ann", "zoe"):
            client.post("/sign-in/connect", {"username": name, "email": "ann@example.org"})
            assert not is_signed_in(client) or user_of(client) == "zoe"
        assert self.subjects(sandbox, "ann") == {"ann"}

    def test_new_password_disconnects_sites(self, sandbox: World, provider: OpenIDProvider) -> None:
        """Whoever knew the old password may have connected an account."""
        new = "another-horse-78"
        form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
        with sandbox.rollback():
            sandbox.as_user("ann").post("/account/password", {**form, "keep_tokens": "on"})
            assert self.subjects(sandbox, "ann") == {"ann"}
        configure(sandbox, local={"issuer": provider.url, "title": "Local"})
        sandbox.as_user("ann").post("/account/password", form)
        assert self.subjects(sandbox, "ann") == set()


class TestAttacks:
    """An answer that is not the provider's to this browser signs nobody in."""

    @pytest.fixture(autouse=True)
    def ann_is_connected(self, sandbox: World, provider: OpenIDProvider) -> None:
        connected(sandbox, "ann")

    def is_refused(self, client: Any, response: Any) -> bool:
        return response.status_code == 401 and not is_signed_in(client)

    @pytest.mark.parametrize(
        "changes",
        [
            {"aud": "another-client"},
            {"aud": None},
            {"exp": 1_000_000_000},
            {"iat": 32_503_680_000},
            {"nbf": 32_503_680_000},
            {"iss": "https://elsewhere.example"},
            {"iss": None},
            {"sub": None},
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

    def test_clocks_may_differ_by_seconds(self, sandbox: World, provider: OpenIDProvider) -> None:
        for seconds, is_accepted in ((30, True), (-30, True), (90, False)):
            provider.changes = {"iat": int(time.time()) + seconds, "exp": int(time.time()) + seconds + 20}
            client = sandbox.site.client()
            assert self.is_refused(client, come_back(client)) != is_accepted

    def test_subjects_of_255_characters_are_accepted(
        self, sandbox: World, provider: OpenIDProvider, caplog: pytest.LogCaptureFixture
    ) -> None:
        for subject, is_accepted in (("z" * 255, True), ("z" * 256, False)):
            provider.changes = {"sub": subject}
            client = sandbox.site.client()
            assert self.is_refused(client, come_back(client)) != is_accepted
        assert "the ID token is not valid: its subject is too long" in caplog.text

    def test_document_of_another_issuer_is_refused(self, sandbox: World, provider: OpenIDProvider) -> None:
        provider.document = {"issuer": "https://elsewhere.example"}
        client = sandbox.site.client()
        assert self.is_refused(client, come_back(client))

    @pytest.mark.parametrize(
        "address", ["http://elsewhere.example/x", "javascript:alert(1)", "//elsewhere.example", "/x", "", 5, None]
    )
    @pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
    def test_endpoints_without_tls_are_refused(
        self, sandbox: World, provider: OpenIDProvider, name: str, address: Any
    ) -> None:
        """An issuer on this host may go without, but only for itself."""
        provider.document = {name: address}
        client = sandbox.site.client()
        if name == "authorization_endpoint":
            assert client.post("/sign-in/with/local").status_code in {400, 401}
        else:
            assert self.is_refused(client, come_back(client))

    @pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token", "/keys"])
    @pytest.mark.parametrize("how", ["large", "moved"])
    def test_large_or_redirected_answers_are_refused(
        self, sandbox: World, provider: OpenIDProvider, path: str, how: str
    ) -> None:
        setattr(provider, how, path)
        client = sandbox.site.client()
        if path.startswith("/."):
            assert client.post("/sign-in/with/local").status_code == 401
        else:
            assert self.is_refused(client, come_back(client))
        assert provider.sent < 32 << 20  # the rest was not taken

    def test_endless_answer_is_cut_off(
        self, sandbox: World, provider: OpenIDProvider, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from captious_server.people import sign_in

        monkeypatch.setattr(sign_in, "_MAX_SECONDS", -1)
        assert sandbox.site.client().post("/sign-in/with/local").status_code == 401

    def test_sign_in_starts_with_a_form_of_this_site(self, sandbox: World, provider: OpenIDProvider) -> None:
        """Otherwise another site could sign a browser in as somebody else."""
        client = Client(enforce_csrf_checks=True)
        assert client.get("/sign-in/with/local").status_code == 405
        assert client.post("/sign-in/with/local").status_code == 403
        assert provider.asked == []
        page = client.get("/sign-in").content.decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert client.post("/sign-in/with/local", {"csrfmiddlewaretoken": token[1]}).status_code == 200

    @pytest.mark.parametrize("url", ["http://localhost:1", "http://localhost:1/nothing"])
    def test_unreachable_provider_is_reported(self, sandbox: World, provider: OpenIDProvider, url: str) -> None:
        configure(sandbox, local={"issuer": url, "title": "Local"})
        response = sandbox.site.client().post("/sign-in/with/local")
        assert response.status_code == 401
        assert "or try later" in response.content.decode()

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

    def test_names_of_provider_users_run_no_script(self, sandbox: World, provider: OpenIDProvider) -> None:
        script = '"><script>alert(1)</script><img src=x onerror=alert(1)>\r\nX: y\u202e'
        provider.user = {"sub": "hostile", "preferred_username": script, "name": script}
        client = sandbox.as_user("bob")
        assert come_back(client, query="?process=connect").status_code == 302
        page = client.get("/account/sites").content.decode()
        assert "alert(1)" in page
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

    def test_sign_in_attempts_are_limited(self, sandbox: World, provider: OpenIDProvider) -> None:
        sandbox.site.configure(requests_per_minute=3)
        statuses = [sandbox.site.client().get("/sign-in/with/local/return").status_code for _ in range(4)]
        assert statuses[-1] == 429

    def test_identity_providers_are_off_by_default(self, sandbox: World) -> None:
        sandbox.site.configure(sign_in={})
        assert sandbox.site.client().get("/sign-in/with/local/return").status_code == 404
        for address in ("/sign-in/with/local", "/sign-in/with/orcid"):
            assert sandbox.site.client().post(address).status_code == 404
        assert "Sign in with Local" not in sandbox.site.client().get("/sign-in").content.decode()
