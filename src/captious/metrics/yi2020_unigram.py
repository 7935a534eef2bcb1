"""The metric of Yi et al. without a model: the share of the words of all references together in the candidate.

Yi, Deng and Hu 2020, the variant on unigrams; official implementation: run_metric_simple.py of their code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import TokenizerParameter
from captious.metrics.shared.stop_words_parameter import StopWordsParameter
from captious.text import TokenLayer, Tokens


class Yi2020Unigram(MeanMetric):
    """Share of the references' distinct words that occur in the candidate, excluding stop words.

    0 to 1, higher is better; 0 if the references have only stop words. The corpus score is the mean.

    Raises:
        ResourceError: a file of stop words that cannot be read.
    """

    name = "yi2020-unigram"
    english_only = True
    summary = "share of the words of all references together found in the candidate"
    variants: ClassVar[Mapping[str, str]] = {"official": "run_metric_simple.py"}

    tokenizer: TokenizerParameter = TokenizerParameter(default="whitespace", summary="how captions become words")
    stop_words: StopWordsParameter = StopWordsParameter(default=None)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(TokenLayer(self.tokenizer))
        words = candidates.vocabulary.words()
        content = np.array([word not in self.stop_words for word in words], bool)
        image = np.repeat(np.arange(len(captions)), np.diff(captions.references.offsets))
        all_pairs = _pairs(references, image, content)
        shared = np.intersect1d(all_pairs, _pairs(candidates, np.arange(len(captions)), content), assume_unique=True)
        of_image = [np.bincount(pairs // max(len(words), 1), minlength=len(captions)) for pairs in (shared, all_pairs)]
        return np.asarray(of_image[0] / np.maximum(of_image[1], 1))


def _pairs(tokens: Tokens, image: NDArray[np.int64], content: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return each distinct content word of an image once, as a number: image * size of the vocabulary + word.

    Args:
        image: int64[n_captions], the image of each caption.
        content: bool[size of the vocabulary].
    """
    is_content = content[tokens.ids]
    return np.unique(np.repeat(image, tokens.lengths)[is_content] * len(content) + tokens.ids[is_content])
