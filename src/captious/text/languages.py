"""Languages of captions: their tokenizers and stemmers, and detection by script, function words and letters.

``languages.tsv`` is the table. It has a few dozen function words a language: articles, prepositions, conjunctions,
pronouns, auxiliary verbs and small numbers, most of them in the lists of stopwords-iso
(https://github.com/stopwords-iso, MIT), and what captions often begin with, such as "a man" and "two dogs".
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from captious.errors import ParameterError, UnknownNameError
from captious.words import shortened


@dataclass(frozen=True)
class Language:
    """A language.

    Args:
        code: ISO 639 code, as users write it.
        name: in English, as Snowball and METEOR write it.
        tokenizer: the name of its tokenizer.
        has_stemmer: whether Snowball has a stemmer for it.
        script: ranges of the characters of a script that no other language has.
        letters: its letters beyond ASCII.
        words: its function words, with blanks between them.
    """

    code: str
    name: str
    tokenizer: str
    has_stemmer: bool
    script: str = field(compare=False, repr=False)
    letters: str = field(compare=False, repr=False)
    words: str = field(compare=False, repr=False)

    @property
    def label(self) -> str:
        """Name in signatures and messages."""
        return self.code


def _languages() -> dict[str, Language]:
    with Path(__file__).with_name("languages.tsv").open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["code"]: Language(**row | {"has_stemmer": row["has_stemmer"] == "yes"}) for row in rows}


#: By code.
LANGUAGES: Mapping[str, Language] = _languages()
ENGLISH = LANGUAGES["en"]
#: By name.
BY_NAME: Mapping[str, Language] = {language.name: language for language in LANGUAGES.values()}


def as_language(language: Language | str) -> Language:
    """Return a language by its code, in any case, with or without a region: "de", "pt-BR".

    Raises:
        UnknownNameError: no such code.
        ParameterError: neither a language nor a text.
    """
    if isinstance(language, Language):
        return language
    if not isinstance(language, str):
        problem = f"{shortened(language)} is not a language"
        raise ParameterError(problem, hint="give the code of a language, such as 'de'")
    code = language.lower().replace("_", "-").partition("-")[0]
    if code not in LANGUAGES:
        raise UnknownNameError(
            f"there is no language {language!r}",
            hint=f"the languages are {', '.join(sorted(LANGUAGES))}; for others, give a tokenizer, such as unicode",
        )
    return LANGUAGES[code]


# Detection.

_SCRIPTS = {code: f"[{each.script}]" for code, each in LANGUAGES.items() if each.script}
_LETTERS = {code: {*each.letters} for code, each in LANGUAGES.items() if each.letters}
#: Languages whose words are not written apart, so that tokenizers for English read sentences as words.
WITHOUT_SPACES = frozenset(("ja", "zh", "th", "lo", "my", "km"))
_WORD = re.compile(r"\w[\w\u0900-\u0dff]*")  # with vowel signs of India's scripts
_LEAST = 0.12  # share of words that tell a language
_FEW_WORDS = 4  # in which one word tells nothing, as in "spaghetti alla carbonara"
_CLOSE = 0.15  # a word of several languages counts a little less than one of a single language


#: Close relatives, which one caption may not tell apart.
_RELATED = ("da no sv", "id ms", "hr sr sl", "cs sk sl", "es pt gl ca", "ru uk bg", "hi mr ne", "zh ja")


def related(a: str, b: str) -> bool:
    """Return whether two languages are the same or close relatives."""
    return a == b or any({a, b} <= {*group.split()} for group in _RELATED)


@cache
def function_words() -> Mapping[str, Sequence[str]]:
    """Return the languages that have each function word, by word."""
    languages_of: dict[str, list[str]] = {}
    for code, language in LANGUAGES.items():
        for word in language.words.split():
            languages_of.setdefault(word, []).append(code)
    return languages_of


def language_of(text: str, likely: str = "en") -> str:
    """Return the code of the language of a caption; empty if it is not known.

    It is right for nearly all captions of six words and more. Close relatives, such as Danish and Norwegian, are told
    apart only in many captions: see ``main_language``.

    Args:
        text: the caption.
        likely: the code of the language that it is in unless another is more in evidence.
    """
    evidence = _evidence(text)
    if likely in evidence and evidence[likely] >= max(evidence.values()) - _CLOSE:
        return likely
    english = evidence.pop("en", 0.0)
    best, most = max(evidence.items(), key=lambda item: item[1], default=("", 0.0))
    if english and english >= most - _CLOSE:
        return "en"
    n_words = len(_WORD.findall(text))
    is_clear = most > 1.5 * english and most >= english + 1
    least = max(2 if english or n_words < _FEW_WORDS else 1, _LEAST * n_words)
    if best in _SCRIPTS or (most >= least and is_clear):
        return best
    return ""


def main_language(texts: Iterable[str]) -> str:
    """Return the language of most of these captions, all in one language; empty if it is not known."""
    total: dict[str, float] = {}
    for text in texts:
        for code, amount in _evidence(text).items():
            total[code] = total.get(code, 0.0) + amount
    return max(total, key=total.__getitem__, default="")


def _evidence(text: str) -> dict[str, float]:
    """Return how much each language is in evidence: about 1 for each of its function words, and more for a script."""
    evidence = dict.fromkeys(LANGUAGES, 0.0)
    languages_of = function_words()
    text = unicodedata.normalize("NFC", text)
    for word in _WORD.findall(text.lower().replace("i\u0307", "i").replace("'s", " ")):
        languages = languages_of.get(word, ())
        for code in languages:
            evidence[code] += (1 if len(word) > 1 else 0.5) + 0.1 / len(languages)
        if not languages and not word.isascii():
            beyond = {letter for letter in word if not letter.isascii()}
            for code, letters in _LETTERS.items():
                if beyond <= letters and (code != "uk" or beyond & {*"іїєґ"}):
                    evidence[code] += 0.5
    if not text.isascii():
        n_letters = sum(map(str.isalpha, text))
        for code, characters in _SCRIPTS.items():
            n = len(re.findall(characters, text))
            if (2 if code != "ja" else 8) * n > n_letters:
                evidence[code] += n
                break
    return {code: amount for code, amount in evidence.items() if amount}
