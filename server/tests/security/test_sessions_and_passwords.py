"""Forged requests, stolen and guessed sessions, passwords and tokens, and links that lead elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest
from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.cache import cache
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from captious.errors import ParameterError
from captious_server.models import AuditEvent, Invitation, Membership, Notice, Submission, Token, User, Webhook
from captious_server.people.accounts import make_invitation
from captious_server.settings import ServerSettings
from server.tests.security.pages import Page
from server.tests.security.test_access import addresses
from server.tests.security.world import World, upload
from server.tests.support.site import PASSWORD, delivered
from tests.support.selection import slow_but

NEW_TOKEN = {"action": "token", "token-name": "new"}


def sign_in(client: Any, name: str, password: str = PASSWORD, **options: Any) -> Any:
    return client.post("/sign-in", {"login": name, "password": password}, **options)


def is_signed_in(client: Any) -> bool:
    return bool(client.get("/account/").status_code == 200)


class TestForgery:
    @pytest.mark.parametrize("role", slow_but("olga", ("ann", "olga", "root")))
    def test_get_changes_nothing(self, world: World, role: str) -> None:
        """Every effect needs a POST."""

        def state() -> list[Any]:
            rows = list(Submission.objects.order_by("pk").values_list("pk", "status", "method"))
            return [rows, *(model.objects.count() for model in (AuditEvent, Invitation, Membership, Token))]

        before = state()
        for address in addresses(world, api=False):
            if "/file" not in address:
                world.as_user(role).get(address)
        assert state() == before

    @pytest.mark.parametrize("kind", ["address", "reset"])
    def test_link_of_another_account_signs_nobody_out(self, sandbox: World, kind: str) -> None:
        """Anyone can have an image of a page lead there; sending the form signs out whoever is signed in."""
        bob = sandbox.users["bob"]
        if kind == "address":
            row = EmailAddress.objects.create(user=bob, email="new@example.org")
            link = f"/account/address/{EmailConfirmationHMAC.create(row).key}"
        else:
            link = f"/account/reset/{user_pk_to_url_str(bob)}-{default_token_generator.make_token(bob)}/"
        client = sandbox.as_user("ann")
        page = client.get(link, follow=True)
        assert page.status_code == 200
        assert is_signed_in(client)
        new = {"password1": "another-horse-78", "password2": "another-horse-78"}
        assert client.post(page.request["PATH_INFO"], new).status_code == 302
        assert not is_signed_in(client)
        if kind == "address":
            assert bob.emailaddress_set.get().email == "new@example.org"
        else:
            assert sign_in(sandbox.site.client(), "bob", "another-horse-78").status_code == 302


class TestSessions:
    def test_invalid_session_cookie_does_not_reach_the_database(self, sandbox: World) -> None:
        """PostgreSQL fails on NUL, which a quoted cookie can contain."""
        for cookie, asks in (('"\\000aaaaaaaa"', False), ("' OR 1=1 --", False), ("a" * 32, True)):
            with CaptureQueriesContext(connection) as queries:
                response = sandbox.site.client().get("/account/", HTTP_COOKIE=f"captious_session={cookie}")
            assert response.status_code == 302
            assert any("django_session" in query["sql"] for query in queries) is asks

    def test_cookies_have_secure_flags(self, sandbox: World) -> None:
        client = sandbox.site.client()
        client.get("/sign-in")
        sign_in(client, "ann")
        for name in ("captious_session", "captious_csrf"):
            assert client.cookies[name]["httponly"]
            assert client.cookies[name]["samesite"] == "Lax"
            assert not client.cookies[name]["domain"]

    def test_cookies_are_secure_with_https(self, tmp_path: Path) -> None:
        """The setting is read at start, so this runs in a new process."""
        (tmp_path / "captious.toml").write_text("https = true\nbehind_proxy = true\n")
        program = (
            "from captious_server.operations.setup import set_up; from pathlib import Path; "
            f"set_up(Path({str(tmp_path)!r}), make=True); from django.conf import settings as s; "
            "print(s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE, s.SECURE_HSTS_SECONDS > 0, s.SECURE_PROXY_SSL_HEADER)"
        )
        environment = {key: value for key, value in os.environ.items() if not key.startswith("CAPTIOUS_SERVER_")}
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
        assert done.stdout.strip() == "True True True ('HTTP_X_FORWARDED_PROTO', 'https')", done.stderr

    def test_deactivation_ends_sessions_and_tokens(self, sandbox: World) -> None:
        client = sandbox.as_user("ann")
        assert is_signed_in(client)
        assert sandbox.call("ann", "GET", "/api/v1/challenges/open/submissions").status_code == 200
        User.objects.filter(username="ann").update(is_active=False)
        assert not is_signed_in(client)
        assert sandbox.call("ann", "GET", "/api/v1/challenges/open/submissions").status_code == 401
        assert sign_in(sandbox.site.client(), "ann")["Location"] == "/sign-in/inactive"

    def test_names_of_accounts_are_not_revealed(self, sandbox: World) -> None:
        answers = []
        for name, password in (("dora", "wrong"), ("ann", "wrong"), ("nobody", "wrong")):
            text = sign_in(sandbox.site.client(), name, password).content.decode()
            text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", text)
            answers.append(text.replace(f'value="{name}"', ""))
        assert len(set(answers)) == 1

    def test_question_for_a_passkey_makes_a_short_session(self, sandbox: World) -> None:
        """The page that asks for it is for everybody; a visitor without scripts gets no session."""
        client, address = sandbox.site.client(), "/account/second-step/webauthn/login/"
        before = Session.objects.count()
        assert client.get(address).status_code == 302
        assert Session.objects.count() == before
        question = client.get(address, HTTP_ACCEPT="application/json").json()["request_options"]
        assert question["publicKey"]["challenge"]
        assert client.session.get_expiry_age() <= 600


class TestGuessing:
    """Wrong passwords lock an account for an address for a while."""

    def guess(self, world: World, *names: str, **options: Any) -> None:
        for i in range(settings.CAPTIOUS.wrong_passwords):
            assert sign_in(world.site.client(), names[i % len(names)], "wrong", **options).status_code == 200

    def is_locked(self, world: World, name: str = "ann", **options: Any) -> bool:
        return "Too many failed login attempts" in sign_in(world.site.client(), name, **options).content.decode()

    def test_account_is_locked_for_an_address(self, sandbox: World) -> None:
        guesser = {"REMOTE_ADDR": "10.0.0.1"}
        self.guess(sandbox, "ann", **guesser)
        assert self.is_locked(sandbox, **guesser)  # now even with the right password
        assert not self.is_locked(sandbox, "bob", **guesser)  # others behind the same address
        assert not self.is_locked(sandbox, REMOTE_ADDR="10.0.0.2")

    def test_names_of_one_account_count_as_one(self, sandbox: World) -> None:
        self.guess(sandbox, "ann", " ann ", "ANN", "ann\u3000")
        assert self.is_locked(sandbox)

    @pytest.mark.parametrize("page", ["/account/password", "/account/again/"])
    def test_guesses_in_an_open_browser_count_as_well(self, sandbox: World, page: str) -> None:
        new = {"password1": "another-horse-78", "password2": "another-horse-78"}
        client = sandbox.as_user("ann")
        for _ in range(settings.CAPTIOUS.wrong_passwords):
            assert client.post(page, {"oldpassword": "wrong", "password": "wrong", **new}).status_code == 200
        page_after = client.post(page, {"oldpassword": PASSWORD, "password": PASSWORD, **new}).content.decode()
        assert "Too many failed login attempts" in page_after
        assert self.is_locked(sandbox)

    def test_every_name_of_the_site_counts_the_same(self, sandbox: World) -> None:
        """Senders choose the port that a request names, and the host where any is allowed."""
        for i in range(settings.CAPTIOUS.wrong_passwords):
            sign_in(sandbox.site.client(), "ann", "wrong", HTTP_HOST=f"testserver:{1000 + i}")
        assert self.is_locked(sandbox)

    def test_processes_count_together(self) -> None:
        """The counts are in the database, not in the memory of a process."""
        assert settings.CACHES["default"]["BACKEND"] == "django.core.cache.backends.db.DatabaseCache"

    @pytest.mark.parametrize(("behind_proxy", "locked"), [(False, True), (True, False)])
    def test_forwarded_addresses_count_only_with_a_proxy(
        self, sandbox: World, behind_proxy: bool, locked: bool
    ) -> None:
        sandbox.site.configure(behind_proxy=behind_proxy)
        for i in range(settings.CAPTIOUS.wrong_passwords):
            sign_in(sandbox.site.client(), "ann", "wrong", HTTP_X_FORWARDED_FOR=f"10.1.1.{i}")
        assert self.is_locked(sandbox, HTTP_X_FORWARDED_FOR="10.1.2.1") is locked


class TestTokens:
    def test_only_hashes_are_stored(self, sandbox: World) -> None:
        client = sandbox.as_user("ann")
        assert client.post("/account/", NEW_TOKEN).status_code == 302
        stored = " ".join(session.session_data for session in Session.objects.all())
        sessions = str([session.get_decoded() for session in Session.objects.all()])
        page = client.get("/account/")
        secret = page.context["new_token"]
        assert secret in page.content.decode()
        rows = str([*Token.objects.values(), *Invitation.objects.values()])
        assert secret not in rows + sessions + stored
        assert sandbox.tokens["ann"] not in rows
        assert sandbox.invitation not in rows
        assert sandbox.tokens["ann"][:10] in rows
        assert secret not in client.get("/account/").content.decode()  # once

    def test_new_token_needs_the_password(self, sandbox: World) -> None:
        """A token outlives the session of an unattended browser."""
        before = Token.objects.count()
        client = sandbox.site.client(sandbox.users["ann"], proved=False)
        page = client.post("/account/", NEW_TOKEN)["Location"]
        assert page.startswith("/account/again/")
        assert client.post(page, {"password": "wrong"}).status_code == 200
        assert Token.objects.count() == before
        assert client.post(page, {"password": PASSWORD})["Location"] == "/account/"
        assert Token.objects.count() == before + 1
        assert client.get("/account/").context["new_token"]

    @pytest.mark.parametrize(
        ("name", "path", "form"),
        [
            ("ann", "/teams/alpha/invite", {"label": "Desk"}),
            ("olga", "/challenges/open/manage", {"action": "webhook", "url": "https://hooks.example.org/1"}),
        ],
    )
    def test_what_outlives_a_session_needs_the_password(
        self, sandbox: World, name: str, path: str, form: dict[str, str]
    ) -> None:
        def count() -> int:
            return int(Invitation.objects.count() + Webhook.objects.count())

        before, client = count(), sandbox.site.client(sandbox.users[name], proved=False)
        page = client.post(path, form)["Location"]
        assert page.startswith("/account/again/")
        assert count() == before
        assert client.post(page, {"password": PASSWORD}).status_code == 302
        assert count() == before + 1

    @pytest.mark.parametrize(
        "path",
        [
            "/account/delete",
            "/account/address",
            "/account/second-step/totp/activate/",
            "/account/second-step/webauthn/add/",
            "/account/second-step/recovery-codes/generate/",
        ],
    )
    def test_changes_of_the_account_need_the_password(self, sandbox: World, path: str) -> None:
        client = sandbox.site.client(sandbox.users["ann"], proved=False)
        form = {"name": "ann", "action_add": "1", "email": "new@example.org"}
        assert client.post(path, form)["Location"].startswith("/account/again/")
        assert is_signed_in(client)

    def test_new_token_is_shown_to_its_owner_only(self, sandbox: World) -> None:
        response = sandbox.as_user("ann").post("/account/", NEW_TOKEN)
        cookie = response.cookies["captious_shown_once"]
        assert cookie["httponly"]
        assert cookie["samesite"] == "Strict"
        assert cookie["path"] == "/account/"
        assert response["Cache-Control"] == "private, no-store"

    def test_revoked_token_is_refused(self, sandbox: World) -> None:
        address = "/api/v1/challenges/open/submissions"
        token = Token.objects.get(user=sandbox.users["ann"])
        assert sandbox.call("ann", "GET", address).status_code == 200
        sandbox.as_user("ann").post(f"/account/tokens/{token.pk}/revoke")
        assert sandbox.call("ann", "GET", address).status_code == 401

    @pytest.mark.parametrize(
        "header",
        [
            "Bearer",
            "Bearer ",
            "Bearer wrong",
            "Basic YW5uOng=",
            "bearer\tx",
            "Bearer é",
            "Bearer " + 5000 * "x",
            "x y z",
        ],
    )
    def test_malformed_authorization_is_refused(self, world: World, header: str) -> None:
        response = world.as_user("root").get("/api/v1/challenges/open", headers={"Authorization": header})
        assert response.status_code == 401

    def test_hash_is_not_a_token(self, world: World) -> None:
        token = Token.objects.get(user=world.users["ann"])
        for text in (token.hash, token.prefix):
            headers = {"Authorization": f"Bearer {text}"}
            assert world.as_user("visitor").get("/api/v1/challenges/open", headers=headers).status_code == 401

    def test_tokens_differ_in_every_character(self, world: World) -> None:
        token = world.tokens["ann"]
        for text in (token[:-1], token + "x", token.swapcase(), token[:-1] + ("a" if token[-1] != "a" else "b")):
            headers = {"Authorization": f"Bearer {text}"}
            assert world.as_user("visitor").get("/api/v1/challenges/open", headers=headers).status_code == 401


@pytest.mark.parametrize("secret", ["a/b", "cap_made-up", "of mia", "an invitation of Beta"])
def test_planted_secrets_are_not_shown_as_new(sandbox: World, secret: str) -> None:
    """Other sites of a domain can set cookies, and nobody should use or share an attacker's token or link."""
    secrets = {
        "of mia": sandbox.tokens["mia"],
        "an invitation of Beta": make_invitation(sandbox.beta, sandbox.users["bob"]),
    }
    client = sandbox.as_user("ann")
    client.cookies["captious_shown_once"] = secrets.get(secret, secret)
    for address, name in (("/account/", "new_token"), ("/teams/alpha/", "invitation_url")):
        page = client.get(address)
        assert (page.status_code, page.context[name]) == (200, None)
        client.cookies["captious_shown_once"] = secrets.get(secret, secret)


class TestRedirects:
    ELSEWHERE = (
        "https://evil.example",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https:evil.example",
        "http:///evil.example",
        "javascript:alert(1)",
        " https://evil.example",
        "\x00//evil.example",
        "\t//evil.example",
        "https://testserver@evil.example",
        "https://testserver.evil.example",
        "evil",
        "captious:nothing",
        "data:text/html,x",
    )

    @pytest.mark.parametrize("to", ELSEWHERE)
    def test_next_stays_on_the_site(self, sandbox: World, to: str) -> None:
        forms = {
            "/sign-in": {"login": "ann", "password": PASSWORD},
            "/sign-up": {"username": "carla", "password1": "another-horse-78", "password2": "another-horse-78"},
            "/sign-out": {},
        }
        for address, form in forms.items():
            response = sandbox.site.client().post(address, {**form, "next": to})
            assert response.status_code == 302, address
            place = response["Location"]
            assert "evil" not in place or place in {"evil", "/evil"}, (address, place)
            assert not place.startswith(("//", "/\\", "http", "javascript", "data"))

    def test_next_is_followed_on_the_site(self, sandbox: World) -> None:
        to = "/challenges/open/leaderboard?sort=rouge-l"
        form = {"login": "ann", "password": PASSWORD, "next": to}
        assert sandbox.site.client().post("/sign-in", form)["Location"] == to

    def test_next_runs_no_script(self, sandbox: World) -> None:
        for address in ("/sign-in", "/sign-up"):
            text = sandbox.site.client().get(address, {"next": '"><script>alert(1)</script>'}).content.decode()
            assert Page(text).dangers == []


class TestHosts:
    def test_mail_needs_configured_hosts(self, tmp_path: Path) -> None:
        """Otherwise the sender of a reset request chooses the site that the link leads to."""
        mail = {"CAPTIOUS_SERVER_EMAIL_URL": "smtp://mail.example.org"}
        with pytest.raises(ParameterError, match="host names"):
            ServerSettings.load(tmp_path, mail)
        named = ServerSettings.load(tmp_path, {**mail, "CAPTIOUS_SERVER_HOSTS": "captions.example.org"})
        assert named.hosts == ("captions.example.org",)

    def test_forwarded_hosts_are_ignored(self, sandbox: World) -> None:
        with override_settings(ALLOWED_HOSTS=["captions.example.org"]):
            forged = {"HTTP_HOST": "captions.example.org", "HTTP_X_FORWARDED_HOST": "evil.example"}
            forged |= {"HTTP_X_FORWARDED_SERVER": "evil.example", "HTTP_FORWARDED": "host=evil.example"}
            form = {"email": "ann@example.org"}
            assert sandbox.site.client().post("/account/reset", form, **forged).status_code == 302
            [message] = delivered()
            assert "http://captions.example.org/account/reset/" in message.body
            assert "evil" not in message.body
            client = sandbox.as_user("ann")
            client.post("/teams/alpha/invite", **forged)
            page = client.get("/teams/alpha/", **forged)
            assert page.context["invitation_url"].startswith("http://captions.example.org/teams/join/")


class TestResets:
    def reset(self, world: World, email: str = "ann@example.org") -> tuple[str, list[str]]:
        """What the page says, and the links in mail."""
        client = world.site.client()
        text = client.post("/account/reset", {"email": email}, follow=True).content.decode()
        link = re.compile(r"http://testserver(/account/reset/\S+)")
        return text, [match for each in delivered() for match in link.findall(each.body)]

    def use(self, world: World, link: str, password: str = "another-horse-78") -> Any:
        client = world.site.client()
        form = client.get(link, follow=True)
        address = form.redirect_chain[-1][0] if form.redirect_chain else link
        return client.post(address, {"password1": password, "password2": password})

    def test_links_are_sent_to_confirmed_addresses_only(self, sandbox: World) -> None:
        EmailAddress.objects.filter(email="bob@example.org").update(verified=False)
        assert self.reset(sandbox, "bob@example.org")[1] == []
        assert len(self.reset(sandbox, "ann@example.org")[1]) == 1

    def test_address_that_an_administrator_replaced_gets_no_link(self, sandbox: World) -> None:
        ann, root = sandbox.users["ann"], sandbox.as_user("root")
        address = f"/admin/captious/user/{ann.pk}/change/"
        initial = root.get(address).context["adminform"].form.initial
        form = {"username": "ann", "is_active": "on", "date_joined_0": "2020-01-01", "date_joined_1": "00:00"}
        assert root.post(address, {**form, "email": initial["email"]}).status_code == 302
        assert len(self.reset(sandbox)[1]) == 1
        cache.clear()
        assert root.post(address, {**form, "email": "Ann@New.example"}).status_code == 302
        assert self.reset(sandbox)[1] == self.reset(sandbox, "ann@new.example")[1] == []
        assert [*ann.emailaddress_set.all()] == []

    def test_reset_page_does_not_reveal_accounts(self, sandbox: World) -> None:
        emails = ("ann@example.org", "dora@example.org", "nobody@example.org")
        answers = {email: self.reset(sandbox, email) for email in emails}
        assert len({re.sub(r'value="\w{64}"', "", text) for text, _ in answers.values()}) == 1
        assert [len(links) for _, links in answers.values()] == [1, 0, 0]

    def test_reset_mails_per_account_are_limited(self, sandbox: World) -> None:
        """The page says the same of addresses that no account has, and other accounts get their mail."""
        [link] = self.reset(sandbox)[1]
        self.reset(sandbox, "nobody@example.org")
        texts = [self.reset(sandbox, email) for email in ("ANN@example.org", "nobody@example.org")]
        assert [links for _, links in texts] == [[], []]
        assert texts[0][0] == texts[1][0]
        assert "Too many requests" in texts[0][0]
        assert len(self.reset(sandbox, "bob@example.org")[1]) == 1
        assert self.use(sandbox, link).status_code == 302

    def test_reset_mail_is_sent_by_a_worker(self, sandbox: World) -> None:
        """Not within the request, the time of which would tell whether the address is that of an account."""
        mail.outbox.clear()
        assert sandbox.site.client().post("/account/reset", {"email": "ann@example.org"}).status_code == 302
        assert mail.outbox == []
        [notice] = Notice.objects.filter(event="account")
        assert (notice.address, notice.user) == ("ann@example.org", None)
        [message] = delivered()
        assert message.to == ["ann@example.org"]
        assert not Notice.objects.filter(event="account").exists()  # a link is not kept

    def test_links_in_mail_begin_with_the_address_of_the_site(self, sandbox: World) -> None:
        """Senders of requests choose the port of their ``Host``."""
        sandbox.site.configure(hosts=("captions.example.org",), site_url="https://captions.example.org")
        with override_settings(ALLOWED_HOSTS=["captions.example.org"]):
            form, host = {"email": "ann@example.org"}, "captions.example.org:8443"
            assert sandbox.site.client().post("/account/reset", form, HTTP_HOST=host).status_code == 302
        [message] = delivered()
        assert "https://captions.example.org/account/reset/" in message.body
        assert "8443" not in message.body

    def test_new_password_tells_of_passkeys(self, sandbox: World) -> None:
        """They stay, as mail alone must not turn off a second step."""
        [link] = self.reset(sandbox)[1]
        Authenticator.objects.create(user=sandbox.users["ann"], type="webauthn", data={"name": "Laptop"})
        client = sandbox.site.client()
        form = client.get(link)["Location"]
        passwords = {"password1": "another-horse-78", "password2": "another-horse-78"}
        page = client.post(form, passwords, follow=True).content.decode()
        assert "Passkeys and security keys still sign in to your account: 1." in page
        assert 'href="/account/second-step/webauthn/"' in page
        assert sandbox.users["ann"].authenticator_set.count() == 1

    def test_reset_link_of_an_administrator_works_once(self, sandbox: World) -> None:
        form = {"action": "reset_link", "_selected_action": [sandbox.users["ann"].pk]}
        page = sandbox.as_user("root").post("/admin/captious/user/", form, follow=True)
        link = re.search(r"http://testserver(/account/reset/[\w/-]+)", page.content.decode())
        assert self.use(sandbox, link[1]).status_code == 302
        assert self.use(sandbox, link[1]).status_code == 200

    def test_deactivated_accounts_are_closed_until_they_are_activated(self, sandbox: World) -> None:
        """Administrators never close their own account, which nobody else might open again."""
        chosen = [sandbox.users[name].pk for name in ("ann", "root")]
        ann, url = sandbox.site.client(sandbox.users["ann"]), "/admin/captious/user/"
        assert is_signed_in(ann)
        sandbox.as_user("root").post(url, {"action": "deactivate", "_selected_action": chosen})
        assert not is_signed_in(ann)
        assert sandbox.call("ann", "GET", "/api/v1/challenges").status_code == 401
        assert not is_signed_in(self.signed_in(sandbox))
        assert is_signed_in(sandbox.as_user("root"))
        sandbox.as_user("root").post(url, {"action": "activate", "_selected_action": chosen})
        assert is_signed_in(self.signed_in(sandbox))
        events = AuditEvent.objects.filter(target="ann", action__endswith="activate").order_by("pk")
        assert [*events.values_list("actor", "action")] == [("root", "deactivate"), ("root", "activate")]

    @staticmethod
    def signed_in(world: World) -> Any:
        """A new browser in which somebody has tried to sign in as ann."""
        client = world.site.client()
        sign_in(client, "ann")
        return client

    def test_reset_page_without_mail_names_the_administrator(self, sandbox: World) -> None:
        client = sandbox.site.client()
        assert "administrator" not in client.get("/account/reset").content.decode()
        with override_settings(EMAIL_BACKEND="django.core.mail.backends.dummy.EmailBackend"):
            text = client.get("/account/reset").content.decode()
            assert "Ask the administrator for a reset link" in text
            assert "We will send" not in text


class TestSignUp:
    """Where mail is sent, an address must be confirmed before its owner can sign in."""

    FORM: ClassVar = {"username": "eve", "email": "eve@example.org", "password1": PASSWORD, "password2": PASSWORD}

    def test_address_is_confirmed_first(self, sandbox: World) -> None:
        sandbox.site.configure(email_url="smtp://mail.example.org")
        client = sandbox.site.client()
        assert client.post("/sign-up", self.FORM)["Location"] == "/sign-in/confirm"
        assert not is_signed_in(client)
        assert sign_in(client, "eve")["Location"] == "/sign-in/confirm"
        [message] = delivered()
        link = re.search(r"http://testserver(/account/address/\S+)", message.body)
        client.get(link[1])  # programs that follow links confirm nothing
        assert User.objects.get(username="eve").confirmed_email == ""
        assert client.post(link[1]).status_code == 302
        assert User.objects.get(username="eve").confirmed_email == "eve@example.org"
        assert sign_in(client, "eve")["Location"] == "/"
        assert is_signed_in(client)

    @pytest.mark.parametrize("registration", ["open", "approval"])
    def test_taken_address_is_not_revealed(self, sandbox: World, registration: str) -> None:
        """Its owner gets a mail without a link, and the site says the same as otherwise, then and later."""
        sandbox.site.configure(email_url="smtp://mail.example.org", registration=registration)
        answers = []
        for number, email in enumerate(("ann@example.org", "new@example.org")):
            client = sandbox.site.client()
            form = {**self.FORM, "username": f"eve{number}", "email": email}
            signed_up = client.post("/sign-up", form, follow=True)
            signed_in = client.post("/sign-in", {"login": form["username"], "password": PASSWORD}, follow=True)
            taken = client.post("/sign-up", form)
            texts = [re.sub(r'value="\w{64}"', "", answer.content.decode()) for answer in (signed_up, signed_in, taken)]
            answers.append([text.replace(email, "").replace(form["username"], "") for text in texts])
        assert answers[0] == answers[1]
        if registration == "open":
            sent = delivered()
            assert [message.to for message in sent] == [["ann@example.org"], ["new@example.org"]]
            assert ["/account/address/" in message.body for message in sent] == [False, True]

    def test_new_address_that_is_taken_is_not_revealed(self, sandbox: World) -> None:
        sandbox.site.configure(email_url="smtp://mail.example.org")
        answers = []
        for email in ("ann@example.org", "new@example.org"):
            page = sandbox.as_user("bob").post("/account/address", {"action_add": "1", "email": email}, follow=True)
            answers.append(re.sub(r'value="\w{64}"', "", page.content.decode()).replace(email, ""))
        assert answers[0] == answers[1]
        assert ["/account/address/" in message.body for message in delivered()] == [False, True]

    def test_changes_of_the_address_are_logged(self, sandbox: World) -> None:
        sandbox.site.configure(email_url="smtp://mail.example.org")
        client = sandbox.as_user("ann")
        for action, email in (("add", "new@example.org"), ("remove", "new@example.org"), ("remove", "ann@example.org")):
            client.post("/account/address", {f"action_{action}": "1", "email": email})
        events = AuditEvent.objects.filter(actor="ann", target="ann").values_list("action", flat=True)
        assert [*events[:3]] == ["remove address", "remove address", "change address"]
        assert not sandbox.users["ann"].emailaddress_set.exists()

    def test_unconfirmed_address_keeps_nobody_from_signing_up(self, sandbox: World) -> None:
        sandbox.site.configure(email_url="smtp://mail.example.org")
        sandbox.site.client().post("/sign-up", {**self.FORM, "username": "squatter"})
        assert len(delivered()) == 1
        cache.clear()
        assert sandbox.site.client().post("/sign-up", self.FORM)["Location"] == "/sign-in/confirm"
        [message] = delivered()
        assert "/account/address/" in message.body

    def test_taken_address_is_not_confirmed_without_mail(self, sandbox: World) -> None:
        client = sandbox.site.client()
        assert client.post("/sign-up", {**self.FORM, "email": "ann@example.org"})["Location"] == "/"
        assert is_signed_in(client)
        assert User.objects.get(username="eve").confirmed_email == ""
        assert User.objects.get(username="ann").confirmed_email == "ann@example.org"

    def test_accounts_of_administrators_need_no_address(self, sandbox: World) -> None:
        sandbox.site.configure(email_url="smtp://mail.example.org")
        assert sign_in(sandbox.site.client(), "root")["Location"] == "/"

    def test_closed_site_takes_no_accounts(self, sandbox: World) -> None:
        sandbox.site.configure(registration="closed")
        client = sandbox.site.client()
        for answer in (client.get("/sign-up"), client.post("/sign-up", self.FORM)):
            assert "The administrator of this site creates accounts." in answer.content.decode()
        assert not User.objects.filter(username="eve").exists()
        assert "/sign-up" not in client.get("/sign-in").content.decode()

    def test_new_accounts_wait_for_approval(self, sandbox: World) -> None:
        sandbox.site.configure(registration="approval")
        client = sandbox.site.client()
        assert client.post("/sign-up", self.FORM)["Location"] == "/sign-in/inactive"
        assert sign_in(client, "eve")["Location"] == "/sign-in/inactive"
        User.objects.filter(username="eve").update(is_active=True)
        assert sign_in(client, "eve")["Location"] == "/"


def test_sessions_can_be_ended(sandbox: World) -> None:
    here, there = sandbox.site.client(), sandbox.site.client()
    for client in (here, there):
        sign_in(client, "ann")
    assert here.get("/account/sessions").content.decode().count("127.0.0.1") == 2
    assert here.post("/account/sessions").status_code == 302
    assert is_signed_in(here)
    assert not is_signed_in(there)


class TestInvitations:
    def test_former_member_sees_nothing_of_the_team(self, sandbox: World) -> None:
        """Own submissions for the team are included; the access table covers every address."""
        Submission.objects.filter(pk=sandbox.submissions["private"].pk).update(user=sandbox.users["bob"])
        sandbox.as_user("bob").post(f"/teams/join/{sandbox.invitation}")
        assert sandbox.as_user("bob").get(sandbox.submissions["queued"].url).status_code == 200
        sandbox.as_user("bob").post("/teams/alpha/leave")
        assert sandbox.as_user("bob").get(sandbox.submissions["queued"].url).status_code == 404
        assert sandbox.as_user("bob").get(sandbox.submissions["private"].url).status_code == 404
        rows = sandbox.call("bob", "GET", "/api/v1/challenges/open/submissions").json()
        assert rows == []
        assert "Private" not in sandbox.as_user("bob").get("/challenges/open/submissions").content.decode()
        query = "?phase=main&method=X&team=alpha"
        assert sandbox.call("bob", "POST", f"/api/v1/challenges/open/submissions{query}", upload()).status_code == 400
