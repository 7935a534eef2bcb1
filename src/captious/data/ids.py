"""Image ids: their types, and when the ids of two sources are those of one image.

An id is an int or a string. An integer and text match if the text is the integer's canonical decimal form,
``str(i) == text``, in Python as in files. Everything else matches exactly, unless a rule of ``Ids`` is asked for.
``read_alike`` holds the first, ``by_rule`` the second, for candidates, groups, objects and everything else with ids.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Literal, TypeAlias, TypeVar, get_args

from captious.errors import ParameterError, UnknownNameError
from captious.words import counted, sample_of

ImageId: TypeAlias = int | str

IdForm: TypeAlias = Literal["typed", "text", "position"]
"""``typed``: ids are as in the source. ``text``: the format has only text. ``position``: the source has no ids; image i
is the i-th entry, counted from 0.
"""

#: How ids are read before they are matched; see ``by_rule``.
Ids: TypeAlias = Literal["exact", "integer", "stem", "composed"]
IDS: tuple[Ids, ...] = get_args(Ids)

T = TypeVar("T")

# Canonical decimal integers only: "012" and "+12" are names that happen to have digits in them.
_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,999}")
_INTEGER = re.compile(r"([+-]?[0-9]{1,999})(?:\.0*)?")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}")
#: The name of a file with a number at its end, which is no part of a decimal number, of its exponent, or of a date.
_NUMBERED = re.compile(
    r"(?![+-]?[0-9.,]+[eE][+-]?[0-9]+$|.*[0-9][-_][0-9]+[-_][0-9]+$)(?:.*[^0-9.,])?([0-9]{1,999})", re.DOTALL
)


def as_image_id(value: object) -> ImageId | None:
    """Convert a value to an image id, numpy's integers and strings to Python's; None if that is impossible."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    return None


def same_images(a: Sequence[ImageId], b: Sequence[ImageId]) -> bool:
    """Return whether two tables with the same references have the same images in the same order."""
    return len(a) == len(b) and (a == b or all(str(x) == str(y) for x, y in zip(a, b, strict=True)))


def read_alike(left: Sequence[ImageId], right: Sequence[ImageId]) -> tuple[Sequence[ImageId], Sequence[ImageId]]:
    """Return the ids of two sources, as integers where one side has text that spells an integer and there are integers.

    Unchanged ids are the same objects.

    Raises:
        ParameterError: one source has both an integer and its text.
    """
    types = {*map(type, left), *map(type, right)}
    if len(types) < 2:
        return left, right
    return numbers_from_text(left), numbers_from_text(right)


def numbers_from_text(ids: Sequence[ImageId]) -> Sequence[ImageId]:
    """Convert canonical decimal integers to numbers: "12" and "-3" become 12 and -3, "012" and "a.jpg" remain text.

    Raises:
        ParameterError: the ids have both an integer and its text.
    """
    return _converted(ids, _number_of, "an integer and its text")


def _number_of(image: str) -> ImageId:
    return int(image) if _CANONICAL_INTEGER.fullmatch(image) else image


def _composed(image: str) -> str:
    return unicodedata.normalize("NFC", image).strip()


def _stem(image: str) -> str:
    name = _composed(image).replace("\\", "/").rstrip("/").rpartition("/")[2]
    head, dot, tail = name.rpartition(".")
    return head if head and _EXTENSION.fullmatch(dot + tail) else name


def _integer(image: str) -> ImageId:
    if number := _INTEGER.fullmatch(_composed(image)):
        return int(number[1])
    numbered = _NUMBERED.fullmatch(_stem(image))
    return int(numbered[1]) if numbered else image


#: How each rule reads text. They are tried in this order where ids do not match.
_RULES: Mapping[Ids, Callable[[str], ImageId]] = {"composed": _composed, "stem": _stem, "integer": _integer}


def by_rule(ids: Sequence[ImageId], rule: Ids) -> Sequence[ImageId]:
    """Return ids as a rule reads them; unchanged ids are the same object.

    Args:
        ids: the ids.
        rule: "exact": as they are. "composed": text in Unicode's composed form (NFC), without blanks around it. "stem":
            the name of a file without its folder and extension. "integer": the integer that text spells, such as
            "000000000042", "42.0" and "42 ", or with which the name of a file ends, as COCO_val2014_000000000042.jpg.

    Raises:
        UnknownNameError: another rule.
        ParameterError: two ids would become one.
    """
    if rule == "exact":
        return ids
    if rule not in IDS:
        raise UnknownNameError(f"ids is {rule!r}", hint=f"give {', '.join(map(repr, IDS[:-1]))} or {IDS[-1]!r}")
    return _converted(ids, _RULES[rule], f"the rule {rule!r}")


def _converted(ids: Sequence[ImageId], read: Callable[[str], ImageId], by: str) -> Sequence[ImageId]:
    """Return ids with text converted, if any is changed and all remain distinct."""
    new = tuple([read(image) if isinstance(image, str) else image for image in ids])
    if new == tuple(ids):
        return ids
    first: dict[ImageId, ImageId] = {}
    for image, old in zip(new, ids, strict=True):
        if first.setdefault(image, old) != old:
            raise ParameterError(
                f"two ids would become one image with {by}",
                where=f"image_id {first[image]!r} and {old!r}",
                hint="name images so that they differ by more than this",
            )
    return new


class ByImage(Mapping[ImageId, T]):
    """Values by image id; an integer and its canonical decimal text are the same.

    Args:
        ids: the image ids.
        values: the value of each.
    """

    def __init__(self, ids: Sequence[ImageId], values: Iterable[T]) -> None:
        self._ids = ids
        self._values = dict(zip(map(str, ids), values, strict=True))

    def __getitem__(self, image: ImageId) -> T:
        try:
            return self._values[str(image)]
        except KeyError:
            known = sample_of([repr(known) for known in self._ids])
            raise KeyError(f"no image {image!r} among {counted(len(self), 'image')}: {known}") from None

    def __iter__(self) -> Iterator[ImageId]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)

    def __repr__(self) -> str:
        return repr(dict(self))


def rule_for(left: Iterable[ImageId], right: Iterable[ImageId], applied: Ids = "exact") -> Ids | None:
    """Return the rule by which all ids of one side are among those of the other.

    None if there is none, if none is needed, or if it leaves out text that differs, as in dogs_1 and cats_1.

    Args:
        left, right: ids as they were written.
        applied: the rule by which they did not match.
    """
    sides = [[*dict.fromkeys(ids)] for ids in (left, right)]
    texts = [image for ids in sides for image in ids if isinstance(image, str)]
    are_numerals = all(_INTEGER.fullmatch(_composed(image)) for image in texts)
    rules: Sequence[Ids] = ("integer",) if are_numerals else [*_RULES]
    for rule in (IDS[0], *rules):
        common = _n_alike(sides[0], sides[1], rule)
        if common and common == min(map(len, sides)):
            return None if rule in (IDS[0], applied) else rule
    return None


def differing(left: Sequence[ImageId], right: Sequence[ImageId]) -> tuple[str, str] | None:
    """Return what all ids of two sides differ in that a rule leaves out, such as "dogs_" and "cats_"; None else."""
    for rule in _RULES:
        pairs = _common(left, right, rule)
        if 0 < len(pairs) == min(len({*left}), len({*right})):
            return next((pair for pair in pairs.values() if not _are_alike(*pair)), None)
    return None


def most_matching(left: Iterable[ImageId], right: Iterable[ImageId], applied: Ids) -> tuple[Ids, int]:
    """Return the rule by which most ids of two sides match, the first of several, and the number of these.

    Args:
        left, right, applied: as for ``rule_for``; a rule that was applied is only returned if no other matches more.
    """
    counts = {rule: _n_alike([*left], [*right], rule) for rule in (applied, *_RULES)}
    best = max(counts, key=lambda rule: counts[rule])
    return best, counts[best]


def _n_alike(left: Sequence[ImageId], right: Sequence[ImageId], rule: Ids) -> int:
    return sum(_are_alike(*pair) for pair in _common(left, right, rule).values())


def _common(left: Sequence[ImageId], right: Sequence[ImageId], rule: Ids) -> dict[ImageId, tuple[str, str]]:
    """Return the ids of both sides by a rule, each with the texts before it that the rule leaves out.

    Empty if the rule gives two images one id.
    """
    try:
        a, b = read_alike(by_rule(left, rule), by_rule(right, rule))
    except ParameterError:
        return {}
    written = dict(zip(b, right, strict=True))
    return {
        image: (_before(old, rule), _before(written[image], rule))
        for image, old in zip(a, left, strict=True)
        if image in written
    }


def _before(image: ImageId, rule: Ids) -> str:
    """Return the text before the part of an id that a rule reads: folders, and for integers "COCO_val2014_"."""
    if rule not in ("stem", "integer") or not isinstance(image, str):
        return ""
    text, stem = _composed(image).replace("\\", "/"), _stem(image)
    folders = text.rpartition(stem)[0]
    part = str(_integer(image)) if rule == "integer" else stem
    return folders + stem.rpartition(part)[0].rstrip("0")


def _are_alike(left: str, right: str) -> bool:
    """Return whether texts before ids name the same: one is missing, or the end of the other."""
    left, right = left.casefold(), right.casefold()
    return left.endswith(right) or right.endswith(left)


def spelled_otherwise(image: ImageId) -> ImageId:
    """Return the text of an integer, or the integer of its canonical text; other text is returned as it is."""
    return _number_of(image) if isinstance(image, str) else str(image)


def find(table: Mapping[ImageId, T], image: ImageId) -> T | None:
    """Return the value of an image that a table may have as an integer or as its text; None if it has neither."""
    value = table.get(image)
    return table.get(spelled_otherwise(image)) if value is None else value
