"""The organizer's way from nothing to an open challenge, and a team's way from an invitation to its final entry.

Both with the keyboard alone, with and without JavaScript. Every page on the way is checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from server.tests.browser.checks import check
from server.tests.browser.scenes import write_scenes
from server.tests.browser.steps import methods, press, see_scores, sign_up, write
from server.tests.support.server import ADMIN, PASSWORD
from server.tests.support.site import EXAMPLES

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
ways = pytest.mark.parametrize(
    ("width", "scripts"), [(1280, True), (390, False)], ids=["desktop", "phone without scripts"]
)


@ways
def test_an_organizer_opens_a_challenge_in_three_steps(
    open_page: Callable[..., Any], width: int, scripts: bool
) -> None:
    page = open_page(ADMIN, width=width, scripts=scripts)
    look = check if scripts else _no_check
    page.on("filechooser", lambda chooser: chooser.set_files(EXAMPLES / "references.json"))
    title, slug = f"Birds {width}", f"birds-{width}"
    page.goto("/")
    press(page, page.get_by_role("link", name="New challenge"))
    expect(page.get_by_role("heading", level=1, name="New challenge")).to_be_visible()
    look(page)

    # 1. A title and references.
    write(page, page.get_by_label("Title"), title)
    press(page, page.get_by_label("References", exact=True), "Space")
    expect(page.get_by_label("References", exact=True)).to_have_value(re.compile("references.json"))
    press(page, page.get_by_role("button", name="Create the draft"))
    expect(page.get_by_role("heading", level=1)).to_contain_text(title)
    look(page)

    # 2. Everything has a default. One thing is changed, and looked at.
    replace(page, 'summary = ""', 'summary = "Captions of birds."')
    press(page, page.get_by_role("button", name="Save and check"))
    expect(page.get_by_role("status")).to_have_text("Saved.")
    press(page, page.get_by_role("link", name="Preview"))
    expect(page.get_by_text("Captions of birds.")).to_be_visible()
    look(page)

    # 3. It is published.
    press(page, page.get_by_role("link", name="Publish", exact=True))
    expect(page.get_by_role("button", name="Publish")).to_be_visible()
    expect(page.get_by_text("still has the words of the starter")).to_be_visible()
    look(page)
    press(page, page.get_by_role("button", name="Publish"))
    expect(page.get_by_role("status")).to_contain_text("Published.")
    look(page)
    for path in ("manage", "versions"):
        page.goto(f"/challenges/{slug}/{path}")
        look(page)
    visitor = open_page(width=width, scripts=scripts)
    visitor.goto("/")
    expect(visitor.get_by_role("link", name=f"Submit to {title}")).to_be_visible()


LIKE_COCO = Path(__file__).with_name("like_coco.toml").read_text("utf-8")


def replace(page: Any, old: str, new: str) -> None:
    """Change challenge.toml in the editor of a draft."""
    field = page.get_by_label("challenge.toml")
    text = field.input_value()
    assert old in text
    field.fill(text.replace(old, new))


def test_a_challenge_like_cocos_is_made_in_the_browser(open_page: Callable[..., Any], tmp_path: Path) -> None:
    """As server/docs/challenges.md says: public references of val2014, c5 and c40 of test2014, five metrics."""
    scenes = write_scenes(tmp_path / "scenes", organizer="")
    page = open_page(ADMIN)
    page.goto("/drafts/")
    page.get_by_label("Title").fill("Like COCO")
    page.get_by_label("References", exact=True).set_input_files(scenes / "val_c5.json")
    page.get_by_role("button", name="Create the draft").click()

    for file in ("test_c5.json", "test_c2.json"):
        page.get_by_label("Kind").select_option("references")
        page.get_by_label("File", exact=True).set_input_files(scenes / file)
        page.get_by_role("button", name="Upload and check").click()
        expect(page.get_by_role("status")).to_have_text(f"Uploaded references/{file}. challenge.toml can name it now.")
    text = page.get_by_label("challenge.toml").input_value()
    lists = LIKE_COCO.replace("VAL", re.search("references/val.*?json", text)[0])
    before, after = text.index("[[captions]]"), text.index("# [[baselines]]")
    text = text[:before] + lists + text[after:]
    page.get_by_label("challenge.toml").fill(text.replace('"cider-d"]', '"cider-d", "spice"]'))
    page.get_by_role("button", name="Save and check").click()
    expect(page.get_by_role("status")).to_have_text("Saved.")
    check(page)
    page.get_by_role("button", name="Publish…").click()
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("status")).to_contain_text("Published.")
    for fact in ("val2014 · c5 16 images", "test2014 · c5 8 images", "test2014 · c40 8 images", "cider-d, spice"):
        expect(page.get_by_role("complementary", name="About")).to_contain_text(fact)


@pytest.mark.parametrize("scripts", [True, False])
def test_what_was_typed_is_not_lost(open_page: Callable[..., Any], scripts: bool) -> None:
    """The preview saves first, and pages that would lose it ask."""
    page = open_page(ADMIN, scripts=scripts)
    name = f"typed-{scripts}".lower()
    page.goto("/drafts/")
    page.get_by_label("Title").fill(f"Typed {scripts}")
    page.get_by_label("References", exact=True).set_input_files(EXAMPLES / "references.json")
    page.get_by_role("button", name="Create the draft").click()
    replace(page, 'summary = ""', 'summary = "Typed just now."')
    if scripts:
        asked: list[str] = []
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
        page.get_by_label("challenge.toml").click()  # a browser asks only those who have used the page
        page.get_by_role("navigation", name="Site").get_by_role("link").first.click()
        expect(page.get_by_label("challenge.toml")).to_have_value(re.compile("Typed just now"))
        assert asked == ["beforeunload"]
        page.get_by_role("link", name="Preview").click()
    else:
        page.get_by_role("button", name="Preview").click()
    page.wait_for_url(f"**/drafts/{name}/preview")
    expect(page.get_by_text("Typed just now.")).to_be_visible()
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("challenge.toml")).to_have_value(re.compile("Typed just now"))
    page.get_by_role("button", name="Discard the draft").click()
    page.get_by_role("button", name="Discard it").click()


@ways
def test_problems_of_a_draft_lead_to_their_lines(
    open_page: Callable[..., Any], tmp_path: Path, width: int, scripts: bool
) -> None:
    page = open_page(ADMIN, width=width, scripts=scripts, refused=(422,))
    look = check if scripts else _no_check
    page.goto("/drafts/")
    page.get_by_label("Title").fill(f"Lines {width} {scripts}")
    page.get_by_label("References", exact=True).set_input_files(
        write_scenes(tmp_path / "scenes", organizer="") / "val_c5.json"
    )
    page.get_by_role("button", name="Create the draft").click()
    replace(page, "scored_in_total = 0", "scored_in_total = -1")
    page.get_by_role("button", name="Save and check").click()
    look(page)
    problem = page.get_by_role("region", name="1 problem to fix").get_by_role("listitem")
    expect(problem).to_contain_text("scored_in_total = -1: phases[1].scored_in_total: must be 0 or more")
    problem.get_by_role("link", name="Line").click()
    if scripts:
        expect(page.get_by_label("challenge.toml")).to_be_focused()
        selected = "(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.getElementById('id_toml'))"
        assert page.evaluate(selected) == "scored_in_total = -1"
    replace(page, "scored_in_total = -1", "scored_in_total = ")
    page.get_by_role("button", name="Save and check").click()
    expect(page.get_by_text("This is not TOML")).to_be_visible()
    look(page)
    replace(page, "scored_in_total = ", "scored_in_total = 0")
    page.get_by_role("button", name="Save and check").click()
    expect(page.get_by_role("status")).to_have_text("Saved.")


@ways
def test_a_team_goes_from_its_invitation_to_its_final_entry(
    open_page: Callable[..., Any], captions: Path, width: int, scripts: bool
) -> None:
    look = check if scripts else _no_check
    team = f"Finches {width}"
    captain = open_page(width=width, scripts=scripts)
    sign_up(captain, f"captain-of-finches-{width}")
    press(captain, captain.get_by_role("link", name="Account of"))
    write(captain, captain.get_by_label("Name of the team"), team)
    press(captain, captain.get_by_role("button", name="Create team"))
    press(captain, captain.get_by_role("button", name="Create an invitation link"))
    write(captain, captain.get_by_label("Password"), PASSWORD)
    press(captain, captain.get_by_role("button", name="Confirm"))
    link = captain.get_by_label("Invitation link").input_value()

    # The invitation, and an account.
    page = open_page(width=width, scripts=scripts)
    page.on("filechooser", lambda chooser: chooser.set_files(captions))
    page.goto(link)
    look(page)
    press(page, page.get_by_role("navigation", name="Site").get_by_role("link", name="Sign up"))
    write(page, page.get_by_label("Username"), f"finch-{width}")
    write(page, page.get_by_label("Password", exact=True), PASSWORD)
    write(page, page.get_by_label("Password (again)"), PASSWORD)
    press(page, page.get_by_role("button", name="Sign up"))
    expect(page.get_by_role("heading", name=f"Join {team}?")).to_be_visible()
    look(page)
    press(page, page.get_by_role("button", name="Join"))
    expect(page.get_by_role("status")).to_have_text(f"You are now a member of {team}.")
    look(page)

    # Two submissions; the second is worse.
    for method, system in (("Better", "improved"), ("Worse", "baseline")):
        captions.write_bytes((EXAMPLES / f"{system}.json").read_bytes())
        if method == "Worse":  # before, the page of the team leads to the form
            press(page, page.get_by_role("link", name="captious", exact=True))
        press(page, page.get_by_role("link", name="Submit to Demo"))
        page.get_by_label("Method").wait_for()
        look(page)
        press(page, page.get_by_label("File", exact=True), "Space")
        expect(page.get_by_label("File", exact=True)).to_have_value(re.compile("captions.json"))
        write(page, page.get_by_label("Method"), f"{method} {width}")
        press(page, page.get_by_role("button", name="Submit", exact=True))
        see_scores(page, scripts)
        look(page)

    # The best one counts until the team chooses another.
    press(page, page.get_by_role("link", name="Leaderboard", exact=True))
    assert f"Better {width}" in methods(page)
    assert f"Worse {width}" not in methods(page)
    look(page)
    press(page, page.get_by_role("link", name="My submissions"))
    expect(page.get_by_role("table", name="Submissions")).to_be_visible()
    look(page)
    press(page, page.get_by_role("link", name=f"Worse {width}"))
    press(page, page.get_by_role("button", name="Make this the team’s final entry"))
    expect(page.get_by_role("button", name="Let the best submission count")).to_be_visible()
    look(page)
    visitor = open_page(width=width, scripts=scripts)
    visitor.goto("/challenges/demo/leaderboard")
    assert f"Worse {width}" in methods(visitor)
    assert f"Better {width}" not in methods(visitor)
    row = visitor.get_by_role("row").filter(has_text=f"Worse {width}")
    expect(row).to_contain_text(team)


def _no_check(page: Any) -> None:
    """axe-core is a script."""
