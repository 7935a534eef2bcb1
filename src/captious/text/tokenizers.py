"""Tokenizers: the PTB tokenizer of the COCO toolkit, white space, sacrebleu's, or any user-defined function.

A ``Tokenizer`` is a name and a rule. The name is part of every signature, as scores with different tokenizers are not
comparable.
"""

from __future__ import annotations

import importlib
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.errors import (
    EncodingError,
    MissingExtraError,
    ParameterError,
    ResourceError,
    UnknownNameError,
    either,
    setting,
)
from captious.files import sections
from captious.native import TokenizerRule, Vocabulary, threads
from captious.plugins import EntryPoints
from captious.words import shortened

# NLTK's tokens: of sentences by the rules of the Penn Treebank (NLTKWordTokenizer), and of whole captions.
#
# They differ from those of the PTB tokenizer, a separate program with many more rules. NLTK 3.2.5, which CHAIR pins,
# has different rules than later versions.

_Rules: TypeAlias = tuple[tuple[str, str], ...]

# Each rule sets something apart by spaces; they apply one after the other.
_OPENING = (
    (r"([«“‘„]|`+)", r" \1 "),
    (r'^"', r"``"),
    (r"(``)", r" \1 "),
    (r"([ (\[{<])(\"|'{2})", r"\1 `` "),
    (r"(?i)(')(?!re|ve|ll|m|t|s|d|n)(\w)\b", r"\1 \2"),
)
_MARKS = (
    (r"""([^.])(\.)([\]\)}>"'»”’ ]*)\s*$""", r"\1 \2 \3 "),
    (r"([:,])([^\d])", r" \1 \2"),
    (r"([:,])$", r" \1 "),
    (r"(\.{2,})", r" \1 "),
    (r"([;@#$%&])", r" \1 "),
    (r"""([^.])(\.)([\]\)}>"']*)\s*$""", r"\1 \2\3 "),
    (r"([?!])", r" \1 "),
    (r"([^'])' ", r"\1 ' "),
    (r"([*])", r" \1 "),
    (r"([\]\[(){}<>])", r" \1 "),
    (r"(--)", r" \1 "),
)
_CLOSING = (
    (r"([»”’])", r" \1 "),
    (r"''", r" '' "),
    (r'"', r" '' "),
    (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
    (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
)
_CONTRACTIONS = tuple(
    (f"(?i){words}", r" \1 \2 ")
    for words in (
        *(r"\b(can)(not)\b", r"\b(d)('ye)\b", r"\b(gim)(me)\b", r"\b(gon)(na)\b", r"\b(got)(ta)\b", r"\b(lem)(me)\b"),
        *(r"\b(more)('n)\b", r"\b(wan)(na)(?=\s)", r" ('t)(is)\b", r" ('t)(was)\b"),
    )
)

# The rules of NLTK 3.2.5, where they differ.
_OPENING_325 = ((r"([«“‘])", r" \1 "), (r'^"', r"``"), (r"(``)", r" \1 "), (r'([ (\[{<])"', r"\1 `` "))
_MARKS_325 = (*_MARKS[:3], (r"\.\.\.", " ... "), *_MARKS[4:8], *_MARKS[9:])
_CLOSING_325 = ((r"([»”’])", r" \1 "), (r'"', " '' "), (r"(\S)('')", r"\1 \2 "), *_CLOSING[3:])


# Most captions hold words, commas and a full stop alone. In such text, only commas, the stop and these words are cut.
_PLAIN_FOR_NLTK = re.compile(r"[A-Za-z0-9 ]*+(?:(?:-(?!-)|,(?= |$))[A-Za-z0-9 ]*+)*+(?:\. *)?")
_CUT = frozenset(("cannot", "gimme", "gonna", "gotta", "lemme", "wanna"))
_DOUBLE_LETTERS = ("nn", "mm", "tt")  # each of them has one, most captions do not


_CURRENT = (*_OPENING, *_MARKS), (*_CLOSING, *_CONTRACTIONS)
_OF_325 = (*_OPENING_325, *_MARKS_325), (*_CLOSING_325, *_CONTRACTIONS)


def treebank_tokens(sentence: str, rules: tuple[_Rules, _Rules] = _CURRENT) -> list[str]:
    """Return the tokens of a sentence, by the rules of current NLTK.

    Args:
        sentence: the sentence.
        rules: other rules, and those to apply after spaces have been added at both ends.
    """
    plain = plain_tokens(sentence)
    if plain is not None:
        return plain
    inside, closing = map(_compiled, rules)
    for rule, to in inside:
        sentence = rule.sub(to, sentence)
    sentence = f" {sentence} "
    for rule, to in closing:
        sentence = rule.sub(to, sentence)
    return sentence.split()


def treebank_tokens_325(sentence: str) -> list[str]:
    """Return the tokens of a sentence, by the rules of NLTK 3.2.5."""
    return treebank_tokens(sentence, _OF_325)


@cache
def _compiled(rules: _Rules) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(rule), to) for rule, to in rules]


def plain_tokens(text: str) -> list[str] | None:
    """Tokenize a text that is one sentence of words and commas, for which all rule sets agree; None for others."""
    if _PLAIN_FOR_NLTK.fullmatch(text) is None:
        return None
    lower = text.lower()
    may_be_cut = any(map(lower.__contains__, _DOUBLE_LETTERS))
    words = text.replace(",", " ,").replace(".", " .").split()
    return None if may_be_cut and not _CUT.isdisjoint(map(str.lower, words)) else words


def smurf_text(caption: str) -> str:
    """Preprocess a caption as SMURF's code does: lower case, no trailing white space, no full stops."""
    return caption.lower().rstrip().replace(" .", "").replace(".", "")


def smurf_words(caption: str) -> str:
    """Return the tokens of a caption as in SMURF's code, joined by spaces."""
    return " ".join(treebank_tokens(smurf_text(caption)))


def word_tokenize(caption: str) -> list[str]:
    """Tokenize a caption in lower case, as ``word_tokenize`` of NLTK 3.2.5 does."""
    text = caption.lower()
    plain = plain_tokens(text)
    if plain is not None:
        return plain
    return [token for sentence in sentences(text) for token in treebank_tokens_325(sentence)]


# Text without white space that may end a sentence, before more text.
_END = re.compile(r"""\S*[.?!][)\]}"']*(?=\s+\S)""")
_BRACKETS = "([{<\"'`"
_IS_ABBREVIATION = frozenset(sections(Path(__file__).with_name("words.txt"))["abbreviations of Punkt"].split())
_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)*")


def sentences(text: str) -> list[str]:
    """Split a lower-case text into sentences, at least one, by a small substitute for NLTK's Punkt model.

    Punkt is trained on newspapers and distributed separately from NLTK. Captions need little of it: it only matters
    whether a period inside a caption ends a sentence or belongs to an abbreviation.
    """
    parts, start = [], 0
    for match in _END.finditer(text):
        if _ends_sentence(match[0]):
            parts.append(text[start : match.end()])
            start = match.end()
    return [*parts, text[start:]]


def _ends_sentence(word: str) -> bool:
    """Return whether a sentence ends after a word with a period, question or exclamation mark, and closing quotes."""
    word = word.rstrip(")]}\"'")
    if not word.endswith("."):
        return True
    before = word[:-1].lstrip(_BRACKETS)
    is_letter = len(before) == 1 and before.isalpha()
    return not (before.endswith(".") or is_letter or _NUMBER.fullmatch(before) or before in _IS_ABBREVIATION)


# Tokens of sacrebleu (Post 2018) for BLEU.
#
# Each function returns the tokens that sacrebleu 2 counts, after trailing white space is removed. Case is kept, and
# punctuation marks are tokens. ``13a``, ``intl`` and ``zh`` follow sacrebleu's rules with their errors: ``zh`` treats
# quotes and dashes as Chinese, but not ideographs beyond the basic plane. Tokenizers that need a dictionary or a model
# are sacrebleu's own.

# Captions of ASCII letters in words, with a comma or full stop behind some: most English captions.
_PLAIN_FOR_SACREBLEU = re.compile(r"[A-Za-z]*+(?:[.,]?+ +[A-Za-z]+)*+[.,]?+\s*")
_WESTERN = (
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_CHINESE = (
    "[\u2001-\u2a6d\u2e80-\u2fdf\u2ff0-\u303f\u3100-\u312f\u31a0-\u31ef\u3200-\u4db5\u4e00-\u9fbb"
    "\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\ufe10-\ufe1f\ufe30-\ufe4f\uff00-\uffef]"
)
_INTERNATIONAL = ((r"(\P{N})(\p{P})", r"\1 \2 "), (r"(\p{P})(\P{N})", r" \1 \2"), (r"(\p{S})", r" \1 "))


def v13a_tokens(caption: str) -> list[str]:
    """Tokenize as mteval-v13a, the tokenizer of WMT and sacrebleu's default."""
    if _PLAIN_FOR_SACREBLEU.fullmatch(caption):
        return caption.replace(",", " , ").replace(".", " . ").split()
    text = caption.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return _western(f" {text} ")


def zh_tokens(caption: str) -> list[str]:
    """Split off Chinese characters and punctuation marks one by one, and tokenize the rest as ``13a``."""
    return _western(re.sub(_CHINESE, r" \g<0> ", caption.strip()))


def _western(text: str) -> list[str]:
    for rule, to in _WESTERN:
        text = rule.sub(to, text)
    return text.split()


def intl_tokens(caption: str) -> list[str]:
    """Tokenize as mteval-v14 with --international-tokenization: at the punctuation and symbols of all scripts."""
    text = caption.rstrip()
    for rule, to in _INTERNATIONAL:
        text = _regex(rule).sub(to, text)
    return text.split()


@cache
def _regex(pattern: str) -> Any:
    """Compile a pattern with the package regex, which is imported on first use."""
    import regex

    return regex.compile(pattern)


def characters(caption: str) -> list[str]:
    """Return all characters except white space."""
    return [*"".join(caption.split())]


def ja_mecab_tokens(caption: str) -> list[str]:
    """Tokenize Japanese by MeCab with the dictionary IPA."""
    return _sacrebleu("ja-mecab", "TokenizerJaMecab")(caption.rstrip()).split()


def ko_mecab_tokens(caption: str) -> list[str]:
    """Split Korean into morphemes by MeCab-ko with its dictionary."""
    return _sacrebleu("ko-mecab", "TokenizerKoMecab")(caption.rstrip()).split()


def flores200_tokens(caption: str) -> list[str]:
    """Split text by the SentencePiece model of FLORES-200, for 200 languages."""
    return _sacrebleu("flores200", "Flores200Tokenizer")(caption.rstrip()).split()


@cache
def _sacrebleu(name: str, class_name: str) -> Callable[[str], str]:
    """Return a tokenizer of sacrebleu, cached because it loads a dictionary or a model.

    Raises:
        MissingExtraError: sacrebleu or a dependency of this tokenizer is not installed.
        ResourceError: the model is missing and cannot be downloaded.
    """
    module = "spm" if name == "flores200" else name.replace("-", "_")
    try:
        tokenizer: Callable[[str], str] = getattr(
            importlib.import_module(f"sacrebleu.tokenizers.tokenizer_{module}"), class_name
        )()
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError(
            f"the tokenizer {name} needs sacrebleu and its dictionaries", hint="pip install 'captious[languages]'"
        ) from error
    except OSError as error:
        raise ResourceError(
            f"the model of the tokenizer {name} cannot be downloaded: {error}",
            hint="sacrebleu downloads it once, to ~/.sacrebleu/models: connect, or copy the file there",
        ) from error
    return tokenizer


# Words of any language, by the default word boundaries of Unicode (UAX 29), with the package regex.
#
# No dictionary is needed for languages that separate words. Han characters and hiragana are split one by one, and Thai,
# Lao, Khmer and Burmese into clusters of a consonant and its marks, as Unicode specifies for scripts that would need a
# dictionary; ``thai_words`` uses that of PyThaiNLP.


_BOUNDARY = r"(?wV1)\b"


def unicode_words(caption: str) -> list[str]:
    """Return the words of a caption that contain a letter or a digit, in lower case and composed (NFC)."""
    pieces = _regex(_BOUNDARY).split(unicodedata.normalize("NFC", caption).lower())
    return [piece for piece in pieces if any(map(str.isalnum, piece))]


def thai_words(caption: str) -> list[str]:
    """Return Thai words in lower case, without punctuation; text in other scripts is tokenized as by ``unicode``.

    Raises:
        MissingExtraError: PyThaiNLP is not installed.
    """
    try:
        from pythainlp.tokenize import word_tokenize
    except ImportError as error:
        raise MissingExtraError(
            "the tokenizer th needs PyThaiNLP",
            hint=f"pip install 'captious[languages]', or choose {setting('tokenizer', 'char')}",
        ) from error
    words: list[str] = []
    for word in word_tokenize(caption, engine="newmm", keep_whitespace=False):
        is_thai = any("\u0e01" <= character <= "\u0e5b" for character in word)
        words += [word] if is_thai else unicode_words(word)
    return words


# ``Tokenizer``, and tokenizers by name.


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
    #: Normalizer of words with several spellings; see ``captious.text.stems``.
    form: Callable[[str], str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.name or not all(c.isalnum() or c in ".-_" for c in self.name):
            raise ParameterError(
                f"{self.name!r} cannot name a tokenizer in a signature", hint="use letters, digits and . - _ only"
            )
        if (self.function is None) == (self.rule is None):
            raise ParameterError(
                f"the tokenizer {self.name!r} needs a function",
                hint="pass a function str -> list[str]: Tokenizer('name', function)",
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
                return self._in_context(captions, ids, offsets, vocabulary) if self.as_one_text else (ids, offsets)
            of_captions = [self._call(caption) for caption in captions]
            offsets = np.cumsum([0, *map(len, of_captions)], dtype=np.int64)
            return vocabulary.add(tuple(chain.from_iterable(of_captions))), offsets
        except UnicodeEncodeError:
            raise _surrogates(captions) from None

    def _in_context(
        self, captions: Sequence[str], ids: NDArray[np.int32], offsets: NDArray[np.int64], vocabulary: Vocabulary
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return tokens as in the COCO harness, which tokenizes all captions as one text, a line each.

        Args:
            captions: in the order of the text.
            ids, offsets: tokens of each caption by itself.
            vocabulary: vocabulary to extend.
        """
        parts: list[NDArray[np.int32]] = []
        alone = replace(self, as_one_text=False)
        counts, done = np.diff(offsets), 0
        for i, caption in enumerate(captions[:-1]):
            if not _LOOKS_AHEAD.search(caption):
                continue
            following = "\n".join(captions[i + 1 : i + 1 + _FOLLOWING])
            tail, whole = alone(following), alone(f"{caption}\n{following}")
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

    def _call(self, caption: str) -> Sequence[str]:
        """Call the function and check its result."""
        assert self.function is not None
        tokens = self.function(caption)
        if not isinstance(tokens, list | tuple) or not all(issubclass(kind, str) for kind in {*map(type, tokens)}):
            raise ParameterError(
                f"the tokenizer {self.name} returned {type(tokens).__name__} {shortened(tokens)}",
                where=f"caption {shortened(caption)}",
                hint="a tokenizer must take a string and return a list of strings",
            )
        return tokens


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
SMURF = Tokenizer("smurf", rule=TokenizerRule.whitespace, prepared=smurf_words)
#: All characters but white space, as sacrebleu's ``char``.
CHARACTERS = Tokenizer("char", characters)

_BUILT_IN = {
    tokenizer.name: tokenizer
    for tokenizer in (
        *(PTB, PTB_HARNESS, PTB_RAW, WHITESPACE, SPACES, SMURF),
        Tokenizer("unicode", unicode_words),
        Tokenizer("13a", v13a_tokens),
        Tokenizer("intl", intl_tokens),
        CHARACTERS,
        Tokenizer("zh", zh_tokens),
        Tokenizer("ja-mecab", ja_mecab_tokens),
        Tokenizer("ko-mecab", ko_mecab_tokens),
        Tokenizer("th", thai_words),
        Tokenizer("flores200", flores200_tokens),
    )
}
_PLUGINS = EntryPoints("captious.tokenizers", "tokenizer", tuple(_BUILT_IN))
_registered: dict[str, Tokenizer] = {}


# Ends of captions for two rules of the tokenizer that look at what comes next: one for an initial before the beginning
# of a sentence ("... Wii U." before "A ..."), one for an emoticon, which needs a character behind it.
_LOOKS_AHEAD = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]\.|[:;=8xX<>(\[{|].{0,3})\s*\Z")
_FOLLOWING = 3  # captions, of which the first may be empty


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
            raise ParameterError(f"the name {name} is taken", hint="register the tokenizer under another name")
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
                f"there is no tokenizer {shortened(tokenizer)}",
                hint=f"available tokenizers: {', '.join(tokenizer_names())}"
                + either(python=", or a function", command=""),
            )
        return known_tokenizer
    if not callable(tokenizer):
        raise ParameterError(
            f"{shortened(tokenizer)} is not a tokenizer",
            hint="pass a name, a Tokenizer, or a function str -> list[str]",
        )
    module, name = getattr(tokenizer, "__module__", None), getattr(tokenizer, "__qualname__", None)
    home = f"{module}." if module is not None else ""  # methods of built-in types have no module
    if name is None or "<lambda>" in name:
        raise ParameterError(
            "this tokenizer has no name to show in signatures",
            hint="wrap it: captious.Tokenizer('my-tokenizer', function)",
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
                hint="decode the source as UTF-8, or with errors='replace'",
            )
    return EncodingError("a token contains a lone surrogate, which is not text", hint="check the tokenizer function")
