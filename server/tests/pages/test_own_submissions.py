"""The form of a submission, and the list of a team's submissions."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import TypeAdapter

from captious_server.actions import ban
from captious_server.actions.accounts import data_json
from captious_server.api.schemas import RefusedAnswer
from captious_server.boards.submission_pages import place_of, query_of
from captious_server.models import MAX_REFUSALS, Attempt, Phase, RefusedUpload, Submission, Team
from captious_server.people.teams import create_team
from captious_server.submissions.intake import quota
from captious_server.submissions.storage import incoming_folder
from server.tests.support.site import Site, example, parsed


def test_check_needs_no_method(site: Site) -> None:
    site.demo()
    ann = site.user("ann")
    checked = site.submit(ann, action="check", method="")
    assert checked.status_code == 200
    assert "No problems found." in checked.content.decode()
    refused = site.submit(ann, method="")
    assert refused.status_code == 422
    assert "This field is required." in refused.content.decode()
    assert site.submissions() == []


def test_check_warns_about_empty_captions(site: Site) -> None:
    """They are allowed, but the submission counts toward the quota."""
    site.demo()
    rows = [{**row, "caption": " " if place < 2 else row["caption"]} for place, row in enumerate(example())]
    said = "2 of 24 captions are empty. Most metrics score them 0."
    assert said in site.submit(site.user("ann"), rows, action="check").content.decode()
    assert "are empty" not in site.submit(site.user("bob"), action="check").content.decode()


def test_final_entry_is_chosen_in_the_list(site: Site) -> None:
    site.demo()
    ann = site.user("ann")
    site.submit(ann, method="Better")
    site.submit(ann, example("baseline"), method="Worse")
    site.work()
    better, worse = site.submissions()
    client, address = site.client(ann), "/challenges/demo/submissions"
    assert client.get(address).content.decode().count("Make final<") == 2 * 2  # once for phones
    chosen = client.post(f"{worse.url}choose", {"chosen": "1", "back": "list"})
    assert chosen["Location"] == address
    page = client.get(address).content.decode()
    assert "Worse is now the final entry of ann." in page
    assert "Let the best count" in page
    assert [row.is_entry for row in site.submissions()] == [False, True]
    assert client.post(f"{better.url}choose", {"chosen": "1"})["Location"] == better.url


def test_submission_page_axes_follow_the_leaderboard(site: Site) -> None:
    """They are kept until the board changes, also when a submission is hidden."""
    site.demo()
    site.work()

    def ends() -> tuple[float, float]:
        submission = Submission.objects.select_related("phase__challenge").get(method="Human captions")
        query = query_of(submission)
        assert query is not None
        return place_of(site.client().request().wsgi_request.user, submission, query, own=False).scales["cider-d"]

    before = ends()
    assert ends() == before
    Submission.objects.filter(method="Improved").update(is_hidden=True)
    assert ends()[1] < before[1]


@pytest.mark.parametrize(("shown", "said"), [("at-once", ""), ("at-end", "not shown yet"), ("never", "not shown")])
def test_withheld_score_is_not_a_dash(site: Site, shown: str, said: str) -> None:
    site.demo()
    ann = site.user("ann")
    site.submit(ann, method="Mine")
    Phase.objects.update(scores_shown=shown)
    address = "/challenges/demo/submissions"
    assert '<span class="quiet">not shown' not in site.client(ann).get(address).content.decode()  # not scored yet
    site.work()
    page = site.client(ann).get(address).content.decode()
    assert (f'<span class="quiet">{said}</span>' in page) is bool(said)
    phone = page.partition('<div class="beneath phone-only">')[2].partition("</div>")[0]
    assert "On the board: " in phone
    assert "Make final" in phone


def _refused_page(site: Site, user: Any, sort: str = "-date") -> str:
    page: str = site.client(user).get(f"/challenges/demo/submissions?sort={sort}").content.decode()
    return page


def test_refused_uploads_are_listed_with_their_reason(site: Site) -> None:
    """Each is listed once with its problems; nothing else is kept, and no quota changes."""
    site.demo()
    ann, folders = site.user("ann"), site.data / "submissions"
    before = len([*folders.iterdir()])
    strange = [*example()[1:], {"image_id": 999, "caption": "a <b>dog</b>"}]
    assert site.submit(ann, strange, method="Wrong ids", filename="ids.json").status_code == 422
    assert site.submit(ann, b"{", method="Not JSON", filename="cut.json").status_code == 422
    assert site.submit(ann, method="Taken").status_code == 302
    Phase.objects.update(scored_in_total=1)
    assert site.submit(ann, method="Too many", filename="more.json").status_code == 422
    assert [row.method for row in site.submissions()] == ["Taken"]
    page = _refused_page(site, ann)
    order = [page.index(f'<th scope="row" colspan="3">{name}<') for name in ("Too many", "Not JSON", "Wrong ids")]
    assert order == sorted(order)
    assert page.count('class="status refused"') == 2 * 3
    assert "The quota of this phase is exhausted: 1 scored submissions in total." in page
    assert "2 problems in all" in page
    assert "999" in page
    assert "<code>cut.json</code>: The JSON ends unexpectedly" in page
    assert "Make final<" in page
    assert page.count("Make final<") == 2
    for sort in ("date", "score", "-score", "method"):
        assert _refused_page(site, ann, sort).count('class="status refused"') == 2 * 3
    used = quota(Phase.objects.get(), site.submissions()[0].team, ann, site.submissions()[0].created)
    assert (used.scored, used.attempts_today) == (1, 3)  # uploads with problems are attempts, as before
    assert Attempt.objects.count() == 3
    assert not [*incoming_folder().iterdir()]
    assert len([*folders.iterdir()]) == before + 1  # of what was taken


def test_only_the_latest_refused_uploads_are_kept(site: Site) -> None:
    site.demo()
    ann, bob = site.user("ann"), site.user("bob")
    Phase.objects.update(closes=datetime(2020, 1, 1, tzinfo=UTC), attempts_per_day=0)
    site.submit(bob, method="Of another")
    Phase.objects.update(closes=None)
    for i in range(MAX_REFUSALS + 3):
        site.submit(ann, b"{", method=f"Try {i}")
    kept = RefusedUpload.objects.filter(user=ann)
    assert [row.method for row in kept] == [f"Try {i}" for i in range(MAX_REFUSALS + 2, 2, -1)]


def test_refused_uploads_are_visible_to_the_team_only(site: Site) -> None:
    """Members find them on the page, in the API and in the export of their data."""
    site.demo()
    ann, bob = site.user("ann"), site.user("bob")

    site.submit(ann, b"{", method="Not JSON", filename="cut.json")
    assert "Not JSON" not in _refused_page(site, bob)
    address = "/api/v1/challenges/demo/refused"
    answers = [
        site.client().get(address, headers={"Authorization": f"Bearer {site.token(user, scopes=())}"})
        for user in (ann, bob)
    ]
    for answer in answers:
        TypeAdapter(list[RefusedAnswer]).validate_json(answer.content)
    [row], nothing = (answer.json() for answer in answers)
    assert nothing == []
    assert (row["method"], row["filename"], row["size"], row["n_problems"]) == ("Not JSON", "cut.json", 1, 1)
    assert row["problems"][0]["file"] == "cut.json"
    [own] = json.loads(data_json(ann))["refused"]
    assert (own["method"], own["phase__name"]) == ("Not JSON", "main")
    assert json.loads(data_json(bob))["refused"] == []


def test_banned_team_is_not_offered_submission(site: Site) -> None:
    challenge = site.demo()
    ann = site.user("ann")
    site.submit(ann, method="Mine")
    site.work()
    client, [mine] = site.client(ann), site.submissions()

    def offers(address: str) -> set[str]:
        page = client.get(address).content.decode()
        words = ("Make final<", "final entry</button>", 'id="send"', "/challenges/demo/submit")
        return {word for word in words if word in page}

    pages = ["/challenges/demo/", "/challenges/demo/leaderboard", "/challenges/demo/submissions", mine.url, "/"]
    offered = [offers(address) for address in [*pages, "/challenges/demo/submit", "/teams/ann/"]]
    assert set().union(*offered) == {"Make final<", "final entry</button>", 'id="send"', "/challenges/demo/submit"}
    ban(challenge, Team.objects.get(slug="ann"), "Copied captions")
    for address in [*pages[:4], "/teams/ann/"]:
        assert offers(address) == set(), address
    page = client.get("/challenges/demo/submit").content.decode()
    assert 'id="send"' not in page
    assert "Copied captions" in page
    assert "banned: Copied captions" in client.get("/teams/ann/").content.decode()
    create_team("Others", ann)  # for which the user may not submit either
    page = client.get("/challenges/demo/submit?team=others").content.decode()
    assert 'id="send"' not in page
    assert page.count("Copied captions") == 1
    assert offers("/challenges/demo/submissions") == set()


def test_invitations_have_labels(site: Site) -> None:
    ann = site.user("ann")
    create_team("Three", ann)
    client = site.client(ann)
    made = [client.post("/teams/three/invite", {"label": label}, follow=True) for label in ("Bob\u202e", "", "Carla")]
    assert all('data-copy="invitation" hidden' in page.content.decode() for page in made)
    page = client.get("/teams/three/").content.decode()
    assert "data-copy" not in page  # the link is shown once
    assert all(f"<strong>{label}</strong>" in page for label in ("Bob", "Invitation", "Carla"))
    assert page.count("created by ann") == 3
    headers = {"Authorization": f"Bearer {site.token(ann)}"}
    answer = site.client().generic("POST", "/api/v1/teams/three/invite?label=Dora", headers=headers).json()
    assert (answer["label"], answer["user"]) == ("Dora", "ann")


def test_comparison_shows_leaderboard_ranks(site: Site) -> None:
    site.demo()
    site.work()
    rows = {row["method"]: row for row in parsed(site.client().get("/challenges/demo/leaderboard.json"))}
    a, b = (Submission.objects.get(method=name) for name in ("Baseline", "Improved"))
    address = f"/challenges/demo/compare?a={a.pk}&b={b.pk}"
    page = site.client().get(address).content.decode()
    assert f"Improved</a> (rank {rows['Improved']['rank']}), is better" in page
    assert f"Baseline</a> (rank {rows['Baseline']['rank']}), in" in page
    assert "Ranks are those of the leaderboard by cider-d" in page
