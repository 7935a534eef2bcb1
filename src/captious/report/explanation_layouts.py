"""How explanations are laid out: for each kind, the blocks that show its values, from top to bottom.

A layout is data. ``explanation_text`` draws it for terminals, and ``assets/explanations`` in the pages of reports and
of the evaluation server, from the values of ``captious explain --format json``.

Texts are templates, in which ``{path}`` stands for a value; a path goes through keys and positions, as ``scores.0``.
Behind a colon is how it is written: ``{score:4}`` with so many digits, ``{matches:match,matches}`` as a counted noun (a
list, by its length), ``{module:sign}`` as its sign, ``{through:pairs}`` as names that are alike. ``{marked}`` is how
words are marked, ``{full}`` and ``{full_is}`` what a full bar stands for. What needs a value that an explanation does
not have is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

__all__ = [
    "LAYOUTS",
    "SIGNS",
    "Block",
    "Each",
    "Facts",
    "Folded",
    "Graph",
    "Items",
    "Marks",
    "Matrix",
    "Note",
    "Table",
    "Words",
    "layout_values",
]

#: Of each way to match: its sign, its meaning, and its style on terminals.
SIGNS: Mapping[str, tuple[str, str, str]] = {
    "exact": ("=", "exact", "green"),
    "stem": ("~", "stem", "cyan"),
    "synonym": ("≈", "synonym", "yellow"),
    "paraphrase": (":", "paraphrase", "magenta"),
    "same": ("=", "same names", "green"),
    "synonyms": ("≈", "synonyms", "yellow"),
    "present": ("✓", "in the image", "green"),
    "hallucinated": ("✗", "hallucinated", "bold red"),
    "best": ("◀", "best", "green"),
}


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
    """

    name: str
    words: str
    marks: Marks | None = None
    ignored: str = ""
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
        most: how many are listed.
        empty: what stands for no items; without, nothing is shown.
    """

    name: str
    of: str
    text: str = ""
    share: tuple[str, str] | None = None
    without: str = ""
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

_CHUNK = "{chunk}{module:sign}"
_PRECISION_RECALL = "precision {precision:4} · recall {recall:4}"
_BEST = Note("", ("best",))

#: The blocks of each kind of explanation, see ``BaseMetric.explanation``.
LAYOUTS: Mapping[str, tuple[Block, ...]] = {
    "alignment": (
        Each(
            "references",
            (
                Words("candidate", "candidate", Marks("matches", "start", "end", _CHUNK, "module")),
                Words(
                    "reference {number}",
                    "reference",
                    Marks("matches", "reference_start", "reference_end", _CHUNK, "module"),
                ),
                Facts(
                    f"{{matches:match,matches}} in {{chunks:chunk,chunks}} · {_PRECISION_RECALL} · "
                    "fragmentation {fragmentation:4} · score {score:4}{best}"
                ),
            ),
            best=("score",),
        ),
        Note("Number: chunk.", ("exact", "stem", "synonym", "paraphrase")),
        _BEST,
    ),
    "coverage": (
        *(
            Table(
                side,
                (("", "{name}"), (side, "{text}"), ("with", "{by}"), ("best", "{best:4}")),
                n_texts=3,
                empty=empty,
            )
            for side, empty in (
                ("candidate", "The candidate has no sentences."),
                ("references", "The references have no sentences."),
            )
        ),
        Matrix("matrix", "candidate", "references", "{name}"),
        Facts(f"{_PRECISION_RECALL} · score {{score:4}}"),
        Note(
            "Best: score with the sentence of the other side that agrees best. 2.1: the first sentence of the second "
            "reference."
        ),
    ),
    "mentions": (
        Words("candidate", "tokens", Marks("mentions", "start", "end", "{tone:sign} {object}", flags="hallucinated")),
        Items("in the image", "objects", empty="none"),
        Items("not named", "unmentioned"),
        Facts("chair-s {scores.chair-s:4} · chair-i {scores.chair-i:4} · chair-recall {scores.chair-recall:4}"),
        Note("", ("present", "hallucinated")),
        Note("chair-i: share of hallucinated mentions."),
    ),
    "ngram-matches": (
        Words("candidate", "candidate"),
        Each(
            "orders",
            (
                Items(
                    "{number}-grams  {precision:4} = {matched}/{count}",
                    "ngrams",
                    "{words}",
                    ("matched", "count"),
                    most=24,
                ),
            ),
        ),
        Facts(
            "brevity penalty {brevity_penalty:4} · {length:word,words}, closest reference {closest_length} · "
            "bleu-4 {score:4}"
        ),
        Note("✗ in no reference; n/m: n of m occurrences match."),
    ),
    "ngram-weights": (
        Words("candidate", "candidate"),
        Table(
            "ngrams",
            (
                ("n-gram", "{words}"),
                ("weight", "{weight:2}"),
                ("references", "{references} of {n_references}"),
                ("adds", "{adds:3}"),
            ),
            bar="adds",
            having="references",
            most=12,
            empty="No n-gram is in a reference.",
        ),
        Items("in no reference", "ngrams", "{words} {weight:2}", without="references", most=8),
        Facts(" · ".join([*(f"{n + 1}-grams {{orders.{n}:4}}" for n in range(4)), "score {score:4}"])),
        Note("Weight: inverse document frequency over {n_documents:image,images}. The additions sum to the score."),
        Note("A full bar is {full:4}{full_is}.", bars=True),
    ),
    "scene": (
        Facts(
            "{matched} of {candidate:tuple,tuples} matched; the references have {references:tuple,tuples} · "
            f"{_PRECISION_RECALL} · score {{score:4}}"
        ),
        Graph(
            "candidate",
            "references",
            "Square: object. Round: relation, with an arrow to its second object. Dotted: attribute. Filled: matched.",
        ),
        Folded(
            "Tuples",
            (
                Table(
                    "candidate",
                    (
                        ("candidate", "{names}"),
                        ("", "{status:sign}"),
                        ("references", "{match}"),
                        ("", "{through:pairs}"),
                    ),
                    n_texts=4,
                    tone="status",
                    empty="The candidate has no tuples.",
                ),
                Items("only in references", "references", "{names}", without="matched", most=1_000),
                Note("", ("same", "synonyms")),
            ),
        ),
    ),
    "subsequences": (
        Each(
            "references",
            (
                Words("candidate", "candidate", Marks("places", "0")),
                Words("reference {number}", "reference", Marks("places", "1")),
                Facts(f"{{places:word,words}} in common · {_PRECISION_RECALL}{{best}}"),
            ),
            best=("recall", "precision"),
        ),
        Facts(f"{_PRECISION_RECALL} · score {{score:4}}"),
        Note("{marked}: the longest common subsequence."),
        _BEST,
    ),
    "transport": (
        Each(
            "references",
            (
                Words("candidate", "candidate", ignored="candidate_left_out"),
                Words("reference {number}", "reference", ignored="reference_left_out"),
                Table(
                    "moves",
                    (
                        ("move", "{word} → {reference_word}"),
                        ("share", "{share:4}"),
                        ("distance", "{distance:4}"),
                        ("cost", "{cost:4}"),
                    ),
                    bar="cost",
                    whole="distance",
                    empty="The distance is infinite: there is nothing to move.",
                ),
                Facts("distance {distance:4} · score {score:4}{best}"),
            ),
            best=("score",),
        ),
        Note("Share: fraction of all words with a vector. Cost: share times distance."),
        Note("A full bar is the distance.", bars=True),
        _BEST,
    ),
    "words": (
        Table(
            "words",
            (("word", "{word} → {closest}"), ("share", "{share:4}"), ("similarity", "{similarity:4}")),
            bar="share",
            empty="The caption has no words.",
        ),
        Items("unsound", "unsound"),
        Facts("references {centroid:4} ({cosines:4}) · sparcs {sparcs:4} · score {score:4}"),
        Note(
            "Share: what a word adds to the cosine with all references. Similarity: cosine with the closest of their "
            "words; – for an unknown word. Unsound: words that do not belong side by side; | is an end of the caption."
        ),
        Note("A full bar is 1.", bars=True),
    ),
}


def layout_values(kind: str) -> dict[str, Any]:
    """The layout of a kind of explanation as plain values, for pages."""
    return {"blocks": [*map(asdict, LAYOUTS[kind])], "signs": SIGNS}
