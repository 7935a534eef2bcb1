"""The PTB tokenizer under the name ``evaluation.tokenizer.PTBTokenizer``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from captious.compat.pycocoevalcap import ptb_tokenizer
from captious.errors import CaptionTypeError

__all__ = ["PTBTokenizer"]


class PTBTokenizer:
    """Penn Treebank tokens, as in ``captious.compat.pycocoevalcap``, as a class method."""

    punctuations = ptb_tokenizer.PUNCTUATIONS
    eos_token = "<eos>"

    @classmethod
    def tokenize(
        cls, corpus: Sequence[str] | Sequence[Sequence[str]] | Mapping[Any, Sequence[str]], add_eos: bool = False
    ) -> dict[Any, list[str]]:
        """Tokenize captions.

        Args:
            corpus: a list of captions, or of lists of captions, or a mapping from ids to lists of captions.
            add_eos: append ``eos_token`` to every caption, as in a fork.

        Returns:
            id, or position in the list -> list of tokenized captions. Empty if there are no captions.

        Raises:
            CaptionTypeError, EncodingError: a value that is not a caption; the error names its id.
        """
        if isinstance(corpus, str) or not isinstance(corpus, Mapping | Sequence):
            raise CaptionTypeError("captions are neither in a list nor in a dictionary", where=f"{corpus!r:.80}")
        groups = corpus if isinstance(corpus, Mapping) else dict(enumerate(corpus))
        raw = {key: _annotations(key, group) for key, group in groups.items()}
        tokenized = ptb_tokenizer.PTBTokenizer().tokenize(raw)
        if not add_eos:
            return tokenized
        return {key: [f"{text} {cls.eos_token}" for text in texts] for key, texts in tokenized.items()}


def _annotations(key: Any, group: Any) -> list[dict[str, Any]]:
    """Return a caption or a list of captions as input of the toolkit's tokenizer."""
    if not isinstance(group, str | list | tuple):
        raise CaptionTypeError("captions are neither text nor in a list", where=f"{key!r}: {group!r:.80}")
    return [{"caption": text} for text in ([group] if isinstance(group, str) else group)]
