"""Templates of addresses of images."""

from __future__ import annotations

import pytest

from captious.errors import ParameterError
from captious.report.images import ImageUrls


@pytest.mark.parametrize(
    ("template", "pieces", "source"),
    [
        ("https://a.example/{id:012d}.jpg", ["https://a.example/", 12, ".jpg"], "https://a.example"),
        ("http://a.example:8000/x/{id}?s={id}", ["http://a.example:8000/x/", 0, "?s=", 0], "http://a.example:8000"),
        ("images/{id}.png", ["images/", 0, ".png"], "'self' file:"),
        ("../{id:06d}", ["../", 6], "'self' file:"),
        ("{id}", [0], "'self' file:"),
        ("/media/{{x}}/{id}", ["/media/{", "x}", "/", 0], "'self' file:"),
    ],
)
def test_templates_are_split_into_pieces(template: str, pieces: list[str | int], source: str) -> None:
    urls = ImageUrls(template)
    assert list(urls.pieces) == pieces
    assert urls.source == source


@pytest.mark.parametrize(
    "template",
    [
        "",
        "images/1.jpg",
        "{id!r}",
        "{id.__class__}",
        "{0}",
        "{",
        "{id:>9}",
        "javascript:{id}",
        "data:image/png,{id}",
        "file:///{id}",
        "ftp://a.example/{id}",
        "//a.example/{id}",
        "https://{id}.example/x",
        "https://a.example; script-src *;/{id}",
        "https://user@a.example/{id}",
        "a b/{id}",
        "x'{id}",
    ],
)
def test_invalid_templates_are_refused(template: str) -> None:
    with pytest.raises(ParameterError):
        ImageUrls(template)


def test_field_of_another_format_is_named() -> None:
    with pytest.raises(ParameterError, match=r"the image URL has a field of another format than \{id:012d\}"):
        ImageUrls("images/{id:>9}.jpg")


def test_a_format_of_numbers_takes_no_text() -> None:
    ImageUrls("x/{id}").check(["a"])
    ImageUrls("x/{id:04d}").check([1, 2])
    with pytest.raises(ParameterError, match="such as 'a'"):
        ImageUrls("x/{id:04d}").check([1, "a"])
