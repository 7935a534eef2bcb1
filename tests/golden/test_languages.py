"""The tokens of all tokenizers, and scores and signatures in all languages, on captions in several scripts."""

from __future__ import annotations

import pytest

import captious
from captious.errors import UnknownNameError
from tests.golden.calls import scored, scores
from tests.golden.record import Record
from tests.support.captions_of_languages import CAPTIONS, ENGLISH

pytestmark = [
    pytest.mark.filterwarnings("ignore::captious.CaptiousWarning"),
    pytest.mark.usefixtures("meteor_tables"),
]

#: Tokenizers, and the module that one needs.
TOKENIZERS = {
    **dict.fromkeys(("ptb", "ptb-harness", "ptb-raw", "whitespace", "spaces", "smurf", "unicode", "13a", "intl")),
    **dict.fromkeys(("char", "zh")),
    **{"ja-mecab": "MeCab", "ko-mecab": "mecab_ko", "th": "pythainlp"},
}
#: Those that need a file from a server.
ONLINE = ["flores200"]
LANGUAGES = (
    *("ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fil", "fr", "ga", "gl"),
    *("gu", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "km", "kn", "ko", "lo", "lt", "lv", "mi", "ml", "mr"),
    *("ms", "my", "ne", "nl", "no", "pa", "pl", "pt", "quz", "ro", "ru", "sk", "sl", "sr", "sv", "sw", "ta", "te"),
    *("th", "tr", "uk", "ur", "vi", "zh"),
)
#: Language -> the tokenizer that needs a module.
NEEDS = {"ja": "ja-mecab", "ko": "ko-mecab", "th": "th"}
PAIRS = [*ENGLISH, *(pair for pairs in CAPTIONS.values() for pair in pairs)]
CANDIDATES = {image: candidate for image, (candidate, _) in enumerate(PAIRS)}
#: Two references: one of its own, and the candidate of the image before it.
REFERENCES = {image: [reference, PAIRS[image - 1][0]] for image, (_, reference) in enumerate(PAIRS)}
#: Whose tokenizer, stemmer, function words or weights depend on the language.
METRICS = ["bleu-1", "bleu-4", "rouge-l", "cider-d", "length-words", "meteor"]


def need(tokenizer: str | None) -> None:
    """Skip a test whose tokenizer needs a module that is not installed."""
    if tokenizer is not None and (module := TOKENIZERS[tokenizer]) is not None:
        pytest.importorskip(module)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_tokens(tokenizer: str, record: Record) -> None:
    need(tokenizer)
    tokens = [captious.text.as_tokenizer(tokenizer)(caption) for pair in PAIRS for caption in pair]
    report = scored(CANDIDATES, REFERENCES, METRICS[:5], tokenizer=tokenizer)
    record(f"tokenizers/{tokenizer}", {"tokens": tokens, **scores(report)})


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages(language: str, record: Record) -> None:
    need(NEEDS.get(language))
    record(f"languages/{language}", scores(scored(CANDIDATES, REFERENCES, METRICS, language=language)))


def test_every_tokenizer_and_language_is_here() -> None:
    with pytest.raises(UnknownNameError) as of_tokenizers:
        captious.Settings(tokenizer="unknown")
    listed = str(of_tokenizers.value.hint).partition(": ")[2].partition(";")[0]
    assert listed.removesuffix(", or a function").split(", ") == [*TOKENIZERS, *ONLINE]
    with pytest.raises(UnknownNameError) as of_languages:
        captious.Settings(language="unknown")
    listed = str(of_languages.value.hint).removeprefix("the languages are ").partition(";")[0]
    assert listed.split(", ") == [*LANGUAGES]
