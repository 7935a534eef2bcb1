"""Lemmas: the base form of a word, given its part of speech, as CoreNLP 3.6.0 gives it.

Only verbs, plural nouns and a few words of closed classes change. The endings are taken off by the spelling rules of
English, in the manner of Minnen, Carroll and Pearce (2001), "Applied morphological processing of English": a few
regular suffixes by class, and words that are exceptions (``lemma_words``). A word that no rule covers, such as a
misspelt one, still gets the lemma that its spelling suggests: ``vidoing`` of ``vido``.
"""

from __future__ import annotations

from functools import lru_cache

from captious.parsing.lemma_words import (
    BARE_STEMS,
    E_STEMS,
    INVARIABLE_NOUNS,
    IRREGULAR_NOUNS,
    IRREGULAR_VERBS,
    IRREGULAR_WORDS,
    UNDIVIDED_VERBS,
    UNDOUBLED_STEMS,
    VERB_PREFIXES,
)

__all__ = ["lemma"]

_VOWELS = frozenset("aeiou")
_VOWELS_AND_Y = frozenset("aeiouy")

# What a stem in a consonant, a vowel and a consonant ends in: always before a silent e (``hik-ing``), never
# (``open-ing``). With other pairs stems of one syllable have the e (``hop-ing``, ``develop-ing``).
_WITH_E = frozenset(
    (
        *("ab", "ad", "ag", "ak", "am", "ap", "ar", "at", "av", "az", "ev", "ib", "id", "ik", "il", "im", "in", "ir"),
        *("iv", "iz", "ob", "od", "ok", "om", "ov", "ub", "ud", "uk", "ul", "um", "ur", "ut", "yl", "ym", "yn", "yp"),
        "yr",
    )
)
_WITHOUT_E = frozenset(("eb", "ed", "ef", "eg", "ek", "el", "en", "ep", "er", "et", "ig", "of", "og", "ug"))


@lru_cache(maxsize=1 << 16)
def lemma(word: str, tag: str) -> str:
    """The lemma of a word; in lower case except for proper names and ``I``.

    Args:
        word: as it is written.
        tag: its part of speech, as the Penn Treebank names it.
    """
    if tag in ("NNP", "NNPS"):
        return word
    word = word.lower()
    if tag == "NNS":
        base = _singular
    elif tag.startswith("V"):
        base = _infinitive
    else:
        return IRREGULAR_WORDS.get(tag, {}).get(word, word)
    if word.startswith("-"):
        return f"{word}_{tag}"  # brackets, which the official program leaves with their tags
    first, hyphen, last = word.rpartition("-")
    return first + hyphen + base(last)


def _infinitive(word: str) -> str:
    """The infinitive of a form of a verb: be of is, hike of hiking, carry of carried, watch of watches."""
    if word in UNDIVIDED_VERBS:
        return word
    irregular = IRREGULAR_VERBS.get(word) or _prefixed(word)
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
    return _without_s(word)


def _prefixed(word: str) -> str:
    """The infinitive of an irregular verb with a prefix, overtake of overtaken; empty if it is not one."""
    for prefix in VERB_PREFIXES:
        if word.startswith(prefix) and len(word) > len(prefix) + 2:
            base = IRREGULAR_VERBS.get(word[len(prefix) :])
            if base:
                return prefix + base
    return ""


def _completed(stem: str, past: bool) -> str:
    """A verb without its ``ing`` (or, if ``past``, ``ed``) with what that took away: hike of hik, sit of sitt, walk."""
    if stem in E_STEMS:
        return stem + "e"
    if stem in BARE_STEMS or len(stem) < 2:
        return stem
    before, last = stem[-2], stem[-1]
    if before == last and len(stem) > 2:
        if (last in "bdgkmn" and stem != "add") or stem in UNDOUBLED_STEMS:
            return stem[:-1]
        if last in "sz":
            return stem
    return stem + "e" if _has_silent_e(stem, before, last, past) else stem


def _has_silent_e(stem: str, before: str, last: str, past: bool) -> bool:
    """Whether a verb ends in an e that its stem lacks, by the two letters that the stem ends in."""
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
    """Whether a text ends in two vowels, not counting the u of qu and gu."""
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
    """The singular of a plural: dog of dogs, woman of women, leaf of leaves, cactus of cacti."""
    irregular = IRREGULAR_NOUNS.get(word)
    if irregular:
        return irregular
    if word in INVARIABLE_NOUNS or word.endswith(("sis", "polis")):
        return word
    if not word.isalpha():
        return word[:-1] if word.endswith("s") and (word[:-1].isdigit() or "'" in word) else word
    if word.endswith("men"):
        return word[:-2] + "an"
    if word.endswith("i") and len(word) > 1:
        return word[:-1] + "us"
    return _without_s(word)


def _without_s(word: str) -> str:
    """A word without the s that makes plurals and third persons."""
    if not word.endswith("s") or word.endswith(("ss", "us")) or len(word) < 2:
        return word
    if word.endswith("ies") and len(word) > 4 and word[-4] not in _VOWELS:
        return word[:-3] + "y"
    if word.endswith(("ches", "oes", "shes", "sses", "xes", "zzes")) and len(word) > 4:
        return word[:-2]
    return word[:-1]
