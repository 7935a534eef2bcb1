"""Private references and the names of anonymous teams through any page, API call, file or error message."""

from __future__ import annotations

import io
import json
import re
import stat
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest

from captious_server.models import Submission
from server.tests.security.pages import Page, body_of, crawl, is_html
from server.tests.security.test_access import addresses
from server.tests.security.world import IDS, MARKERS, TEST, VAL, World, upload
from server.tests.submissions.uploads import zipped
from server.tests.support.site import parsed
from tests.support.selection import slow_but

#: Roles that see most of what others do not; nobody gets private references, not even organizers.
ROLES = ("visitor", "bob", "ann", "olga", "root")


def leaks(world: World, text: str) -> list[str]:
    """What must never be in a response and is in this one."""
    secrets = [*MARKERS, str(world.site.data), "secret_key", "database.sqlite3", "/references/"]
    secrets += [str(submission.folder_name) for submission in world.submissions.values()]
    return [secret for secret in secrets if secret in text]


def every_response(world: World, role: str) -> Iterator[tuple[str, Any, str]]:
    """Whatever a role can fetch: what pages link to, all addresses of the site, and all calls of the API."""
    yield from crawl(world, role)
    for address in (*addresses(world, api=False), "/admin/", "/admin/captious/user/", "/static/captious/nothing.css"):
        with world.rollback():
            response = world.as_user(role).get(address)
            yield address, response, body_of(response)
    for address in addresses(world, api=True):
        response = world.call(role, "GET", address)
        yield address, response, body_of(response)


@pytest.mark.parametrize("role", slow_but("visitor", ROLES, nightly="bob ann root"))
def test_every_response_has_the_policy_and_nothing_private(world: World, role: str) -> None:
    """The policy would block script and style in pages, which have none, but for those of the administration."""
    seen = []
    for address, response, text in every_response(world, role):
        assert leaks(world, text) == [], address
        policy = str(response.get("Content-Security-Policy", ""))
        rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";"))
        assert rules["default-src"] == "'self'", address
        assert rules["object-src"] == rules["base-uri"] == rules["frame-ancestors"] == "'none'"
        assert "script-src" not in rules
        assert "unsafe" not in policy
        assert (response["X-Content-Type-Options"], response["X-Frame-Options"]) == ("nosniff", "DENY")
        if is_html(response) and not address.startswith("/admin/"):
            assert Page(response.content.decode()).dangers == [], address
        seen += [address] * ("the cat" in text)
    assert any("/captions" in address for address in seen)  # public references are shown


def test_private_words_are_in_the_stored_references(world: World) -> None:
    """Without this, the other tests could not fail."""
    text = (world.challenge("open").folder / "test.json").read_text()
    assert all(word in text for word in MARKERS)


def symlink(name: str, target: str) -> bytes:
    archive_file = io.BytesIO()
    with zipfile.ZipFile(archive_file, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, target)
        archive.writestr(TEST, json.dumps([{"image_id": image, "caption": "a"} for image in IDS]))
    return archive_file.getvalue()


def hostile(world: World) -> dict[str, bytes]:
    """Uploads that try to have files of the server read, or its messages say more than they should."""
    references = str(world.challenge("open").folder / "test.json")
    good = json.dumps([{"image_id": image, "caption": "a"} for image in IDS]).encode()
    return {
        "symlink.zip": symlink(VAL, references),
        "path.zip": zipped({references: good, f"../../../../{references}": good}),
        "relative.zip": zipped({f"../open/1/{VAL}": good, TEST: good}),
        "missing.zip": upload(ids=IDS[:1]),
        "unknown.zip": upload(ids=[*IDS, 99, "x", -1]),
        "twice.zip": upload(ids=[*IDS, *IDS]),
        "text.json": references.encode(),
        "broken.json": b'[{"image_id": 11, "caption": "a',
        "deep.json": b"[" * 100_000,
        "include.json": b'{"$ref": "file:///etc/passwd"}',
        "latin.json": b'[{"image_id": 11, "caption": "\xe9"}]',
        "nan.zip": zipped({VAL: b'[{"image_id": NaN, "caption": 1e999}]', TEST: good}),
        "empty.zip": zipped({}),
        "zero.json": b"",
        "pickle.npz": b"\x80\x04c__builtin__\neval\n",
    }


@pytest.mark.parametrize("way", ["page", "api", "dry run"])
def test_upload_messages_reveal_nothing_about_the_server(sandbox: World, way: str) -> None:
    for name, content in hostile(sandbox).items():
        if way == "page":
            form = sandbox.site.form(sandbox.users["ann"], content, filename=name)
            response = sandbox.as_user("ann").post("/challenges/open/submit", form)
        else:
            query = f"?phase=main&team=ann&method=X&filename={name}&dry_run={way == 'dry run'}"
            response = sandbox.call("ann", "POST", f"/api/v1/challenges/open/submissions{query}", content)
        assert response.status_code in {411, 422}, name
        text = body_of(response).replace(str(sandbox.challenge("open").folder / "test.json")[:99], "")
        assert not leaks(sandbox, text), name


def test_refused_uploads_leave_no_files(sandbox: World) -> None:
    before = {path.name for path in (sandbox.site.data / "submissions").iterdir()}
    for name, content in hostile(sandbox).items():
        query = f"?phase=main&team=ann&method=X&filename={name}"
        sandbox.call("ann", "POST", f"/api/v1/challenges/open/submissions{query}", content)
    assert {path.name for path in (sandbox.site.data / "submissions").iterdir()} == before
    assert [*(sandbox.site.data / "incoming").iterdir()] == []


FILES = ("captious.toml", "database.sqlite3", "secret_key", "challenges/open/1/test.json")
PREFIXES = (
    "/static/../",
    "/static/%2e%2e/",
    "/static/..%2f",
    "/static/..%252f",
    "/static/%2e%2e%2f",
    "/static/....//",
    "/static/..\\",
    "/static/captious/../../",
    "/static//",
    "/media/",
    "/data/",
    "/files/",
    "/../",
    "/..%2f",
    "/%2e%2e/",
    "/.//",
    "/./",
    "/submissions/1/file/../../../",
    "/challenges/open/captions/..%2f..%2f",
    "/challenges/open/",
    "/",
)
LOGS = ("/log", "/logs", "/logs/captious.log", "/captious.log", "/server.log", "/.env", "/.git/config", "/debug")


class TestAddresses:
    @pytest.mark.parametrize("role", ["visitor", "ann"])
    def test_server_files_are_not_served(self, world: World, role: str) -> None:
        client = world.as_user(role)
        for name in (*FILES, f"..{world.site.data}/secret_key", str(world.site.data / "secret_key").lstrip("/")):
            for prefix in PREFIXES:
                for address in (prefix + name, prefix + name.replace("/", "%2f"), f"{prefix}{name}%00.css"):
                    response = client.get(address)
                    assert response.status_code in {400, 404}, address
                    text = body_of(response).replace(address, "").replace(name, "")
                    assert not set(MARKERS) & set(re.findall(r"\w+", text))
        for address in LOGS:
            assert client.get(address).status_code == 404

    @pytest.mark.parametrize(
        "address",
        [
            "/%00",
            "/challenges/%00/",
            "/challenges/open%00/",
            "/challenges/open/captions/%00?references=val/c5",
            "/challenges/open/captions/11%00?references=val/c5",
            "/challenges/open/captions/%ff%fe?references=val/c5",
            "/challenges/open/captions/%0a%0dSet-Cookie:x=y?references=val/c5",
            "/challenges/open/captions/" + 8000 * "a" + "?references=val/c5",
            "/challenges/" + 100_000 * "a" + "/",
            "/submissions/" + 5000 * "9" + "/",
            "/submissions/99999999999999999999/",
            "/submissions/-1/",
            "/submissions/1.5/",
            "/submissions/1e3/",
            "/submissions/0x1/",
            "/submissions/١/",
            "/submissions/1/scores/..%2f..%2f/c5.csv",
            "/submissions/1/scores/test/..%2fc5.csv",
            "/teams/..%2f/",
            "/teams/join/%00",
            "/teams/join/..",
            "/account/reset/%00/x-y/",
            "/account/tokens/99999999999999999999/revoke",
            "/%ff%fe%80",
            "/challenges/open/leaderboard%3Fphase=hidden",
            "/challenges;/open/",
            "/CHALLENGES/open/",
        ],
    )
    def test_path_tricks_end_in_404(self, world: World, address: str) -> None:
        for role in ("visitor", "ann"):
            response = world.as_user(role).get(address)
            allowed = {400, 404}
            if address.startswith(("/teams/", "/account/")):
                allowed |= {200, 302, 405}  # a link that is not valid, the page to sign in, or POST only
            assert response.status_code in allowed
            assert not leaks(world, body_of(response))


class TestAnonymousTeams:
    @pytest.fixture
    def anonymous_world(self, sandbox: World) -> World:
        """All submissions of the team are anonymous."""
        Submission.objects.filter(team=sandbox.alpha).update(anonymous=True)
        return sandbox

    @pytest.mark.parametrize("role", slow_but("bob", ("visitor", "bob", "otto"), nightly="visitor"))
    def test_no_response_has_the_name_of_an_anonymous_team(self, anonymous_world: World, role: str) -> None:
        names = re.compile(r"\b(Alpha|alpha|ann)\b")
        skipped = ("/teams/", "/account/")
        seen = 0
        for address, _, text in every_response(anonymous_world, role):
            if not address.startswith(skipped):
                text = text.replace(address, "")
                assert not names.search(text), address
                seen += "Anonymous" in text
        assert seen > 10

    def test_comparison_and_captions_hide_the_team(self, anonymous_world: World) -> None:
        a, b = (anonymous_world.submissions[name].pk for name in ("public", "anonymous"))
        for address in (
            f"compare?phase=main&a={a}&b={b}",
            f"captions?phase=main&references=val/c5&systems={a}&systems={b}",
            f"captions/11?phase=main&references=val/c5&systems={a}",
            "leaderboard?phase=main&all=1",
            "leaderboard.json?phase=main&all=1",
            "leaderboard.csv?phase=main&all=1",
        ):
            text = body_of(anonymous_world.as_user("visitor").get(f"/challenges/open/{address}"))
            assert "Nameless" in text or "captions/11" in address
            assert not re.search(r"\b(Alpha|ann)\b", text)

    def test_api_names_the_team_to_members_and_organizers(self, anonymous_world: World) -> None:
        address = f"/api/v1/submissions/{anonymous_world.submissions['anonymous'].pk}"
        shown = {
            role: anonymous_world.call(role, "GET", address).json()["team"]
            for role in ("visitor", "bob", "ann", "olga")
        }
        assert shown == {"visitor": "Anonymous", "bob": "Anonymous", "ann": "Alpha", "olga": "Alpha"}

    def test_organizer_pages_name_the_team_on_request_only(self, anonymous_world: World) -> None:
        """Organizers show these pages to others."""
        submission = anonymous_world.submissions["anonymous"]
        anonymous_world.as_user("ann").post(f"{submission.url}edit", {"method": "Nameless", "anonymous": "on"})
        for address in ("/challenges/open/manage", submission.url):
            text = body_of(anonymous_world.as_user("olga").get(address))
            at_first = re.sub(r"<details class=\"identity\">.*?</details>", "", text)
            names = re.compile(r"\b(Alpha|ann|fred)\b")
            assert names.search(text)
            assert not names.search(at_first)

    def test_submission_made_anonymous_stays_among_other_anonymous_ones(self, sandbox: World) -> None:
        """With the best of each team, all anonymous submissions are shown, so that none appears with another's name."""

        def shown() -> dict[str, str]:
            rows = parsed(sandbox.as_user("visitor").get("/challenges/open/leaderboard.json?phase=main"))
            return {row["method"]: row["team"] for row in rows}

        assert shown() == {"Public": "Alpha", "Nameless": "Anonymous"}
        address = f"{sandbox.submissions['public'].url}edit"
        sandbox.as_user("ann").post(address, {"method": "Public", "public": "on", "anonymous": "on"})
        assert shown() == {"Public": "Anonymous", "Nameless": "Anonymous"}


def test_warnings_and_progress_have_no_references(world: World) -> None:
    """What workers write about a submission has no references in it."""
    values: list[Any] = []
    for submission in world.submissions.values():
        values += [
            [*submission.all_scores.values_list("set_warnings", flat=True)],
            submission.doing,
            submission.reason,
            submission.traceback,
        ]
    assert not leaks(world, json.dumps(values))
