"""The main job in a browser: sign up, submit, watch it finish, read the board."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from captious import drawing
from server.tests.browser.steps import methods, see_scores, sign_up, submit
from server.tests.support.server import Server
from server.tests.support.site import example

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect


def test_new_user_submits_and_appears_on_the_leaderboard(
    page: Any, server: Server, captions: Path, request: pytest.FixtureRequest
) -> None:
    width, scripts = request.node.callspec.params["page"]
    name = f"walker-{width}-{scripts}".lower()
    sign_up(page, name)
    submit(page, captions, f"Method of {name}")
    table = see_scores(page, scripts)
    server.wait_until_idle()
    [row] = [row for row in server.get("/challenges/demo/leaderboard.json") if row["team"] == name]
    for output, score in row["scores"].items():
        cells = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name=output, exact=True))
        expect(cells.get_by_role("cell").first.locator(".value")).to_have_text(drawing.format_score(score))
    page.get_by_role("link", name="Leaderboard").click()
    assert f"Method of {name}" in methods(page)
    page.get_by_role("link", name="My submissions").click()
    mine = page.get_by_role("table", name="Submissions").get_by_role("row").filter(has_text=f"Method of {name}")
    expect(mine).to_contain_text("done")


def test_queue_position_and_progress_update_without_reload(
    open_page: Callable[..., Any], server: Server, captions: Path
) -> None:
    first = open_page("ursula")
    second = first.context.new_page()
    with server.paused_worker():
        submit(first, captions, "First")
        expect(first.get_by_text("next in the queue")).to_be_visible()
        submit(second, captions, "Second")
        expect(second.get_by_text("place 2 in the queue")).to_be_visible()
        second.get_by_role("link", name="Cancel scoring").click()
        second.get_by_role("button", name="Cancel it").click()
        expect(second.get_by_role("status")).to_contain_text("It does not count toward your quota.")
        began = first.evaluate("performance.timeOrigin")
        answer = {"status": "running", "progress": 40, "doing": "meteor", "place": None}
        first.route("**/status.json", lambda route: route.fulfill(json=answer))
        expect(first.get_by_role("status").filter(has_text="Scoring meteor")).to_be_visible()
        assert first.get_by_role("progressbar", name="Progress").evaluate("bar => bar.value") == 40
        assert first.evaluate("performance.timeOrigin") == began
        first.unroute("**/status.json")
    see_scores(first)
    expect(first.get_by_role("progressbar")).to_have_count(0)


def test_file_problems_are_shown_by_the_check(open_page: Callable[..., Any], tmp_path: Path, captions: Path) -> None:
    rows = example()
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps([*rows[1:], rows[1], {"image_id": 999, "caption": "<script>alert(1)</script>"}]))
    page = open_page("ursula", width=360, refused=(422,))
    page.goto("/challenges/demo/submit")
    page.get_by_label("File", exact=True).set_input_files(bad)
    page.get_by_label("Method").fill("Bad")
    page.get_by_role("button", name="Submit", exact=True).click()
    problems = page.get_by_role("region", name="3 problems in the file. Nothing was submitted.")
    for said in (
        "more than one caption",
        "1 image id is not in the challenge, whose ids are such as",
        "no caption",
        "999",
    ):
        expect(problems).to_contain_text(said)
    page.get_by_label("File", exact=True).set_input_files(captions)
    page.get_by_role("button", name="Check only").click()
    expect(page.get_by_role("status")).to_contain_text("No problems found.")
    expect(page.get_by_role("status")).not_to_contain_text("choose the file again")
    page.get_by_role("status").get_by_role("link", name="Submit").click()
    expect(page.get_by_role("button", name="Submit", exact=True)).to_be_in_viewport()
    page.get_by_role("link", name="My submissions").click()
    refused = page.get_by_role("table", name="My submissions").get_by_role("row", name="Bad")
    expect(refused).to_contain_text("more than one caption")
    expect(refused).to_contain_text("3 problems in all")
    expect(refused.get_by_role("link")).to_have_count(0)


def test_checked_file_need_not_be_chosen_again(open_page: Callable[..., Any], captions: Path, tmp_path: Path) -> None:
    page = open_page("ursula", refused=(422,))
    page.goto("/challenges/demo/submit")
    page.get_by_label("Method").fill("Checked first")
    bad = tmp_path / "bad.json"
    bad.write_text("[]")
    for chosen, said in ((bad, "Nothing was submitted."), (captions, "No problems found.")):
        page.get_by_label("File", exact=True).set_input_files(chosen)
        page.get_by_role("button", name="Check only").click()
        expect(page.locator("#found")).to_contain_text(said)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Checked first")).to_be_visible()


def test_check_shows_that_it_works(open_page: Callable[..., Any], captions: Path) -> None:
    page = open_page("ursula")
    page.goto("/challenges/demo/submit")
    page.get_by_label("File", exact=True).set_input_files(captions)
    disabled_meanwhile = []

    def hold(route: Any) -> None:
        disabled_meanwhile.append(page.get_by_role("button", name="Checking…").get_attribute("aria-disabled"))
        route.continue_()

    page.route("**/submit", hold)
    page.get_by_role("button", name="Check only").click()
    expect(page.get_by_role("status")).to_contain_text("No problems found.")
    expect(page.get_by_role("button", name="Check only")).to_be_visible()
    assert disabled_meanwhile == ["true"]


@pytest.mark.parametrize("scripts", [True, False])
def test_exhausted_quota_disables_the_button(
    open_page: Callable[..., Any], server: Server, captions: Path, scripts: bool
) -> None:
    page = open_page(scripts=scripts)
    sign_up(page, f"spent-{scripts}".lower())
    page.goto("/challenges/wide/submit?phase=first")
    page.get_by_label("File", exact=True).set_input_files(captions)
    page.get_by_label("Method").fill("The only one")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.get_by_role("heading", level=1, name="The only one").wait_for()
    page.goto("/challenges/wide/submit?phase=first")
    button = page.get_by_role("button", name="Submit", exact=True)
    expect(page.get_by_text("0 of 1 left in total")).to_be_visible()
    expect(page.get_by_text("first: The quota of this phase is exhausted")).to_be_visible()
    if scripts:
        expect(button).to_be_disabled()
        page.get_by_label("Phase").select_option("main")
    expect(button).to_be_enabled()  # for the other phase
    server.wait_until_idle()


def test_check_without_scripts_asks_to_choose_the_file_again(open_page: Callable[..., Any], captions: Path) -> None:
    page = open_page("ursula", scripts=False)
    page.goto("/challenges/demo/submit")
    page.get_by_label("Method").fill("Checked")
    page.get_by_label("File", exact=True).set_input_files(captions)
    page.get_by_role("button", name="Check only").click()
    expect(page.get_by_role("status")).to_contain_text("choose the file again")


def test_submission_is_edited_and_deleted(open_page: Callable[..., Any], captions: Path) -> None:
    page = open_page("ursula", width=360)
    submit(page, captions, "Spelled wrogn")
    see_scores(page)
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("Method").fill("Spelled right")
    page.get_by_label("Hide the name of the team").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1, name="Spelled right")).to_be_visible()
    visitor = open_page()
    visitor.goto("/challenges/demo/leaderboard")
    row = visitor.get_by_role("row").filter(has_text="Spelled right")
    expect(row).to_contain_text("Anonymous")
    expect(row).not_to_contain_text("ursula")
    with page.expect_download() as download:
        page.get_by_role("link", name="captions.json").click()
    assert Path(download.value.path()).read_bytes() == captions.read_bytes()
    page.get_by_role("link", name="Delete").click()
    expect(page.get_by_role("main")).to_contain_text("It disappears from the leaderboard")
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_role("status")).to_contain_text("The submission and its files were deleted.")
    visitor.reload()
    expect(visitor.get_by_role("row").filter(has_text="Spelled right")).to_have_count(0)
