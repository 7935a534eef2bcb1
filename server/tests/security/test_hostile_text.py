"""Script, formulas, SQL and tricks of Unicode in every field, parameter, header and file name."""

from __future__ import annotations

import csv
import encodings.aliases
import io
import json
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, RequestFactory, override_settings

from captious_server.models import Submission, Team, User
from captious_server.pages import challenges
from captious_server.settings import utc_time
from captious_server.wsgi import application
from server.tests.security.pages import Page, body_of, is_html
from server.tests.security.test_access import addresses
from server.tests.security.world import TEST, VAL, World, upload
from server.tests.submissions.uploads import zipped
from tests.support.selection import slow_but

SCRIPTS = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "</title></textarea></style></script><svg onload=alert(1)>",
    "{{ 7|add:7 }}{% load x %}${7*7}",
    "' autofocus onfocus=alert(1) x='",
)
SQL = (
    "' OR '1'='1",
    "1; DROP TABLE captious_submission; --",
    "1 UNION SELECT password FROM captious_user",
    "%' --",
    '"',
    "\\",
)
#: Names that read like others, have no width, or turn round what follows.
TRICKS = (
    "\u202egnp.exe",
    "\u200b",
    "a\u0000b",
    "\ufeffx",
    "e\u0301" * 200,
    "\U0001f600",
    "\ud7ff\ue000",
    "￿",
    "ﷺ" * 40,
)


def policy(response: Any) -> str:
    return str(response.get("Content-Security-Policy", ""))


class TestLinks:
    @pytest.mark.parametrize(
        "link",
        [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "java\tscript:alert(1)",
            "data:text/html,x",
            "ftp://x.org",
            "vbscript:x",
        ],
    )
    def test_links_lead_to_the_web_only(self, sandbox: World, link: str) -> None:
        address = sandbox.submissions["public"].url + "edit"
        response = sandbox.as_user("ann").post(address, {"method": "x", "link": link})
        if response.status_code == 302:
            page = sandbox.as_user("bob").get(sandbox.submissions["public"].url)
            assert Page(page.content.decode()).dangers == []
            sandbox.submissions["public"].refresh_from_db()
            assert sandbox.submissions["public"].link.startswith(("https://", "http://"))
        query = {"phase": "main", "team": "ann", "method": "x", "link": link}

        submission = sandbox.call("ann", "POST", f"/api/v1/challenges/open/submissions?{urlencode(query)}", upload())
        assert submission.status_code in {400, 201}
        if submission.status_code == 201:
            page = sandbox.as_user("ann").get(submission.json()["url"])
            assert Page(page.content.decode()).dangers == []


class TestPolicy:
    def test_error_pages_have_a_content_security_policy(self, sandbox: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(challenges, "visible_challenges", Mock(side_effect=RuntimeError("secret detail")))
        answers = {500: sandbox.as_user("ann").get("/")}
        answers[403] = Client(enforce_csrf_checks=True).post("/sign-in", {})
        answers[413] = sandbox.as_user("visitor").post(
            "/sign-in", "x", content_type="text/plain", CONTENT_LENGTH=1 << 30
        )
        answers[404] = sandbox.as_user("visitor").get("/submissions/0/")
        with override_settings(ALLOWED_HOSTS=["captions.example.org"]):
            answers[400] = sandbox.as_user("visitor").get("/", HTTP_HOST="evil.example")
        sandbox.site.configure(requests_per_minute=1)
        for _ in range(2):
            answers[429] = sandbox.as_user("visitor").post("/account/reset", {"email": "x@example.org"})
        for status, response in answers.items():
            assert response.status_code == status
            assert "default-src 'self'" in policy(response), status
            assert "secret detail" not in response.content.decode()
            assert "Traceback" not in response.content.decode()
            assert Page(response.content.decode()).dangers == []


class TestFiles:
    NAMES = (
        'a"; filename="evil.html',
        "a\r\nSet-Cookie: x=y",
        "a\nb.json",
        "../../etc/passwd",
        "..\\..\\x.json",
        "\u202egnp.zip",
        "ü" * 300 + ".zip",
        "x" * 5000,
        "a\x00b.zip",
        "",
        ".",
        "..",
        "%2e%2e%2f",
        "\ud7ff.zip",
    )

    @pytest.mark.parametrize("way", ["page", "api"])
    @pytest.mark.parametrize("name", NAMES)
    def test_names_cannot_inject_headers(self, sandbox: World, name: str, way: str) -> None:
        rows = [{"image_id": image, "caption": "a"} for image in (11, 12, 13)]
        content = zipped({VAL: json.dumps(rows).encode(), TEST: json.dumps(rows).encode()})
        before = Submission.objects.count()
        if way == "api":
            query = urlencode({"phase": "main", "team": "ann", "method": "x", "filename": name})
            response = sandbox.call("ann", "POST", f"/api/v1/challenges/open/submissions?{query}", content)
        else:
            boundary = "xxBOUNDARYxx"
            fields = {"phase": "main", "team": "ann", "method": "x", "action": "submit"}
            parts = [
                f'--{boundary}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n' for k, v in fields.items()
            ]
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
            body = "".join(parts).encode() + head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
            client = sandbox.as_user("ann")
            kind = f"multipart/form-data; boundary={boundary}"
            response = client.post("/challenges/open/submit", body, content_type=kind)
        assert response.status_code in {201, 302, 400, 422}
        if Submission.objects.count() > before:
            submission = Submission.objects.latest("pk")
            assert not set(submission.filename) & set("/\r\n\0\u202e")
            file = sandbox.as_user("ann").get(f"{submission.url}file")
            assert file.status_code == 200
            assert file["Content-Type"] == "application/octet-stream"
            disposition = file["Content-Disposition"]
            assert disposition.startswith("attachment")
            assert not set(disposition) & set("\r\n\0")
            assert "Set-Cookie" not in file
            body_of(file)

    def test_csv_cells_are_not_formulas(self, sandbox: World) -> None:
        evil = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", "ordinary", "1-2", "a=b")
        submission = sandbox.submissions["public"]
        for text in evil:
            Submission.objects.filter(pk=submission.pk).update(method=text)
            answer = sandbox.as_user("visitor").get(
                "/challenges/open/leaderboard.csv?phase=main&references=val/c5&all=1"
            )
            rows = {row["submitted"]: row for row in csv.DictReader(io.StringIO(answer.getvalue().decode()))}
            row = rows[utc_time(submission.created)]
            dangerous = text not in evil[-3:]
            assert row["method"] == ("'" if dangerous else "") + text
            assert float(row["rouge-l"]) == 1.0
            assert answer["Content-Disposition"].startswith("attachment")


class TestParameters:
    QUERIES = (
        "phase",
        "references",
        "sort",
        "all",
        "a",
        "b",
        "systems",
        "by",
        "order",
        "page",
        "next",
        "team",
        "method",
    )
    VALUES = (*SCRIPTS[:2], *SQL, *TRICKS, "-1", "1e400", "9" * 5000, "1.5", "NaN", "٣", "[]", "", "../..", "x" * 7000)
    ADDRESSES = (
        "/",
        "/challenges/open/",
        "/challenges/open/leaderboard",
        "/challenges/open/leaderboard.json",
        "/challenges/open/leaderboard.csv",
        "/challenges/open/compare",
        "/challenges/open/captions",
        "/challenges/open/captions/11",
        "/challenges/open/submit",
        "/sign-in",
        "/sign-up",
        "/account/",
    )

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_any_parameter_value_is_answered(self, sandbox: World, address: str) -> None:
        client = sandbox.as_user("visitor" if address.startswith("/sign-") else "ann")
        for value in self.VALUES:
            response = client.get(address, {**dict.fromkeys(self.QUERIES, value), "references": "val/c5"})
            assert response.status_code in {200, 404}, (address, value[:50])
            if is_html(response):
                assert Page(response.content.decode()).dangers == []
        for name in self.QUERIES:
            assert client.get(address, {name: SQL[0]}).status_code in {200, 404}
        assert client.get(address, {"systems": ["1"] * 150}).status_code in {200, 404}
        assert client.get(f"{address}?{'systems=1&' * 1000}").status_code in {200, 400, 404}
        assert client.get(f"{address}?%ff%fe=%ff&=&&;=;%00=%00&phase[]=1&phase=%u0041").status_code in {200, 404}

    def test_any_field_text_is_answered(self, sandbox: World) -> None:
        forms: dict[str, dict[str, str]] = {
            "/sign-in": {"login": "", "password": ""},
            "/sign-up": {"username": "", "email": "", "password1": "", "password2": ""},
            "/account/reset": {"email": ""},
            "/account/password": {"oldpassword": "", "password1": "", "password2": ""},
            "/account/": {"action": "", "token-name": "", "team-name": ""},
            f"{sandbox.submissions['public'].url}edit": {"method": "", "link": "", "description": ""},
            "/challenges/open/manage": {
                "action": "",
                "names": "",
                "name": "",
                "submission": "",
                "phase": "",
                "board": "",
            },
            "/challenges/open/submit": {"phase": "", "team": "", "method": "", "link": "", "action": ""},
        }
        sandbox.site.configure(requests_per_minute=10_000)
        values = [*SCRIPTS[:1], *SQL[:2], *TRICKS, "9" * 5000, "-1", "x" * 200_000]
        for address, fields in forms.items():
            actions = ["token", "team"] if address == "/account/" else [""]
            if "manage" in address:
                actions = ["participants", "remove_participant", "show", "rescore", "board"]
            for value in values:
                for action in actions:
                    role = "olga" if "manage" in address else "visitor" if address.startswith("/sign-") else "ann"
                    form = {**dict.fromkeys(fields, value), **({"action": action} if action else {})}
                    with sandbox.rollback():
                        response = sandbox.as_user(role).post(address, form)
                    assert response.status_code in {200, 302, 400, 404, 422, 429}, (address, value[:20], action)

    def test_very_large_fields_are_refused(self, sandbox: World) -> None:
        for address in ("/sign-in", "/sign-up", "/account/"):
            response = sandbox.as_user("ann").post(address, {"username": "x" * 10_000_000, "action": "token"})
            assert response.status_code in {400, 413}
        response = sandbox.as_user("ann").post("/challenges/open/submit", {"method": "x" * 10_000_000})
        assert response.status_code in {400, 413}

    def test_many_fields_and_files_are_answered(self, sandbox: World) -> None:
        many = {f"field{i}": "x" for i in range(1000)}
        files = {f"file{i}": SimpleUploadedFile(f"{i}.json", b"[]") for i in range(5)}
        for form in (many, files):
            for role, address in (("visitor", "/sign-in"), ("ann", "/account/"), ("ann", "/challenges/open/submit")):
                assert sandbox.as_user(role).post(address, form).status_code in {400, 422}
        assert [*(sandbox.site.data / "incoming").iterdir()] == []


class TestNames:
    @pytest.mark.parametrize("name", ["\u0430nn", "Alph\u0430", "\u0391lpha", "ALPH\u0410"])
    def test_lookalike_letters_are_refused(self, sandbox: World, name: str) -> None:
        sandbox.as_user("bob").post("/account/", {"action": "team", "team-name": name})
        password = {"password1": "another-horse-78", "password2": "another-horse-78"}
        sandbox.as_user("visitor").post("/sign-up", {"username": name, **password})
        assert not Team.objects.filter(name=name).exists()
        assert not User.objects.filter(username=name).exists()

    @pytest.mark.parametrize(
        "name", ["alpha", "ALPHA", " Alpha ", "Alpha\u202e", "Ａlpha", "Alpha!", "Anonymous", "Baselines", "\u200b"]
    )
    def test_names_similar_to_taken_ones_are_refused(self, sandbox: World, name: str) -> None:
        before = Team.objects.count()
        response = sandbox.as_user("bob").post("/account/", {"action": "team", "team-name": name})
        assert response.status_code == 422
        assert Team.objects.count() == before

    @pytest.mark.parametrize("method", ["\u202egnp", "a\u200b\u2066b", "a\nb\tc", "\x1b[31mred"])
    def test_methods_with_control_characters_are_refused(self, sandbox: World, method: str) -> None:
        sandbox.as_user("ann").post(sandbox.submissions["public"].url + "edit", {"method": method})
        sandbox.submissions["public"].refresh_from_db()
        assert sandbox.submissions["public"].method.isprintable()


class TestRequests:
    METHODS = ("HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND", "X" * 50)

    @pytest.mark.parametrize("method", slow_but("PATCH", METHODS, nightly="OPTIONS PUT DELETE TRACE CONNECT"))
    def test_any_method_on_any_address_is_answered(self, world: World, method: str) -> None:
        for address in addresses(world, api=False) + addresses(world, api=True):
            for role in ("ann", "olga"):
                with world.rollback():
                    client = world.as_user(role)
                    response = client.generic(method, address, b"x=y" if method in {"PUT", "PATCH"} else b"")
                    assert response.status_code < 500, (method, address)
                    if method not in {"HEAD", "OPTIONS", "PUT"} and "/account/reset/1-" not in address:
                        assert response.status_code in {302, 403, 404, 405}, (method, address, response.status_code)
                    body_of(response)

    def test_any_encoding_is_answered(self, world: World) -> None:
        """Python has codecs that are not encodings of text."""
        for name in sorted({*encodings.aliases.aliases.values(), "idna", "undefined", "unicode_escape", "nothing"}):
            for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"):
                request = RequestFactory().generic(
                    "GET", "/challenges/open/leaderboard.json?phase=main&x=%C3%A9", b"a=%e9", content_type=kind
                )
                environ = {**request.environ, "CONTENT_TYPE": f'{kind}; charset="{name}"'}
                answers: list[str] = []
                application(environ, lambda status, headers, answers=answers: answers.append(status))
                assert answers == ["200 OK"], (name, kind)

    @pytest.mark.parametrize(
        "headers",
        [
            {"HTTP_COOKIE": "captious_session=" + "x" * 5000},
            {"HTTP_COOKIE": "captious_session=\x00; captious_csrf=\xff; ;=;"},
            {"HTTP_COOKIE": "captious_shown_once=<script>alert(1)</script>; messages=x:y:z"},
            {"HTTP_RANGE": "bytes=0-0,-1,5-1"},
            {"HTTP_IF_MODIFIED_SINCE": "x", "HTTP_IF_NONE_MATCH": "\xff"},
            {"HTTP_ACCEPT_LANGUAGE": "x" * 5000, "HTTP_ACCEPT": "\x00"},
            {"HTTP_REFERER": "javascript:alert(1)", "HTTP_ORIGIN": "null", "HTTP_USER_AGENT": "<script>" * 100},
            {"HTTP_X_FORWARDED_FOR": "' OR 1=1", "HTTP_X_HTTP_METHOD_OVERRIDE": "DELETE"},
            {"HTTP_AUTHORIZATION": "Bearer \x00"},
        ],
    )
    def test_strange_headers_are_answered(self, sandbox: World, headers: dict[str, str]) -> None:
        for address in ("/", "/account/", "/challenges/open/leaderboard", "/api/v1/challenges/open"):
            response = sandbox.as_user("visitor").get(address, **headers)
            assert response.status_code in {200, 302, 401}
            if is_html(response):
                assert Page(response.content.decode()).dangers == []
        response = sandbox.as_user("visitor").post("/sign-in", {"login": "ann", "password": "wrong"}, **headers)
        assert response.status_code in {200, 403}
