"""Pages on phones, tablets and in the dark: what is drawn is there, and nothing is cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.tests.browser.steps import at_widths, board, see_scores, sign_up, submit

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect

#: How much wider the content of an element is than the element.
_CUT = "element => element.scrollWidth - element.clientWidth"
#: Phones and tablets.
_NARROW = (360, 390, 768)


def test_leaderboard_draws_intervals(open_page: Callable[..., Any]) -> None:
    page = open_page()
    page.goto("/challenges/demo/leaderboard?sort=-meteor")
    for width in at_widths(page, *_NARROW):
        drawings = board(page).locator("svg.interval")
        assert drawings.count() == board(page).get_by_role("row").count() - 1
        for drawing in drawings.all():
            place = drawing.bounding_box()
            assert place["width"] >= 60
            assert place["x"] + place["width"] <= width
        assert page.get_by_role("region", name="Table of scores").evaluate(_CUT) == 0
        expect(page.get_by_role("navigation", name="Metric").get_by_role("link", name="rouge-l")).to_be_visible()


def test_submission_draws_intervals_below_a_legend(open_page: Callable[..., Any]) -> None:
    page = open_page()
    page.goto("/challenges/demo/leaderboard")
    board(page).get_by_role("link", name="Baseline").click()
    table = page.get_by_role("table", name="Scores with the references")
    first = table.get_by_role("rowheader").first
    expect(first).to_have_text("cider-d")  # what ranks
    for _ in at_widths(page, *_NARROW):
        expect(table.locator("svg.scores").first).to_be_visible()
        expect(page.locator(".legend")).to_be_visible()
        assert page.get_by_role("region", name="Scores with").evaluate(_CUT) == 0


def test_submission_and_phase_tables_are_not_clipped(open_page: Callable[..., Any], captions: Any) -> None:
    page = open_page()
    sign_up(page, "narrow")
    submit(page, captions, "A method whose name is rather long")
    page.goto("/challenges/demo/submissions")
    row = page.get_by_role("table", name="My submissions").get_by_role("row").last
    expect(row).to_contain_text("A method whose name is rather long")
    organizer = open_page("olga")
    organizer.goto("/challenges/scenes/manage")
    for _ in at_widths(page, *_NARROW):
        assert page.get_by_role("region", name="Table of submissions").evaluate(_CUT) == 0
    for _ in at_widths(organizer, *_NARROW):
        for name in ("phases", "submissions"):
            assert organizer.get_by_role("region", name=f"Table of {name}").evaluate(_CUT) == 0, name


def test_twenty_columns_use_the_window(open_page: Callable[..., Any]) -> None:
    """Wide windows show all, and narrow ones a column at a time."""
    page = open_page()
    page.goto("/challenges/wide/leaderboard")
    for width in at_widths(page, 390, 1920):
        heads = board(page).get_by_role("columnheader").filter(has=page.get_by_role("link")).all()
        assert len(heads) == (2 if width == 390 else 21)  # with the date
        region = page.get_by_role("region", name="Table of scores")
        assert region.evaluate(_CUT) == 0
        assert region.bounding_box()["width"] > 0.9 * width
        assert page.evaluate("document.documentElement.scrollWidth") == width
        for text in board(page).locator(".score:visible :is(.value, .beneath)").all():
            assert text.evaluate("element => parseFloat(getComputedStyle(element).fontSize)") >= 12
            assert text.evaluate(_CUT) <= 0


@pytest.mark.parametrize(
    ("reader", "challenge", "names"),
    [
        ("ursula", "demo", ["Overview", "Leaderboard", "Submit", "My submissions"]),
        ("olga", "scenes", ["Overview", "Leaderboard", "Submit", "My submissions", "Manage"]),
    ],
)
def test_tabs_fit_on_one_line(open_page: Callable[..., Any], reader: str, challenge: str, names: list[str]) -> None:
    page = open_page(reader)
    page.goto(f"/challenges/{challenge}/")
    tabs = page.get_by_role("navigation", name="Challenge").get_by_role("link")
    for width in at_widths(page, 360, 390):
        expect(tabs).to_have_text(names)
        assert len({tab.bounding_box()["y"] for tab in tabs.all()}) == 1
        last = tabs.last.bounding_box()
        assert last["x"] + last["width"] <= width - 16


def test_comparison_is_not_clipped(open_page: Callable[..., Any]) -> None:
    page = open_page()
    page.goto("/challenges/demo/compare?a=1&b=2")
    row = page.get_by_role("table", name="Differences").get_by_role("row").nth(1)
    for _ in at_widths(page, *_NARROW):
        assert page.get_by_role("region", name="Table of differences").evaluate(_CUT) == 0
        expect(row.get_by_text("+1.10").locator("visible=true")).to_have_count(1)  # the effect size


def test_leaderboard_dates_stand_under_their_heading(open_page: Callable[..., Any]) -> None:
    page = open_page()
    page.goto("/challenges/demo/leaderboard")
    for _ in at_widths(page, *_NARROW):
        expect(page.get_by_role("columnheader", name="Method")).to_contain_text("date")
        for row in board(page).get_by_role("row").all()[1:]:
            expect(row.locator("time")).to_be_visible()


def test_overview_and_preview_have_one_right_column(open_page: Callable[..., Any]) -> None:
    """Phones show the dates before the texts and the rest after them; nothing overflows."""
    page = open_page("olga")
    page.goto("/challenges/scenes/manage")
    page.get_by_role("button", name="Edit challenge").click()
    for address in ("/challenges/scenes/", "/drafts/scenes/preview"):
        page.goto(address)
        page.get_by_text("SHA-256 checksums").click()
        for part in ("CC BY 4.0", "Ann Smith", "@misc{scenes", "a-rather-long-name-of-a-list-of-images.csv"):
            expect(page.get_by_role("complementary", name="About").get_by_text(part).first).to_be_visible()
        for width in at_widths(page, 390, 768, 1280, 1920):
            texts = page.locator(".texts").bounding_box()
            dates, about = (page.get_by_role("complementary", name=name).bounding_box() for name in ("Phases", "About"))
            if width < 960:
                assert dates["y"] + dates["height"] <= texts["y"]
                assert texts["y"] + texts["height"] <= about["y"]
            else:
                assert texts["x"] + texts["width"] < dates["x"] == about["x"]
                assert dates["y"] + dates["height"] <= about["y"]
            assert page.evaluate("document.documentElement.scrollWidth") == width
            for pre in page.locator("aside pre").all():
                assert pre.evaluate(_CUT) == 0
    page.goto("/drafts/scenes/")
    page.get_by_role("button", name="Discard the draft").click()
    page.get_by_role("button", name="Discard").click()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_logo_has_a_light_background(open_page: Callable[..., Any], dark: bool) -> None:
    page = open_page("olga", dark=dark)
    for address in ("/", "/challenges/scenes/"):
        page.goto(address)
        paper = page.locator("img.logo").evaluate("logo => getComputedStyle(logo).backgroundColor")
        assert paper == ("rgb(244, 245, 243)" if dark else "rgba(0, 0, 0, 0)")


@pytest.mark.parametrize(("user", "tab"), [("", "Leaderboard"), ("ursula", "My submissions"), ("olga", "Leaderboard")])
def test_submission_page_is_below_a_tab(open_page: Callable[..., Any], captions: Any, user: str, tab: str) -> None:
    owner = open_page("ursula")
    submit(owner, captions, f"Below a tab {user}")
    see_scores(owner)
    page = open_page(user)
    page.goto(owner.url)
    current = page.get_by_role("navigation", name="Challenge").locator("[aria-current]")
    expect(current).to_have_text(tab)


def test_alignments_are_drawn_with_other_explanations_side_by_side(open_page: Callable[..., Any]) -> None:
    page = open_page()
    page.goto("/challenges/demo/captions/2359?systems=1&systems=2")
    drawn = page.locator("h3:text-is('meteor') + div")
    expect(drawn.get_by_role("img", name="with links between words")).to_have_count(2)
    for _ in at_widths(page, 1280, 1920):
        beside = page.locator("h3:text-is('bleu') + div").get_by_role("group").all()
        left, right = (group.bounding_box() for group in beside)
        assert left["y"] == right["y"]
        assert left["x"] < right["x"]
