"""Layouts of explanations: for each kind, the blocks that show its values, from top to bottom.

A layout is data. ``terminal.py`` draws it for terminals, and ``assets/explanations`` for pages of reports and of
the evaluation server, from the values of ``captious explain --format json``.

Blocks and text templates are described in ``blocks.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from captious.report.explanations.blocks import (
    Block,
    Each,
    EntryTable,
    FactLine,
    Folded,
    Graph,
    Items,
    Marks,
    Matrix,
    Note,
    Words,
)

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
    "supported": ("✓", "supported", "green"),
    "unsupported": ("✗", "unsupported", "bold red"),
    "best": ("◀", "best", "green"),
}


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
                    linked=True,
                ),
                FactLine(
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
            EntryTable(
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
        FactLine(f"{_PRECISION_RECALL} · score {{score:4}}"),
        Note(
            "Best: score with the sentence of the other side that agrees best. 2.1: the first sentence of the second "
            "reference."
        ),
    ),
    "mentions": (
        Words("candidate", "tokens", Marks("mentions", "start", "end", "{tone:sign} {object}", flags="hallucinated")),
        Items("in the image", "objects", empty="none"),
        Items("not named", "unmentioned"),
        FactLine("chair-s {scores.chair-s:4} · chair-i {scores.chair-i:4} · chair-recall {scores.chair-recall:4}"),
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
        FactLine("brevity penalty {brevity_penalty:4} · {length:word,words}, closest reference {closest_length}"),
        FactLine(" · ".join(f"bleu-{n} {{scores.bleu-{n}:4}}" for n in range(1, 5))),
        Note("✗ in no reference; n/m: n of m occurrences match."),
    ),
    "ngram-weights": (
        Words("candidate", "candidate"),
        EntryTable(
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
        FactLine(" · ".join([*(f"{n + 1}-grams {{orders.{n}:4}}" for n in range(4)), "score {score:4}"])),
        Note("Weight: inverse document frequency over {n_documents:image,images}. The additions sum to the score."),
        Note("A full bar is {full:4}{full_is}.", bars=True),
    ),
    "scene": (
        FactLine(
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
                EntryTable(
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
                FactLine(f"{{places:word,words}} in common · {_PRECISION_RECALL}{{best}}"),
            ),
            best=("recall", "precision"),
        ),
        FactLine(f"{_PRECISION_RECALL} · score {{score:4}}"),
        Note("{marked}: the longest common subsequence."),
        _BEST,
    ),
    "transport": (
        Each(
            "references",
            (
                Words("candidate", "candidate", ignored="candidate_left_out"),
                Words("reference {number}", "reference", ignored="reference_left_out"),
                EntryTable(
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
                FactLine("distance {distance:4} · score {score:4}{best}"),
            ),
            best=("score",),
        ),
        Note("Share: fraction of all words with a vector. Cost: share times distance."),
        Note("A full bar is the distance.", bars=True),
        _BEST,
    ),
    "words": (
        EntryTable(
            "words",
            (
                ("word", "{word} → {closest}"),
                ("", "{status:sign}"),
                ("share", "{share:4}"),
                ("similarity", "{similarity:4}"),
            ),
            n_texts=2,
            bar="share",
            tone="status",
            empty="The caption has no words.",
        ),
        Items("in its place", "words", "{instead} for {word}", having="instead"),
        Items("missing", "missing", "{0} {1:4}", most=6),
        Items("unsound", "unsound"),
        FactLine(f"cosines {{centroid:4}} ({{cosines:4}}) · {_PRECISION_RECALL} · score {{score:4}}"),
        Folded(
            "Features",
            (EntryTable("features", (("feature", "{name}"), ("value", "{value:4}"), ("adds", "{adds:4}"))),),
        ),
        Note("", ("supported", "unsupported")),
        Note(
            "Share: what a word adds to the cosine with all references. Similarity: cosine with the closest of their "
            "words; – for an unknown word. In its place: what a reference has in the place of a word. Missing: words "
            "of the references, with what they cost in recall. Unsound: words that do not belong side by side; | is an "
            "end of the caption. Features add to the logit of the score."
        ),
        Note("A full bar is 1.", bars=True),
    ),
}


def layout_values(kind: str) -> dict[str, Any]:
    """Return the layout of a kind of explanation as plain values, for pages."""
    return {"blocks": [*map(asdict, LAYOUTS[kind])], "signs": SIGNS}
