"""Image ids of sources that can tell numbers from text, and of those that cannot."""

from __future__ import annotations

from typing import Any

import pytest

from captious.data import same_images
from captious.data.ids import IdForm, ImageId, read_alike


def test_images_are_the_same_whether_text_or_number() -> None:
    assert same_images((1, 2, "a"), ("1", 2, "a"))
    assert not same_images((1, 2), (2, 1))
    assert not same_images((1, 2), (1, 2, 3))
    assert not same_images(("01",), (1,))


NAMES = ("COCO_val2014_000000000042.jpg", "COCO_val2014_000000000007.jpg")


@pytest.mark.parametrize(
    ("left", "left_form", "right", "right_form", "expected"),
    [
        ((42, 7), "typed", (7, 42), "typed", ((42, 7), (7, 42))),
        (("42", "7"), "text", (7, 42), "typed", ((42, 7), (7, 42))),
        ((42, 7), "typed", ("7", "x"), "text", ((42, 7), (7, "x"))),
        (("42", "7"), "typed", (7, 42), "typed", (("42", "7"), (7, 42))),
        (("42", "7"), "typed", (7, 42), "text", ((42, 7), (7, 42))),
        (("42", "x"), "text", ("7", "42"), "text", (("42", "x"), ("7", "42"))),
        (("042", "7"), "text", (7, 42), "typed", (("042", 7), (7, 42))),
        (NAMES, "typed", (7, 42), "typed", ((42, 7), (7, 42))),
        (NAMES, "typed", ("7", "42"), "text", ((42, 7), (7, 42))),
        ((7, 42), "typed", NAMES, "text", ((7, 42), (42, 7))),
        (NAMES, "typed", ("7", "42"), "typed", (NAMES, ("7", "42"))),
        ((NAMES[0], "a.jpg"), "typed", (7, 42), "typed", ((NAMES[0], "a.jpg"), (7, 42))),
        (NAMES, "typed", NAMES, "typed", (NAMES, NAMES)),
    ],
)
def test_ids_of_two_sources_are_read_alike(
    left: tuple[ImageId, ...], left_form: IdForm, right: tuple[ImageId, ...], right_form: IdForm, expected: Any
) -> None:
    assert read_alike(left, left_form, right, right_form) == expected
