"""News of a challenge: on its overview, and as an Atom feed."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

pytest.importorskip("django")

from tests.support.site import Site

ATOM = "{http://www.w3.org/2005/Atom}"


def publish(client: Any, title: str, text: str = "") -> Any:
    return client.post("/challenges/small/manage", {"action": "news", "title": title, "text": text})


def test_news(site: Site, root: Any) -> None:
    assert b"Atom feed" not in site.client().get("/challenges/small/").content
    assert publish(root, "First").status_code == 302
    publish(root, "<b>Second</b>", "New *references*. <script>alert(1)</script>")
    page = site.client().get("/challenges/small/").content.decode()
    assert page.index("&lt;b&gt;Second") < page.index("First")
    assert "New <em>references</em>." in page
    assert "alert(1)" not in page.replace("&lt;script&gt;alert(1)&lt;/script&gt;", "")
    feed = ElementTree.fromstring(site.client().get("/challenges/small/news.atom").content)
    entries = feed.findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}title") for entry in entries] == ["<b>Second</b>", "First"]
    link = entries[1].find(f"{ATOM}link").attrib["href"]
    assert link.startswith("http://testserver/challenges/small/#news-")
    assert f'id="{link.rpartition("#")[2]}"' in page
    assert "<script" not in entries[0].findtext(f"{ATOM}summary")
    assert publish(root, "").status_code == 422


def test_removal_and_who_may(site: Site, root: Any) -> None:
    from captious.server.models import News

    publish(root, "First")
    ann = site.client(site.user("ann"))
    pk = News.objects.get().pk
    for values in ({"action": "news", "title": "x"}, {"action": "remove_news", "news": pk}):
        assert ann.post("/challenges/small/manage", values).status_code == 404
    assert News.objects.count() == 1
    assert root.post("/challenges/small/manage", {"action": "remove_news", "news": "x"}).status_code == 404
    root.post("/challenges/small/manage", {"action": "remove_news", "news": pk, "sure": "1"})
    assert not News.objects.exists()


def test_news_that_would_be_a_large_page(site: Site, root: Any) -> None:
    table = "|" + " a |" * 100 + "\n|" + "-|" * 100 + "\n" + "|\n" * 1500
    assert publish(root, "Table", table).status_code == 422
    assert publish(root, "Long", "a" * 5001).status_code == 422


def test_control_characters_are_left_out(site: Site, root: Any) -> None:
    publish(root, "Odd\x0b", "text\x0b")
    ElementTree.fromstring(site.client().get("/challenges/small/news.atom").content)
