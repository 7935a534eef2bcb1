"""News of a challenge: on its overview, and as an Atom feed."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any

from captious_server.models import News
from server.tests.support.site import Site

ATOM = "{http://www.w3.org/2005/Atom}"


def publish(client: Any, title: str, text: str = "") -> Any:
    return client.post("/challenges/small/manage", {"action": "news", "title": title, "text": text})


def test_news_are_listed_with_the_latest_first(site: Site, root_client: Any) -> None:
    assert b"Atom feed" not in site.client().get("/challenges/small/").content
    assert publish(root_client, "First").status_code == 302
    publish(root_client, "<b>Second</b>", "New *references*. <script>alert(1)</script>")
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
    assert publish(root_client, "").status_code == 422


def test_only_organizers_remove_news(site: Site, root_client: Any) -> None:
    publish(root_client, "First")
    ann = site.client(site.user("ann"))
    pk = News.objects.get().pk
    for values in ({"action": "news", "title": "x"}, {"action": "remove_news", "news": pk}):
        assert ann.post("/challenges/small/manage", values).status_code == 404
    assert News.objects.count() == 1
    assert root_client.post("/challenges/small/manage", {"action": "remove_news", "news": "x"}).status_code == 404
    root_client.post("/challenges/small/manage", {"action": "remove_news", "news": pk, "sure": "1"})
    assert not News.objects.exists()


def test_long_news_are_refused(site: Site, root_client: Any) -> None:
    table = "|" + " a |" * 100 + "\n|" + "-|" * 100 + "\n" + "|\n" * 1500
    assert publish(root_client, "Table", table).status_code == 422
    assert publish(root_client, "Long", "a" * 5001).status_code == 422


def test_control_characters_are_removed_from_news(site: Site, root_client: Any) -> None:
    publish(root_client, "Odd\x0b", "text\x0b")
    ElementTree.fromstring(site.client().get("/challenges/small/news.atom").content)
