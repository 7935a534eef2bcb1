"""What all templates keep to: pages load nothing from elsewhere and run nothing inline, and errors need no context."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.template.loader import get_template

import captious_server
from server.tests.support.site import Site

TEMPLATES = Path(captious_server.__file__).parent / "templates"
PAGES = sorted(TEMPLATES.rglob("*.html"))
names = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(TEMPLATES).as_posix())

#: What the content security policy forbids: styles and code within a page, and files of other sites.
FORBIDDEN = {
    "a style attribute": re.compile(r"<[^>]*\sstyle="),
    "a style element": re.compile(r"<style"),
    "an inline script": re.compile(r"<script(?![^>]*\ssrc=)"),
    "an event handler": re.compile(r"<[^>]*\son[a-z]+="),
    "a broken attribute": re.compile(r'\w==["\']'),
    "a file of another site": re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"(?:https?:)?//"),
}
#: Such as "1 images".
PLURAL = re.compile(r"\|(?:count|length) ?}} [a-z]+s\b")


def test_templates_are_discovered() -> None:
    assert len(PAGES) > 30


@names
@pytest.mark.parametrize("what", FORBIDDEN)
def test_template_complies_with_the_content_security_policy(path: Path, what: str) -> None:
    match = FORBIDDEN[what].search(path.read_text())
    assert match is None, f"{what}: {match and match.group()}"


@pytest.mark.parametrize(
    "text",
    [
        *('<p style="color: red">', "<style>", "<script>", '<a onclick="x()">', '<a href=="/x">'),
        '<img src="https://example.org/a.png">',
    ],
)
def test_forbidden_markup_is_detected(text: str) -> None:
    assert any(pattern.search(text) for pattern in FORBIDDEN.values())


@names
def test_counts_are_pluralized(path: Path) -> None:
    match = PLURAL.search(path.read_text())
    assert match is None, f"without pluralize: {match and match.group()}"


@pytest.mark.parametrize("name", ["400", "403", "403_csrf", "404", "413", "429", "500", "503"])
def test_error_pages_need_no_context(site: Site, name: str) -> None:
    page = get_template(f"{name}.html").render()
    assert re.search(r"<h1>[^<]+</h1>\s*<p class=\"lead\">[^<]+", page)


def test_too_large_page_mentions_archives(site: Site) -> None:
    assert "zip" not in get_template("413.html").render()


@pytest.mark.parametrize("name", ["404", "413", "429", "503"])
def test_error_pages_show_their_message(site: Site, name: str) -> None:
    assert "Uploads may have up to &lt;100&gt; MiB." in get_template(f"{name}.html").render(
        {"message": "Uploads may have up to <100> MiB."}
    )
