"""Estimates of the time to parse long captions, announced before parsing."""

from __future__ import annotations

import numpy as np

from captious.data import Captions
from captious.parsing.caption_parser import CaptionParser
from captious.parsing.parsed_captions import ParseSource
from captious.phrases import counted
from captious.text import Tokenizer, Tokens, WordLayer
from captious.text.sentences import LONG_SENTENCE

_SECONDS_PER_WORD = 2e-4  # CPU time in long sentences, if parsing takes linear time
_SECONDS_PER_HUNDRED_WORDS = 5.3  # CPU time of such a sentence, if parsing takes cubic time
_WORDS = 100  # longer captions are cut for the parser
_PATIENCE = 20.0  # seconds; shorter times are not announced


def n_long_captions(captions: Captions, tokenizer: Tokenizer) -> int:
    """Return the number of candidates and references with more words than a usual sentence."""
    sides: tuple[Tokens, Tokens] = captions.layer(WordLayer(tokenizer))
    return sum(int((side.lengths > LONG_SENTENCE).sum()) for side in sides)


def slow_parses(captions: Captions, tokenizer: Tokenizer, parser: ParseSource) -> str:
    """Return what would take long, as the end of a sentence; empty if it takes less than 20 seconds.

    Args:
        captions: candidates and references, each of which is parsed as one sentence.
        tokenizer: the tokenizer.
        parser: the parser; only those of the package take time.
    """
    if not isinstance(parser, CaptionParser):
        return ""
    sides: tuple[Tokens, Tokens] = captions.layer(WordLayer(tokenizer))
    lengths = np.concatenate([side.lengths for side in sides])
    lengths = lengths[lengths > LONG_SENTENCE]
    if parser.parser.is_linear:
        seconds = _SECONDS_PER_WORD * float(lengths.sum())
    else:
        hundreds = lengths / _WORDS
        seconds = _SECONDS_PER_HUNDRED_WORDS * float(np.where(hundreds > 1, hundreds, hundreds**3).sum())
    if seconds < _PATIENCE:
        return ""
    duration = f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:,.0f} minutes"
    n = n_long_captions(captions, tokenizer)
    return (
        f"parses {counted(n, 'caption')} of more than {LONG_SENTENCE} words, each as one sentence, in about {duration}"
    )
