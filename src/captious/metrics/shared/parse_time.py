"""How long the parses of long captions take, said before they are made."""

from __future__ import annotations

import numpy as np

from captious.data import Captions
from captious.parsing.caption_parser import CaptionParser
from captious.parsing.parsed_captions import ParseSource
from captious.text import Tokenizer, Tokens, WordLayer
from captious.text.sentences import LONG_SENTENCE

_SECONDS = 0.25  # CPU seconds of a sentence of 100 words, with the bundled grammar
_WORDS = 100  # beyond which captions are cut for the parser
_PATIENCE = 20.0  # seconds that are not worth a word


def n_long_captions(captions: Captions, tokenizer: Tokenizer) -> int:
    """The number of candidates and references that have more words than a sentence usually has."""
    sides: tuple[Tokens, Tokens] = captions.layer(WordLayer(tokenizer))
    return sum(int((side.lengths > LONG_SENTENCE).sum()) for side in sides)


def slow_parses(captions: Captions, tokenizer: Tokenizer, parser: ParseSource) -> str:
    """What would take long, as the end of a sentence; empty if it takes less than 20 seconds.

    Args:
        captions: candidates and references, each of which is parsed as one sentence.
        tokenizer: how they become words.
        parser: only those of the package take time.
    """
    if not isinstance(parser, CaptionParser):
        return ""
    sides: tuple[Tokens, Tokens] = captions.layer(WordLayer(tokenizer))
    lengths = np.concatenate([side.lengths for side in sides]) / _WORDS
    seconds = _SECONDS * float(np.where(lengths > 1, lengths, lengths**3)[lengths * _WORDS > LONG_SENTENCE].sum())
    if seconds < _PATIENCE:
        return ""
    duration = f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:,.0f} minutes"
    n = n_long_captions(captions, tokenizer)
    return f"parses {n:,} captions of more than {LONG_SENTENCE} words, each as one sentence, in about {duration}"
