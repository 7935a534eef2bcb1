"""``Source``: the origin of captions, which words errors about them, and ``RowProblem``, an error in a row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from captious.data.ids import ImageId
from captious.data.reading.caption_file import Role
from captious.errors import CaptionFileError, InputError
from captious.phrases import sample_of

if TYPE_CHECKING:
    from captious.data.reading.caption_file import ReadOptions

Key = TypeVar("Key", bound=Hashable)

# Examples of the accepted forms, one line each.
_FORMS: dict[Role, str] = {
    "candidates": """
    COCO results, .json    [{"image_id": 42, "caption": "a cat"}, ...]
    an object, .json       {"42": "a cat", ...}
    .jsonl, .ndjson        {"image_id": 42, "caption": "a cat"} on every line
    .csv, .tsv             a header image_id,caption; then one row per caption
    .parquet, data frames  columns image_id and caption
    other names            --columns id=NAME,caption=NAME (columns= in Python)
    in Python also         {42: "a cat", ...}, or ["a cat", ...] with references in the same order""",
    "references": """
    COCO captions, .json   {"annotations": [{"image_id": 42, "caption": "a cat"}, ...]}
    an object, .json       {"42": ["a cat", "the cat"], ...}
    .jsonl, .ndjson        {"image_id": 42, "references": ["a cat", "the cat"]} on every line
    .csv, .tsv             a header image_id,caption; then one row per caption
    .parquet, data frames  columns image_id and caption, or image_id and references
    data sets              files as published, such as those of Flickr30k, nocaps, VATEX or MSR-VTT
    other names            --columns id=NAME,caption=NAME (columns= in Python)
    in Python also         {42: ["a cat", "the cat"], ...}, or [["a cat", "the cat"], ...]""",
    "objects": """
    COCO instances, .json  {"images": [], "annotations": [{"image_id": 42, "category_id": 17}], "categories": []}
    an object, .json       {"42": ["cat", "couch"], ...}
    .jsonl, .ndjson        {"image_id": 42, "objects": ["cat", "couch"]} on every line
    .parquet, data frames  columns image_id and objects
    in Python also         {42: ["cat", "couch"], ...}""",
    "parses": """
    .jsonl                 {"caption": "a cat", "word": [], "tag": [], "lemma": [], "basic": []} on every line
    .conllu                CoNLL-U, with # text = a cat""",
    "groups": """
    an object, .json       {"42": "indoor", ...}
    .json, .jsonl          {"image_id": 42, "group": "indoor"}, in a list or on every line
    .csv, .tsv             a header image_id,group; then one row per image
    .parquet, data frames  columns image_id and group
    a column of a file     FILE:COLUMN (column=... in Python), also a field of COCO's images
    in Python also         {42: "indoor", ...}""",
    "rows": """
    .json, .jsonl          {"id": 42, "candidate": "a cat", "references": ["a cat", "the cat"]}
    .csv, .tsv, .parquet   columns id, candidate and references""",
}


# The same for several candidates per image.
_SEVERAL_FORMS = """
    COCO results, .json    [{"image_id": 42, "caption": "a cat"}, {"image_id": 42, "caption": "the cat"}, ...]
    an object, .json       {"42": ["a cat", "the cat"], ...}
    .jsonl, .ndjson        {"image_id": 42, "captions": ["a cat", "the cat"]} on every line, or one caption per line
    .csv, .tsv             a header image_id,caption; then one row per caption
    .parquet, data frames  columns image_id and caption, or image_id and captions
    other names            --columns id=NAME,caption=NAME (columns= in Python)
    in Python also         {42: ["a cat", "the cat"], ...}, or [["a cat", "the cat"], ...]"""


@dataclass(frozen=True)
class Source:
    """A source of captions: its name in messages, its role, and whether it is a file.

    An image may have several candidates only if ``several``; it may always have several references. With the role
    "groups", groups of images are read instead of captions; ``column`` is the field or column of the groups, None if
    only one is possible. ``read_options`` are the columns and splits that the user names.
    """

    name: str
    role: Role
    is_file: bool = False
    is_standard_input: bool = False
    several: bool = False
    column: str | None = None
    read_options: ReadOptions | None = None

    @property
    def one_each(self) -> bool:
        """Whether an image may have only one caption."""
        return self.role == "candidates" and not self.several

    def error(self, problem: str, *, where: str = "", help: str = "", hint: str = "") -> InputError:
        """Return the error for an unknown or ambiguous form; without other help, it lists every accepted form.

        Args:
            problem, where, help: as in ``CaptiousError``.
            hint: advice to show above the accepted forms.
        """
        kind = CaptionFileError if self.is_file else InputError
        place = f"{self.name}: {where}" if where else self.name
        forms = _SEVERAL_FORMS if self.several else _FORMS[self.role]
        otherwise = f"{hint}; otherwise " if hint else ""
        return kind(problem, where=place, help=help or f"{otherwise}{self.role} are read from{forms}")


@dataclass(frozen=True)
class RowProblem:
    """A problem with one row, or with the rest of a file.

    Args:
        kind: "json" (not JSON), "truncated" (JSON that ends too early), "nested" (JSON that is nested too deeply),
            "record" (not an object), "fields" (some are missing), "repeated" (a repeated key), "cells" (more or fewer
            than in the header), "csv" (the table cannot be read any further).
        number: the line or record.
        error: the error to raise.
        detail: the message of the parser.
        fields: missing fields.
    """

    kind: Literal["json", "truncated", "nested", "record", "fields", "repeated", "cells", "csv"]
    number: int
    error: InputError
    detail: str = ""
    fields: tuple[str, ...] = ()


#: Treatment of a problem.
Refuse: TypeAlias = Callable[[RowProblem], None]


def raise_error(problem: RowProblem) -> None:
    """Raise the error of a problem."""
    raise problem.error from None


def repeated_positions(keys: Iterable[Key]) -> dict[Key, list[int]]:
    """Return the positions of keys that occur more than once."""
    places: defaultdict[Key, list[int]] = defaultdict(list)
    for place, key in enumerate(keys):
        places[key].append(place)
    return {key: at for key, at in places.items() if len(at) > 1}


def image_list(ids: Iterable[ImageId]) -> str:
    """Format image ids for messages, strings in quotes to distinguish "12" from 12."""
    return "image_id " + sample_of([repr(i) for i in ids])


def is_unicode(text: str) -> bool:
    """Return whether UTF-8 can encode a text, that is, whether it has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
