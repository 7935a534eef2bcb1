"""captious_server.challenges.folder"""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from captious_server.challenges.folder import as_html
from tests.support.tables import tables

TABLES = tables(__file__)


class Elements(HTMLParser):
    """The elements of some HTML, as a browser would see them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def elements(markdown: str) -> list[tuple[str, dict[str, str | None]]]:
    return Elements(as_html(markdown)).found


def test_headings_start_below_those_of_the_page() -> None:
    assert as_html("# One\n## Two\n###### Six") == "<h3>One</h3>\n<h4>Two</h4>\n<h6>Six</h6>\n"
    assert as_html("# One\n\nTwo\n===", top_heading=2) == "<h2>One</h2>\n<h2>Two</h2>\n"


def test_tables_are_aligned_without_inline_styles() -> None:
    html = as_html("| a | b |\n|---|--:|\n| 1 | 2 |")
    assert '<th scope="col">a</th>' in html
    assert '<td align="right">2</td>' in html
    assert "style" not in html


def test_code_and_emphasis_are_rendered() -> None:
    assert as_html("`<b>` *x* **y**") == "<p><code>&lt;b&gt;</code> <em>x</em> <strong>y</strong></p>\n"
    assert as_html('```json\n{"a": 1}\n```') == '<pre><code>{"a": 1}\n</code></pre>\n'


def test_bare_urls_are_not_links() -> None:
    assert elements("https://example.org www.example.org a@example.org") == [("p", {})]


@pytest.mark.parametrize(
    "address", ["https://x.org/a?b=c#d", "http://x.org", "mailto:a@x.org", "/rules", "#top", "a.md"]
)
def test_safe_links_are_kept(address: str) -> None:
    assert elements(f"[x]({address})")[1] == ("a", {"href": address, "rel": "nofollow noopener"})


@pytest.mark.parametrize("address", ["https://x.org/a.png?b=c", "/media/a.png"])
def test_safe_images_are_kept(address: str) -> None:
    assert elements(f"![a b]({address})")[1] == ("img", {"alt": "a b", "src": address})


@pytest.mark.parametrize("address", TABLES["images"])
def test_images_of_other_hosts_have_no_source(address: str) -> None:
    assert "src" not in elements(f'<img src="{address}">')[0][1]
    for _, attributes in elements(f"![](<{address}>)"):
        # Escaped, a tab or backslash is part of a path on this site.
        assert (attributes.get("src") or "/%").startswith("/%")


@pytest.mark.parametrize("address", TABLES["links"])
def test_script_links_are_removed(address: str) -> None:
    for markdown in (f'<a href="{address}">x</a>', f"[x](<{address}>)", f"<{address}>", f"[x]\n\n[x]: <{address}>"):
        assert not [attributes for _, attributes in elements(markdown) if "href" in attributes]


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "<scr<script>ipt>alert(1)</script>",
        "<SCRIPT SRC=//x.org/x.js></SCRIPT>",
        "<style>body { display: none }</style>",
        '<iframe src="https://x.org"></iframe>',
        '<object data="x"></object><embed src="x">',
        "<svg onload=alert(1)><script>alert(1)</script></svg>",
        '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
        '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
        '<form action="/accounts"><input name="x"><button formaction="javascript:alert(1)">x</button></form>',
        '<base href="https://x.org/">',
        '<meta http-equiv="refresh" content="0;url=https://x.org">',
        '<link rel="stylesheet" href="https://x.org/x.css">',
        '<p onclick="alert(1)" style="position:fixed" class="button" id="user" name="user">x</p>',
        '<img src="/x.png" onerror="alert(1)" srcset="//x.org/a.png 2x" style="width:9999px">',
        '<a href="https://x.org" target="_blank" onmouseover=alert(1) rel="opener" ping="https://x.org">x</a>',
        '<video src="https://x.org/a.mp4" autoplay></video><audio src="x"></audio>',
        "<template><script>alert(1)</script></template>",
        "<!--[if IE]><script>alert(1)</script><![endif]-->",
        '![x](https://x.org/a.png "x\\" onerror=\\"alert(1)")',
        '[x](https://x.org "x\\"><script>alert(1)</script>")',
        "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
        "# <h1 onclick=alert(1)>x</h1>",
        "```x onclick=alert(1) <script>\n</code><script>alert(1)</script>\n```",
        "<details open ontoggle=alert(1)>x</details>",
        "<div>" * 5000 + "<script>alert(1)</script>",
        "> " * 5000 + "<script>alert(1)</script>",
    ],
    ids=lambda attack: attack[:60],
)
def test_hostile_markdown_is_sanitized(attack: str) -> None:
    allowed = {"href", "title", "src", "alt", "rel", "align", "scope", "start"}
    tags = {
        "a",
        "blockquote",
        "br",
        "code",
        "em",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "img",
        "li",
        "ol",
        "p",
        "pre",
        "strong",
    }
    tags |= {"table", "tbody", "td", "th", "thead", "tr", "ul"}
    allowed = {"href", "title", "src", "alt", "rel", "align", "scope", "start"}
    for tag, attributes in elements(attack):
        assert tag in tags
        assert attributes.keys() <= allowed
        if "rel" in attributes:
            assert attributes["rel"] == "nofollow noopener"
        for name in ("href", "src"):
            assert (attributes.get(name) or "https://x.org").startswith(("https://", "/"))
