"""Tokenizers: the PTB tokenizer of the COCO toolkit, white space, sacrebleu's, or any user-defined function.

A ``Tokenizer`` is a name and a rule. The name is part of every signature, as scores with different tokenizers are not
comparable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.entry_points import EntryPoints
from captious.errors import EncodingError, ParameterError, UnknownNameError
from captious.native import TokenizerRule, Vocabulary, threads


@dataclass(frozen=True)
class _Imported:
    """A function of another module, which is imported at the first call.

    Args:
        module: a module of this package.
        name: name of the function.
    """

    module: str
    name: str

    def __call__(self, caption: str) -> Any:
        return self._function(caption)

    @cached_property
    def _function(self) -> Callable[[str], Any]:
        function: Callable[[str], Any] = getattr(import_module(f"captious.text.{self.module}"), self.name)
        return function


@dataclass(frozen=True)
class Tokenizer:
    """A named tokenizer.

    Args:
        name: name in signatures; letters, digits and ``.-_`` only.
        function: caption to list of tokens; None for the built-in ones.
        prepared: preprocessing of a caption before a built-in rule.
    """

    name: str
    function: Callable[[str], Sequence[str]] | None = None
    rule: TokenizerRule | None = field(default=None, repr=False)
    #: Whether captions are one text, in which the next one may change how a caption is cut.
    as_one_text: bool = field(default=False, repr=False)
    prepared: Callable[[str], str] | None = field(default=None, repr=False)
    #: Normalizer of words with several spellings; see ``captious.text.word_forms``.
    form: Callable[[str], str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.name or not all(c.isalnum() or c in ".-_" for c in self.name):
            raise ParameterError(
                f"{self.name!r} cannot name a tokenizer in a signature", help="use letters, digits and . - _ only"
            )
        if (self.function is None) == (self.rule is None):
            raise ParameterError(
                f"the tokenizer {self.name!r} needs a function",
                help="pass a function str -> list[str]: Tokenizer('name', function)",
            )

    @property
    def stored_as(self) -> str | None:
        """Name in files of tokens; None unless built in, as other tokenizers may change."""
        return self.name if _BUILT_IN.get(self.name) == self else None

    def __call__(self, caption: str) -> list[str]:
        """Return the tokens of one caption."""
        vocabulary = Vocabulary()
        ids, _ = self.encode([caption], vocabulary)
        words = vocabulary.words()
        return [words[i] for i in ids]

    def encode(self, captions: Sequence[str], vocabulary: Vocabulary) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Tokenize captions and add their tokens to a vocabulary, whose words keep their ids.

        Returns:
            ids int32[n_tokens] and offsets int64[n + 1]; caption i is ``ids[offsets[i]:offsets[i + 1]]``.

        Raises:
            EncodingError: a caption with lone surrogates.
            ParameterError: a tokenizer function that did not return a list of strings.
        """
        if self.form is not None:
            vocabulary_of_form = Vocabulary()
            ids, offsets = replace(self, form=None).encode(captions, vocabulary_of_form)
            return vocabulary.add(tuple(map(self.form, vocabulary_of_form.words())))[ids], offsets
        try:
            if self.rule is not None:
                ids, offsets = vocabulary.encode(self._prepared(captions), self.rule, threads())
                return _tokens_in_context(captions, ids, offsets, vocabulary) if self.as_one_text else (ids, offsets)
            tokens, offsets = self._tokenize_by_function(captions)
            return vocabulary.add(tuple(tokens)), offsets
        except UnicodeEncodeError:
            raise _surrogates(captions) from None

    def look_up_words(
        self, captions: Sequence[str], vocabulary: Vocabulary
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Look up the words of captions, splitting tokens at white space, without extending the vocabulary.

        Unknown words get ids from ``len(vocabulary)`` on, consistent within a caption. Returns and raises as ``encode``
        does.
        """
        if self.rule is None or self.form is not None:
            words = Vocabulary()
            ids, offsets = self.encode(captions, words)
            tokens = list(map(words.words().__getitem__, ids.tolist()))
            texts = tuple(" ".join(tokens[start:end]) for start, end in pairwise(offsets.tolist()))
            return vocabulary.lookup(texts, TokenizerRule.whitespace, threads())
        try:
            return vocabulary.lookup(self._prepared(captions), self.rule, threads())
        except UnicodeEncodeError:
            raise _surrogates(captions) from None

    def _prepared(self, captions: Sequence[str]) -> tuple[str, ...]:
        return tuple(captions if self.prepared is None else map(self.prepared, captions))

    def _tokenize_by_function(self, captions: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
        """Return the tokens of all captions and the offsets of the captions."""
        tokens: list[str] = []
        offsets = np.zeros(len(captions) + 1, np.int64)
        for i, caption in enumerate(captions):
            tokens += self._call(caption)
            offsets[i + 1] = len(tokens)
        return tokens, offsets

    def _call(self, caption: str) -> list[str]:
        """Call the function and check its result."""
        assert self.function is not None
        tokens = self.function(caption)
        if not isinstance(tokens, list | tuple) or not all(issubclass(kind, str) for kind in {*map(type, tokens)}):
            raise ParameterError(
                f"the tokenizer {self.name} returned {type(tokens).__name__} {tokens!r:.60}",
                where=f"caption {caption!r:.80}",
                help="a tokenizer must take a string and return a list of strings",
            )
        return list(tokens)


#: Penn Treebank tokens as CoreNLP 3.4.1 gives them to the COCO harness: lower-cased, most punctuation dropped.
PTB = Tokenizer("ptb", rule=TokenizerRule.ptb)
#: Tokens of ``PTB`` from all captions as one text, as in the harness: a few depend on how the next caption begins.
PTB_HARNESS = Tokenizer("ptb-harness", rule=TokenizerRule.ptb, as_one_text=True)
#: Tokens of ``PTB`` with punctuation.
PTB_RAW = Tokenizer("ptb-raw", rule=TokenizerRule.ptb_raw)
#: Pieces between white space, for text that is already tokenized. Case is kept.
WHITESPACE = Tokenizer("whitespace", rule=TokenizerRule.whitespace)
#: Pieces between single spaces, empty ones included: ``str.split(" ")``, as the COCO harness reads tokenized text.
SPACES = Tokenizer("spaces", rule=TokenizerRule.spaces)
#: The tokens of SMURF's official code: lower-cased, without full stops, cut by NLTK's rules.
SMURF = Tokenizer("smurf", rule=TokenizerRule.whitespace, prepared=_Imported("nltk_tokens", "smurf_words"))
#: All characters but white space, as sacrebleu's ``char``.
CHARACTERS = Tokenizer("char", _Imported("sacrebleu_tokens", "characters"))

_OTHER_LANGUAGES = (
    Tokenizer("unicode", _Imported("unicode_words", "unicode_words")),
    Tokenizer("13a", _Imported("sacrebleu_tokens", "v13a_tokens")),
    Tokenizer("intl", _Imported("sacrebleu_tokens", "intl_tokens")),
    CHARACTERS,
    Tokenizer("zh", _Imported("sacrebleu_tokens", "zh_tokens")),
    Tokenizer("ja-mecab", _Imported("sacrebleu_tokens", "ja_mecab_tokens")),
    Tokenizer("ko-mecab", _Imported("sacrebleu_tokens", "ko_mecab_tokens")),
    Tokenizer("th", _Imported("unicode_words", "thai_words")),
    Tokenizer("flores200", _Imported("sacrebleu_tokens", "flores200_tokens")),
)
_BUILT_IN = {
    tokenizer.name: tokenizer for tokenizer in (PTB, PTB_HARNESS, PTB_RAW, WHITESPACE, SPACES, SMURF, *_OTHER_LANGUAGES)
}
_PLUGINS = EntryPoints("captious.tokenizers", "tokenizer", tuple(_BUILT_IN))
_registered: dict[str, Tokenizer] = {}


# Ends of captions for two rules of the tokenizer that look at what comes next: one for an initial before the beginning
# of a sentence ("... Wii U." before "A ..."), one for an emoticon, which needs a character behind it.
_LOOKS_AHEAD = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]\.|[:;=8xX<>(\[{|].{0,3})\s*\Z")
_FOLLOWING = 3  # captions, of which the first may be empty


def _tokens_in_context(
    captions: Sequence[str], ids: NDArray[np.int32], offsets: NDArray[np.int64], vocabulary: Vocabulary
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return tokens as in the COCO harness, which tokenizes all captions as one text, a line each.

    Args:
        captions: in the order of the text.
        ids, offsets: tokens of each caption by itself.
        vocabulary: vocabulary to extend.
    """
    parts: list[NDArray[np.int32]] = []
    counts = np.diff(offsets)
    done = 0
    for i, caption in enumerate(captions[:-1]):
        if not _LOOKS_AHEAD.search(caption):
            continue
        following = "\n".join(captions[i + 1 : i + 1 + _FOLLOWING])
        tail, whole = PTB(following), PTB(f"{caption}\n{following}")
        n = len(whole) - len(tail)
        if n < 0 or whole[n:] != tail:
            continue
        start, end = int(offsets[i]), int(offsets[i + 1])
        in_context = vocabulary.add(tuple(whole[:n]))
        if not np.array_equal(in_context, ids[start:end]):
            parts += [ids[done:start], in_context]
            counts[i], done = n, end
    if not parts:
        return ids, offsets
    return np.concatenate([*parts, ids[done:]]), np.concatenate([[0], np.cumsum(counts)])


Function = TypeVar("Function", bound=Callable[[str], Sequence[str]])


def register_tokenizer(name: str) -> Callable[[Function], Function]:
    """Return a function decorator that registers a tokenizer under a name for this process.

    To make a tokenizer available everywhere, including the command line, a package declares an entry point of the group
    ``captious.tokenizers``. Its name is that of the tokenizer, its value the function or a ``Tokenizer``.

    Raises:
        ParameterError: a name that is taken, or invalid in a signature.
    """

    def add(function: Function) -> Function:
        if name.lower() in _BUILT_IN:
            raise ParameterError(f"the name {name} is taken", help="register the tokenizer under another name")
        _registered[name.lower()] = Tokenizer(name, function)
        return function

    return add


def tokenizer_names() -> list[str]:
    """Return the names of all tokenizers: built-in ones, then others by name."""
    return [*_BUILT_IN, *sorted({*(tokenizer.name for tokenizer in _registered.values()), *_PLUGINS.by_name})]


def _named(name: str) -> Tokenizer | None:
    """Return the tokenizer of a name, in any case; None if there is none.

    Raises:
        ParameterError: an entry point that is not a tokenizer.
    """
    name = name.lower()
    tokenizer = _BUILT_IN.get(name) or _registered.get(name)
    if tokenizer is not None or name not in _PLUGINS.by_name:
        return tokenizer
    loaded = _PLUGINS.load(name, callable, "a function or a captious.Tokenizer")
    return replace(loaded, name=name) if isinstance(loaded, Tokenizer) else Tokenizer(name, loaded)


def as_tokenizer(tokenizer: str | Tokenizer | Callable[[str], Sequence[str]]) -> Tokenizer:
    """Return a tokenizer by its name, or for a function, after which it is named.

    Raises:
        UnknownNameError: no tokenizer of that name.
        ParameterError: a function without a name of its own, such as a lambda.
    """
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    if isinstance(tokenizer, str):
        if (known_tokenizer := _named(tokenizer)) is None:
            raise UnknownNameError(
                f"there is no tokenizer {tokenizer!r}",
                help=f"available tokenizers: {', '.join(tokenizer_names())}; in Python, a function is also accepted",
            )
        return known_tokenizer
    if not callable(tokenizer):
        raise ParameterError(
            f"{tokenizer!r} is not a tokenizer", help="pass a name, a Tokenizer, or a function str -> list[str]"
        )
    module, name = getattr(tokenizer, "__module__", None), getattr(tokenizer, "__qualname__", None)
    home = f"{module}." if module is not None else ""  # methods of built-in types have no module
    if name is None or "<lambda>" in name:
        raise ParameterError(
            "this tokenizer has no name to show in signatures",
            help="wrap it: captious.Tokenizer('my-tokenizer', function)",
        )
    return Tokenizer(f"{home}{name}".replace("<locals>.", ""), tokenizer)


def _surrogates(captions: Sequence[str]) -> EncodingError:
    for number, caption in enumerate(captions):
        try:
            caption.encode()
        except UnicodeEncodeError as error:
            return EncodingError(
                f"a caption contains a lone surrogate (U+{ord(caption[error.start]):04X}), which is not text",
                where=f"caption {number}, character {error.start}",
                help="decode the source as UTF-8, or with errors='replace'",
            )
    return EncodingError("a token contains a lone surrogate, which is not text", help="check the tokenizer function")
