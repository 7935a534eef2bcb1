"""Elements of explanation layouts: blocks, with paths to values and text templates.

In a template, ``{path}`` stands for a value; a path consists of keys and positions, such as ``scores.0``. A format
follows a colon: ``{score:4}`` with four digits, ``{matches:match,matches}`` as a counted noun (a list, by its length),
``{module:sign}`` as its sign, ``{through:pairs}`` as pairs of names. ``{marked}`` is how words are marked, ``{full}``
and ``{full_is}`` the value of a full bar. Parts that need a missing value are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Marks:
    """Marked spans of words.

    Args:
        of: path to the spans.
        start, end: paths in each to its first word and to the word after its last; without ``end``, it is one word.
        label: template of the text below them; without, they are in brackets or underlined.
        tone: path to a key of ``SIGNS``.
        flags: path to a list parallel to the spans, which says whether each is hallucinated; replaces ``tone``.
    """

    of: str
    start: str
    end: str = ""
    label: str = ""
    tone: str = ""
    flags: str = ""


@dataclass(frozen=True)
class Words:
    """Words of one side after its name.

    Args:
        name: template.
        words: path to a list of words, or of words with their numbers.
        marks: their marks.
        ignored: path to words that do not count.
        linked: its marks correspond to those of the words before it, entry by entry; pages draw links between them, if
            there is room.
    """

    name: str
    words: str
    marks: Marks | None = None
    ignored: str = ""
    linked: bool = False
    block: str = field(default="words", init=False)


@dataclass(frozen=True)
class Items:
    """A list after its name.

    Args:
        name: template.
        of: path to the items.
        text: template of each; without, the items are text.
        share: paths in each to the number of matches and the total; items that do not match are struck through.
        without: path in each to a value; items that have it are skipped.
        having: path in each to a value; items that lack it are skipped.
        most: maximum number of items to list.
        empty: text for an empty list; without, nothing is shown.
    """

    name: str
    of: str
    text: str = ""
    share: tuple[str, str] | None = None
    without: str = ""
    having: str = ""
    most: int = 12
    empty: str = ""
    block: str = field(default="items", init=False)


@dataclass(frozen=True)
class EntryTable:
    """A table with a row for each entry of a list.

    Args:
        of: path to the entries.
        columns: heading and cell template of each column, from left to right.
        n_texts: number of text columns; the others are numbers.
        bar: path in each entry to the length of a bar at its end.
        whole: path in the values to the length of a full bar; without, it is 1, or the best corpus score of a page.
        tone: path in each entry to a key of ``SIGNS``; entries without are dim.
        having: path in each entry to a value; entries that lack it are skipped.
        most: number of entries shown initially.
        empty: text for an empty list.
    """

    of: str
    columns: tuple[tuple[str, str], ...]
    n_texts: int = 1
    bar: str = ""
    whole: str = ""
    tone: str = ""
    having: str = ""
    most: int = 1_000
    empty: str = ""
    block: str = field(default="table", init=False)


@dataclass(frozen=True)
class FactLine:
    """Numbers on one line: templates of its parts, separated by dots."""

    parts: str
    block: str = field(default="facts", init=False)


@dataclass(frozen=True)
class Note:
    """The meaning of numbers and signs.

    Args:
        text: template.
        signs: keys of ``SIGNS``, of which those in use are explained; if none is, there is no note.
        bars: whether it is about bars, which are hidden on narrow screens.
    """

    text: str
    signs: tuple[str, ...] = ()
    bars: bool = False
    block: str = field(default="note", init=False)


@dataclass(frozen=True)
class Matrix:
    """Scores of all pairs of entries of two sides, between 0 and 1.

    Args:
        of: path to its rows.
        rows, columns: paths to the two sides.
        name: template of the name of an entry of a side.
    """

    of: str
    rows: str
    columns: str
    name: str
    block: str = field(default="matrix", init=False)


@dataclass(frozen=True)
class Graph:
    """Scene graphs side by side, on pages only.

    Args:
        candidate, references: paths to their tuples.
        note: the meaning of the shapes.
    """

    candidate: str
    references: str
    note: str
    block: str = field(default="graph", init=False)


@dataclass(frozen=True)
class Folded:
    """Blocks that pages show on request, under a title."""

    title: str
    blocks: tuple[Block, ...]
    block: str = field(default="folded", init=False)


@dataclass(frozen=True)
class Each:
    """Blocks for each entry of a list. Their values are those of the explanation and of the entry.

    If there are several entries, ``{number}`` counts them, and ``{best}`` marks the best.

    Args:
        of: path to the entries.
        blocks: blocks for an entry.
        best: paths in each entry; for each path, the first entry with the highest value is one of the best. Pages show
            the others on request.
    """

    of: str
    blocks: tuple[Block, ...]
    best: tuple[str, ...] = ()
    block: str = field(default="each", init=False)


Block: TypeAlias = Words | Items | EntryTable | Matrix | FactLine | Note | Graph | Folded | Each
