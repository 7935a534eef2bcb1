"""Base forms of words, for CHAIR: singulars by the package pattern, and lemmas of WordNet.

pattern (De Smedt and Daelemans 2012, BSD license) is no longer maintained. The rules of its ``singularize`` are those
of the Inflector of Bermi Ferrer Martinez (2006) for nouns; CHAIR applies them to all words of a caption. They are
reproduced with their errors: "bus" becomes "bu", "this" becomes "thi", and words that are the end of an uninflected
noun, such as "water" and "is", are not changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from captious.errors import ResourceError, needed_for

_PREPOSITIONS = """
    about above across after among around at athwart before behind below beneath beside besides between betwixt
    beyond but by during except for from in into near of off on onto out over since till to under until unto upon
    with
"""
_IS_PREPOSITION = frozenset(_PREPOSITIONS.split())

#: Nouns without a plural. A word stays as it is if one of these *ends with it*.
_UNINFLECTED = """
    bison bream breeches britches carp chassis christmas clippers cod contretemps corps debris diabetes djinn eland
    elk flounder gallows georgia graffiti headquarters herpes high-jinks homework innings jackanapes mackerel
    measles mews mumps news pincers pliers proceedings rabies salmon scissors series shears species swine swiss
    trout tuna whiting wildebeest advice bread butter cheese electricity equipment fruit furniture garbage gravel
    happiness information ketchup knowledge love luggage mathematics mayonnaise meat mustard progress research rice
    sand software understanding water
"""
_UNINFLECTED_NOUNS = tuple(_UNINFLECTED.split())

#: Words in -ie, whose plurals stay as they are.
_IE_WORDS = """
    alergie auntie beanie birdie bogie bombie collie cookie cutie doggie eyrie freebie goonie groupie hankie hippie
    hoagie hottie indie junkie laddie laramie lingerie meanie newbie nightie oldie pixie quickie reverie rookie
    softie sortie stoolie sweetie techie toughie valkyrie veggie weenie yuppie zombie
"""
_PLURALS_IN_IE = tuple(f"{word}s" for word in _IE_WORDS.split())

_IRREGULAR = """
    atlantes:atlas atlases:atlas axes:axe beeves:beef brethren:brother children:child corpora:corpus
    corpuses:corpus ephemerides:ephemeris feet:foot ganglia:ganglion geese:goose genera:genus genii:genie
    graffiti:graffito helves:helve kine:cow leaves:leaf loaves:loaf men:man mongooses:mongoose monies:money
    moves:move mythoi:mythos numena:numen occipita:occiput octopodes:octopus opera:opus opuses:opus our:my oxen:ox
    penes:penis penises:penis people:person sexes:sex soliloquies:soliloquy teeth:tooth testes:testis trilbys:trilby
    turves:turf zoa:zoon
"""
_SINGULAR_OF = dict(pair.split(":") for pair in _IRREGULAR.split())

# An ending, and what takes its place; the first that fits.
_ENDINGS = [
    (re.compile(ending), to)
    for ending, to in (
        (r"(.)ae$", r"\1a"),
        (r"(.)itis$", r"\1itis"),
        (r"(.)eaux$", r"\1eau"),
        (r"(quiz)zes$", r"\1"),
        (r"(matr)ices$", r"\1ix"),
        (r"(ap|vert|ind)ices$", r"\1ex"),
        (r"^(ox)en", r"\1"),
        (r"(alias|status)es$", r"\1"),
        (r"([octp|vir])i$", r"\1us"),  # a class of characters, not "octop" or "vir"
        (r"(cris|ax|test)es$", r"\1is"),
        (r"(shoe)s$", r"\1"),
        (r"(o)es$", r"\1"),
        (r"(bus)es$", r"\1"),
        (r"([ml|])ice$", r"\1ouse"),
        (r"(x|ch|ss|sh)es$", r"\1"),
        (r"(m)ovies$", r"\1ovie"),
        (r"(.)ombies$", r"\1ombie"),
        (r"(s)eries$", r"\1eries"),
        (r"([^aeiouy]|qu)ies$", r"\1y"),
        (r"([aeo]l)ves$", r"\1f"),
        (r"([^d]ea)ves$", r"\1f"),
        (r"(ar)ves$", r"\1f"),
        (r"erves$", "erve"),
        (r"([nlw]i)ves$", r"\1fe"),
        (r"([lr])ves$", r"\1f"),
        (r"([aeo])ves$", r"\1ve"),
        (r"(sive)s$", r"\1"),
        (r"(tive)s$", r"\1"),
        (r"(hive)s$", r"\1"),
        (r"([^f])ves$", r"\1fe"),
        (r"^(analy)ses$", r"\1sis"),
        (r"(analy)ses$", r"\1asis"),
        (r"(ba|diagno|parenthe|progno|synop|the)ses$", r"\1sis"),
        (r"(.)opses$", r"\1opsis"),
        (r"(.)yses$", r"\1ysis"),
        (r"(h|d|r|o|n|b|cl|p)oses$", r"\1ose"),
        (r"(fruct|gluc|galact|lact|ket|malt|rib|sacchar|cellul)ose$", r"\1ose"),
        (r"(.)oses$", r"\1osis"),
        (r"([ti])a$", r"\1um"),
        (r"(n)ews$", r"\1ews"),
        (r"s$", ""),
    )
]


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
        if ending.search(word):
            return ending.sub(to, word)
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

    def tagged_lemmas(nltk: Any, lemmatize: Callable[..., str]) -> list[str]:
        lemmatize("dogs", pos="n")  # fails without data, even if there are no tokens
        pairs: list[tuple[str, str]] = nltk.pos_tag([*tokens] or ["dogs"])[: len(tokens)]
        return [str(lemmatize(word, pos=kinds.get(tag[:1], "n"))) for word, tag in pairs]

    return _run_nltk(tagged_lemmas, "averaged_perceptron_tagger_eng wordnet")


def nouns(text: str) -> list[str]:
    """Return the lemmas of a text's nouns in order, including repeated ones, as tokenized and tagged by NLTK.

    Raises:
        MissingExtraError: NLTK is not installed.
        ResourceError: its data are not installed.
    """

    def tagged_nouns(nltk: Any, lemmatize: Callable[..., str]) -> list[str]:
        pairs = nltk.pos_tag(nltk.word_tokenize(text or "dogs"))
        return [str(lemmatize(word)) for word, tag in pairs if tag.startswith("NN")] if text else []

    return _run_nltk(tagged_nouns, "punkt_tab averaged_perceptron_tagger_eng wordnet")


def _run_nltk(find: Callable[[Any, Callable[..., str]], list[str]], data: str) -> list[str]:
    """Compute base forms with NLTK and its lemmatizer."""
    with needed_for("lemmatization", "nltk"):
        import nltk
        from nltk.stem import WordNetLemmatizer
    try:
        return find(nltk, WordNetLemmatizer().lemmatize)
    except LookupError as error:
        raise ResourceError(
            "the data of NLTK are missing",
            where="its tagger and WordNet",
            help=f"python -m nltk.downloader {data}",
        ) from error
