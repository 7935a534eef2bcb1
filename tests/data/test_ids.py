"""Image ids of sources that can tell numbers from text, and of those that cannot."""

from __future__ import annotations

from captious.data import same_images


def test_images_are_the_same_whether_text_or_number() -> None:
    assert same_images((1, 2, "a"), ("1", 2, "a"))
    assert not same_images((1, 2), (2, 1))
    assert not same_images((1, 2), (1, 2, 3))
    assert not same_images(("01",), (1,))
