"""Languages of captions, with their tokenizers and stemmers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    """

    code: str
    name: str
    tokenizer: str = "unicode"
    has_stemmer: bool = False

    @property
    def label(self) -> str:
        """Name in signatures and messages."""
        return self.code


_STEMMED = {
    **{"ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "es": "spanish", "eu": "basque"},
    **{"fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian"},
    **{"id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian"},
    **{"pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil"},
    **{"tr": "turkish"},
}
_WORDS = {
    **{"bg": "bulgarian", "bn": "bengali", "cs": "czech", "et": "estonian", "fa": "persian", "fil": "filipino"},
    **{"gl": "galician", "gu": "gujarati", "he": "hebrew", "hr": "croatian", "is": "icelandic", "kn": "kannada"},
    **{"lv": "latvian", "mi": "maori", "ml": "malayalam", "mr": "marathi", "ms": "malay", "pa": "punjabi"},
    **{"pl": "polish", "quz": "quechua", "sk": "slovak", "sl": "slovenian", "sw": "swahili", "te": "telugu"},
    **{"uk": "ukrainian", "ur": "urdu", "vi": "vietnamese"},
}
_OWN_TOKENIZERS = {
    "ja": ("japanese", "ja-mecab"),
    "km": ("khmer", "char"),
    "ko": ("korean", "ko-mecab"),
    "lo": ("lao", "char"),
    "my": ("burmese", "char"),
    "th": ("thai", "th"),
    "zh": ("chinese", "zh"),
}

ENGLISH = Language("en", "english", "ptb", has_stemmer=True)
#: By code.
LANGUAGES: Mapping[str, Language] = {
    "en": ENGLISH,
    **{code: Language(code, name, has_stemmer=True) for code, name in _STEMMED.items()},
    **{code: Language(code, name) for code, name in _WORDS.items()},
    **{code: Language(code, name, tokenizer) for code, (name, tokenizer) in _OWN_TOKENIZERS.items()},
}
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
