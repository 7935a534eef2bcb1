"""Rule-based splitting of texts into sentences: end marks, line breaks, and abbreviations that do not end one.

The rules are for English, and include the end marks of other scripts. Unlike a trained splitter they never change, so
scores that depend on them remain comparable.
"""

from __future__ import annotations

import re
from pathlib import Path

from captious.files import sections

#: Words beyond which a caption is hardly one sentence; a parser needs a second and more for it.
LONG_SENTENCE = 60

_FLAGS = re.IGNORECASE | re.VERBOSE
#: Where a sentence may end: after marks and closing quotes before white space, after marks of Chinese and Japanese, and
#: at a line break.
_ENDS = re.compile(
    r"""(?<![.!?…‽؟۔।])(?P<marks>[.!?…‽؟۔।]++)(?P<quotes>["'”’»)\]*_]*+)(?=\s)
    | (?<![。！？｡])(?P<wide>[。！？｡]++["'”’»」』）)]*+)(?=\S)
    | (?P<break>\n\s*+)""",
    _FLAGS,
)
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“‘«]*\Z")
_WORD_BEHIND = re.compile(r"\s*[\"'“‘«(\[*_]*(?P<word>\w*)")
_ACRONYM = re.compile(r"(?:\w\.)+\w")
_ITEM = re.compile(r"(?:[-*+•–]|\d{1,2}[.)]|\#{1,6})\s")
_TEXT = sections(Path(__file__).with_name("words.txt"))
_TITLES = frozenset(_TEXT["titles"].split())
_NUMBERED = frozenset(("no", "nos", "fig"))  # only before a number
_ABBREVIATIONS = frozenset(_TEXT["other abbreviations"].split())
_STARTERS = frozenset(_TEXT["first words"].split())
_WINDOW = 40  # characters of a word that are looked at


def sentences_of(text: str) -> list[str]:
    """Split a text into sentences, stripped of white space; none is empty.

    A sentence ends

    - at ``.``, ``!``, ``?`` or ``…`` and closing quotes before white space, also where the next word is in lower case,
      except after titles (``Dr.``), initials and the number of a list item; after other abbreviations and acronyms
      (``etc.``, ``p.m.``) only before a capital word that often begins sentences, such as ``The``; after ``...`` and
      after an end mark in quotes only if the next word is not in lower case;
    - at ``。``, ``！`` or ``？``;
    - at a line break, unless the line has no end mark and the next one continues in lower case.
    """
    sentences = []
    start = 0
    for end in _ENDS.finditer(text):
        if _is_end(text, start, end):
            sentences.append(text[start : end.end()])
            start = end.end()
    sentences.append(text[start:])
    return [stripped for sentence in sentences if (stripped := sentence.strip())]


def _is_end(text: str, start: int, end: re.Match[str]) -> bool:
    behind = _WORD_BEHIND.match(text, end.end())
    following = "" if behind is None else behind["word"]
    is_lower = following[:1].islower()
    if end["wide"]:
        return True
    if end["break"] is not None:
        return not is_lower or end["break"].count("\n") > 1 or _ITEM.match(text, end.end()) is not None
    marks, quotes = end["marks"], end["quotes"]
    if is_lower and (marks in ("...", "…") or '"' in quotes or "”" in quotes):
        return False
    if marks != ".":
        return True
    begin = max(start, end.start() - _WINDOW)
    before = _WORD_BEFORE.search(text, begin, end.start())
    word = "" if before is None else before[0]
    if word.lower() in _TITLES:
        return word.lower() in _NUMBERED and not following[:1].isdigit()
    if len(word) == 1 and word.isupper() and word != "I":
        return False
    if word.isdigit() and not text[start : end.start() - len(word)].strip():
        return False
    if word.lower() in _ABBREVIATIONS or _ACRONYM.fullmatch(word):
        return following[:1].isupper() and following.lower() in _STARTERS
    return True
