"""Reading in a browser: leaderboards, comparisons, captions beside their references and images."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from captious import drawing
from server.tests.browser.conftest import IMAGE, IMAGES
from server.tests.browser.steps import board, column, methods
from server.tests.support.server import ADMIN, Server
from server.tests.support.site import example

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect


def test_leaderboard_columns_sort_in_both_directions(page: Any, server: Server) -> None:
    page.goto("/")
    page.get_by_role("link", name="Leaderboard of Demo").click()
    board(page).get_by_role("link", name="date").click()
    expect(page.get_by_role("columnheader", name="Method")).to_have_attribute("aria-sort", "descending")
    rows = server.get("/challenges/demo/leaderboard.json")
    names = list(rows[0]["scores"])
    for name in names if page.viewport_size["width"] > 1000 else names[-1:]:
        scores = sorted((row["scores"][name] for row in rows), reverse=True)
        for direction in ("descending", "ascending"):
            board(page).get_by_role("link", name=name, exact=True).click()
            head = page.get_by_role("columnheader", name=name, exact=True)
            expect(head).to_have_attribute("aria-sort", direction)
            wanted = scores if direction == "descending" else scores[::-1]
            assert column(page, name) == [drawing.format_score(score) for score in wanted]


def test_sorted_column_is_on_the_first_screen_of_a_phone(open_page: Callable[..., Any]) -> None:
    page = open_page(width=360)
    for name in ("bleu-1", "cider-d"):
        page.goto(f"/challenges/demo/leaderboard?sort=-{name}")
        head = page.get_by_role("columnheader", name=name, exact=True)
        place = head.bounding_box()
        assert place["x"] + place["width"] <= 360
        assert page.get_by_role("columnheader").all_inner_texts()[2].startswith(name)


def test_leaderboard_switches_between_teams_and_all_submissions(page: Any) -> None:
    page.goto("/challenges/demo/leaderboard")
    rows = page.get_by_role("navigation", name="Rows")
    rows.get_by_role("link", name="all submissions").click()
    expect(page.get_by_role("navigation", name="Rows").get_by_role("link", name="all submissions")).to_have_attribute(
        "aria-current", "true"
    )
    assert {"Improved", "Baseline", "Human captions"} <= set(methods(page))


def test_comparison_of_two_systems_opens_from_the_leaderboard(page: Any, server: Server) -> None:
    page.goto("/challenges/demo/leaderboard")
    if page.viewport_size["width"] > 1000:
        bar = page.get_by_role("group", name="Ticked submissions")
        expect(bar).to_be_hidden()
        page.get_by_role("checkbox", name="Compare Improved").check()
        page.get_by_role("checkbox", name="Compare Baseline").check()
        bar.get_by_role("button", name="Compare").click()
    else:
        page.get_by_role("link", name="Compare two submissions").click()
        page.get_by_label("A", exact=True).select_option("Improved (Baselines)")
        page.get_by_label("B", exact=True).select_option("Baseline (Baselines)")
        page.get_by_role("button", name="Compare", exact=True).click()
    verdict = re.compile(
        r"B, Baseline \(rank \d+\), is better than A, Improved \(rank 1\), in 0 of 7 metrics, "
        r"and worse in 7, significantly in 7"
    )
    expect(page.get_by_text(verdict)).to_be_visible()
    scores = {row["method"]: row["scores"] for row in server.get("/challenges/demo/leaderboard.json?all=1")}
    table = page.get_by_role("table", name="Differences between A and B")
    expect(table.get_by_role("rowheader").first).to_have_text("cider-d")  # what ranks
    expect(table.get_by_role("row").nth(1)).to_contain_text(re.compile(r"\[−[.\d]+, −[.\d]+\]"))
    for name, score in scores["Improved"].items():
        row = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name, exact=True))
        cells = row.get_by_role("cell")
        expect(cells.nth(0)).to_have_text(drawing.format_score(score))
        expect(cells.nth(1)).to_have_text(drawing.format_score(scores["Baseline"][name]))
        expect(cells.nth(2)).to_contain_text(
            drawing.format_difference(scores["Baseline"][name] - score).replace("-", "−")
        )
    page.get_by_role("link", name="Browse their captions").click()
    expect(page.get_by_label("Order")).to_have_value("difference")
    expect(
        page.get_by_text("Systems: Improved, Baseline").or_(page.get_by_text("Systems: Baseline, Improved"))
    ).to_be_visible()


def test_captions_page_leads_to_a_single_image(page: Any) -> None:
    page.goto("/challenges/demo/leaderboard")
    page.get_by_role("link", name="Browse captions").click()
    page.get_by_text("Systems:").click()
    for box in page.get_by_role("checkbox").all():
        box.uncheck()
    for name in ("Improved Baselines", "Human captions Baselines"):
        page.get_by_role("checkbox", name=name).check()
    page.get_by_label("Sort by").select_option("rouge-l")
    page.get_by_label("Order").select_option("highest first")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile("order=highest"))
    page.get_by_role("article").last.wait_for()
    shown = page.get_by_role("article").all()
    scores = [re.findall(r"rouge-l\s+([.\d]+)", article.inner_text()) for article in shown]
    assert {len(pair) for pair in scores} == {2}
    means = [float(a) + float(b) for a, b in scores]
    assert len(means) == 20
    assert means == pytest.approx(sorted(means, reverse=True), abs=2e-4)
    first = page.get_by_role("article").first
    image = first.get_by_role("heading").first.inner_text().split()[-1]
    caption = next(row["caption"] for row in example() if row["image_id"] == int(image))
    expect(first).to_contain_text(caption)
    first.get_by_text("4 references").click()
    expect(first.get_by_role("listitem").last).to_be_visible()
    first.get_by_role("link", name=f"Image {image}").click()
    expect(page.get_by_role("heading", level=1, name=f"Image {image}")).to_be_visible()
    expect(page.get_by_role("table", name="Scores of this image").get_by_role("row")).to_have_count(
        len(chosen(page)) + 1
    )
    if (as_text := page.get_by_role("link", name="Read them as text")).count():  # without scripts
        as_text.click()
    for metric, said in (
        ("bleu", "brevity penalty"),
        ("meteor", "fragmentation"),
        ("rouge-l", "in common"),
        ("cider-d", "in no reference"),
    ):
        expect(page.get_by_role("heading", name=metric, exact=True)).to_be_visible()
        explained = page.locator(f"h3:text-is('{metric}') + div [role=group] :is(.why, pre)").first
        expect(explained).to_contain_text(said, ignore_case=True)
    expect(page.locator("[role=group] :is(.why, pre)")).to_have_count(4 * len(chosen(page)))


def chosen(page: Any) -> list[str]:
    """The systems that the address names."""
    matches: list[str] = re.findall(r"systems=\d+", page.url)
    return matches


@pytest.mark.parametrize("width", [1280, 360])
def test_images_load_from_the_address_of_the_challenge(open_page: Callable[..., Any], width: int) -> None:
    page = open_page("olga", width=width)
    asked = []

    def answer(route: Any) -> None:
        asked.append(route.request.url)
        route.fulfill(body=IMAGE, content_type="image/svg+xml")

    page.context.route(f"{IMAGES}/**", answer)
    page.goto("/challenges/scenes/leaderboard?phase=dev")
    page.get_by_role("link", name="Browse captions").click()
    page.get_by_role("article").first.wait_for()
    image = page.get_by_role("article").first.get_by_role("heading").first.inner_text().split()[-1]
    page.get_by_role("article").first.get_by_role("link", name=f"Image {image}").click()
    shown = page.get_by_role("img", name="The image that the captions below describe")
    expect(shown).to_be_visible()
    assert shown.evaluate("image => image.decode().then(() => image.naturalWidth)") == 64
    assert f"https://images.example.org/scene_{int(image):06d}.svg" in asked


def test_private_captions_cannot_be_browsed(open_page: Callable[..., Any]) -> None:
    page = open_page("olga", refused=(404,))
    page.goto("/challenges/scenes/leaderboard?phase=test&references=test/c2")
    assert methods(page) == ["Improved", "Baseline"]
    expect(page.get_by_role("link", name="CSV")).to_be_visible()
    expect(page.get_by_role("link", name="Browse captions")).to_have_count(0)
    assert page.goto("/challenges/scenes/captions?phase=test&references=test/c2").status == 404


def test_captions_are_filtered_by_word_and_score_range(page: Any) -> None:
    page.goto("/challenges/demo/captions?systems=1&systems=2&order=image")
    page.get_by_label("With the word").fill("Umbrella")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile("word=Umbrella"))
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_role("article").locator("mark.most").first).to_be_visible()
    page.get_by_label("With the word").fill("")
    page.get_by_label("Sort by").select_option("rouge-l")
    page.get_by_label("Difference, from").fill("0.3")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile("apart=0.3"))
    for article in page.get_by_role("article").all():
        high, low = (float(score) for score in re.findall(r"rouge-l\s+([.\d]+)", article.inner_text()))
        assert abs(high - low) >= 0.3 - 1e-9
    page.get_by_label("Score, from").fill("50")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("No images with these words and scores.")).to_be_visible()


def test_demonstration_images_are_drawn(open_page: Callable[..., Any]) -> None:
    page = open_page()
    page.goto("/challenges/demo/captions/2359?systems=1&systems=2&order=image")
    image = page.get_by_role("img", name="The image that the captions below describe")
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 320


def test_contribution_bars_fit_their_table(open_page: Callable[..., Any]) -> None:
    page = open_page()
    page.goto("/challenges/demo/captions/2359?systems=1&order=image")
    bars = page.locator("td.bar svg")
    expect(bars.first).to_be_visible()
    table = page.locator("table:has(td.bar)").first.bounding_box()
    bar = bars.first.bounding_box()
    assert table["x"] <= bar["x"]
    assert bar["x"] + bar["width"] <= table["x"] + table["width"] + 1


@pytest.mark.parametrize("image", ["1751", "2246", "2359", "2917"])
def test_alignment_labels_do_not_overlap_text(open_page: Callable[..., Any], image: str) -> None:
    page = open_page()
    page.goto(f"/challenges/demo/captions/{image}?systems=1&systems=2&systems=3")
    drawings = page.locator(".links-drawn svg:visible")
    drawings.first.wait_for()
    expect(page.locator(".explanation > script")).to_have_count(0)  # those below the window are drawn later
    assert drawings.count() >= 3
    for picture in drawings.all():
        labels = [text.bounding_box() for text in picture.locator("text.label").all()]
        words = [text.bounding_box() for text in picture.locator("text:not(.label)").all()]
        assert labels
        for place, label in enumerate(labels):
            assert not any(_overlap(label, other) for other in [*words, *labels[place + 1 :]])
        assert picture.locator("text.label ~ path").count() == 0  # links are below labels, which have a rim


def _overlap(a: dict[str, float], b: dict[str, float]) -> bool:
    """Whether letters cover one another; boxes of text have a few pixels above and below."""
    beside = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
    return not beside and a["y"] + a["height"] - 3 > b["y"] and b["y"] + b["height"] - 3 > a["y"]


def test_leaderboard_has_one_toolbar(open_page: Callable[..., Any]) -> None:
    page = open_page()
    page.goto("/challenges/demo/leaderboard")
    links = page.get_by_role("navigation", name="This leaderboard").get_by_role("link")
    expect(links).to_have_text(["Browse captions", "Compare two submissions", "CSV", "JSON"])
    assert len({link.bounding_box()["y"] for link in links.all()}) == 1
    assert links.first.bounding_box()["y"] < board(page).bounding_box()["y"]


def test_warning_stands_below_its_metric(open_page: Callable[..., Any]) -> None:
    page = open_page()
    page.goto("/submissions/1/")
    rows = page.get_by_role("table", name="Scores with the references").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("cider-d")
    expect(rows.nth(2)).to_contain_text("weights n-grams by their inverse document frequency")
    expect(page.get_by_text("weights n-grams by their inverse")).to_have_count(1)


def test_keyboard_moves_between_images(open_page: Callable[..., Any]) -> None:
    page = open_page()
    page.goto("/challenges/demo/captions?systems=1&order=image")
    links = page.get_by_role("article").get_by_role("heading").get_by_role("link")
    for key, place in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        expect(links.nth(place)).to_be_focused()
    second, third = links.nth(1).inner_text(), links.nth(2).inner_text()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name=second)).to_be_visible()
    page.wait_for_load_state()  # with its scripts
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", level=1, name=third)).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", level=1, name=second)).to_be_visible()


def test_times_are_in_the_time_zone_of_the_reader(open_page: Callable[..., Any]) -> None:
    """Every page, dates included, uses the browser's time zone, and UTC without scripts."""
    pages = ("/challenges/demo/manage", "/challenges/demo/leaderboard")
    zone, footer = "Pacific/Kiritimati", "Times are in your time zone."  # 14 hours ahead
    for path in pages:
        local, plain = open_page(ADMIN, zone=zone), open_page(ADMIN, scripts=False)
        for page in (local, plain):
            page.goto(path)
        texts, utc = (page.locator("time").all_inner_texts() for page in (local, plain))
        moments = [datetime.fromisoformat(time.get_attribute("datetime")) for time in plain.locator("time").all()]
        assert moments
        local_days = [f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%d}" for moment in moments]
        assert [text[:10] for text in texts] == local_days
        assert all(text.endswith(" GMT+14") for text in texts if len(text) > 10)
        assert [text[:10] for text in utc] == [f"{moment:%Y-%m-%d}" for moment in moments]
        assert footer in local.locator("footer").inner_text()
        assert "Times are in UTC." in plain.locator("footer").inner_text()
