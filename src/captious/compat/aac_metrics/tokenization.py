"""The functions of ``aac_metrics.utils.tokenization``, for PTB tokens."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from captious.compat.pycocoevalcap.ptb_tokenizer import PUNCTUATIONS, PTBTokenizer
from captious.errors import ParameterError

__all__ = ["PTB_PUNCTUATIONS", "preprocess_mono_sents", "preprocess_mult_sents", "ptb_tokenize_batch"]

PTB_PUNCTUATIONS = tuple(PUNCTUATIONS)


def ptb_tokenize_batch(
    sentences: Iterable[str],
    audio_ids: object = None,
    cache_path: object = None,
    java_path: object = None,
    tmp_path: object = None,
    punctuations: Iterable[str] = PTB_PUNCTUATIONS,
    normalize_apostrophe: bool = False,
    verbose: int = 0,
) -> list[list[str]]:
    """Return the PTB tokens of captions, lower-cased, without punctuation. All captions are one text, as in the
    toolkit.

    Args:
        sentences: the captions.
        audio_ids, cache_path, java_path, tmp_path, verbose: ignored.
        punctuations: the tokens to drop; must be the default.
        normalize_apostrophe: must be False.

    Raises:
        ParameterError: other punctuation, or rules for French.
    """
    if set(punctuations) != set(PTB_PUNCTUATIONS) or normalize_apostrophe:
        raise ParameterError(
            "PTB tokens are only made with the toolkit's default settings",
            help="leave punctuations and normalize_apostrophe out",
        )
    tokenized = PTBTokenizer().tokenize({0: [{"caption": text} for text in sentences]})
    return [text.split(" ") if text else [] for text in tokenized[0]]


def preprocess_mono_sents(
    sentences: list[str],
    cache_path: object = None,
    java_path: object = None,
    tmp_path: object = None,
    punctuations: Iterable[str] = PTB_PUNCTUATIONS,
    normalize_apostrophe: bool = False,
    verbose: int = 0,
) -> list[str]:
    """Return captions tokenized by ``ptb_tokenize_batch``, with a space between tokens."""
    tokens_of = ptb_tokenize_batch(sentences, punctuations=punctuations, normalize_apostrophe=normalize_apostrophe)
    return [" ".join(tokens) for tokens in tokens_of]


def preprocess_mult_sents(
    mult_sentences: list[list[str]],
    cache_path: object = None,
    java_path: object = None,
    tmp_path: object = None,
    punctuations: Iterable[str] = PTB_PUNCTUATIONS,
    normalize_apostrophe: bool = False,
    verbose: int = 0,
) -> list[list[str]]:
    """Apply ``preprocess_mono_sents`` to lists of captions."""
    flat = [*chain.from_iterable(mult_sentences)]
    texts = iter(preprocess_mono_sents(flat, punctuations=punctuations, normalize_apostrophe=normalize_apostrophe))
    return [[next(texts) for _ in group] for group in mult_sentences]
