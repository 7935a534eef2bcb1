"""Tokens of one sentence by the rules of the Penn Treebank, as NLTK cuts them (its NLTKWordTokenizer).

These are not the tokens of the PTB tokenizer: that is a separate program with many more rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import TypeAlias

__all__ = ["smurf_text", "smurf_tokens", "treebank_tokens"]

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


@cache
def _rules() -> tuple[list[_Rule], list[_Rule]]:
    """The rules, and those that apply once there are blanks at both ends; compiled when they are first needed."""
    before: list[_Rule] = [partial(re.compile(rule).sub, to) for rule, to in (*_OPENING, *_MARKS)]
    after: list[_Rule] = [partial(re.compile(rule).sub, to) for rule, to in _CLOSING]
    after += [partial(re.compile(rule).sub, r" \1 \2 ") for rule in _CONTRACTIONS]
    return before, after


# Most captions hold words and commas alone. In such text, only commas and these words are cut.
_PLAIN = re.compile(r"(?:[A-Za-z0-9 ]|-(?!-)|,(?= |$))*")
_CUT = frozenset(("cannot", "gimme", "gonna", "gotta", "lemme", "wanna"))


def smurf_text(caption: str) -> str:
    """A caption as SMURF's code reads it: in lower case, without white space at its end, without full stops."""
    return caption.lower().rstrip().replace(" .", "").replace(".", "")


def smurf_tokens(caption: str) -> list[str]:
    """The tokens of a caption as SMURF's code reads it."""
    return treebank_tokens(smurf_text(caption))


def treebank_tokens(sentence: str) -> list[str]:
    """The tokens of a sentence."""
    if _PLAIN.fullmatch(sentence):
        tokens = sentence.replace(",", " ,").split()
        if _CUT.isdisjoint(map(str.lower, tokens)):
            return tokens
    before, after = _rules()
    for apart in before:
        sentence = apart(sentence)
    sentence = f" {sentence} "
    for apart in after:
        sentence = apart(sentence)
    return sentence.split()
