"""The metric of Yi et al. without a model: the share of the words of all references together that the candidate has.

Yi, Deng and Hu 2020, the variant on unigrams; official implementation: run_metric_simple.py of their code.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.text import Tokenizer, TokenLayer, Tokens
from captious.text.stop_words import StopWords, as_stop_words

__all__ = ["Yi2020Unigram"]


class Yi2020Unigram(MeanMetric):
    """Share of the references' distinct words that occur in the candidate, excluding stop words.

    0 to 1, higher is better; 0 if the references hold nothing but stop words. The corpus score is the mean.

    Args:
        stop_words: a file with one word per line, or words; None for NLTK's list.
        variant: see ``variants``.
        tokenizer: see ``captious.text.as_tokenizer``. The official one splits at white space and keeps case.

    Raises:
        ResourceError: a file of stop words that cannot be read.
    """

    name = "yi2020-unigram"
    summary = "share of the words of all references together found in the candidate"
    variants: ClassVar[Mapping[str, str]] = {"official": "run_metric_simple.py"}

    def __init__(
        self,
        *,
        stop_words: StopWords | str | os.PathLike[str] | Iterable[str] | None = None,
        variant: str | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "whitespace",
    ) -> None:
        super().__init__(variant=variant, tokenizer=tokenizer)
        self.stop_words = as_stop_words(stop_words)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "stop-words": self.stop_words.name}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(TokenLayer(self.tokenizer))
        words = candidates.vocabulary.words()
        content = np.array([word not in self.stop_words for word in words], bool)
        image = np.repeat(np.arange(len(captions)), np.diff(captions.references.offsets))
        wanted = _pairs(references, image, content)
        found = np.intersect1d(wanted, _pairs(candidates, np.arange(len(captions)), content), assume_unique=True)
        of_image = [np.bincount(pairs // max(len(words), 1), minlength=len(captions)) for pairs in (found, wanted)]
        return np.asarray(of_image[0] / np.maximum(of_image[1], 1))


def _pairs(tokens: Tokens, image: NDArray[np.int64], content: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Each distinct content word of an image once, as a number: image * size of the vocabulary + word.

    Args:
        image: int64[n_captions], the image of each caption.
        content: bool[size of the vocabulary].
    """
    kept = content[tokens.ids]
    return np.unique(np.repeat(image, tokens.lengths)[kept] * len(content) + tokens.ids[kept])
