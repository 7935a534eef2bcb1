"""Where the COCO harness cuts a caption by what the next one begins with.

The harness gives the official tokenizer all captions of a call as one text, a line each, and two of its rules look
across the end of a line: one for an initial before the beginning of a sentence ("... Wii U." before "A ..."), one for
an emoticon, which needs a character behind it. Only captions that end so have to be looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from captious.native import Cut, Vocabulary

__all__ = ["tokens_in_context"]

#: Ends of captions that the rules may be about: a letter by itself with a full stop, and something like an emoticon.
_LOOKS_AHEAD = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]\.|[:;=8xX<>(\[{|].{0,3})\s*\Z")
_FOLLOWING = 3  # captions, of which the first may be empty


def tokens_in_context(captions: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Captions whose tokens may depend on the next caption: position, and its tokens in context.

    Args:
        captions: all captions of the text, in its order.
    """
    for i, caption in enumerate(captions[:-1]):
        if not _LOOKS_AHEAD.search(caption):
            continue
        following = "\n".join(captions[i + 1 : i + 1 + _FOLLOWING])
        tail, whole = _tokens(following), _tokens(f"{caption}\n{following}")
        n = len(whole) - len(tail)
        if n >= 0 and whole[n:] == tail:
            yield i, whole[:n]


def _tokens(text: str) -> list[str]:
    vocabulary = Vocabulary()
    ids, _ = vocabulary.encode((text,), Cut.ptb, 1)
    words = vocabulary.words()
    return [words[i] for i in ids.tolist()]
