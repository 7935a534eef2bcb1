"""Porter's stemmer with the departures that NLTK makes by default (its mode NLTK_EXTENSIONS).

Porter 1980, "An algorithm for suffix stripping"; what NLTK does differently is marked. Words are expected in lower
case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

__all__ = ["porter_stem"]

# NLTK: words with a stem of their own.
_IRREGULAR = {
    **dict.fromkeys(("sky", "skies"), "sky"),
    **dict.fromkeys(("inning", "innings"), "inning"),
    **dict.fromkeys(("outing", "outings"), "outing"),
    **dict.fromkeys(("canning", "cannings"), "canning"),
    **{"dying": "die", "lying": "lie", "tying": "tie"},
    **{word: word for word in ("news", "howe", "proceed", "exceed", "succeed")},
}


@lru_cache(1 << 17)
def porter_stem(word: str) -> str:
    """The stem of a word in lower case."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:  # NLTK
        return word
    for step in (_plurals, _past_and_ing, _final_y, _double_suffixes, _suffixes, _last_suffixes, _final_e, _final_ll):
        word = step(word)
    return word


# ---- properties of stems: a word is [C](VC){m}[V] of runs of consonants and vowels, m its measure


def _kinds(text: str) -> str:
    """A letter for each letter: c for a consonant, v for a vowel. y is a vowel after a consonant."""
    kinds = ""
    for letter in text:
        vowel = letter in "aeiou" or (letter == "y" and kinds[-1:] == "c")
        kinds += "v" if vowel else "c"
    return kinds


def _measure(stem: str) -> int:
    return _kinds(stem).count("vc")


def _ends_double(text: str) -> bool:
    return len(text) > 1 and text[-1] == text[-2] and _kinds(text)[-1] == "c"


def _is_short(stem: str) -> bool:
    """Consonant, vowel, consonant at the end, the last not w, x or y; in NLTK also a vowel and a consonant alone."""
    kinds = _kinds(stem)
    return (kinds.endswith("cvc") and stem[-1] not in "wxy") or kinds == "vc"


Condition = Callable[[str], bool]


def _measured(stem: str) -> bool:
    return _measure(stem) > 0


def _long(stem: str) -> bool:
    return _measure(stem) > 1


class _Rules:
    """Replaces the first suffix that a word ends in, if the rest fulfils a condition.

    Args:
        rules: suffix -> replacement, in the order in which they are tried.
        condition: on what is left without the suffix.
    """

    def __init__(self, rules: Mapping[str, str], condition: Condition) -> None:
        self._rules = rules
        self._suffixes = tuple(rules)
        self._condition = condition

    def __call__(self, word: str) -> str:
        if word.endswith(self._suffixes):  # most words end in none
            suffix = next(suffix for suffix in self._suffixes if word.endswith(suffix))
            stem = word.removesuffix(suffix)
            return stem + self._rules[suffix] if self._condition(stem) else word
        return word


# ---- the steps, 1a to 5b


_STEP_1A = _Rules({"sses": "ss", "ies": "i", "ss": "ss", "s": ""}, lambda stem: True)


def _plurals(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:  # NLTK: dies, lies
        return word[:-1]
    return _STEP_1A(word)


def _past_and_ing(word: str) -> str:
    if word.endswith("ied"):  # NLTK
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measured(word[:-3]) else word
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word and "v" in _kinds(stem):
            break
    else:
        return word
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _ends_double(stem):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _is_short(stem) else stem


def _final_y(word: str) -> str:
    # NLTK: after a consonant that is not the first letter. Porter: if there is a vowel before.
    stem = word.removesuffix("y")
    return stem + "i" if stem != word and len(stem) > 1 and _kinds(stem)[-1] == "c" else word


_STEP_2 = _Rules(
    {
        **{"ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble"},
        **{"alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate"},
        **{"alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive"},
        **{"biliti": "ble", "fulli": "ful"},  # the last is NLTK's
    },
    _measured,
)


def _double_suffixes(word: str) -> str:
    if word.endswith("alli") and _measured(word[:-4]):  # NLTK: and once more
        return _double_suffixes(word[:-2])
    if word.endswith("logi"):  # NLTK: the l counts as the stem's
        return word[:-1] if _measured(word[:-3]) else word
    return _STEP_2(word)


_suffixes = _Rules(
    {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}, _measured
)

_STEP_4 = _Rules(
    dict.fromkeys(
        (
            *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment"),
            *("ent", "ou", "ism", "ate", "iti", "ous", "ive", "ize"),
        ),
        "",
    ),
    _long,
)


def _last_suffixes(word: str) -> str:
    if word.endswith("ion"):
        return word[:-3] if _long(word[:-3]) and word[-4] in "st" else word
    return _STEP_4(word)


def _final_e(word: str) -> str:
    stem = word.removesuffix("e")
    measure = _measure(stem)
    return stem if stem != word and (measure > 1 or (measure == 1 and not _is_short(stem))) else word


def _final_ll(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _long(word[:-1]) else word
