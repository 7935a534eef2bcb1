"""What a caption says, as tokens: without markup, emoji and boilerplate, which the metric ``concur`` does not judge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from captious.data import Captions, References
from captious.data.cleaning import cleaned
from captious.files import sections
from captious.text import Tokenizer, Tokens, WordLayer

_RULES = ("tokens", "html", "markdown", "prompt", "quotes", "compose")
_CURLY = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "…": " ", "—": " ", "*": " ", "_": " "})
_EMOJI = re.compile("[\u2600-\u27bf\u2b00-\u2bff\ufe0f\u20e3\U0001f000-\U0001faff]")
_ITEM = re.compile(r"\A\s*(?:[-•*]|\d+[.)])\s+")
_OPENING = re.compile(
    r"\A\s*(?:(?:this|here|it)(?:\s+is|'s)\s+)?(?:an?|the)\s+(?!framed\b)(?:[\w-]+\s+)?"
    r"(?:image|picture|photo|photograph|snapshot)\s+(?:of|showing|depicting|featuring|displaying|capturing|that\s+(?:shows|depicts))\s+",
    re.IGNORECASE,
)
# What these deny is none of the words behind them.
_DENIALS = (
    (re.compile(r"\b(?:nobody|no[ -]?one)\b", re.IGNORECASE), "no people"),
    (re.compile(r"\bnothing\b", re.IGNORECASE), "no thing"),
    (re.compile(r"\bniemand(?:en|em)?\b", re.IGNORECASE), "keine Leute"),
)

# Sentences and clauses about the picture as a whole, which no reference could confirm: their subject is one of the
# first words, and all other words are among the second. More may follow what such a sentence says of the atmosphere.
_SUBJECTS = re.compile(
    r"\b(?:atmosphere|mood|ambian?ce|ambience|vibe|tone|feel|feeling|sense|scene|image|picture|photo|photograph|setting"
    r"|composition|lighting|moment|beauty|impression|aesthetic|environment)\b"
)
_IS_SAID = frozenset(
    word
    for file, section in (("words.txt", "said of pictures"), ("abstract.txt", "abstract"))
    for word in sections(Path(__file__).with_name(file))[section].split()
)
_IMPRESSION = re.compile(
    r"\A\s*(?:the|this|its|there\s+is)\s+(?:an?\s+)?(?:overall\s+|general\s+)?(?:atmosphere|mood|ambian?ce|vibe|tone)\b",
    re.IGNORECASE,
)
_MORE = re.compile(r",\s+|\s+(?=(?:with|by|as)\b)")
_PARTS = re.compile(
    r"(?<=[.!?])\s+|,\s+(?=(?:creat|add|evok|convey|giv|captur|suggest|contribut|enhanc|highlight)ing\b)"
)


def plain(texts: Sequence[str]) -> tuple[str, ...]:
    """Return captions without markup, emoji and boilerplate; a caption of nothing else stays as it is."""
    return tuple(map(_plain, cleaned(texts, _RULES)))


def _plain(text: str) -> str:
    lower = text.lower()
    if not text.isascii() or "*" in text or "_" in text:
        text = _EMOJI.sub(" ", text.translate(_CURLY))
    text = _ITEM.sub("", text)
    if (opening := _OPENING.match(text)) is not None:
        text = text[opening.end() :] or text
    if "no" in lower or "niemand" in lower:
        for denial, words in _DENIALS:
            text = denial.sub(words, text)
    if _SUBJECTS.search(lower) is None:
        return text
    kept = [left for part in _PARTS.split(text) if (left := _without_boilerplate(part))]
    return " ".join(kept) or text


def _without_boilerplate(part: str) -> str:
    """Return a sentence or clause; of boilerplate, what follows the impression of the picture."""
    if _is_boilerplate(part):
        return ""
    if _IMPRESSION.match(part):
        impression, *more = _MORE.split(part, maxsplit=1)
        return more[0] if more and _is_boilerplate(impression) else part
    return part


def _is_boilerplate(part: str) -> bool:
    words = re.findall(r"[\w-]+", part.lower())
    return _IS_SAID.issuperset(words) and _SUBJECTS.search(" ".join(words)) is not None


@dataclass(frozen=True)
class PlainWords:
    """Tokens of what captions say; those of ``WordLayer`` where nothing has to be removed."""

    tokenizer: Tokenizer

    def of_references(self, references: References) -> Tokens:
        texts = plain(references.texts)
        if texts == references.texts:
            return references.layer(WordLayer(self.tokenizer))
        return Tokens.of(texts, self.tokenizer).split()

    def of_candidates(self, captions: Captions, references: Tokens) -> Tokens:
        texts = plain(captions.candidates)
        if texts == captions.candidates and references is captions.references.layer(WordLayer(self.tokenizer)):
            return captions.layer(WordLayer(self.tokenizer))[0]
        return Tokens.of(texts, self.tokenizer, references.vocabulary).split()
