"""Markdown of organizers as HTML for a page: nothing in it can run, load or look like part of the page.

CommonMark with tables. HTML within the text is sanitized like the rest: scripts, styles, frames, forms, classes, ids
and event handlers are removed. Images come from https or from this site; search engines are told not to follow links.
"""

from __future__ import annotations

import re

import nh3
from markdown_it import MarkdownIt

_TAGS = {
    *("a", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "hr", "i", "img", "kbd", "li", "ol", "p"),
    *("pre", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"alt", "src", "title"},
    "ol": {"start"},
    "td": {"align"},
    "th": {"align", "scope"},
}
# Browsers ignore tabs and line breaks in addresses and read \ as /, so that neither may be in one.
_HTTPS = re.compile(r"https://[^\s\\/?#\x00-\x20][^\s\\\x00-\x20]*", re.IGNORECASE)
_LINK = re.compile(r"https?://|mailto:|[^:]*([/?#]|$)", re.IGNORECASE)
_SITE_PATH = re.compile(r"/(?!/)[^\s\\\x00-\x20]*")


def as_html(markdown: str, *, top_heading: int = 3) -> str:
    """Sanitized HTML of a Markdown text.

    Args:
        top_heading: level of the highest headings of the text, whether it writes them as ``#`` or ``##``; those below
            follow, down to 6.
    """
    markdown_it = MarkdownIt("commonmark", {"linkify": False, "typographer": False}).enable("table")
    environment: dict[str, object] = {}
    tokens = markdown_it.parse(markdown, environment)
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
    shift = top_heading - min(levels, default=1)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(int(token.tag[1]) + shift, 6)}"
        elif token.type in {"th_open", "td_open"}:
            # An attribute for the alignment: pages allow no styles.
            style = str(token.attrs.pop("style", ""))
            if style.startswith("text-align:"):
                token.attrs["align"] = style.removeprefix("text-align:")
            if token.tag == "th":
                token.attrs["scope"] = "col"
    return nh3.clean(
        markdown_it.renderer.render(tokens, markdown_it.options, environment),
        tags=_TAGS | {f"h{level}" for level in range(top_heading, 7)},
        attributes=_ATTRIBUTES,
        attribute_filter=_filter,
        url_schemes={"http", "https", "mailto"},
        link_rel="nofollow noopener",
    )


def _filter(tag: str, attribute: str, value: str) -> str | None:
    """An attribute's value, or None to remove it."""
    if tag == "img" and attribute == "src":
        return value if _HTTPS.fullmatch(value) or _SITE_PATH.fullmatch(value) else None
    if attribute == "href":
        return value if _LINK.match(value) else None
    if attribute in {"align", "scope"}:
        return value if value in {"left", "right", "center", "col", "row"} else None
    return value
