"""Explanations of scores as data: their values, and layouts that say how terminals and pages show them.

A layout is data. ``explanation_text.py`` draws it for terminals and notebooks, and ``assets/explanations`` for pages of
reports and of the evaluation server, from the values of ``captious explain --format json``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from captious import drawing

# Elements of explanation layouts: blocks, with paths to values and text templates.
#
# In a template, ``{path}`` stands for a value; a path consists of keys and positions, such as ``scores.0``. A format
# follows a colon: ``{score:4}`` with four digits, ``{matches:match,matches}`` as a counted noun (a list, by its
# length), ``{module:sign}`` as its sign, ``{through:pairs}`` as pairs of names. ``{marked}`` is how words are marked,
# ``{full}`` and ``{full_is}`` the value of a full bar. Parts that need a missing value are left out.


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

    text: str = ""
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


# Layouts of explanations, which ``layouts.toml`` holds.

_BLOCKS: Mapping[str, Callable[..., Any]] = {
    kind.block: kind for kind in (Words, Items, EntryTable, Matrix, FactLine, Note, Graph, Folded, Each)
}


def _built(value: Any) -> Any:
    """Return blocks and marks from their keys in the file, and lists as tuples."""
    if isinstance(value, list):
        return tuple(map(_built, value))
    if not isinstance(value, dict):
        return value
    parts = {name: _built(one) for name, one in value.items()}
    return _BLOCKS[parts.pop("block")](**parts) if "block" in parts else Marks(**parts)


_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: Of each way to match: its sign, its meaning, and its style on terminals.
SIGNS: Mapping[str, tuple[str, str, str]] = {name: tuple(sign) for name, sign in _FILE.pop("signs").items()}
#: The blocks of each kind of explanation, see ``BaseMetric.explanation``.
LAYOUTS: Mapping[str, tuple[Block, ...]] = {kind: _built(blocks) for kind, blocks in _FILE.items()}


def layout_values(kind: str) -> dict[str, Any]:
    """Return the layout of a kind of explanation as plain values, for pages."""
    return {"blocks": [*map(asdict, LAYOUTS[kind])], "signs": SIGNS}


# Layout of two scene graphs: the row of each tuple, which the drawings of files and pages share.
#
# Each object is a block with the tuples about it. Objects and tuples that match share a row. ``report/plots.py``
# draws the rows to files, ``assets/explanations/scene_graphs.js`` on pages.

_Tuples: TypeAlias = Sequence[tuple[Hashable, ...]]
_Block: TypeAlias = tuple[tuple[int, int], ...]
"""The side and the number of an object, or of two objects that match."""


def explained_rows(explanation: Any) -> tuple[list[int], list[int]]:
    """Return ``scene_rows`` of an explanation of SPICE."""
    references = [fact.names for fact in explanation.references]
    number = {names: i for i, names in enumerate(references)}
    matches = [None if fact.match is None else number[fact.match] for fact in explanation.candidate]
    return scene_rows([fact.names for fact in explanation.candidate], references, matches)


def scene_rows(candidate: _Tuples, references: _Tuples, matches: Sequence[int | None]) -> tuple[list[int], list[int]]:
    """Return the row of each tuple of the candidate and of the references, from the top.

    Args:
        candidate, references: distinct tuples, including all objects that occur in them.
        matches: the number of the reference tuple that matches each of the candidate's, or None.
    """
    sides = _Side.of(candidate), _Side.of(references)
    rows = [0] * len(candidate), [0] * len(references)
    ends = [0, 0]
    for block in _ordered(_blocks(sides, matches), sides):
        about = [sides[side].about[one] for side, one in block]
        if len(block) == 2:
            about = _aligned(about[0], about[1], matches)
        top = max(ends[side] for side, _ in block)
        for (side, one), facts in zip(block, about, strict=True):
            rows[side][one] = top
            for row, fact in enumerate(facts, top):
                rows[side][fact] = row
            ends[side] = top + max(1, *map(len, about))
    return rows


@dataclass(frozen=True)
class _Side:
    """A scene graph: for each object, the numbers of its tuples, and of the objects that its relations lead to."""

    about: dict[int, list[int]]
    ends: dict[int, list[int]]

    @classmethod
    def of(cls, tuples: _Tuples) -> _Side:
        number = {names[0]: i for i, names in enumerate(tuples) if len(names) == 1}
        about: dict[int, list[int]] = {i: [] for i in number.values()}
        ends: dict[int, list[int]] = {i: [] for i in number.values()}
        for i, names in enumerate(tuples):
            if len(names) > 1:
                about[number[names[0]]].append(i)
            if len(names) > 2:
                ends[number[names[0]]].append(number[names[2]])
        return cls(about, ends)


def _blocks(sides: tuple[_Side, _Side], matches: Sequence[int | None]) -> list[_Block]:
    """Return pairs of matching objects, then unmatched ones of the candidate, then of the references, largest first."""
    alone = dict.fromkeys(sides[1].about)
    blocks: list[_Block] = []
    for one in sides[0].about:
        match = matches[one]
        if match is None or match not in alone:
            blocks.append(((0, one),))
        else:
            blocks.append(((0, one), (1, match)))
            del alone[match]
    blocks += [((1, one),) for one in alone]
    sizes = {block: sum(len(sides[side].about[one]) for side, one in block) for block in blocks}
    return sorted(blocks, key=lambda block: (-len(block), block[0][0], -sizes[block]))


def _ordered(blocks: Sequence[_Block], sides: tuple[_Side, _Side]) -> list[_Block]:
    """Order blocks so that each is before those of the same sides that its relations lead to."""
    block_of = {member: block for block in blocks for member in block}
    ordered: dict[_Block, None] = {}
    for first in blocks:
        waiting = [first]
        while waiting:
            block = waiting.pop()
            if block not in ordered and [side for side, _ in block] == [side for side, _ in first]:
                ordered[block] = None
                waiting += reversed([block_of[side, end] for side, one in block for end in sides[side].ends[one]])
    return [*ordered]


def _aligned(candidate: list[int], reference: list[int], matches: Sequence[int | None]) -> list[list[int]]:
    """Return the tuples of two objects, matching ones first and in the same order."""
    partners: dict[int, int] = {}  # of the reference's tuples
    for fact in candidate:
        match = matches[fact]
        if match is not None and match in reference:
            partners.setdefault(match, fact)
    matching = [*partners.values()]
    return [
        [*matching, *(fact for fact in candidate if fact not in matching)],
        [*partners, *(fact for fact in reference if fact not in partners)],
    ]


# Templates of layouts: lookup and formatting of values of an explanation.

#: Stands for a value that an explanation does not have.
MISSING = object()
_PLACE = re.compile(r"\{([^{}:]+)(?::([^{}]*))?\}")


def value_at(values: Any, path: str) -> Any:
    """Return the value at a path of keys and positions, or ``MISSING``."""
    for part in path.split("."):
        values = values.get(part, MISSING) if isinstance(values, Mapping) else values[int(part)]
        if values is MISSING:
            break
    return values


def filled(template: str, values: Mapping[str, Any]) -> str | None:
    """Fill in a template; None if it needs a missing value."""
    values_of_places = [(place, value_at(values, place[1])) for place in _PLACE.finditer(template)]
    if any(value is MISSING for _, value in values_of_places):
        return None
    texts = iter([text_of(value, place[2] or "") for place, value in values_of_places])
    return _PLACE.sub(lambda _: next(texts), template)


def text_of(value: Any, form: str = "") -> str:
    """Format a value in a form that templates name."""
    if form == "sign":
        return SIGNS[value][0] if value else ""
    if form == "pairs":
        return ", ".join(" ≈ ".join(map(_name, pair)) for pair in value)
    if "," in form:
        one, several = form.split(",")
        n = value if isinstance(value, int) else len(value)
        return f"{n:,} {one if n == 1 else several}"
    if value is None:
        return drawing.NOTHING
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(text_of(one, form) for one in value) if form else _listed(value)
    if form:
        return drawing.format_score(value, int(form))
    return f"{value:,}" if isinstance(value, int) else drawing.single_line(value)


def _listed(value: Sequence[Any]) -> str:
    """Format words, or a tuple of a scene graph: dog, (dog, two), (dog, sit on, sofa)."""
    if not value or isinstance(value[0], str):
        return " ".join(drawing.single_line(word) or "|" for word in value)
    parts = [named(names) for names in value]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def named(names: Sequence[str]) -> str:
    """Return the name of a thing; slashes separate several names."""
    return "/".join(map(_name, names))


def _name(name: str) -> str:
    return drawing.single_line(name).strip()


# Explanations as plain values for terminals, pages and JSON documents.
#
# An explanation is the result of a metric's ``explain``. Its ``kind`` has a layout.


def explanation_values(explanation: Any) -> dict[str, Any]:
    """Return an explanation as plain values; if it is a list, all explanations with the score and the index of the
    best.

    Args:
        explanation: the result of a metric's ``explain``: one object, or a list with one for each reference.
    """
    if not isinstance(explanation, Sequence):
        return asdict(explanation)
    best = best_reference(explanation)
    return {"score": explanation[best].score, "best": best, "references": [*map(asdict, explanation)]}


def drawn_values(explanation: Any) -> dict[str, Any]:
    """Return the values that pages draw, with the row of each tuple of scene graphs."""
    values = explanation_values(explanation)
    if kind_of(explanation) == "scene":
        for side, rows in zip(("candidate", "references"), explained_rows(explanation), strict=True):
            values[side] = [{**fact, "row": row} for fact, row in zip(values[side], rows, strict=True)]
    return values


def kind_of(explanation: Any) -> str:
    """Return the kind of an explanation; see ``BaseMetric.explanation``."""
    kind: str = (explanation[0] if isinstance(explanation, Sequence) else explanation).kind
    return kind


def best_reference(explanations: Sequence[Any]) -> int:
    """Return the position of the explanation with the highest score, the first one in a tie."""
    return max(range(len(explanations)), key=lambda i: (explanations[i].score, -i))
