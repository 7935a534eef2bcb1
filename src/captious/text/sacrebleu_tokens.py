"""Tokens of sacrebleu (Post 2018) for BLEU.

Each function returns the tokens that sacrebleu 2 counts, after trailing white space is removed. Case is kept, and
punctuation marks are tokens. ``13a``, ``intl`` and ``zh`` follow sacrebleu's rules with their errors: ``zh`` treats
quotes and dashes as Chinese, but not ideographs beyond the basic plane. Tokenizers that need a dictionary or a model
are sacrebleu's own.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache

from captious.errors import MissingExtraError, ResourceError

# Captions of ASCII letters in words, with a comma or full stop behind some: most English captions.
_PLAIN = re.compile(r"[A-Za-z]*+(?:[.,]?+ +[A-Za-z]+)*+[.,]?+\s*")
_WESTERN = (
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_CHINESE = re.compile(
    "[\u2001-\u2a6d\u2e80-\u2fdf\u2ff0-\u303f\u3100-\u312f\u31a0-\u31ef\u3200-\u4db5\u4e00-\u9fbb"
    "\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\ufe10-\ufe1f\ufe30-\ufe4f\uff00-\uffef]"
)


def v13a_tokens(caption: str) -> list[str]:
    """Tokenize as mteval-v13a, the tokenizer of WMT and sacrebleu's default."""
    if _PLAIN.fullmatch(caption):
        return caption.replace(",", " , ").replace(".", " . ").split()
    text = caption.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return _western(f" {text} ")


def zh_tokens(caption: str) -> list[str]:
    """Split off Chinese characters and punctuation marks one by one, and tokenize the rest as ``13a``."""
    return _western(_CHINESE.sub(r" \g<0> ", caption.strip()))


def _western(text: str) -> list[str]:
    for rule, to in _WESTERN:
        text = rule.sub(to, text)
    return text.split()


def intl_tokens(caption: str) -> list[str]:
    """Tokenize as mteval-v14 with --international-tokenization: at the punctuation and symbols of all scripts."""
    text = caption.rstrip()
    for rule, to in _international():
        text = rule(to, text)
    return text.split()


@cache
def _international() -> list[tuple[Callable[[str, str], str], str]]:
    import regex

    rules = ((r"(\P{N})(\p{P})", r"\1 \2 "), (r"(\p{P})(\P{N})", r" \1 \2"), (r"(\p{S})", r" \1 "))
    return [(regex.compile(rule).sub, to) for rule, to in rules]


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
            f"the tokenizer {name} needs sacrebleu and its dictionaries", help="pip install 'captious[languages]'"
        ) from error
    except OSError as error:
        raise ResourceError(
            f"the model of the tokenizer {name} cannot be downloaded: {error}",
            help="sacrebleu downloads it once, to ~/.sacrebleu/models: connect, or copy the file there",
        ) from error
    return tokenizer
