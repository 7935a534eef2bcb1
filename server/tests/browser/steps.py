"""What users do on the site, as they would say it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from server.tests.support.server import PASSWORD

#: Whether the focus is on the page, and how it is drawn there.
_FOCUS = """() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return null;
  const style = getComputedStyle(element);
  return { what: element.outerHTML.slice(0, 200), outline: style.outlineStyle, width: parseFloat(style.outlineWidth) };
}"""


def sign_in(page: Any, name: str, password: str = PASSWORD) -> None:
    """Sign in, or be refused."""
    page.goto("/sign-in")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("link", name=f"Account of {name}").or_(page.get_by_role("alert")).wait_for()


def sign_up(page: Any, name: str) -> None:
    """Make an account, which signs in as well."""
    page.goto("/")
    page.get_by_role("link", name="Sign up").click()
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.get_by_role("link", name=f"Account of {name}").wait_for()


def prove(page: Any) -> None:
    """Give the password again, as the site asks before it changes an account."""
    page.get_by_role("heading", name="Confirm Access").wait_for()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()


def submit(page: Any, captions: Path, method: str, *, challenge: str = "Demo") -> None:
    """Submit captions, from the list of challenges on."""
    page.goto("/")
    page.get_by_role("link", name=f"Submit to {challenge}").click()
    page.get_by_label("File", exact=True).set_input_files(captions)
    page.get_by_label("Method").fill(method)
    page.get_by_role("button", name="Submit", exact=True).click()
    page.get_by_role("heading", level=1, name=method).wait_for()


def see_scores(page: Any, scripts: bool = True) -> Any:
    """Wait until a submission has been scored; gives the table of its scores. Without JavaScript, look now and then."""
    table = page.get_by_role("table", name="Scores with the references")
    if not scripts:
        for _ in range(100):
            if table.count():
                break
            page.get_by_role("link", name="Refresh").click()
            page.wait_for_timeout(200)
    table.wait_for()
    return table


def board(page: Any) -> Any:
    """The table of the leaderboard."""
    table = page.get_by_role("table", name="Leaderboard of")
    table.wait_for()
    return table


def methods(page: Any) -> list[str]:
    """The methods on the leaderboard, from the top."""
    return list(board(page).get_by_role("rowheader").get_by_role("link").all_inner_texts())


def column(page: Any, name: str) -> list[str]:
    """The scores of a column of the leaderboard, from the top, without intervals."""
    heads, *rows = [text.split("\t") for text in board(page).get_by_role("row").all_inner_texts()]
    place = [head.strip(" ↓↑\n") for head in heads].index(name)
    return [row[place].split()[0] for row in rows]


def at_widths(page: Any, *widths: int) -> Iterator[int]:
    """Give the window one width after the other."""
    for width in widths:
        page.set_viewport_size({"width": width, "height": 800})
        yield width


def tab_to(page: Any, target: Any) -> None:
    """Press Tab until the focus is where it is wanted; it must be visible on the whole way."""
    target.wait_for()
    for _ in range(150):
        page.keyboard.press("Tab")
        focus = page.evaluate(_FOCUS)
        if focus is not None:
            assert focus["outline"] != "none", focus["what"]
            assert focus["width"] >= 1, focus["what"]
        if target.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError("the focus never came there")


def press(page: Any, target: Any, key: str = "Enter") -> None:
    """Go somewhere with the keyboard alone, and press a key there."""
    tab_to(page, target)
    page.keyboard.press(key)


def write(page: Any, target: Any, text: str) -> None:
    """Go to a field with the keyboard alone, and write in it."""
    tab_to(page, target)
    page.keyboard.type(text)
