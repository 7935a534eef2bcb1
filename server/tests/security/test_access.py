"""Every address of the site, fetched and posted to by every role, with other people's ids.

The table ``access.txt`` says which status each role gets. A single status is that of every role. ``in`` is a redirect
to the page where one signs in, ``302`` one to another page. Whoever may not see something gets 404, as if it did not
exist; only a hidden leaderboard of a challenge that they may see says 403, and why.

A line is for every name in braces. Submissions are those of team Alpha, but in_circle is the participant's; the token
and the personal team "ann" are the captain's, the team Beta is the user's.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product, zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from django.urls import URLPattern, get_resolver, resolve

from captious_server.models import Invitation, Participant, Phase, Submission, Token, Webhook
from captious_server.submissions import storage
from server.tests.security.pages import body_of, close
from server.tests.security.world import TRACEBACK, World, upload
from server.tests.support.site import parsed
from tests.support.selection import slow_but

TABLE = Path(__file__).with_name("access.txt").read_text(encoding="utf-8")
#: The columns of the table, and who they are in the world.
ROLES = {
    "visitor": "visitor",
    "user": "bob",
    "former": "fred",
    "member": "mia",
    "captain": "ann",
    "participant": "paul",
    "organizer": "olga",
    "elsewhere": "otto",  # organizer of another challenge
    "administrator": "root",
    "inactive": "dora",
}
#: Names in braces that stand for several.
GROUPS = {
    "board_pages": ["", "leaderboard", "leaderboard.json", "leaderboard.csv", "compare"],
    "published": ["public", "anonymous"],
    "unpublished": ["private", "hidden", "in_hidden", "by_former", "failed", "canceled", "queued"],
    "own": ["public", "private", "in_hidden", "by_former", "queued"],
    "unqueued": ["private", "hidden", "in_hidden", "by_former", "failed", "canceled"],
    "unscored": ["queued", "failed", "canceled", "deleted"],
}
#: What is posted to pages; otherwise nothing is.
CONTENTS = {
    "submission_edit": {"method": "Changed"},
    "manage": {"action": "board", "phase": "main", "board": "hidden", "sure": "1"},
    "draft_discard": {"sure": "1"},
    "teams": {"action": "approve", "team": "bob"},
    "account": {"action": "token", "token-name": "another"},
    "account_login": {"login": "ann", "password": "wrong"},
    "account_reset_password": {"email": "ann@example.org"},
    "account_signup": {"username": "new"},
}
Asker: TypeAlias = Callable[..., Any]
#: What is posted to the API.
SUBMISSION = "?method=Mine&filename=captions.zip&phase=main&team={role}"


@dataclass(frozen=True)
class Line:
    """A line of the table, for one address."""

    method: str
    address: str
    answers: dict[str, str]

    @property
    def is_api(self) -> bool:
        return self.address.startswith("/api/")


def lines(world: World) -> Iterator[Line]:
    """The lines of the table, one for each address."""
    values = ids(world)
    for text in filter(None, TABLE.splitlines()):
        if text.startswith(" "):
            assert text.split()[-len(ROLES) :] == list(ROLES), "a heading that is not ours"
            continue
        method, template, *answers = text.split()
        assert len(answers) in {1, len(ROLES)}, text
        by_role = dict(zip(ROLES, answers if len(answers) > 1 else answers * len(ROLES), strict=True))
        pieces = re.split(r"{(.*?)}", template)
        names = [[name for item in piece.split(",") for name in GROUPS.get(item, [item])] for piece in pieces[1::2]]
        for chosen in product(*names):
            filled = [str(values.get(name, name)) for name in chosen]
            yield Line(method, "".join(map("".join, zip_longest(pieces[::2], filled, fillvalue=""))), by_role)


def addresses(world: World, *, api: bool) -> list[str]:
    """The addresses of all pages; with ``api``, of the calls of the API."""
    return list(dict.fromkeys(line.address for line in lines(world) if line.is_api is api))


def ids(world: World) -> dict[str, Any]:
    people = {"alpha_link": Invitation.objects.get(team=world.alpha).pk, "dora": world.users["dora"].pk}
    token = Token.objects.get(user=world.users["ann"])
    values: dict[str, Any] = {name: submission.pk for name, submission in world.submissions.items()}
    return {
        **values,
        **people,
        "token": token.pk,
        "webhook": Webhook.objects.get().pk,
        "invitation": world.invitation,
        "nothing": 999_999,
    }


def answer_of(response: Any) -> str:
    to = response.get("Location", "")
    if response.status_code == 302 and to.startswith(("/sign-in?", "/admin/login/?")):
        return "in"
    return str(response.status_code)


def named(address: str) -> str:
    return resolve(address.partition("?")[0]).url_name or ""


def page(world: World, role: str, method: str, address: str) -> Any:
    client = world.as_user(role)
    return client.get(address) if method == "GET" else client.post(address, CONTENTS.get(named(address), {}))


def call(world: World, role: str, method: str, address: str) -> Any:
    query = SUBMISSION.format(role=role) if method == "POST" and address.endswith("/submissions") else ""
    return world.call(role, method, address + query, upload() if query else b"")


def ask(world: World, person: str, line: Line) -> Any:
    return (call if line.is_api else page)(world, person, line.method, line.address)


def differences(world: World, asked: Iterable[Line], role: str, column: str = "", ask: Asker = ask) -> list[str]:
    """Where the answers that a role gets are not those of a column of the table, by default its own."""
    wrong = []
    for line in asked:
        with world.rollback():
            response = ask(world, ROLES[role], line)
            close(response)
        expected = line.answers[column or role]
        if answer_of(response) != expected:
            wrong.append(f"{line.method} {line.address} by {role}: {answer_of(response)}, not {expected}")
    return wrong


@pytest.fixture
def keeping_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deletions that are rolled back leave the files."""
    monkeypatch.setattr(storage, "remove_files", lambda folder: None)


def all_routes() -> Iterator[str]:
    def walk(patterns: Any, before: str) -> Iterator[str]:
        for pattern in patterns:
            route = before + str(pattern.pattern)
            if isinstance(pattern, URLPattern):
                yield route
            else:
                yield from walk(pattern.url_patterns, route)

    yield from walk(get_resolver().url_patterns, "")


def test_access_table_has_every_address(world: World) -> None:
    """Fails for a new page until the table says who may GET it and POST to it."""
    tabled = {(resolve(line.address.partition("?")[0]).route, line.method) for line in lines(world)}
    routes = [route for route in all_routes() if not route.startswith("admin/")]
    assert tabled == set(product(routes, ("GET", "POST")))


@pytest.mark.usefixtures("keeping_files")
@pytest.mark.parametrize("role", slow_but("visitor participant", ROLES))
def test_role_has_the_access_of_the_table(world: World, role: str) -> None:
    assert differences(world, lines(world), role) == []


@pytest.mark.usefixtures("keeping_files")
@pytest.mark.parametrize("role", ["captain", "administrator"])
def test_session_does_not_authenticate_the_api(world: World, role: str) -> None:
    """Another site can make a browser send cookies, but not a token."""

    def with_session(world: World, person: str, line: Line) -> Any:
        return page(world, person, line.method, line.address)

    calls = [line for line in lines(world) if line.is_api]
    assert differences(world, calls, role, "visitor", with_session) == []


def test_token_does_not_authenticate_pages(world: World) -> None:
    def with_token(world: World, person: str, line: Line) -> Any:
        return call(world, person, line.method, line.address)

    closed = [line for line in lines(world) if not line.is_api and {"in", "404"} & {*line.answers.values()}]
    assert len(differences(world, closed, "administrator", ask=with_token)) > 50
    assert differences(world, closed, "administrator", "visitor", with_token) == []


class TestVisibility:
    def test_tracebacks_are_shown_to_managers_only(self, world: World) -> None:
        address = f"/submissions/{world.submissions['failed'].pk}/"
        for role, sees in (("ann", False), ("olga", True), ("root", True)):
            text = world.as_user(role).get(address).content.decode()
            assert ("secret frame" in text) is sees
            assert "It failed." in text
        for role in ("ann", "olga"):
            assert "secret frame" not in world.call(role, "GET", f"/api/v1{address}"[:-1]).content.decode()
        assert "secret frame" in TRACEBACK

    def test_public_captions_can_be_downloaded(self, world: World) -> None:
        page = world.submissions["public"].url
        visitor = world.as_user("visitor")
        assert f'href="{page}scores/val/c5.csv"' in visitor.get(page).content.decode()
        heads, first, *_ = csv.reader(visitor.get(f"{page}scores/val/c5.csv").getvalue().decode().splitlines())
        row = dict(zip(heads, first, strict=True))
        assert float(row.pop("rouge-l")) > 0.5
        assert row == {
            "image_id": "11",
            "caption": "a cat on a mat",
            "reference_1": "a cat on a mat",
            "reference_2": "the cat",
        }

    def test_lists_have_only_public_submissions(self, world: World) -> None:
        for role in ("visitor", "bob", "otto"):
            for page in ("leaderboard", "leaderboard.json", "leaderboard.csv", "compare", "captions"):
                address = f"/challenges/open/{page}?phase=main&references=val/c5&all=1"
                text = body_of(world.as_user(role).get(address))
                assert "Public" in text
                for name in ("Private", "Hidden</a>", "In hidden", "Queued", "Failed", "Canceled", "Deleted"):
                    assert name not in text, (address, name)

    def test_hidden_leaderboard_is_not_shown_under_another_name(self, world: World) -> None:
        """Without access to the leaderboard of a phase, nothing else is shown, and it is never the default."""
        assert world.as_user("ann").get("/challenges/open/leaderboard.json?phase=hidden").status_code == 403
        rows = parsed(world.as_user("ann").get("/challenges/open/leaderboard.json"))
        assert "In hidden" not in {row["method"] for row in rows}
        rows = parsed(world.as_user("olga").get("/challenges/open/leaderboard.json?phase=hidden"))
        assert {row["method"] for row in rows} == {"In hidden"}
        with world.rollback():
            Phase.objects.update(board="hidden")
            for page in ("leaderboard", "leaderboard.json", "leaderboard.csv", "compare", "captions"):
                for role in ("visitor", "ann"):
                    response = world.as_user(role).get(f"/challenges/open/{page}?references=val/c5")
                    assert response.status_code == 403, page
                    for name in ("Public", "In hidden", "Alpha", "bleu"):
                        assert name not in body_of(response), (page, name)
                assert world.as_user("olga").get(f"/challenges/open/{page}?references=val/c5").status_code == 200

    def test_submission_list_has_own_submissions_only(self, world: World) -> None:
        for role, methods in (("bob", set()), ("ann", {"Private", "Failed"}), ("olga", set())):
            rows = world.call(role, "GET", "/api/v1/challenges/open/submissions").json()
            assert {row["method"] for row in rows} >= methods
            assert bool(rows) == bool(methods)
            text = world.as_user(role).get("/challenges/open/submissions").content.decode()
            assert ("Private" in text) is bool(methods)

    def test_account_page_shows_own_tokens_and_teams(self, world: World) -> None:
        text = world.as_user("bob").get("/account/").content.decode()
        assert "Beta" in text
        assert "Alpha" not in text
        assert world.tokens["ann"][:10] not in text

    def test_outsiders_cannot_submit_for_a_team(self, world: World) -> None:
        with world.rollback():
            before = Submission.objects.count()
            for team in ("alpha", "Alpha", "ann", "baselines", "circle"):
                answer = world.call(
                    "bob", "POST", f"/api/v1/challenges/open/submissions?method=X&phase=main&team={team}", upload()
                )
                assert answer.status_code == 400
            form = world.site.form(world.users["bob"], upload(), filename="captions.zip", team="alpha")
            assert world.as_user("bob").post("/challenges/open/submit", form).status_code == 422
            assert Submission.objects.count() == before

    def test_former_participant_sees_nothing(self, world: World) -> None:
        with world.rollback():
            Participant.objects.all().delete()
            submission = world.submissions["in_circle"]
            for address in (submission.url, f"{submission.url}file", f"{submission.url}edit", "/challenges/circle/"):
                assert world.as_user("paul").get(address).status_code == 404
            assert world.call("paul", "GET", f"/api/v1/submissions/{submission.pk}").status_code == 404
