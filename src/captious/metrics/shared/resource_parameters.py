"""Resources that several metrics take as parameters: document frequencies and stop words."""

from __future__ import annotations

import os
from collections.abc import Iterable

from captious.metrics.contract.parameters import Resource
from captious.metrics.shared.document_frequencies import DocumentFrequencies, as_frequencies
from captious.text.stop_words import StopWords, as_stop_words

__all__ = ["FrequenciesParameter", "StopWordsParameter"]


class FrequenciesParameter(Resource[DocumentFrequencies | str | os.PathLike[str] | None, DocumentFrequencies | None]):
    """Document frequencies, or a file of them; None to count the references that are scored against."""

    def __init__(self, *, default: None = None) -> None:
        super().__init__(
            default=default,
            read=as_frequencies,
            keep_none=True,
            summary="document frequencies: a file, or coco-val; none to count the references",
            signature_key="",  # what was counted is known after the fit
        )


class StopWordsParameter(Resource[StopWords | str | os.PathLike[str] | Iterable[str] | None, StopWords]):
    """A file with one word per line, or words; None for the metric's default, NLTK's list."""

    def __init__(self, *, default: None = None) -> None:
        super().__init__(
            default=default, read=as_stop_words, show=lambda words: words.name, summary="stop words: a file"
        )
