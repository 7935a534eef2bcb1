"""Webhooks: what they are sent, how it is signed, and which addresses they cannot reach."""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from captious_server.models import AuditEvent, Challenge, Notice, User, Webhook
from captious_server.notices import delivery
from captious_server.notices.delivery import WebhookError, is_public, post, url_problem
from captious_server.people.accounts import make_token
from captious_server.people.teams import ask, personal_team
from server.tests.support.site import Site
from server.tests.support.small_challenge import queue


class Receiver(HTTPServer):
    """Keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received: list[tuple[Any, bytes]] = []
        self.status = 204
        self.headers: dict[str, str] = {}
        self.url = f"http://localhost:{self.server_port}/hook?a=1"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.server.received.append((self.headers, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def webhook_site(mailing: Site, receiver: Receiver) -> Site:
    """The challenge has the webhook of the receiver."""
    mailing.configure(webhook_hosts=("localhost",))
    assert manage(mailing, action="webhook", url=receiver.url).status_code == 302
    return mailing


def manage(site: Site, **values: Any) -> Any:
    return site.client(User.objects.get(username="olga")).post("/challenges/small/manage", values)


def tell() -> None:
    delivery.ended_submissions()
    delivery.deliver_due()


class TestDelivery:
    def test_webhook_calls_are_signed(self, webhook_site: Site, receiver: Receiver) -> None:
        queue(method="Mine")
        webhook_site.work()
        tell()
        ((headers, body),) = receiver.received
        said = json.loads(body)
        assert (said["event"], said["challenge"], said["submission"]["method"]) == ("submission.ended", "small", "Mine")
        assert said["submission"]["url"].startswith("https://captions.example.org/submissions/")
        assert "scores" not in said["submission"]
        signed = headers["Captious-Timestamp"].encode() + b"." + body
        expected = hmac.new(Webhook.objects.get().secret.encode(), signed, hashlib.sha256).hexdigest()
        assert headers["Captious-Signature"] == f"v1={expected}"
        assert abs(time.time() - int(headers["Captious-Timestamp"])) < 60
        tell()
        assert len(receiver.received) == 1

    def test_failed_calls_are_retried_and_given_up(self, webhook_site: Site, receiver: Receiver) -> None:
        receiver.status, receiver.headers = 302, {"Location": receiver.url}  # redirects are not followed
        queue(2)
        webhook_site.work()
        tell()
        assert len(receiver.received) == 1  # the other one waits with it
        assert Webhook.objects.get().result == "answered 302"
        for _ in range(10):
            Notice.objects.exclude(not_before=None).update(not_before=timezone.now())
            tell()
        assert Notice.objects.filter(sent=None, not_before=None).exists()
        receiver.status = 200
        Notice.objects.exclude(not_before=None).update(not_before=timezone.now())
        tell()
        n = len(receiver.received)
        tell()
        assert len(receiver.received) == n

    def test_test_calls_and_approval_requests_are_sent(self, webhook_site: Site, receiver: Receiver) -> None:
        manage(webhook_site, action="test_webhook", webhook=Webhook.objects.get().pk)
        row = ask(Challenge.objects.get(), personal_team(webhook_site.user("bob")), "Bob of X")
        delivery.team_asked(row)
        delivery.deliver_due()
        said = [json.loads(body) for _, body in receiver.received]
        assert [each["event"] for each in said] == ["ping", "team.asked"]
        assert said[1]["team"]["message"] == "Bob of X"

    def test_manage_page_shows_webhooks(self, webhook_site: Site, receiver: Receiver) -> None:
        page = webhook_site.client(User.objects.get(username="olga")).get("/challenges/small/manage").content.decode()
        assert receiver.url.partition("?")[0] in page
        assert Webhook.objects.get().secret in page
        for url in ("http://example.org/", "https://127.0.0.1/", "https://u:p@example.org/", "file:///etc/passwd", "x"):
            assert manage(webhook_site, action="webhook", url=url).status_code == 422, url
        for _ in range(4):
            assert manage(webhook_site, action="webhook", url="https://example.org/").status_code == 302
        assert manage(webhook_site, action="webhook", url="https://example.org/").status_code == 422
        for row in Webhook.objects.all():
            manage(webhook_site, action="remove_webhook", webhook=row.pk, sure="1")
        assert not Webhook.objects.exists()


class TestAPI:
    def call(self, site: Site, method: str, address: str = "", url: str = "", *, scopes: Any = ("organize",)) -> Any:
        token = make_token(User.objects.get(username="olga"), "test", scopes=scopes)
        headers = {"Authorization": f"Bearer {token}"}
        path, form = f"/api/v1/challenges/small/webhooks{address}", urlencode({"url": url} if url else {})
        return site.client().generic(method, path, form, "application/x-www-form-urlencoded", headers=headers)

    def test_api_creates_tests_and_deletes_a_webhook(self, mailing: Site, receiver: Receiver) -> None:
        mailing.configure(webhook_hosts=("localhost",))
        made = self.call(mailing, "POST", url=receiver.url)
        assert made.status_code == 201
        row = Webhook.objects.get()
        assert (made.json()["url"], made.json()["secret"]) == (receiver.url, row.secret)
        assert self.call(mailing, "POST", f"/{row.pk}/test").status_code == 200
        delivery.deliver_due()
        assert [json.loads(body)["event"] for _, body in receiver.received] == ["ping"]
        [listed] = self.call(mailing, "GET", scopes=("submit",)).json()
        assert (listed["id"], listed["result"]) == (row.pk, "answered 204")
        shown = receiver.url.replace("/hook?a=1", "/…")
        assert listed["url"] == shown
        assert "secret" not in listed
        assert self.call(mailing, "POST", f"/{row.pk}/delete").status_code == 200
        assert not Webhook.objects.exists()
        actions = [*AuditEvent.objects.filter(target=shown).values_list("actor", "action")]
        assert actions == [("olga", "remove webhook"), ("olga", "add webhook")]
        assert "hook?" not in str([*AuditEvent.objects.values()])

    def test_webhook_address_is_not_taken_from_the_query(self, mailing: Site) -> None:
        """Servers and proxies log query strings."""
        answer = self.call(mailing, "POST", "?url=https://example.org/")
        assert (answer.status_code, answer.json()["error"]) == (400, "The query takes no 'url'; known are none.")

    def test_invalid_webhooks_are_refused(self, mailing: Site) -> None:
        answer = self.call(mailing, "POST", url="https://127.0.0.1/")
        assert (answer.status_code, answer.json()) == (400, {"error": "The address is not on the public internet."})
        assert self.call(mailing, "POST", url="https://example.org/", scopes=("submit",)).status_code == 403
        assert self.call(mailing, "POST", "/1/test").status_code == 404
        for _ in range(5):
            assert self.call(mailing, "POST", url="https://example.org/").status_code == 201
        assert "at most 5 webhooks" in self.call(mailing, "POST", url="https://example.org/").json()["error"]
        assert Webhook.objects.count() == 5


class TestAddresses:
    @pytest.mark.parametrize(
        "address",
        [
            *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1"),
            *("224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:10.0.0.1"),
            *("64:ff9b::a00:1", "2002:7f00:1::", "2001:0:7f00:1::"),
            *("fec0::1", "feff::1", "2001:db8::1", "3fff::1", "192.0.2.1", "198.51.100.1", "203.0.113.1"),
        ],
    )
    def test_local_addresses_are_not_public(self, address: str) -> None:
        assert not is_public(address)

    @pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"])
    def test_public_addresses_are_public(self, address: str) -> None:
        assert is_public(address)

    @pytest.mark.parametrize("host", ["localhost", "2130706433", "0x7f000001", "127.1"])
    def test_names_and_spellings_of_this_host_are_refused(self, host: str) -> None:
        with pytest.raises(WebhookError):
            post(f"https://{host}/", b"{}", {}, ())

    def test_host_with_one_private_address_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = [(0, 0, 0, "", (address, 443)) for address in ("93.184.216.34", "10.0.0.1")]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)
        with pytest.raises(WebhookError, match="not on the public internet"):
            post("https://example.org/", b"{}", {}, ())

    def test_checked_address_is_the_one_connected_to(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A name server may give another address when asked again."""
        answers = iter(["93.184.216.34", "127.0.0.1"])
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (next(answers), 443))])
        connect = Mock(side_effect=ConnectionRefusedError)
        monkeypatch.setattr(delivery.socket, "create_connection", connect)
        with pytest.raises(WebhookError, match="no connection"):
            post("https://example.org/", b"{}", {}, ())
        connect.assert_called_once_with(("93.184.216.34", 443), timeout=10.0)

    def test_endless_answer_is_cut_off(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(delivery, "_MAX_SECONDS", 0.2)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://localhost:{listener.getsockname()[1]}/"
            began = time.monotonic()
            with pytest.raises(WebhookError):
                post(url, b"{}", {}, ("localhost",))
            assert time.monotonic() - began < 5

    @pytest.mark.parametrize("url", ["https://example.org", "https://example.org:8443/a?b=c"])
    def test_public_url_is_allowed(self, url: str) -> None:
        assert url_problem(url, ()) == ""
