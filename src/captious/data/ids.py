"""Image ids: their types, and how reliably each format represents them.

An id is an int or a string and keeps its type; ``12`` and ``"12"`` are two images. Only a format that cannot express
the difference (a key of a JSON object, a csv column) leaves it open, and the other side of a match settles it. Names of
COCO's files stand for the numbers in them where the other side has numbers. ``read_alike`` has these rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Literal, TypeAlias

ImageId: TypeAlias = int | str

IdForm: TypeAlias = Literal["typed", "text", "position"]
"""``typed``: ids are as in the source. ``text``: the format has only text, so "12" may stand for 12. ``position``: the
source has no ids; image i is the i-th entry, counted from 0.
"""

# Canonical decimal integers only: "012" and "+12" are names that happen to have digits in them. The bound
# keeps them within 64 bits, as ids are in every format that types them.
_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")

# COCO_val2014_000000391895.jpg, with or without its extension, and 000000391895.jpg; in a folder or not.
_COCO_FILE_NAME = re.compile(r"(?:.*/)?(?:COCO_[a-z]+20\d\d_(\d{12})(?:\.[a-zA-Z]+)?|(\d{12})\.[a-zA-Z]+)")


def as_image_id(value: object) -> ImageId | None:
    """Convert a value to an image id, numpy's integers and strings to Python's; None if that is impossible."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    return None


def same_images(a: Sequence[ImageId], b: Sequence[ImageId]) -> bool:
    """Return whether two tables with the same references have the same images in the same order.

    If a source has only text ids, "12" is equal to 12.
    """
    return len(a) == len(b) and (a == b or all(str(x) == str(y) for x, y in zip(a, b, strict=True)))


def read_alike(
    left: Sequence[ImageId], left_form: IdForm, right: Sequence[ImageId], right_form: IdForm
) -> tuple[Sequence[ImageId], Sequence[ImageId]]:
    """Return the ids of two sources, read so that those of an image are equal; unchanged ids are the same objects.

    Names of COCO's files are read as the numbers in them if all ids of the other side are numbers or spell them. If
    one side has only text and all ids of the other are numbers, text is read as numbers.
    """
    if (numbers := numbers_in_file_names(left)) and spell_numbers(right, right_form):
        left, left_form = numbers, "typed"
    elif (numbers := numbers_in_file_names(right)) and spell_numbers(left, left_form):
        right, right_form = numbers, "typed"
    if "text" in (left_form, right_form):
        if are_numbers(right) and not are_numbers(left):
            left = numbers_from_text(left)
        elif are_numbers(left) and not are_numbers(right):
            right = numbers_from_text(right)
    return left, right


def numbers_from_text(ids: Iterable[ImageId]) -> tuple[ImageId, ...]:
    """Convert ids of a format that has only text to numbers where they are canonical decimal integers.

    Used when the other side of a match has integer ids: "12" and "-3" become 12 and -3, "012" and "a.jpg" remain
    strings. Distinct ids remain distinct.
    """
    return tuple(int(i) if isinstance(i, str) and _CANONICAL_INTEGER.fullmatch(i) else i for i in ids)


def numbers_in_file_names(ids: Sequence[ImageId]) -> tuple[int, ...] | None:
    """Return the numbers in COCO's file names; None if some ids are not such names, or two have the same number."""
    numbers = []
    for image in ids:
        match = _COCO_FILE_NAME.fullmatch(image) if isinstance(image, str) else None
        if match is None:
            return None
        numbers.append(int(match[1] or match[2]))
    return tuple(numbers) if len(set(numbers)) == len(set(ids)) else None


def spell_numbers(ids: Iterable[ImageId], form: IdForm) -> bool:
    """Return whether all ids are integers, or the text of integers in a format that has only text."""
    return are_numbers(numbers_from_text(ids) if form == "text" else ids)


def are_numbers(ids: Iterable[ImageId]) -> bool:
    """Return whether all ids are integers."""
    return all(isinstance(image, int) for image in ids)


def differ_in_type(unknown: Iterable[ImageId], ids: Iterable[ImageId]) -> bool:
    """Return whether unknown ids would be known if numbers were equal to the strings that spell them."""
    return not set(map(str, unknown)).isdisjoint(map(str, ids))
