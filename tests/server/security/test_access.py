"""Every address of the site, fetched and posted to by every role, with other people's ids.

The tables say which status each role gets for GET and, after the bar, for POST. A single status is that of every role.
``in`` is a redirect to the page where one signs in, ``302`` one to another page. Whoever may not see something gets
404, as if it did not exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product, zip_longest
from typing import Any

import pytest

from tests.server.security.pages import close
from tests.server.security.world import TRACEBACK, World, upload

ROLES = ("visitor", "bob", "ann", "paul", "olga", "otto", "root", "dora")
#: Names in braces that stand for several.
GROUPS = {
    "board_pages": ["", "leaderboard", "leaderboard.json", "leaderboard.csv", "compare"],
    "published": ["public", "anonymous"],
    "unpublished": ["private", "hidden", "in_hidden", "failed", "cancelled", "queued"],
    "unqueued": ["private", "hidden", "in_hidden", "failed", "cancelled"],
    "unscored": ["queued", "failed", "cancelled", "deleted"],
}
#: A line is for every name in braces. Submissions are those of ann's team, but in_circle is paul's; the token is ann's.
PAGES = """
/                                                    200                             | 405
/healthz                                             200                             | 405
/favicon.ico                                         302                             | 302
/challenges/open/{board_pages}                       200                             | 405
/challenges/open/captions{,/11}?references=val/c5    200                             | 405
/challenges/open/captions{,/11}?references=test/c5   404                             | 405
/challenges/open/leaderboard?phase=hidden            404 404 404 404 200 404 200 404 | 405
/challenges/open/submit                               in 200 200 200 200 200 200  in |  in 422 422 422 422 422 422  in
/challenges/open/submissions                          in 200 200 200 200 200 200  in |  in 405 405 405 405 405 405  in
/challenges/open/manage                               in 404 404 404 200 404 200  in |  in 404 404 404 302 404 302  in
/challenges/circle/{board_pages}                     404 404 404 200 200 404 200 404 | 405
/challenges/circle/captions{,/11}?references=val/c5  404 404 404 200 200 404 200 404 | 405
/challenges/circle/submit                             in 404 404 200 200 404 200  in |  in 404 404 422 422 404 422  in
/challenges/circle/submissions                        in 404 404 200 200 404 200  in |  in 405 405 405 405 405 405  in
/challenges/circle/manage                             in 404 404 404 200 404 200  in |  in 404 404 404 302 404 302  in
/challenges/other/                                   200                             | 405
/challenges/other/manage                              in 404 404 404 404 200 200  in |  in 404 404 404 404 302 302  in
/challenges/nowhere/                                 404                             | 405
/challenges/nowhere/manage                            in 404 404 404 404 404 404  in |  in 404 404 404 404 404 404  in
/submissions/{published}/                            200                             | 405
/submissions/{unpublished}/                          404 404 200 404 200 404 200 404 | 405
/submissions/{in_circle}/{,status.json}              404 404 404 200 200 404 200 404 | 405
/submissions/{deleted}/{,status.json}                404 404 404 404 200 404 200 404 | 405
/submissions/{nothing}/                              404                             | 405
/submissions/{public}/status.json                    200                             | 405
/submissions/{private,queued}/status.json            404 404 200 404 200 404 200 404 | 405
/submissions/{public,private,in_hidden,queued}/edit   in 404 200 404 200 404 200  in |  in 404 302 404 302 404 302  in
/submissions/{public,private,queued}/{cancel,delete}  in 404 200 404 200 404 200  in |  in 404 302 404 302 404 302  in
/submissions/{in_circle}/{edit,cancel,delete}         in 404 404 200 200 404 200  in |  in 404 404 302 302 404 302  in
/submissions/{deleted}/{edit,cancel,delete}           in 404 404 404 404 404 404  in |  in 404 404 404 404 404 404  in
/submissions/{nothing}/edit                           in 404 404 404 404 404 404  in |  in 404 404 404 404 404 404  in
/submissions/{published,unpublished}/file             in 404 200 404 200 404 200  in |  in 405 405 405 405 405 405  in
/submissions/{in_circle}/file                         in 404 404 200 200 404 200  in |  in 405 405 405 405 405 405  in
/submissions/{deleted,nothing}/file                   in 404 404 404 404 404 404  in |  in 405 405 405 405 405 405  in
/submissions/{published}/scores/val/c5.csv           200                             | 405
/submissions/{private,hidden}/scores/val/c5.csv      404 404 200 404 200 404 200 404 | 405
/submissions/{in_hidden}/scores/val/c5.csv           404 404 200 404 200 404 200 404 | 405
/submissions/{in_circle}/scores/val/c5.csv           404 404 404 200 200 404 200 404 | 405
/submissions/{unscored,nothing}/scores/val/c5.csv    404                             | 405
/submissions/{public,private}/scores/test/c5.csv     404                             | 405
/submissions/{in_circle,queued}/scores/test/c5.csv   404                             | 405
/submissions/{deleted}/scores/test/c5.csv            404                             | 405
/sign-up                                             200                             | 422
/sign-in                                             200                             | 200
/sign-out                                            405                             | 302
/account/                                             in 200 200 200 200 200 200  in |  in 302 302 302 302 302 302  in
/account/tokens/{token}/revoke                        in 405 405 405 405 405 405  in |  in 404 302 404 404 404 404  in
/account/tokens/{nothing}/revoke                      in 405 405 405 405 405 405  in |  in 404 404 404 404 404 404  in
/account/password                                     in 200 200 200 200 200 200  in |  in 200 200 200 200 200 200  in
/account/reset                                       200                             | 302
/account/reset/{sent,complete}                       200                             | 405
/account/reset/MQ/abc-def/                           200                             | 200
/teams/join/{invitation}                              in 200 200 200 200 200 200  in |  in 302 302 302 302 302 302  in
/teams/join/nothing                                   in 404 404 404 404 404 404  in |  in 404 404 404 404 404 404  in
/teams/{alpha,ann}/                                   in 404 200 404 404 404 404  in |  in 405 405 405 405 405 405  in
/teams/{alpha,ann}/{invite,leave}                     in 405 405 405 405 405 405  in |  in 404 302 404 404 404 404  in
/teams/alpha/invitations/{alpha_link}/revoke          in 405 405 405 405 405 405  in |  in 404 302 404 404 404 404  in
/teams/alpha/members/{dora}/remove                    in 405 405 405 405 405 405  in |  in 404 302 404 404 404 404  in
/teams/beta/                                          in 200 404 404 404 404 404  in |  in 405 405 405 405 405 405  in
/teams/beta/{invite,leave}                            in 405 405 405 405 405 405  in |  in 302 404 404 404 404 404  in
/teams/beta/invitations/{alpha_link}/revoke           in 405 405 405 405 405 405  in |  in 404 404 404 404 404 404  in
/teams/beta/members/{dora}/remove                     in 405 405 405 405 405 405  in |  in 404 404 404 404 404 404  in
/teams/nothing/                                       in 404 404 404 404 404 404  in |  in 405 405 405 405 405 405  in
/teams/nothing/{invite,leave}                         in 405 405 405 405 405 405  in |  in 404 404 404 404 404 404  in
"""
#: Statuses of calls of the API with tokens.
API = """
/api/v1/challenges/open                         200 200 200 200 200 200 200 401 | 405
/api/v1/challenges/circle                       404 404 404 200 200 404 200 401 | 405
/api/v1/challenges/nowhere                      404 404 404 404 404 404 404 401 | 405
/api/v1/challenges/open/submissions             401 200 200 200 200 200 200 401 | 401 201 201 201 201 201 201 401
/api/v1/challenges/circle/submissions           401 404 404 200 200 404 200 401 | 401 404 404 201 201 404 201 401
/api/v1/submissions/{published}                 200 200 200 200 200 200 200 401 | 405
/api/v1/submissions/{unpublished}               404 404 200 404 200 404 200 401 | 405
/api/v1/submissions/{in_circle}                 404 404 404 200 200 404 200 401 | 405
/api/v1/submissions/{deleted}                   404 404 404 404 200 404 200 401 | 405
/api/v1/submissions/{nothing}                   404 404 404 404 404 404 404 401 | 405
/api/v1/submissions/{queued}/cancel             405                             | 401 404 200 404 200 404 200 401
/api/v1/submissions/{published,unqueued}/cancel 405                             | 401 404 409 404 409 404 409 401
/api/v1/submissions/{in_circle}/cancel          405                             | 401 404 404 409 409 404 409 401
/api/v1/submissions/{deleted,nothing}/cancel    405                             | 401 404 404 404 404 404 404 401
"""
#: What is posted to pages; otherwise nothing is.
CONTENTS = {
    "submission_edit": {"method": "Changed"},
    "manage": {"action": "board", "phase": "main", "board": "hidden"},
    "account": {"action": "token", "token-name": "another"},
    "sign_in": {"username": "ann", "password": "wrong"},
    "password_reset": {"email": "ann@example.org"},
    "sign_up": {"username": "new"},
}
#: What is posted to the API.
SUBMISSION = "?method=Mine&filename=captions.zip&phase=main&team={role}"


@dataclass(frozen=True)
class Line:
    """A line of a table: the statuses of each role."""

    address: str
    get: dict[str, str]
    post: dict[str, str]


def lines(table: str, world: World) -> Iterator[Line]:
    """The lines of a table, one for each address."""
    values = ids(world)
    for text in filter(None, table.splitlines()):
        template, get, post = (part.split() for part in text.replace(" ", " | ", 1).split("|"))
        statuses = [dict(zip(ROLES, column * (9 - len(column)), strict=False)) for column in (get, post)]
        pieces = re.split(r"{(.*?)}", template[0])
        names = [[name for item in piece.split(",") for name in GROUPS.get(item, [item])] for piece in pieces[1::2]]
        for chosen in product(*names):
            filled = [str(values.get(name, name)) for name in chosen]
            yield Line("".join(map("".join, zip_longest(pieces[::2], filled, fillvalue=""))), *statuses)


def ids(world: World) -> dict[str, Any]:
    from captious.server.models import Invitation, Token

    people = {"alpha_link": Invitation.objects.get(team=world.alpha).pk, "dora": world.users["dora"].pk}
    token = Token.objects.get(user=world.users["ann"])
    values: dict[str, Any] = {name: submission.pk for name, submission in world.submissions.items()}
    return {**values, **people, "token": token.pk, "invitation": world.invitation, "nothing": 999_999}


def answer_of(response: Any) -> str:
    to = response.get("Location", "")
    if response.status_code == 302 and to.startswith(("/sign-in?", "/admin/login/?")):
        return "in"
    return str(response.status_code)


def named(address: str) -> str:
    from django.urls import resolve

    return resolve(address.partition("?")[0]).url_name or ""


def page(world: World, role: str, method: str, address: str) -> Any:
    client = world.as_user(role)
    return client.get(address) if method == "GET" else client.post(address, CONTENTS.get(named(address), {}))


def call(world: World, role: str, method: str, address: str) -> Any:
    query = SUBMISSION.format(role=role) if address.endswith("/submissions") else ""
    return world.call(role, method, address + query, upload() if query and method == "POST" else b"")


def differences(world: World, table: str, role: str, column: str, ask: Any) -> list[str]:
    """Where the statuses of a role are not those of a column of the table."""
    wrong = []
    for line in lines(table, world):
        for method, expected in (("GET", line.get[column]), ("POST", line.post[column])):
            with world.undone():
                response = ask(world, role, method, line.address)
                close(response)
            if answer_of(response) != expected:
                wrong.append(f"{method} {line.address} by {role}: {answer_of(response)}, not {expected}")
    return wrong


@pytest.fixture
def keeping_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deletions that are undone leave the files."""
    from captious.server.submissions import storage

    monkeypatch.setattr(storage, "remove_files", lambda folder: None)


def all_routes() -> Iterator[str]:
    from django.urls import URLPattern, get_resolver

    def walk(patterns: Any, before: str) -> Iterator[str]:
        for pattern in patterns:
            route = before + str(pattern.pattern)
            if isinstance(pattern, URLPattern):
                yield route
            else:
                yield from walk(pattern.url_patterns, route)

    yield from walk(get_resolver().url_patterns, "")


def test_the_tables_have_every_address(world: World) -> None:
    """A new page fails here until a table says who may see it."""
    from django.urls import resolve

    tabled = {resolve(line.address.partition("?")[0]).route for line in lines(PAGES + API, world)}
    assert tabled == {route for route in all_routes() if not route.startswith("admin/")}


@pytest.mark.usefixtures("keeping_files")
@pytest.mark.parametrize("role", ROLES)
def test_pages(world: World, role: str) -> None:
    assert differences(world, PAGES, role, role, page) == []


@pytest.mark.usefixtures("keeping_files")
@pytest.mark.parametrize("role", ROLES)
def test_api(world: World, role: str) -> None:
    assert differences(world, API, role, role, call) == []


@pytest.mark.usefixtures("keeping_files")
@pytest.mark.parametrize("role", ["ann", "root"])
def test_a_session_does_not_open_the_api(world: World, role: str) -> None:
    """A page of another site can make a browser send cookies, but not a token."""
    assert differences(world, API, role, "visitor", page) == []


def test_a_token_does_not_open_pages(world: World) -> None:
    closed = "\n".join(line for line in PAGES.splitlines() if re.search(r" (in|404) ", line))
    assert len(differences(world, closed, "root", "root", call)) > 50
    assert differences(world, closed, "root", "visitor", call) == []


@pytest.mark.parametrize("role", ["visitor", "ann", "root"])
def test_administration(world: World, role: str) -> None:
    """Every address of the administration asks others than administrators to sign in."""
    from django.urls import resolve

    user = world.users["ann"].pk
    routes = set()
    for route in sorted(route for route in all_routes() if route.startswith("admin/")):
        address = "/" + route.replace("<path:object_id>", str(user)).replace("<path:content_type_id>", "1")
        address = address.replace("<id>", str(user)).replace("<int:content_type_id>", "1")
        if "(?P" in address:
            continue
        routes.add(resolve(address).route)
        for method in ("GET", "POST"):
            with world.undone():
                answer = answer_of(page(world, role, method, address))
            if route in {"admin/login/", "admin/logout/"}:
                assert answer in {"200", "302", "405", "in"}, address
            elif role == "root":
                assert answer in {"200", "302", "403", "404", "405"}, address
            else:
                assert answer == "in", (address, role)
    assert len(routes) > 30


class TestWhatIsShown:
    def test_tracebacks_only_to_those_who_manage(self, world: World) -> None:
        address = f"/submissions/{world.submissions['failed'].pk}/"
        for role, sees in (("ann", False), ("olga", True), ("root", True)):
            text = world.as_user(role).get(address).content.decode()
            assert ("secret frame" in text) is sees
            assert "It failed." in text
        for role in ("ann", "olga"):
            assert "secret frame" not in world.call(role, "GET", f"/api/v1{address}"[:-1]).content.decode()
        assert "secret frame" in TRACEBACK

    def test_lists_have_only_what_is_public(self, world: World) -> None:
        for role in ("visitor", "bob", "otto"):
            for page in ("leaderboard", "leaderboard.json", "leaderboard.csv", "compare", "captions"):
                address = f"/challenges/open/{page}?phase=main&references=val/c5&all=1"
                text = world.as_user(role).get(address).content.decode()
                assert "Public" in text
                for name in ("Private", "Hidden</a>", "In hidden", "Queued", "Failed", "Cancelled", "Deleted"):
                    assert name not in text, (address, name)

    def test_a_hidden_leaderboard_is_not_shown_under_another_name(self, world: World) -> None:
        """For whoever may not see a phase's leaderboard, it does not exist, and it is never the default."""
        from captious.server.models import Phase

        assert world.as_user("ann").get("/challenges/open/leaderboard.json?phase=hidden").status_code == 404
        rows = world.as_user("ann").get("/challenges/open/leaderboard.json").json()
        assert "In hidden" not in {row["method"] for row in rows}
        rows = world.as_user("olga").get("/challenges/open/leaderboard.json?phase=hidden").json()
        assert {row["method"] for row in rows} == {"In hidden"}
        with world.undone():
            Phase.objects.update(board="hidden")
            for page in ("leaderboard", "leaderboard.json", "leaderboard.csv", "compare", "captions"):
                for role in ("visitor", "ann"):
                    response = world.as_user(role).get(f"/challenges/open/{page}?references=val/c5")
                    assert response.status_code == 404, page
                assert world.as_user("olga").get(f"/challenges/open/{page}?references=val/c5").status_code == 200

    def test_the_own_submissions_only(self, world: World) -> None:
        for role, methods in (("bob", set()), ("ann", {"Private", "Failed"}), ("olga", set())):
            rows = world.call(role, "GET", "/api/v1/challenges/open/submissions").json()
            assert {row["method"] for row in rows} >= methods
            assert bool(rows) == bool(methods)
            text = world.as_user(role).get("/challenges/open/submissions").content.decode()
            assert ("Private" in text) is bool(methods)

    def test_accounts_show_the_own_tokens_and_teams(self, world: World) -> None:
        text = world.as_user("bob").get("/account/").content.decode()
        assert "Beta" in text
        assert "Alpha" not in text
        assert world.tokens["ann"][:10] not in text

    def test_others_cannot_submit_for_a_team(self, world: World) -> None:
        from captious.server.models import Submission

        with world.undone():
            before = Submission.objects.count()
            for team in ("alpha", "Alpha", "ann", "baselines", "circle"):
                answer = world.call(
                    "bob", "POST", f"/api/v1/challenges/open/submissions?method=X&phase=main&team={team}", upload()
                )
                assert answer.status_code == 400
            form = world.site.form(world.users["bob"], upload(), filename="captions.zip", team="alpha")
            assert world.as_user("bob").post("/challenges/open/submit", form).status_code == 422
            assert Submission.objects.count() == before

    def test_a_former_participant_sees_nothing(self, world: World) -> None:
        from captious.server.models import Participant

        with world.undone():
            Participant.objects.all().delete()
            submission = world.submissions["in_circle"]
            for address in (submission.url, f"{submission.url}file", f"{submission.url}edit", "/challenges/circle/"):
                assert world.as_user("paul").get(address).status_code == 404
            assert world.call("paul", "GET", f"/api/v1/submissions/{submission.pk}").status_code == 404
