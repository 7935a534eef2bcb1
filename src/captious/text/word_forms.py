"""Normal forms of words that have several spellings: digits and number words, British and American spellings.

The form of a word is one word, so tokenization does not change. Accents are composed (NFC) in every language. British
spellings become American ones if a stem is known to have both (the classes of Fowler's Modern English Usage).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence, Set

_ENGLISH = re.findall(
    r"\w+",
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen""",
)
_ENGLISH_TENS = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
_ORDINALS = re.findall(
    r"\w+", "1st first 2nd second 3rd third 4th fourth 5th fifth 6th sixth 7th seventh 8th eighth 9th ninth 10th tenth"
)
_GERMAN = re.findall(
    r"\w+",
    """null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn
    achtzehn neunzehn""",
)
_GERMAN_TENS = re.findall(r"\w+", "zwanzig dreissig vierzig fünfzig sechzig siebzig achtzig neunzig")

#: British words whose American spelling follows no rule, without the s of plurals.
_AMERICAN = {
    **{"grey": "gray", "greyish": "grayish", "tyre": "tire", "pyjama": "pajama", "moustache": "mustache"},
    **{"moustached": "mustached", "doughnut": "donut", "aeroplane": "airplane", "plough": "plow", "kerb": "curb"},
    **{"cosy": "cozy", "mould": "mold", "programme": "program", "cheque": "check", "jewellery": "jewelry"},
    **{"artefact": "artifact", "yoghurt": "yogurt", "omelette": "omelet", "barbeque": "barbecue", "tshirt": "t-shirt"},
    **{
        "tee-shirt": "t-shirt",
        "aluminium": "aluminum",
        "storey": "story",
        "sceptical": "skeptical",
        "draught": "draft",
    },
    **{
        "defence": "defense",
        "offence": "offense",
        "licence": "license",
        "practise": "practice",
        "catalogue": "catalog",
    },
    **{"dialogue": "dialog", "analogue": "analog", "anaemia": "anemia", "oedema": "edema", "oesophagus": "esophagus"},
}
_STEMS = (
    (r"(\w*col|neighb|harb|flav|hon|fav|lab|hum|arm|parl|rum|behavi|tum|vap|od|splend|sav|endeav)our(\w*)", "or"),
    (r"(\w*theat|cent|\w*met|\w*lit|fib|calib|somb|spect|lust|sab)re(s?)", "er"),
    (
        r"(real|\w*organ|recogn|apolog|personal|special|util|mesmer|character|memor|visual|harmon|steril|symbol|maxim"
        r"|minim|custom|modern|categor|emphas|energ|immun|hospital|motor|pressur|caramel)is(e[drs]?|ing|ations?)",
        "iz",
    ),
    (
        r"(travel|cancel|label|model|level|signal|fuel|jewel|marvel|dial|panel|tunnel|channel|shovel|pedal|duel|towel"
        r"|snorkel|spiral|swivel)l(ed|ing|ers?)",
        "",
    ),
    (r"(\w*)paed(i\w+)", "ped"),
    (r"()haem(o\w+|at\w+)", "hem"),
)
_RULES = tuple((re.compile(rf"{pattern}\Z"), rf"\g<1>{american}\g<2>") for pattern, american in _STEMS)


def word_forms(language: str) -> Callable[[str], str]:
    """Return a function for the form of a word of a language, given by its two-letter code; for languages other than en
    and de, it only composes accents.
    """
    return _FORMS.get(language, _composed)


def negations(language: str) -> Set[str]:
    """Return the negations of a language, in their normal forms; none for languages other than en and de."""
    return _NEGATIONS.get(language, set())


def _composed(word: str) -> str:
    return word if word.isascii() else unicodedata.normalize("NFC", word)


def _english(word: str) -> str:
    word = _composed(word)
    if word in _ENGLISH_NUMBERS:
        return _ENGLISH_NUMBERS[word]
    stem = word.removesuffix("s")
    if stem in _AMERICAN:
        return _AMERICAN[stem] + word[len(stem) :]
    for pattern, american in _RULES:
        word = pattern.sub(american, word)
    return word


def _german(word: str) -> str:
    word = _composed(word).replace("ß", "ss")
    return _GERMAN_NUMBERS.get(word, word)


def _numbers(units: Sequence[str], tens: Sequence[str], joined: Callable[[str, str], str]) -> dict[str, str]:
    """Return the number words below a hundred."""
    words = {str(number): word for number, word in enumerate(units)}
    for ten, word in enumerate(tens, start=2):
        words[f"{ten}0"] = word
        words |= {f"{ten}{unit}": joined(word, units[unit]) for unit in range(1, 10)}
    return words


_ENGLISH_NUMBERS: Mapping[str, str] = {
    **_numbers(_ENGLISH, _ENGLISH_TENS, "{}-{}".format),
    **dict(zip(_ORDINALS[::2], _ORDINALS[1::2], strict=True)),
    "n't": "not",
}
_GERMAN_NUMBERS: Mapping[str, str] = _numbers(
    _GERMAN, _GERMAN_TENS, lambda ten, unit: f"{unit.removesuffix('s') if unit == 'eins' else unit}und{ten}"
)
_FORMS: Mapping[str, Callable[[str], str]] = {"en": _english, "de": _german}
_NEGATIONS: Mapping[str, Set[str]] = {
    "en": {*re.findall(r"\w+", "not no without never none nobody nothing neither nor nowhere")},
    "de": {
        *re.findall(
            r"\w+", "nicht nichts nie niemals niemand ohne weder kein keine keinen keinem keiner keines nirgends"
        )
    },
}
