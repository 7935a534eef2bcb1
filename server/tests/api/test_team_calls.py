"""Everything that a team does on the site, done with tokens: the pages and their calls, and a team's whole way."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import URLPattern, get_resolver

from captious_server import actions as team_changes
from captious_server.api import PREFIX, description
from captious_server.models import AuditEvent, Challenge, Submission, Team, Token
from server.tests.security.test_access import all_routes
from server.tests.security.world import upload, write_challenge
from server.tests.support.site import Site, parsed

#: What cannot be done with a token, and why.
ACCOUNT = "of the account itself: it takes the password or a code, and a token must not make or change what outlives it"
ORGANIZERS = "for organizers"
#: The pages of the site, by the names of their addresses, and the calls that do the same.
CALLS = {
    "home": "GET challenges",
    "healthz": "GET metrics",
    "challenge": "GET challenges/{slug}, GET challenges/{slug}/quotas",
    "leaderboard": "GET challenges/{slug}/leaderboard",
    "leaderboard_json": "GET challenges/{slug}/leaderboard",
    "leaderboard_csv": "GET challenges/{slug}/leaderboard",
    "compare": "GET challenges/{slug}/compare",
    "captions": "GET submissions/{pk}/scores",
    "caption": "GET submissions/{pk}/scores",
    "download": "GET challenges/{slug}/files",
    "logo": "GET challenges/{slug}",
    "terms": "GET challenges/{slug}/terms, POST challenges/{slug}/terms",
    "teams": "GET challenges/{slug}/teams, POST challenges/{slug}/teams",
    "news": "GET challenges/{slug}",
    "submit": "POST challenges/{slug}/submissions",
    "template": "GET challenges/{slug}/template",
    "submissions": "GET challenges/{slug}/submissions, GET challenges/{slug}/refused",
    "submission": "GET submissions/{pk}, GET challenges/{slug}/leaderboard",
    "submission_status": "GET submissions/{pk}",
    "submission_edit": "POST submissions/{pk}/edit",
    "submission_cancel": "POST submissions/{pk}/cancel",
    "submission_choose": "POST submissions/{pk}/choose",
    "submission_delete": "POST submissions/{pk}/delete",
    "submission_file": "GET submissions/{pk}/file",
    "submission_scores": "GET submissions/{pk}/scores",
    "team": "GET teams, POST teams, GET teams/{team}",
    "team_join": "POST join",
    "team_invite": "POST teams/{team}/invite",
    "invitation_revoke": "POST teams/{team}/invitations/{pk}/revoke",
    "team_remove": "POST teams/{team}/remove",
    "team_captain": "POST teams/{team}/captain",
    "team_leave": "POST teams/{team}/leave",
    "api": "GET openapi.json",
    "manage": ORGANIZERS,
    "archive": ORGANIZERS,
    "versions": ORGANIZERS,
    "challenge_edit": ORGANIZERS,
}


_OF_ACCOUNTS = (
    *("account", "data_", "draft", "github_", "mail", "mfa_"),
    *("openid_connect_", "socialaccount_", "token_", "usersessions_"),
)


def test_every_page_has_an_api_call(site: Site) -> None:
    """Fails for a new page until a call does the same, or a reason is given why none does."""
    described = {
        f"{method.upper()} {address.removeprefix(PREFIX)}"
        for address, methods in description()["paths"].items()
        for method in methods
    } | {"GET openapi.json"}
    names = {
        name
        for patterns in (get_resolver().url_patterns,)
        for name in _names(patterns)
        if not name.startswith(_OF_ACCOUNTS)
        and name != "openapi"  # those of the account, see ACCOUNT, and of drafts, for organizers
    }
    assert names == {*CALLS}
    for name, calls in CALLS.items():
        if calls not in {ACCOUNT, ORGANIZERS}:
            assert {*calls.split(", ")} <= described, name
    assert len([*all_routes()]) > 100


def _names(patterns: Any) -> list[str]:
    found: list[str] = []
    for pattern in patterns:
        if isinstance(pattern, URLPattern):
            found += [pattern.name] if pattern.name else []
        elif "admin" not in str(pattern.pattern):
            found += _names(pattern.url_patterns)
    return found


class Caller:
    """A user with a token, who never opens a page."""

    def __init__(self, site: Site, user: Any, **values: Any) -> None:
        self._site = site
        self._headers = {"Authorization": f"Bearer {site.token(user, **values)}"}

    def answer(self, method: str, address: str, body: Any = b"", kind: str = "application/octet-stream") -> Any:
        return self._site.client().generic(method, f"/api/v1/{address}", body, kind, headers=self._headers)

    def get(self, address: str) -> Any:
        answer = self.answer("GET", address)
        assert answer.status_code == 200, (address, answer.content)
        return answer.json()

    def post(self, address: str, body: Any = b"", kind: str = "application/octet-stream", status: int = 200) -> Any:
        answer = self.answer("POST", address, body, kind)
        assert answer.status_code == status, (address, answer.status_code, answer.content)
        return answer.json()

    def join(self, link: str, status: int = 200) -> Any:
        return self.post("join", f"invitation={link}", "application/x-www-form-urlencoded", status)


@pytest.fixture
def ann(site: Site) -> Caller:
    return Caller(site, site.user("ann"))


@pytest.fixture
def bob(site: Site) -> Caller:
    return Caller(site, site.user("bob"))


def test_team_is_created_joined_and_left_with_the_api(site: Site, ann: Caller, bob: Caller) -> None:
    team = ann.post("teams?name=Word+painters", status=201)
    assert (team["slug"], team["personal"]) == ("word-painters", False)
    assert [team["slug"] for team in ann.get("teams")] == ["word-painters", "ann"]
    made = ann.post("teams/word-painters/invite", status=201)
    assert re.fullmatch(r"http://testserver/teams/join/[\w-]{43}", made["link"])
    assert bob.answer("GET", "teams/word-painters").status_code == 404
    assert bob.join(made["link"])["slug"] == "word-painters"
    shown = bob.get("teams/word-painters")
    assert [(row["user"], row["captain"]) for row in shown["members"]] == [("ann", True), ("bob", False)]
    assert [row["id"] for row in shown["invitations"]] == [made["id"]]
    assert made["link"].rpartition("/")[2] not in json.dumps(shown)
    for verb in ("remove", "captain"):
        assert bob.answer("POST", f"teams/word-painters/{verb}?user=ann").status_code == 404
    assert "leave the team" in ann.post("teams/word-painters/remove?user=ann", status=409)["error"]
    after = ann.post("teams/word-painters/captain?user=bob")
    assert [(row["user"], row["captain"]) for row in after["members"]] == [("ann", False), ("bob", True)]
    second = bob.post("teams/word-painters/invite", status=201)
    assert [row["id"] for row in bob.post(f"teams/word-painters/invitations/{made['id']}/revoke")["invitations"]] == [
        second["id"]
    ]
    ann.join(made["link"], status=404)
    assert [row["user"] for row in bob.post("teams/word-painters/remove?user=ann")["members"]] == ["bob"]
    ann.join(second["link"], status=404)  # whoever is removed knows the links
    assert bob.post("teams/word-painters/leave") == {"team": "word-painters", "deleted": True}
    assert not Team.objects.filter(slug="word-painters").exists()
    actions = AuditEvent.objects.order_by("pk").values_list("actor", "action")
    assert [*actions] == [
        ("ann", "create team"),
        ("ann", "invite"),
        ("bob", "join team"),
        ("ann", "make captain"),
        ("bob", "invite"),
        ("bob", "revoke invitation"),
        ("bob", "remove member"),
        ("bob", "leave team"),
    ]


def test_api_refuses_invalid_team_changes(ann: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [team["slug"] for team in ann.get("teams")] == ["ann"]
    for name in ("ann", "***", "", "P\u0430inters"):  # taken, without letters, none, with a Cyrillic a
        assert ann.answer("POST", f"teams?name={name}").status_code == 400, name
    for verb in ("invite", "leave"):
        assert "personal team" in ann.post(f"teams/ann/{verb}", status=409)["error"]
    monkeypatch.setattr(team_changes, "MAX_TEAMS", 1)
    assert "which is the limit" in ann.post("teams?name=another", status=409)["error"]


def test_refused_changes_count_toward_the_rate_limit(site: Site, ann: Caller) -> None:
    ann.get("teams")
    site.configure(requests_per_minute=3)
    answers = [ann.answer("POST", "teams/ann/invite").status_code for _ in range(5)]
    assert answers == [409, 409, 409, 429, 429]


def test_submission_goes_from_terms_to_final_entry_with_the_api(
    site: Site, ann: Caller, bob: Caller, tmp_path: Path
) -> None:
    organizer = Caller(site, site.user("olga"), scopes=["organize"])
    site.load(write_challenge(tmp_path / "made", title="Made", terms="Overview", team_approval=True))
    team = ann.post("teams?name=Painters", status=201)["slug"]
    bob.join(ann.post(f"teams/{team}/invite", status=201)["link"])
    [listed] = ann.get("challenges")
    about = ann.get(f"challenges/{listed['slug']}")
    assert about["texts"][0]["html"] == "<p>About this challenge.</p>\n"
    assert about["team_approval"]
    [file] = about["files"]
    content = ann.answer("GET", f"challenges/made/files?file={file['file']}")
    assert b"".join(content.streaming_content).startswith(b"image\n11")
    template = ann.answer("GET", "challenges/made/template?phase=main")
    assert b"".join(template.streaming_content).startswith(b"PK")

    submit = f"challenges/made/submissions?method=First&filename=captions.zip&phase=main&team={team}"
    terms = ann.get("challenges/made/terms")
    assert (terms["version"], terms["accepted"]) == (about["terms_version"], [])
    assert "approval" in ann.post(submit, upload(), status=409)["error"]
    ann.post(f"challenges/made/teams?team={team}&message=We+paint.")
    assert organizer.post(f"challenges/made/teams/{team}?approved=true")["status"] == "approved"
    assert "accept the terms" in ann.post(submit, upload(), status=409)["error"]
    ann.post(f"challenges/made/terms?version={terms['version']}&team={team}")
    assert [row["user"] for row in bob.get("challenges/made/terms")["accepted"]] == ["ann"]

    assert ann.post(f"{submit}&dry_run=1", upload()) == {"problems": [], "remarks": [], "warnings": []}
    first = ann.post(submit, upload(), status=201)
    canceled = bob.post(submit.replace("First", "Second"), upload("the cat"), status=201)
    assert bob.post(f"submissions/{canceled['id']}/cancel")["status"] == "canceled"
    content = upload("a mat")
    second = bob.post(submit.replace("First", "Third"), content, status=201)
    site.work()
    quota = next(row for row in bob.get(f"challenges/made/quotas?team={team}") if row["phase"] == "main")
    assert (quota["scored"], quota["exhausted"]) == (2, "")
    assert [row["method"] for row in ann.get("challenges/made/submissions")] == ["Third", "Second", "First"]
    assert ann.get(f"submissions/{first['id']}")["entry"]
    assert bob.post(f"submissions/{second['id']}/choose")["chosen"]
    board = parsed(ann.answer("GET", "challenges/made/leaderboard?phase=main"))
    assert [row["method"] for row in board] == ["Third"]
    [compared] = ann.get(f"challenges/made/compare?phase=main&references=val/c5&a={first['id']}&b={second['id']}")
    assert compared["difference"] == round(compared["b"] - compared["a"], 4) < 0
    answer = ann.answer("GET", f"submissions/{second['id']}/scores?captions=val&references=c5")
    rows = [*csv.DictReader(b"".join(answer.streaming_content).decode().splitlines())]
    assert {row["caption"] for row in rows} == {"a mat"}
    assert ann.post(f"submissions/{second['id']}/edit?method=Renamed")["method"] == "Renamed"
    file = ann.answer("GET", f"submissions/{second['id']}/file")
    assert b"".join(file.streaming_content) == content
    assert ann.post(f"submissions/{second['id']}/delete")["status"] == "deleted"
    assert ann.get(f"submissions/{first['id']}")["entry"]


class TestScopes:
    @pytest.mark.parametrize(
        ("scopes", "allowed"),
        [((), set()), (("submit",), {"submit"}), (("teams",), {"teams"}), (("organize",), {"organize"})],
    )
    def test_scope_allows_only_its_calls(self, site: Site, tmp_path: Path, scopes: Any, allowed: set[str]) -> None:
        """Tries every POST of the API with an organizer's token that has these scopes."""
        caller = Caller(site, site.user("olga"), scopes=scopes)
        site.load(write_challenge(tmp_path / "made", title="Made"))
        [api] = [each for each in get_resolver().url_patterns if str(each.pattern) == "api/v1/"]
        seen: dict[str, int] = {}
        for pattern in api.url_patterns:
            declared = getattr(pattern.callback, "declared", {})
            if "POST" not in declared:
                continue
            address = re.sub(r"<slug:slug>", "made", str(pattern.pattern))
            address = re.sub(r"<\w+:\w+>", "1", address)
            status = caller.answer("POST", address).status_code
            scope = declared["POST"].scope
            assert (status == 403) is (scope not in scopes), (address, status)
            assert caller.answer("GET", address).status_code in {200, 400, 404, 405}
            seen[scope] = seen.get(scope, 0) + 1
        assert seen == {"submit": 7, "teams": 7, "organize": 5}

    def test_token_of_one_challenge_cannot_change_another(self, site: Site, tmp_path: Path) -> None:
        olga = site.user("olga")
        for slug in ("made", "other"):
            site.load(write_challenge(tmp_path / slug, title=slug))
        made = Challenge.objects.get(slug="made")
        free, bound = Caller(site, olga), Caller(site, olga, challenge=made)
        submit = "submissions?method=Mine&filename=captions.zip&phase=main"
        other = free.post(f"challenges/other/{submit}", upload(), status=201)["id"]
        own = bound.post(f"challenges/made/{submit}", upload(), status=201)["id"]
        assert [row["slug"] for row in bound.get("challenges")] == ["made"]
        assert bound.get(f"submissions/{own}")["id"] == own
        bound.get("challenges/made/webhooks")
        refused = [
            ("GET", "challenges/other"),
            ("GET", "challenges/nothing"),
            ("GET", "challenges/other/submissions"),
            ("POST", f"challenges/other/{submit}"),
            ("GET", "challenges/other/archive?phase=main"),
            ("GET", f"submissions/{other}"),
            ("GET", "submissions/999999"),
            ("POST", f"submissions/{other}/delete"),
            ("GET", "teams"),
            ("POST", "teams?name=New"),
            ("POST", "join"),
            ("GET", "metrics"),
        ]
        for method, address in refused:
            answer = bound.answer(method, address, upload() if "submissions?" in address else b"")
            assert (answer.status_code, "'made' only" in answer.json()["error"]) == (403, True), address
        Submission.objects.filter(phase__challenge=made).delete()
        made.delete()
        assert not Token.objects.filter(user=olga, challenge__isnull=False).exists()
        assert bound.answer("GET", "challenges").status_code == 401
        assert len(free.get("challenges")) == 1


def test_team_name_taken_concurrently_is_refused(ann: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is free when it is checked, and taken when the team is made."""
    ann.post("teams?name=Painters", status=201)
    monkeypatch.setattr(team_changes, "is_free", lambda name: True)
    assert "taken" in ann.post("teams?name=Painters", status=409)["error"]
