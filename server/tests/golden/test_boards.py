"""Leaderboards: ranks, scores as they are shown, intervals; comparisons, captions, and pages of submissions."""

from __future__ import annotations

from typing import Any

from server.tests.golden.addresses import IMAGE
from server.tests.golden.place import Place
from server.tests.golden.plain import answer_of, content_of, json_of, table_of
from tests.golden.record import Record

#: Boards: who looks, and the query.
_BOARDS = [
    ("visitor", "phase=main"),
    ("visitor", "phase=main&references=val/c5"),
    ("visitor", "phase=main&references=val/c2&sort=bleu-4"),
    ("visitor", "phase=main&references=val/c5&sort=-bleu-1"),
    ("visitor", "phase=main&references=val/c5&sort=date"),
    ("visitor", "phase=main&references=val/c5&all=1"),
    ("visitor", "phase=past"),
    ("captain", "phase=main&references=val/c5&all=1"),
    ("organizer", "phase=main&references=val/c5&all=1"),
    ("organizer", "phase=hidden"),
]
_PAGES = [
    ("visitor", "compare?phase=main&references=val/c5&a={public}&b={anonymous}"),
    ("visitor", "compare?phase=main&references=test/c5&a={public}&b={twin}"),
    ("captain", "compare?phase=main&references=val/c5&a={public}&b={private}"),
    ("visitor", "captions?phase=main&references=val/c5&systems={public}&systems={anonymous}"),
    ("visitor", "captions?phase=main&references=val/c5&systems={public}&order=lowest&by=rouge-l"),
    ("visitor", "captions?phase=main&references=val/c5&word=bench"),
    ("visitor", f"captions/{IMAGE}?phase=main&references=val/c5&systems={{public}}&text"),
    ("organizer", "manage"),
    ("organizer", "manage?status=queued"),
    ("organizer", "versions?phase=main"),
    ("captain", "submissions"),
]


def test_leaderboards(place: Place, record: Record) -> None:
    document: dict[str, Any] = {}
    for role, query in _BOARDS:
        browser, start = place.browser(role), "/challenges/open/leaderboard"
        document[f"{query} by {role}"] = {
            "page": answer_of(browser.get(f"{start}?{query}"), tables=True, forms=False),
            "json": json_of(browser.get(f"{start}.json?{query}")),
            "csv": table_of(content_of(browser.get(f"{start}.csv?{query}")).decode()),
        }
    record("leaderboards", document)


def test_changes_of_ranks(place: Place, record: Record) -> None:
    """The board after a team has chosen its entry, after the best one was hidden, and without teams."""
    from django.test import TestCase

    address = "/challenges/open/leaderboard.json?phase=main&references=val/c5"
    ids = place.submissions

    def ranks() -> list[list[Any]]:
        return [[row["rank"], row["method"], row["team"]] for row in json_of(place.browser("visitor").get(address))]

    document = {"before": ranks()}
    changes: dict[str, tuple[str, str, dict[str, Any]]] = {
        "chosen": ("captain", f"/submissions/{ids['second']}/choose", {}),
        "private": ("captain", f"/submissions/{ids['public']}/edit", {"method": "Public"}),
        "hidden": ("organizer", "/challenges/open/manage", {"action": "hide", "submission": ids["public"], "sure": 1}),
        "banned": ("organizer", "/challenges/open/manage", {"action": "ban", "team": "Beta", "reason": "x", "sure": 1}),
        "deleted": ("captain", f"/submissions/{ids['public']}/delete", {}),
    }
    for name, (role, where, values) in changes.items():
        with place.undone():
            with TestCase.captureOnCommitCallbacks(execute=True):
                place.form(role, where, **values)
            document[name] = ranks()
    record("ranks", document)


def test_pages_with_tables(place: Place, record: Record) -> None:
    document = {}
    for role, template in _PAGES:
        response = place.browser(role).get(f"/challenges/open/{template.format_map(place.submissions)}")
        document[f"{template} by {role}"] = answer_of(response, tables=True)
    record("board_pages", document)


def test_submissions(place: Place, record: Record) -> None:
    document: dict[str, Any] = {}
    for name, pk in place.submissions.items():
        for role in ("captain", "organizer", "visitor"):
            browser = place.browser(role)
            response = browser.get(f"/submissions/{pk}/status.json")
            document[f"{name} by {role}"] = {
                "status": json_of(response) if response.status_code == 200 else response.status_code,
                "page": answer_of(browser.get(f"/submissions/{pk}/"), tables=True),
            }
    for half in ("val", "test"):
        response = place.browser("organizer").get(f"/submissions/{place.submissions['public']}/scores/{half}/c5.csv")
        is_shown = response.status_code == 200  # not where references are private
        document[f"scores of {half}"] = table_of(content_of(response).decode()) if is_shown else response.status_code
    record("submissions", document)
