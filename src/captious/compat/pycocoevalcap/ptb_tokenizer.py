"""The PTB tokenizer under the toolkit's name, ``pycocoevalcap.tokenizer.ptbtokenizer.PTBTokenizer``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from captious.compat.pycocoevalcap.harness_input import raw_texts
from captious.native import Vocabulary
from captious.text import PTB_HARNESS

__all__ = ["PUNCTUATIONS", "PTBTokenizer"]

#: The tokens that are dropped. Brackets are not: they are lower-cased before.
PUNCTUATIONS = [
    *("''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-"),
    *(".", "?", "!", ",", ":", "-", "--", "...", ";"),
]


class PTBTokenizer:
    """Penn Treebank tokens as the toolkit gets them from CoreNLP 3.4.1: lower-cased, most punctuation dropped.

    All captions of a call are one text, as in the toolkit: the tokens of a few of them depend on the beginning of the
    next one.

    Args:
        verbose: accepted and ignored; this tokenizer prints nothing.
    """

    def __init__(self, verbose: bool = True) -> None:
        self.verbose = verbose

    def tokenize(self, captions_for_image: Mapping[Any, Sequence[Mapping[str, Any]]]) -> dict[Any, list[str]]:
        """Tokenize captions.

        Args:
            captions_for_image: image id -> list of ``{"caption": text}``; other keys are ignored.

        Returns:
            image id -> list of tokenized captions, a space between tokens, in the original order. Ids
            without captions are left out, as in the toolkit.

        Raises:
            CaptionTypeError, EncodingError: a value that is not a caption; the error names the image.
        """
        texts = raw_texts(captions_for_image)
        vocabulary = Vocabulary()
        ids, offsets = PTB_HARNESS.encode([text for group in texts.values() for text in group], vocabulary)
        tokens = list(map(vocabulary.words().__getitem__, ids.tolist()))
        lines = (" ".join(tokens[start:end]) for start, end in pairwise(offsets.tolist()))
        return {image: [next(lines) for _ in group] for image, group in texts.items() if group}
