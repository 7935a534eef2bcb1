"""Stems of words: Snowball's for METEOR, and Porter's first stemmer as in NLTK for SMURF.

Porter 1980, "An algorithm for suffix stripping", with the departures of NLTK's default mode, NLTK_EXTENSIONS, which are
marked. PyStemmer has no such mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from captious.text.languages import ENGLISH, Language


def snowball_stems(words: Sequence[str], language: Language = ENGLISH) -> list[str]:
    """Stem words with Snowball's algorithm for a language (Porter2 for English), using PyStemmer.

    Words of languages without a Snowball stemmer are not changed.
    """
    if not language.has_stemmer:
        return list(words)
    from Stemmer import Stemmer

    stems: list[str] = Stemmer(language.name, 0).stemWords(list(words))  # 0: no cache, every word comes once
    return stems


def snowball_version() -> str:
    """Return the version of PyStemmer."""
    import Stemmer

    return str(Stemmer.version())


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
    """Return the stem of a lower-case word."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:  # NLTK
        return word
    for step in (_plurals, _past_and_ing, _final_y, _double_suffixes, _suffixes, _last_suffixes, _final_e, _final_ll):
        word = step(word)
    return word


# ---- properties of stems: a word is [C](VC){m}[V] of runs of consonants and vowels, m its measure


def _kinds(text: str) -> str:
    """Return c for each consonant and v for each vowel. y is a vowel after a consonant."""
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
    """Return whether a stem ends in consonant, vowel, consonant other than w, x or y; in NLTK also if it is vowel,
    consonant.
    """
    kinds = _kinds(stem)
    return (kinds.endswith("cvc") and stem[-1] not in "wxy") or kinds == "vc"


def _replaced(word: str, rules: Mapping[str, str], shortest: int) -> str:
    """Replace the first of these suffixes that a word ends in, if the remainder has at least this measure."""
    if not word.endswith(tuple(rules)):  # as most words
        return word
    suffix = next(suffix for suffix in rules if word.endswith(suffix))
    stem = word.removesuffix(suffix)
    return stem + rules[suffix] if _measure(stem) >= shortest else word


# ---- the steps, 1a to 5b


def _plurals(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:  # NLTK: dies, lies
        return word[:-1]
    return _replaced(word, {"sses": "ss", "ies": "i", "ss": "ss", "s": ""}, 0)


def _past_and_ing(word: str) -> str:
    if word.endswith("ied"):  # NLTK
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
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


_STEP_2 = {
    **{"ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble"},
    **{"alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate"},
    **{"alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive"},
    **{"biliti": "ble", "fulli": "ful"},  # the last is NLTK's
}


def _double_suffixes(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:  # NLTK: and once more
        return _double_suffixes(word[:-2])
    if word.endswith("logi"):  # NLTK: the l counts as the stem's
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replaced(word, _STEP_2, 1)


_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}


def _suffixes(word: str) -> str:
    return _replaced(word, _STEP_3, 1)


_STEP_4 = "al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize"
_DROPPED = dict.fromkeys(_STEP_4.split(), "")


def _last_suffixes(word: str) -> str:
    if word.endswith("ion"):
        return word[:-3] if _measure(word[:-3]) > 1 and word[-4] in "st" else word
    return _replaced(word, _DROPPED, 2)


def _final_e(word: str) -> str:
    stem = word.removesuffix("e")
    measure = _measure(stem)
    return stem if stem != word and (measure > 1 or (measure == 1 and not _is_short(stem))) else word


def _final_ll(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word
