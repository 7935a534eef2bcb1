"""Forms of words: stems, base forms, and normal forms of words with several spellings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from captious.errors import ResourceError, needed_for
from captious.files import sections
from captious.text.languages import ENGLISH, Language

_TEXT = sections(Path(__file__).with_name("words.txt"))


def _pairs(name: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in _TEXT[name].split())


def _lines(name: str) -> list[tuple[str, str, str]]:
    """Return the two values in each line, and the blank between them."""
    return [line.partition(" ") for line in _TEXT[name].splitlines()]


# Base forms of words, for CHAIR: singulars by the package pattern, and lemmas of WordNet.
#
# pattern (De Smedt and Daelemans 2012, BSD license) is no longer maintained. The rules of its ``singularize`` are those
# of the Inflector of Bermi Ferrer Martinez (2006) for nouns; CHAIR applies them to all words of a caption. They are
# reproduced with their errors: "bus" becomes "bu", "this" becomes "thi", and words that are the end of an uninflected
# noun, such as "water" and "is", are not changed.

_IS_PREPOSITION = frozenset(_TEXT["prepositions"].split())
_UNINFLECTED_NOUNS = tuple(_TEXT["uninflected"].split())
_PLURALS_IN_IE = tuple(f"{word}s" for word in _TEXT["words in ie"].split())
_SINGULAR_OF = _pairs("irregular plurals")
_ENDINGS = [(ending, to) for ending, _, to in _lines("endings")]


@lru_cache(1 << 20)
def singular(word: str) -> str:
    """Return the singular of a word in lower case."""
    parts = word.split("-")
    if len(parts) > 1 and parts[1] in _IS_PREPOSITION:
        return "-".join((singular(parts[0]), *parts[1:]))
    if word.endswith("'"):
        return f"{singular(word[:-1])}'s"
    if any(noun.endswith(word) for noun in _UNINFLECTED_NOUNS) or word.endswith(_PLURALS_IN_IE):
        return word
    for plural, form in _SINGULAR_OF.items():
        if word.endswith(plural):
            return word[: len(word) - len(plural)] + form
    for ending, to in _ENDINGS:
        if re.search(ending, word):
            return re.sub(ending, to, word)
    return word


@dataclass(frozen=True)
class Singulars:
    """Converts every token to its singular, whether or not it is a noun.

    Args:
        kept: words that are not changed.
    """

    exceptions: frozenset[str] = frozenset()

    def __call__(self, tokens: Sequence[str]) -> list[str]:
        """Return the singulars, one for each token."""
        return [token if token in self.exceptions else singular(token) for token in tokens]


def lemmas(tokens: Sequence[str]) -> list[str]:
    """Return the WordNet lemma of every token by its part of speech, both as found by NLTK.

    Raises:
        MissingExtraError: NLTK is not installed.
        ResourceError: its data are not installed.
    """
    kinds = {"J": "a", "V": "v", "R": "r"}  # all others are taken for nouns
    with _nltk("averaged_perceptron_tagger_eng wordnet") as (nltk, lemmatize):
        lemmatize("dogs", pos="n")  # fails without data, even if there are no tokens
        pairs: list[tuple[str, str]] = nltk.pos_tag([*tokens] or ["dogs"])[: len(tokens)]
        return [str(lemmatize(word, pos=kinds.get(tag[:1], "n"))) for word, tag in pairs]


def nouns(text: str) -> list[str]:
    """Return the lemmas of a text's nouns in order, including repeated ones, as tokenized and tagged by NLTK.

    Raises:
        MissingExtraError: NLTK is not installed.
        ResourceError: its data are not installed.
    """

    with _nltk("punkt_tab averaged_perceptron_tagger_eng wordnet") as (nltk, lemmatize):
        pairs = nltk.pos_tag(nltk.word_tokenize(text or "dogs"))
        return [str(lemmatize(word)) for word, tag in pairs if tag.startswith("NN")] if text else []


@contextmanager
def _nltk(data: str) -> Iterator[tuple[Any, Callable[..., str]]]:
    """Return NLTK and its lemmatizer for a block that needs some of its data."""
    with needed_for("lemmatization", "nltk"):
        import nltk
        from nltk.stem import WordNetLemmatizer
    try:
        yield nltk, WordNetLemmatizer().lemmatize
    except LookupError as error:
        raise ResourceError(
            "the data of NLTK are missing",
            where="its tagger and WordNet",
            hint=f"python -m nltk.downloader {data}",
        ) from error


# Stems of words: Snowball's for METEOR, and Porter's first stemmer as in NLTK for SMURF.
#
# Porter 1980, "An algorithm for suffix stripping", with the departures of NLTK's default mode, NLTK_EXTENSIONS, which
# are marked. PyStemmer has no such mode.


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


_IRREGULAR = _pairs("Porter, irregular")
_STEP_2, _STEP_3 = _pairs("Porter, step 2"), _pairs("Porter, step 3")
_DROPPED = dict.fromkeys(_TEXT["Porter, step 4"].split(), "")


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


def _double_suffixes(word: str) -> str:
    if word.endswith("alli") and _measure(word[:-4]) > 0:  # NLTK: and once more
        return _double_suffixes(word[:-2])
    if word.endswith("logi"):  # NLTK: the l counts as the stem's
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replaced(word, _STEP_2, 1)


def _suffixes(word: str) -> str:
    return _replaced(word, _STEP_3, 1)


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


# Normal forms of words that have several spellings: digits and number words, British and American spellings.
#
# The form of a word is one word, so tokenization does not change. Accents are composed (NFC) in every language. British
# spellings become American ones if a stem is known to have both (the classes of Fowler's Modern English Usage).

_AMERICAN = _pairs("British")
_RULES = tuple((rf"{pattern}\Z", rf"\g<1>{american}\g<2>") for pattern, _, american in _lines("British patterns"))
_LONGEST_WORD = 100  # letters; the rules search longer ones, which are no words, in quadratic time


def word_forms(language: str) -> Callable[[str], str]:
    """Return a function for the form of a word of a language, given by its two-letter code; for languages other than en
    and de, it only composes accents.
    """
    return _FORMS.get(language, _composed)


def negations(language: str) -> Set[str]:
    """Return the negations of a language, in their normal forms; none for languages other than en and de."""
    return {*_TEXT.get(f"negations, {language}", "").split()}


def _composed(word: str) -> str:
    return word if word.isascii() else unicodedata.normalize("NFC", word)


def _english(word: str) -> str:
    word = _composed(word)
    if word in _ENGLISH_NUMBERS:
        return _ENGLISH_NUMBERS[word]
    stem = word.removesuffix("s")
    if stem in _AMERICAN:
        return _AMERICAN[stem] + word[len(stem) :]
    if len(word) > _LONGEST_WORD:
        return word
    for pattern, american in _RULES:
        word = re.sub(pattern, american, word)
    return word


def _german(word: str) -> str:
    word = _composed(word).replace("ß", "ss")
    return _GERMAN_NUMBERS.get(word, word)


def _numbers(language: str, joined: Callable[[str, str], str]) -> dict[str, str]:
    """Return the number words below a hundred."""
    units, tens = _TEXT[f"numbers, {language}"].split(), _TEXT[f"tens, {language}"].split()
    words = {str(number): word for number, word in enumerate(units)}
    for ten, word in enumerate(tens, start=2):
        words[f"{ten}0"] = word
        words |= {f"{ten}{unit}": joined(word, units[unit]) for unit in range(1, 10)}
    return words


_ENGLISH_NUMBERS: Mapping[str, str] = {**_numbers("en", "{}-{}".format), **_pairs("ordinals"), "n't": "not"}
_GERMAN_NUMBERS: Mapping[str, str] = _numbers("de", lambda ten, unit: f"{'ein' if unit == 'eins' else unit}und{ten}")
_FORMS: Mapping[str, Callable[[str], str]] = {"en": _english, "de": _german}
