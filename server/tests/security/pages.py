"""Reading pages as a browser does: their links, and what scripts they would run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

from server.tests.security.world import World

#: Queries of one path that are followed: leaderboards can be sorted in many ways.
_MOST = 12
_ADDRESSES = {"href", "src", "action", "data-status", "formaction"}


class Page(HTMLParser):
    """An HTML page.

    Attributes:
        links: what it links to, as it is written.
        dangers: everything that could run script: its own scripts from files are none.
    """

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.dangers: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        is_data = given.get("type") == "application/json" and "src" not in given  # which no browser runs
        if tag == "script" and not is_data and not given.get("src", "").startswith("/static/"):
            self.dangers.append(f"<script {given}>")
        if tag in {"iframe", "object", "embed", "base", "meta"} and tag != "meta":
            self.dangers.append(f"<{tag}>")
        if tag == "meta" and "http-equiv" in given:
            self.dangers.append(f"<meta {given}>")
        for name, value in given.items():
            if name.startswith("on") or name in {"style", "srcdoc"}:
                self.dangers.append(f"<{tag} {name}={value!r}>")
            if name in _ADDRESSES:
                scheme = "".join(value.split()).partition(":")[0].lower()
                if scheme in {"javascript", "data", "vbscript"}:
                    self.dangers.append(f"<{tag} {name}={value!r}>")
                self.links.append(value)

    def handle_data(self, data: str) -> None:
        self.text += data


def is_html(response: Any) -> bool:
    return str(response.get("Content-Type", "")).startswith("text/html")


def body_of(response: Any) -> str:
    """What a response says: its headers and its content."""
    content = b"".join(response.streaming_content) if response.streaming else response.content
    close(response)
    return f"{dict(response.items())}\n{content.decode('utf-8', 'replace')}"


def close(response: Any) -> None:
    """Close a file that is served. The whole response is not closed, as that would close the database as well."""
    for closer in response._resource_closers:
        closer()


def crawl(world: World, role: str, *starts: str) -> Iterator[tuple[str, Any, str]]:
    """Address, response and text of every page that links lead to, with the files that pages offer."""
    client = world.as_user(role)
    counts: Counter[str] = Counter()
    waiting, known = list(starts or ["/"]), set(starts or ["/"])
    while waiting:
        address = waiting.pop(0)
        response = client.get(address)
        html = response.content.decode() if is_html(response) else ""
        yield address, response, body_of(response)
        links = [*Page(html).links, response.get("Location", "")] if html else [response.get("Location", "")]
        for link in links:
            parts = urlsplit(urljoin(address, link))
            there = parts.path + (f"?{parts.query}" if parts.query else "")
            if parts.scheme or parts.netloc or not parts.path.startswith("/") or parts.path.startswith("/static/"):
                continue
            if parts.path.startswith(("/sign-", "/admin/")):
                there = parts.path  # the rest says only where to go next, and how lists are filtered
            if there not in known:
                known.add(there)
                counts[parts.path] += 1
                if counts[parts.path] <= _MOST:
                    waiting.append(there)
