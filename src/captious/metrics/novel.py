"""Novel: the share of candidates that are not among the training captions of the system.

Papers on diversity report it as a percentage (Shetty et al. 2017; Wang and Chan 2019). `language_eval` of
self-critical.pytorch divides the number of distinct novel captions by that of all captions, which is not a mean over
images; a report of several candidates per image also includes that number (``captious.evaluation.description``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, KeyedByFields, References, read_references
from captious.errors import ParameterError, setting
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import ResourceParameter
from captious.native import Vocabulary
from captious.text import Tokenizer, Tokens, WordLayer


@dataclass(frozen=True, eq=False)
class KnownCaptions:
    """Captions as word ids of a vocabulary.

    Args:
        vocabulary: their words.
        captions: the ids of each caption, int32, as bytes.
    """

    vocabulary: Vocabulary
    captions: frozenset[bytes]

    def has(self, tokens: Tokens) -> NDArray[np.bool_]:
        """Return whether each caption is one of them, bool[n_captions]."""
        shared = tokens.vocabulary is self.vocabulary
        ids = tokens.ids if shared else tokens.vocabulary.ids_in(self.vocabulary)[tokens.ids]  # -1: in none of them
        return np.fromiter((caption in self.captions for caption in _caption_bytes(ids, tokens.offsets)), bool)


def known_captions(training: References, tokenizer: Tokenizer) -> KnownCaptions:
    """Return the captions of a table; the same object for the same table and tokenizer."""
    return training.layer(_KnownLayer(tokenizer))


@dataclass(frozen=True)
class _KnownLayer(KeyedByFields):
    """Known captions as a layer of references, so that they are tokenized once."""

    tokenizer: Tokenizer

    def of_references(self, references: References) -> KnownCaptions:
        tokens: Tokens = references.layer(WordLayer(self.tokenizer))
        return KnownCaptions(tokens.vocabulary, frozenset(_caption_bytes(tokens.ids, tokens.offsets)))


def _caption_bytes(ids: NDArray[np.int32], offsets: NDArray[np.int64]) -> list[bytes]:
    raw = ids.astype(np.int32, copy=False).tobytes()
    return [raw[start:end] for start, end in pairwise((4 * offsets).tolist())]


def training_label(training: References) -> str:
    """Return the training captions in signatures: the file's name, number of captions and the start of a checksum."""
    import hashlib  # loads megabytes of OpenSSL

    digest = hashlib.sha256("\n".join(sorted(training.texts)).encode()).hexdigest()
    name = Path(training.name).name.partition(".")[0]
    return f"{name}-{len(training.texts)}-{digest[:8]}"


class _TrainingCaptions(ResourceParameter[References | str | os.PathLike[str] | None, References]):
    """The captions that a system was trained on."""

    in_labels = False
    required = True

    def check(self, metric: Any, value: Any) -> References:
        if value is None:
            raise ParameterError(
                f"{metric.name} needs the captions that the system was trained on",
                help=f"give a file of captions: {setting('training', 'FILE')}",
            )
        return read_references(value)

    def shown(self, value: References) -> str:
        return training_label(value)


class Novel(MeanMetric):
    """1 for a caption that is not a training caption, 0 for one that is. The corpus score is the mean.

    Captions are equal if their tokens are.

    Raises:
        ParameterError: no training captions.
        InputError: training captions that cannot be read.
    """

    name = "novel"
    summary = "whether a caption is not among the training captions"
    variants: ClassVar[Mapping[str, str]] = {"paper": "captions of equal tokens are the same"}
    needs_references = False

    training: _TrainingCaptions = _TrainingCaptions(
        default=None, summary="captions that the system was trained on: a file that references are read from"
    )

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        captions_of_training = known_captions(self.training, self.tokenizer)
        return (~captions_of_training.has(captions.layer(WordLayer(self.tokenizer))[0])).astype(np.float64)
