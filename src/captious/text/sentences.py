"""Sentences of a caption, for tokenizers that work on single sentences: a short stand-in for NLTK's Punkt model.

Punkt is trained on newspapers and distributed apart from NLTK. Captions need little of it: what matters is whether a
period inside a caption ends a sentence or belongs to an abbreviation.
"""

from __future__ import annotations

import re

__all__ = ["sentences"]

# Text without white space that may end a sentence, before more text.
_END = re.compile(r"""\S*[.?!][)\]}"']*(?=\s+\S)""")
_OPENING = "([{<\"'`"
_ABBREVIATIONS = frozenset(
    (
        *(
            "mr",
            "mrs",
            "ms",
            "dr",
            "st",
            "vs",
            "jr",
            "sr",
            "prof",
            "co",
            "corp",
            "inc",
            "ltd",
            "ave",
            "ft",
            "lt",
            "col",
        ),
        *("gen", "rep", "sen", "jan", "feb", "aug", "sept", "sep", "oct", "nov", "dec"),
        *("u.s", "u.s.a", "u.k", "u.n", "a.m", "p.m", "d.c", "l.a", "n.y"),
    )
)
_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)*")


def sentences(text: str) -> list[str]:
    """The sentences of a lower-case text, at least one."""
    found, start = [], 0
    for match in _END.finditer(text):
        if _ends_sentence(match[0]):
            found.append(text[start : match.end()])
            start = match.end()
    return [*found, text[start:]]


def _ends_sentence(word: str) -> bool:
    """Whether a sentence ends after a word that ends in a period, question or exclamation mark, and closing quotes."""
    word = word.rstrip(")]}\"'")
    if not word.endswith("."):
        return True
    before = word[:-1].lstrip(_OPENING)
    is_letter = len(before) == 1 and before.isalpha()
    return not (before.endswith(".") or is_letter or _NUMBER.fullmatch(before) or before in _ABBREVIATIONS)
