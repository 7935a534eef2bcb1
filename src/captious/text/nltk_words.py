"""Words of captions as programs with NLTK read them: tokens in lower case, and their base forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from captious.errors import MissingExtraError, ResourceError
from captious.text.sentences import sentences
from captious.text.singular import singular
from captious.text.treebank import plain_tokens, treebank_tokens_325

__all__ = ["Singulars", "lemmas", "word_tokenize"]


def word_tokenize(caption: str) -> list[str]:
    """The tokens of a caption in lower case, as ``word_tokenize`` of NLTK 3.2.5 cuts it."""
    text = caption.lower()
    plain = plain_tokens(text)
    if plain is not None:
        return plain
    return [token for sentence in sentences(text) for token in treebank_tokens_325(sentence)]


class Singulars:
    """The singular of every token, be it a noun or not.

    Args:
        kept: words that stay as they are.
    """

    def __init__(self, kept: Iterable[str] = ()) -> None:
        self._kept = frozenset(kept)
        self._known = _Known()

    def __reduce__(self) -> tuple[object, ...]:
        return Singulars, (self._kept,)

    def __call__(self, tokens: Sequence[str]) -> list[str]:
        """The singulars, one for each token."""
        if len(self._known) > _MOST_WORDS:
            self._known = _Known()
        if not self._known:
            self._known.update(zip(self._kept, self._kept, strict=True))
        known = self._known
        return [known[token] for token in tokens]


class _Known(dict[str, str]):
    """Singulars of words, remembered."""

    def __missing__(self, word: str) -> str:
        self[word] = found = singular(word)
        return found


_MOST_WORDS = 1 << 20


def lemmas(tokens: Sequence[str]) -> list[str]:
    """The lemma of every token in WordNet, by its part of speech, as NLTK finds both.

    Raises:
        MissingExtraError: NLTK is not installed.
        ResourceError: its data are not installed.
    """
    try:
        import nltk
        from nltk.stem import WordNetLemmatizer
    except ImportError:
        raise MissingExtraError("lemmas need NLTK", help="pip install 'captious[nltk]'") from None
    lemmatizer: Any = WordNetLemmatizer()
    try:
        lemmatizer.lemmatize("dogs", pos="n")  # fails without data, even if there are no tokens
        tagged: list[tuple[str, str]] = nltk.pos_tag([*tokens] or ["dogs"])[: len(tokens)]
    except LookupError as error:
        raise ResourceError(
            "the data of NLTK are missing",
            where="its tagger and WordNet",
            help="python -m nltk.downloader averaged_perceptron_tagger_eng wordnet",
        ) from error
    kinds = {"J": "a", "V": "v", "R": "r"}  # all others are taken for nouns
    return [str(lemmatizer.lemmatize(word, pos=kinds.get(tag[:1], "n"))) for word, tag in tagged]
