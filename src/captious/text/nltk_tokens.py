"""NLTK's tokens: of sentences by the rules of the Penn Treebank (NLTKWordTokenizer), and of whole captions.

They differ from those of the PTB tokenizer, a separate program with many more rules. NLTK 3.2.5, which CHAIR pins, has
different rules than later versions.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TypeAlias

_Rules: TypeAlias = tuple[tuple[str, str], ...]

# Each rule sets something apart by spaces; they apply one after the other.
_OPENING = (
    (r"([«“‘„]|`+)", r" \1 "),
    (r'^"', r"``"),
    (r"(``)", r" \1 "),
    (r"([ (\[{<])(\"|'{2})", r"\1 `` "),
    (r"(?i)(')(?!re|ve|ll|m|t|s|d|n)(\w)\b", r"\1 \2"),
)
_MARKS = (
    (r"""([^.])(\.)([\]\)}>"'»”’ ]*)\s*$""", r"\1 \2 \3 "),
    (r"([:,])([^\d])", r" \1 \2"),
    (r"([:,])$", r" \1 "),
    (r"(\.{2,})", r" \1 "),
    (r"([;@#$%&])", r" \1 "),
    (r"""([^.])(\.)([\]\)}>"']*)\s*$""", r"\1 \2\3 "),
    (r"([?!])", r" \1 "),
    (r"([^'])' ", r"\1 ' "),
    (r"([*])", r" \1 "),
    (r"([\]\[(){}<>])", r" \1 "),
    (r"(--)", r" \1 "),
)
_CLOSING = (
    (r"([»”’])", r" \1 "),
    (r"''", r" '' "),
    (r'"', r" '' "),
    (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
    (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
)
_CONTRACTIONS = tuple(
    (f"(?i){words}", r" \1 \2 ")
    for words in (
        *(r"\b(can)(not)\b", r"\b(d)('ye)\b", r"\b(gim)(me)\b", r"\b(gon)(na)\b", r"\b(got)(ta)\b", r"\b(lem)(me)\b"),
        *(r"\b(more)('n)\b", r"\b(wan)(na)(?=\s)", r" ('t)(is)\b", r" ('t)(was)\b"),
    )
)

# The rules of NLTK 3.2.5, where they differ.
_OPENING_325 = ((r"([«“‘])", r" \1 "), (r'^"', r"``"), (r"(``)", r" \1 "), (r'([ (\[{<])"', r"\1 `` "))
_MARKS_325 = (*_MARKS[:3], (r"\.\.\.", " ... "), *_MARKS[4:8], *_MARKS[9:])
_CLOSING_325 = ((r"([»”’])", r" \1 "), (r'"', " '' "), (r"(\S)('')", r"\1 \2 "), *_CLOSING[3:])


# Most captions hold words, commas and a full stop alone. In such text, only commas, the stop and these words are cut.
_PLAIN = re.compile(r"[A-Za-z0-9 ]*+(?:(?:-(?!-)|,(?= |$))[A-Za-z0-9 ]*+)*+(?:\. *)?")
_CUT = frozenset(("cannot", "gimme", "gonna", "gotta", "lemme", "wanna"))
_DOUBLE_LETTERS = ("nn", "mm", "tt")  # each of them has one, most captions do not


class _TreebankTokenizer:
    """Tokenizes a sentence by rules, which are compiled on first use.

    Args:
        rules: patterns and their replacements, in order.
        closing: rules to apply after spaces have been added at both ends.
    """

    def __init__(self, rules: _Rules, closing: _Rules) -> None:
        self._rules, self._closing = rules, closing

    @cached_property
    def _compiled(self) -> list[list[tuple[re.Pattern[str], str]]]:
        return [[(re.compile(rule), to) for rule, to in rules] for rules in (self._rules, self._closing)]

    def __call__(self, sentence: str) -> list[str]:
        plain = plain_tokens(sentence)
        if plain is not None:
            return plain
        rules, closing = self._compiled
        for rule, to in rules:
            sentence = rule.sub(to, sentence)
        sentence = f" {sentence} "
        for rule, to in closing:
            sentence = rule.sub(to, sentence)
        return sentence.split()


#: The tokens of a sentence, by the rules of current NLTK.
treebank_tokens = _TreebankTokenizer((*_OPENING, *_MARKS), (*_CLOSING, *_CONTRACTIONS))
#: The tokens of a sentence, by the rules of NLTK 3.2.5.
treebank_tokens_325 = _TreebankTokenizer((*_OPENING_325, *_MARKS_325), (*_CLOSING_325, *_CONTRACTIONS))


def plain_tokens(text: str) -> list[str] | None:
    """Tokenize a text that is one sentence of words and commas, for which all rule sets agree; None for others."""
    words = _plain_words(text)
    return None if words is None else words.split()


def _plain_words(text: str) -> str | None:
    """Return the tokens of a plain sentence joined by spaces; None for other texts."""
    if _PLAIN.fullmatch(text) is None:
        return None
    words = text.replace(",", " ,").replace(".", " .")
    lower = words.lower()
    may_be_cut = any(map(lower.__contains__, _DOUBLE_LETTERS))
    return None if may_be_cut and not _CUT.isdisjoint(lower.split()) else words


def smurf_text(caption: str) -> str:
    """Preprocess a caption as SMURF's code does: lower case, no trailing white space, no full stops."""
    return caption.lower().rstrip().replace(" .", "").replace(".", "")


def smurf_words(caption: str) -> str:
    """Return the tokens of a caption as in SMURF's code, joined by spaces."""
    text = smurf_text(caption)
    words = _plain_words(text)
    return " ".join(treebank_tokens(text)) if words is None else words


def word_tokenize(caption: str) -> list[str]:
    """Tokenize a caption in lower case, as ``word_tokenize`` of NLTK 3.2.5 does."""
    text = caption.lower()
    plain = plain_tokens(text)
    if plain is not None:
        return plain
    return [token for sentence in sentences(text) for token in treebank_tokens_325(sentence)]


# Text without white space that may end a sentence, before more text.
_END = re.compile(r"""\S*[.?!][)\]}"']*(?=\s+\S)""")
_BRACKETS = "([{<\"'`"
_ABBREVIATIONS = """
    mr mrs ms dr st vs jr sr prof co corp inc ltd ave ft lt col gen rep sen jan feb aug sept sep oct nov dec u.s u.s.a
    u.k u.n a.m p.m d.c l.a n.y
"""
_IS_ABBREVIATION = frozenset(_ABBREVIATIONS.split())
_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)*")


def sentences(text: str) -> list[str]:
    """Split a lower-case text into sentences, at least one, by a small substitute for NLTK's Punkt model.

    Punkt is trained on newspapers and distributed separately from NLTK. Captions need little of it: it only matters
    whether a period inside a caption ends a sentence or belongs to an abbreviation.
    """
    parts, start = [], 0
    for match in _END.finditer(text):
        if _ends_sentence(match[0]):
            parts.append(text[start : match.end()])
            start = match.end()
    return [*parts, text[start:]]


def _ends_sentence(word: str) -> bool:
    """Return whether a sentence ends after a word with a period, question or exclamation mark, and closing quotes."""
    word = word.rstrip(")]}\"'")
    if not word.endswith("."):
        return True
    before = word[:-1].lstrip(_BRACKETS)
    is_letter = len(before) == 1 and before.isalpha()
    return not (before.endswith(".") or is_letter or _NUMBER.fullmatch(before) or before in _IS_ABBREVIATION)
