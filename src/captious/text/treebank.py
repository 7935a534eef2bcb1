"""Tokens of one sentence by the rules of the Penn Treebank, as NLTK cuts them (its NLTKWordTokenizer).

These are not the tokens of the PTB tokenizer: that is a separate program with many more rules. NLTK 3.2.5, which CHAIR
pins, has other rules than later versions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import TypeAlias

__all__ = ["plain_tokens", "smurf_text", "smurf_tokens", "treebank_tokens", "treebank_tokens_325"]

_Rule: TypeAlias = Callable[[str], str]

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
_CONTRACTIONS = (
    r"(?i)\b(can)(not)\b",
    r"(?i)\b(d)('ye)\b",
    r"(?i)\b(gim)(me)\b",
    r"(?i)\b(gon)(na)\b",
    r"(?i)\b(got)(ta)\b",
    r"(?i)\b(lem)(me)\b",
    r"(?i)\b(more)('n)\b",
    r"(?i)\b(wan)(na)(?=\s)",
    r"(?i) ('t)(is)\b",
    r"(?i) ('t)(was)\b",
)

# The rules of NLTK 3.2.5, where they differ.
_OPENING_325 = ((r"([«“‘])", r" \1 "), (r'^"', r"``"), (r"(``)", r" \1 "), (r'([ (\[{<])"', r"\1 `` "))
_MARKS_325 = (*_MARKS[:3], (r"\.\.\.", " ... "), *_MARKS[4:8], *_MARKS[9:])
_CLOSING_325 = ((r"([»”’])", r" \1 "), (r'"', " '' "), (r"(\S)('')", r"\1 \2 "), *_CLOSING[3:])


@cache
def _rules() -> tuple[list[_Rule], list[_Rule]]:
    """The rules, and those that apply once there are blanks at both ends; compiled when they are first needed."""
    return _compiled((*_OPENING, *_MARKS), _CLOSING)


@cache
def _rules_325() -> tuple[list[_Rule], list[_Rule]]:
    """The same of NLTK 3.2.5."""
    return _compiled((*_OPENING_325, *_MARKS_325), _CLOSING_325)


def _compiled(before: Iterable[tuple[str, str]], after: Iterable[tuple[str, str]]) -> tuple[list[_Rule], list[_Rule]]:
    first: list[_Rule] = [partial(re.compile(rule).sub, to) for rule, to in before]
    then: list[_Rule] = [partial(re.compile(rule).sub, to) for rule, to in after]
    return first, then + [partial(re.compile(rule).sub, r" \1 \2 ") for rule in _CONTRACTIONS]


# Most captions hold words, commas and a full stop alone. In such text, only commas, the stop and these words are cut.
_PLAIN = re.compile(r"[A-Za-z0-9 ]*+(?:(?:-(?!-)|,(?= |$))[A-Za-z0-9 ]*+)*+(?:\. *)?")
_CUT = frozenset(("cannot", "gimme", "gonna", "gotta", "lemme", "wanna"))


def smurf_text(caption: str) -> str:
    """A caption as SMURF's code reads it: in lower case, without white space at its end, without full stops."""
    return caption.lower().rstrip().replace(" .", "").replace(".", "")


def smurf_tokens(caption: str) -> list[str]:
    """The tokens of a caption as SMURF's code reads it."""
    return treebank_tokens(smurf_text(caption))


def treebank_tokens(sentence: str) -> list[str]:
    """The tokens of a sentence, by the rules of current NLTK."""
    return _tokens(sentence, _rules)


def treebank_tokens_325(sentence: str) -> list[str]:
    """The tokens of a sentence, by the rules of NLTK 3.2.5."""
    return _tokens(sentence, _rules_325)


def plain_tokens(text: str) -> list[str] | None:
    """The tokens of a text that is one sentence of words and commas, whichever the rules; None for all others."""
    if _PLAIN.fullmatch(text) is None:
        return None
    if "," in text:
        text = text.replace(",", " ,")
    tokens = text.replace(".", " .").split()
    return tokens if _CUT.isdisjoint(map(str.lower, tokens)) else None


def _tokens(sentence: str, rules: Callable[[], tuple[list[_Rule], list[_Rule]]]) -> list[str]:
    plain = plain_tokens(sentence)
    if plain is not None:
        return plain
    before, after = rules()
    for apart in before:
        sentence = apart(sentence)
    sentence = f" {sentence} "
    for apart in after:
        sentence = apart(sentence)
    return sentence.split()
