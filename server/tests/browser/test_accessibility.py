"""axe-core finds nothing on any page; and no page is large, moves, or is wider than a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from server.tests.browser.checks import check
from server.tests.browser.steps import prove, see_scores, sign_up, submit
from server.tests.support.server import ADMIN, PASSWORD
from server.tests.support.site import example
from tests.support.browser import check_access

pytest.importorskip("playwright.sync_api")

DEMO, SCENES = "/challenges/demo", "/challenges/scenes"


def test_visitor_pages_are_accessible(open_page: Callable[..., Any]) -> None:
    page = open_page()
    for path in (
        "/",
        "/sign-in",
        "/sign-up",
        "/account/reset",
        "/account/reset/sent",
        "/account/reset/x-y/",
        "/sign-in/confirm",
        "/sign-in/inactive",
        "/account/reset/complete",
        f"{DEMO}/",
        f"{DEMO}/leaderboard",
        f"{DEMO}/compare",
        f"{DEMO}/compare?a=1&b=2",
        f"{DEMO}/captions?systems=1&systems=2",
        f"{DEMO}/captions?systems=999",
        f"{DEMO}/captions/1207?systems=1&systems=2",
        "/submissions/1/",
    ):
        assert page.goto(path).status == 200
        check(page)


def test_user_pages_are_accessible(open_page: Callable[..., Any], captions: Path, tmp_path: Path) -> None:
    page = open_page("ursula", refused=(422,))
    page.goto("/account/")
    page.get_by_label("Name of the team").fill("Observers")
    page.get_by_role("button", name="Create team").click()
    page.get_by_role("button", name="Create an invitation link").click()
    check(page)
    prove(page)
    link = page.get_by_label("Invitation link").input_value()
    check(page)
    page.goto("/account/")
    page.get_by_label("Name of the token").fill("laptop")
    page.get_by_role("button", name="Create token").click()
    page.get_by_label("New token").wait_for()
    check(page)
    for path in (f"{DEMO}/submissions", f"{DEMO}/submit", "/account/password", "/teams/ursula/", link):
        page.goto(path)
        check(page)
    page.goto(f"{DEMO}/submit")
    bad = tmp_path / "bad.json"
    bad.write_text(str(example()[:2]).replace("'", '"'))
    page.get_by_label("File", exact=True).set_input_files(bad)
    page.get_by_label("Method").fill("Bad")
    page.get_by_role("button", name="Check only").click()
    page.get_by_role("heading", name="Nothing was submitted.").wait_for()
    check(page)
    submit(page, captions, "A method with a_rather_long_name_that_cannot_be_broken_" + "x" * 60)
    see_scores(page)
    check(page)
    address = page.url
    for path in (f"{DEMO}/submissions", f"{address}edit", f"{address}delete"):
        page.goto(path)
        check(page)


def test_organizer_pages_are_accessible(open_page: Callable[..., Any]) -> None:
    page = open_page("olga")
    for path in (
        "/",
        f"{SCENES}/",
        f"{SCENES}/leaderboard",
        f"{SCENES}/leaderboard?phase=late",
        f"{SCENES}/captions?phase=test&references=val/c5",
        f"{SCENES}/manage",
        f"{SCENES}/submissions",
    ):
        assert page.goto(path).status == 200
        check(page)


def test_administration_pages_are_accessible(open_page: Callable[..., Any]) -> None:
    page = open_page(ADMIN)
    for path in ("", "user/", "user/add/", "user/1/change/", "team/1/change/", "challenge/", "submission/1/change/"):
        assert page.goto(f"/admin/{'captious/' if path else ''}{path}").status == 200
        check_access(page)


def test_error_pages_are_accessible(open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = open_page("ursula", refused=(403, 404, 413))
    assert page.goto("/nothing").status == 404
    check(page)
    big = tmp_path / "big.json"
    big.write_bytes(b" " * 3_000_000)
    page.goto(f"{DEMO}/submit")
    page.get_by_label("File", exact=True).set_input_files(big)
    page.get_by_label("Method").fill("Big")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.get_by_text("Uploads may have up to").wait_for()
    check(page)
    page.goto("/account/")
    page.context.clear_cookies()
    page.get_by_label("Name of the team").fill("Nobody")
    page.get_by_role("button", name="Create team").click()
    page.get_by_role("heading", level=1).filter(has_not_text="ursula").wait_for()
    check(page)


def test_lockout_is_said(open_page: Callable[..., Any]) -> None:
    page = open_page()
    sign_up(page, "locked")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in").first.wait_for()
    for _ in range(4):
        page.goto("/sign-in")
        page.get_by_label("Username").fill("locked")
        page.get_by_label("Password").fill(PASSWORD[::-1])
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_role("alert").wait_for()
    page.get_by_text("Too many failed login attempts.").wait_for()
    check(page)
