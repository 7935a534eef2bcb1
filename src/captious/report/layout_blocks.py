"""What layouts of explanations are made of: blocks, with paths to values and templates of text.

Texts are templates, in which ``{path}`` stands for a value; a path goes through keys and positions, as ``scores.0``.
Behind a colon is how it is written: ``{score:4}`` with four digits, ``{matches:match,matches}`` as a counted noun (a
list, by its length), ``{module:sign}`` as its sign, ``{through:pairs}`` as names that are alike. ``{marked}`` is how
words are marked, ``{full}`` and ``{full_is}`` what a full bar stands for. What needs a value that an explanation does
not have is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Marks:
    """Stretches of words that are marked.

    Args:
        of: path to the stretches.
        start, end: paths in each to its first word and to the word behind its last; without ``end``, it is one word.
        label: template of what stands under them; without, they are in brackets or underlined.
        tone: path to a key of ``SIGNS``.
        flags: path to a list beside the stretches, which says of each whether it is hallucinated; instead of ``tone``.
    """

    of: str
    start: str
    end: str = ""
    label: str = ""
    tone: str = ""
    flags: str = ""


@dataclass(frozen=True)
class Words:
    """Words of one side behind its name.

    Args:
        name: template.
        words: path to a list of words, or of words with their numbers.
        marks: which of them are marked.
        ignored: path to words that do not count.
        linked: its marks are those of the words before it, entry by entry; pages draw links between them, if there is
            room.
    """

    name: str
    words: str
    marks: Marks | None = None
    ignored: str = ""
    linked: bool = False
    block: str = field(default="words", init=False)


@dataclass(frozen=True)
class Items:
    """A list behind its name.

    Args:
        name: template.
        of: path to the items.
        text: template of each; without, the items are text.
        share: paths in each to the number that matches and the number of all; what does not match is crossed.
        without: path in each to what only other items have.
        having: path in each to what only other items lack.
        most: how many are listed.
        empty: what stands for no items; without, nothing is shown.
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
class Table:
    """A table with a row for each entry of a list.

    Args:
        of: path to the entries.
        columns: head and template of the cells of each, from left to right.
        n_texts: how many of them are texts; the others are numbers.
        bar: path in each entry to what a bar at its end is as long as.
        whole: path in the values to what a full bar stands for; without, it is 1, or the best corpus score of a page.
        tone: path in each entry to a key of ``SIGNS``; entries without are dim.
        having: path in each entry to what only other entries lack.
        most: how many are shown at first.
        empty: what is said of no entries.
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
class Facts:
    """Numbers in one line: templates of its parts, between dots."""

    parts: str
    block: str = field(default="facts", init=False)


@dataclass(frozen=True)
class Note:
    """What numbers and signs mean.

    Args:
        text: template.
        signs: keys of ``SIGNS``, of which those that are used are explained; if none of them is, there is no note.
        bars: whether it is about bars, which narrow screens do not have.
    """

    text: str
    signs: tuple[str, ...] = ()
    bars: bool = False
    block: str = field(default="note", init=False)


@dataclass(frozen=True)
class Matrix:
    """Scores of all pairs of two sides, between 0 and 1.

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
    """Scene graphs side by side, which only pages have.

    Args:
        candidate, references: paths to their tuples.
        note: what the shapes mean.
    """

    candidate: str
    references: str
    note: str
    block: str = field(default="graph", init=False)


@dataclass(frozen=True)
class Folded:
    """Blocks that pages show on request, behind a title."""

    title: str
    blocks: tuple[Block, ...]
    block: str = field(default="folded", init=False)


@dataclass(frozen=True)
class Each:
    """Blocks for each entry of a list. Their values are those of the explanation and of the entry.

    If there are several entries, ``{number}`` counts them, and ``{best}`` marks the best.

    Args:
        of: path to the entries.
        blocks: what shows an entry.
        best: paths in each entry; the first entry with the highest value of one of these is one of the best. Pages show
            the others on request.
    """

    of: str
    blocks: tuple[Block, ...]
    best: tuple[str, ...] = ()
    block: str = field(default="each", init=False)


Block: TypeAlias = Words | Items | Table | Matrix | Facts | Note | Graph | Folded | Each
