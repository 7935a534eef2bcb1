"""Lemmas: the base form of a word, given its part of speech, as in CoreNLP 3.6.0.

Only verbs, plural nouns and a few words of closed classes change. Endings are removed by the spelling rules of English,
in the manner of Minnen, Carroll and Pearce (2001), "Applied morphological processing of English": a few regular
suffixes by class, and irregular words. The latter are listed in grammars and dictionaries (irregular verbs and plurals,
nouns without a singular, verbs in a silent e), or are words for which CoreNLP departs from dictionaries (``clad`` of
``clothe``, ``papers`` as a noun without a singular), taken from its lemmas of captions. A misspelled word still gets
the lemma that its spelling suggests: ``vido`` of ``vidoing``.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from captious.files import sections
from captious.parsing.heads import words

_TEXT = sections(Path(__file__).with_name("words.txt"))


def _forms(name: str) -> dict[str, str]:
    """Return the base of each form, from entries ``base form form ...;``."""
    return {form: base for base, *forms in map(str.split, _TEXT[name].strip(";").split(";")) for form in forms}


_IRREGULAR_VERBS, _IRREGULAR_NOUNS = _forms("irregular verbs"), _forms("irregular nouns")
_VERB_PREFIXES = tuple(_TEXT["verb prefixes"].split())
_UNDIVIDED_VERBS, _INVARIABLE_NOUNS = words("undivided verbs"), words("invariable nouns")
_E_STEMS, _BARE_STEMS, _UNDOUBLED_STEMS = words("stems with e"), words("bare stems"), words("undoubled stems")
_IRREGULAR_WORDS = {tag: _forms(f"irregular {tag}") for tag in ("DT", "MD", "PRP", "PRP$", "RB")}

_VOWELS = frozenset("aeiou")
_VOWELS_AND_Y = frozenset("aeiouy")

_WITH_E, _WITHOUT_E = words("pairs with e"), words("pairs without e")


@lru_cache(maxsize=1 << 16)
def lemma(word: str, tag: str) -> str:
    """Return the lemma of a word, in lower case except for proper names and ``I``.

    Args:
        word: the word, as written.
        tag: its Penn Treebank part of speech.
    """
    if tag in ("NNP", "NNPS"):
        return word
    word = word.lower()
    if tag == "NNS":
        base = _singular
    elif tag.startswith("V"):
        base = _infinitive
    else:
        return _IRREGULAR_WORDS.get(tag, {}).get(word, word)
    if word.startswith("-"):
        return f"{word}_{tag}"  # brackets, which the official program leaves with their tags
    first, hyphen, last = word.rpartition("-")
    return first + hyphen + base(last)


def _infinitive(word: str) -> str:
    """Return the infinitive of a form of a verb: be of is, hike of hiking, carry of carried, watch of watches."""
    if word in _UNDIVIDED_VERBS:
        return word
    irregular = _IRREGULAR_VERBS.get(word) or _prefixed(word)
    if irregular:
        return irregular
    if not word.isalpha():
        return word
    if word.endswith("ing") and not _VOWELS_AND_Y.isdisjoint(word[:-3]):
        return _completed(word[:-3], past=False)
    if word.endswith("ed") and not word.endswith("eed") and not _VOWELS_AND_Y.isdisjoint(word[:-2]):
        if word.endswith("ied") and len(word) > 4:
            return word[:-3] + "y"
        return _completed(word[:-2], past=True)
    return _remove_s(word)


def _prefixed(word: str) -> str:
    """Return the infinitive of an irregular verb with a prefix, overtake of overtaken; empty if it is not one."""
    for prefix in _VERB_PREFIXES:
        if word.startswith(prefix) and len(word) > len(prefix) + 2:
            base = _IRREGULAR_VERBS.get(word[len(prefix) :])
            if base:
                return prefix + base
    return ""


def _completed(stem: str, past: bool) -> str:
    """Complete the stem of a verb without ``ing`` (or, if ``past``, ``ed``): hike of hik, sit of sitt, walk."""
    if stem in _E_STEMS:
        return stem + "e"
    if stem in _BARE_STEMS or len(stem) < 2:
        return stem
    before, last = stem[-2], stem[-1]
    if before == last and len(stem) > 2:
        if (last in "bdgkmn" and stem != "add") or stem in _UNDOUBLED_STEMS:
            return stem[:-1]
        if last in "sz":
            return stem
    return stem + "e" if _has_silent_e(stem, before, last, past) else stem


def _has_silent_e(stem: str, before: str, last: str, past: bool) -> bool:
    """Return whether a verb ends in an e that its stem lacks, by the last two letters of the stem."""
    if last in "csuvz":
        return True
    if last in "aei":
        return before not in ("i" if last == "i" else _VOWELS_AND_Y)
    if last == "o":
        return past and before not in _VOWELS and stem not in ("echo", "lasso", "veto")
    if last == "y":
        return past and len(stem) == 2
    if last == "h":
        return before in _VOWELS or (before == "t" and stem[-3:-2] in _VOWELS)
    if last in "wxq":
        return False
    if before not in _VOWELS_AND_Y:
        if last == "l":
            return before not in "lrw"
        if last == "g":
            return before in "dlr" or (before == "n" and stem[-3:-2] in ("a", "e", "u"))
        return False
    if _ends_in_two_vowels(stem[:-1]):
        return stem.endswith(("iat", "uat"))
    pair = before + last
    return pair in _WITH_E or (pair not in _WITHOUT_E and _is_one_syllable(stem))


def _ends_in_two_vowels(text: str) -> bool:
    """Return whether a text ends in two vowels, not counting the u of qu and gu."""
    return text[-2:-1] in _VOWELS and text[-3:-1] not in ("qu", "gu")


def _is_one_syllable(stem: str) -> bool:
    syllables = 0
    in_vowels = False
    for i, letter in enumerate(stem):
        vowel = letter in _VOWELS or (letter == "y" and i > 0)
        syllables += vowel and not in_vowels
        in_vowels = vowel
    return syllables == 1


def _singular(word: str) -> str:
    """Return the singular of a plural: dog of dogs, woman of women, leaf of leaves, cactus of cacti."""
    irregular = _IRREGULAR_NOUNS.get(word)
    if irregular:
        return irregular
    if word in _INVARIABLE_NOUNS or word.endswith(("sis", "polis")):
        return word
    if not word.isalpha():
        return word[:-1] if word.endswith("s") and (word[:-1].isdigit() or "'" in word) else word
    if word.endswith("men"):
        return word[:-2] + "an"
    if word.endswith("i") and len(word) > 1:
        return word[:-1] + "us"
    return _remove_s(word)


def _remove_s(word: str) -> str:
    """Remove the s of plurals and third persons from a word."""
    if not word.endswith("s") or word.endswith(("ss", "us")) or len(word) < 2:
        return word
    if word.endswith("ies") and len(word) > 4 and word[-4] not in _VOWELS:
        return word[:-3] + "y"
    if word.endswith(("ches", "oes", "shes", "sses", "xes", "zzes")) and len(word) > 4:
        return word[:-2]
    return word[:-1]
