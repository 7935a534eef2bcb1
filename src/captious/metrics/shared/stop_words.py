"""Stop words as a parameter of metrics; a separate module, so that it does not import metrics of word vectors."""

from __future__ import annotations

import os
from collections.abc import Iterable

from captious.metrics.contract.parameters import ResourceParameter
from captious.text.stop_words import StopWords, as_stop_words


class StopWordsParameter(ResourceParameter[StopWords | str | os.PathLike[str] | Iterable[str] | None, StopWords]):
    """A file with one word per line, or words; None for the metric's default, NLTK's list."""

    def __init__(self, *, default: None = None) -> None:
        super().__init__(
            default=default, read=as_stop_words, show=lambda words: words.name, summary="stop words: a file"
        )
