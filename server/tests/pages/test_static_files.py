"""Styles, scripts and drawings of the site are sent compressed to browsers that take that, and the same to others.

Pages contain their styles.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from importlib import resources
from typing import Any

import pytest

from captious_server.models import User
from server.tests.support.site import Site
from tests.support.styles import own_values

STYLE = "/static/captious/style.css"


def content(answer: Any) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else bytes(answer.content)


@pytest.mark.parametrize("path", [STYLE, "/static/captious/check.js", "/static/captious/demo/2359.svg"])
def test_static_files_are_compressed(site: Site, path: str) -> None:
    client = site.client()
    plain = client.get(path)
    whole = content(plain)
    for _ in range(2):
        packed = client.get(path, HTTP_ACCEPT_ENCODING="br, gzip")
        assert packed["Content-Encoding"] == "gzip"
        assert packed["Content-Type"] == plain["Content-Type"]
        assert int(packed["Content-Length"]) == len(packed.content)
        assert gzip.decompress(packed.content) == whole
        assert len(packed.content) < 0.7 * len(whole)
    assert "Accept-Encoding" in plain["Vary"]
    assert "Accept-Encoding" in packed["Vary"]


def test_unmodified_static_files_are_not_sent_again(site: Site) -> None:
    client = site.client()
    first = client.get(STYLE, HTTP_ACCEPT_ENCODING="gzip")
    again = client.get(STYLE, HTTP_ACCEPT_ENCODING="gzip", HTTP_IF_NONE_MATCH=first["ETag"])
    assert again.status_code == 304
    assert content(again) == b""


def test_files_with_a_digest_are_cached_by_browsers(site: Site) -> None:
    client = site.client()
    site.demo()
    [script] = re.findall(r'<script src="([^"]*times.js[^"]*)"', client.get("/challenges/demo/").content.decode())
    path, digest = script.split("?v=")
    whole = content(client.get(path))
    assert hashlib.sha256(whole).hexdigest().startswith(digest)
    assert len(digest) == 12
    for headers in ({}, {"HTTP_ACCEPT_ENCODING": "gzip"}):
        for address in (script, path, f"{path}?v=", f"{path}?v=0123456789ab"):
            answer = client.get(address, **headers)
            assert content(answer)
            assert ("immutable" in answer["Cache-Control"]) == (address == script)


@pytest.mark.parametrize("headers", [{}, {"HTTP_ACCEPT_ENCODING": "identity"}, {"HTTP_RANGE": "bytes=0-9"}])
def test_clients_without_compression_get_plain_files(site: Site, headers: dict[str, str]) -> None:
    answer = site.client().get(STYLE, **headers)
    assert "Content-Encoding" not in answer
    assert content(answer).startswith(b"/* Pages o")


def test_compressed_pages_have_padded_lengths(site: Site) -> None:
    sizes = {len(site.client().get("/", HTTP_ACCEPT_ENCODING="gzip").content) for _ in range(20)}
    assert len(sizes) > 1


@pytest.mark.parametrize("path", ["/", "/sign-in", "/challenges/demo/captions/2359?systems=1&systems=2", "/nothing"])
def test_pages_need_no_other_file_to_render(site: Site, path: str) -> None:
    """Styles are inlined, and the content security policy allows only their digests."""
    site.demo()
    site.work()
    answer = site.client().get(path)
    page = answer.content.decode()
    styles = re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL)
    assert len(styles) == 3 if "captions" in path else len(styles) == 2
    assert 'rel="stylesheet"' not in page
    assert not re.search(r"<script src=[^>]*(?<! defer)>", page)
    policy = answer["Content-Security-Policy"]
    for style in styles:
        assert "/*" not in style
        assert "url(" not in style
        assert f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'" in policy
    assert "unsafe" not in policy
    assert policy.count("style-src") == 1


@pytest.mark.parametrize(
    "path", ["", "captious/submission/", "captious/user/", "captious/user/1/change/", "captious/team/"]
)
def test_administration_pages_load_no_blocking_scripts(site: Site, path: str) -> None:
    """Translations are the exception; styles load together, and none imports another."""
    site.demo()
    client = site.client(User.objects.create_superuser("root"))
    page = client.get(f"/admin/{path.replace('1', str(User.objects.get(username='root').pk))}").content.decode()
    scripts = re.findall(r"<script[^>]* src=[^>]*>|<script src=[^>]*>", page)
    waited_for = [script for script in scripts if " defer" not in script and " async" not in script]
    assert [script for script in waited_for if "/jsi18n/" not in script] == []
    assert not path or len(scripts) > 3
    styles = re.findall(r'<link rel="stylesheet" href="([^"]*)"', page)
    assert any("design/tokens.css" in style for style in styles)
    assert all(b"@import" not in content(client.get(style)) for style in styles if "captious" in style)


def test_colors_type_and_space_come_from_the_tokens_of_the_design() -> None:
    style = resources.files("captious_server").joinpath("static", "captious", "style.css").read_text(encoding="utf-8")
    assert style
    assert own_values(style) == []
