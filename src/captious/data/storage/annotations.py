"""Annotations of references as they are stored in files.

A storable layer has three more members than a ``ReferenceLayer``. Metrics need not know whether an annotation was
computed or read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from captious.data.captions import References

R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Stored:
    """The stored part of an annotation: arrays by name, and other values as JSON, which is read whenever the file is
    opened.
    """

    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class StorableLayer(Protocol[R]):
    """A layer of references whose annotation can be stored in a file."""

    @property
    def stored_as(self) -> str | None:
        """Everything that the annotation depends on besides the references, as text.

        This is the name and version of the layer and the fingerprints of its resources. None if it is unknown, as for a
        user-defined tokenizer function.
        """
        ...

    def to_stored(self, annotation: R, references: References) -> Stored:
        """Return the part of the annotation of these references that is stored."""
        ...

    def from_stored(self, stored: Stored, references: References) -> R:
        """Restore an annotation.

        Its arrays are read-only and may be mapped from the file. Only their checksums have been verified, not their
        contents.

        Raises:
            ValueError, KeyError, TypeError, IndexError, OverflowError: the stored values contradict each other.
        """
        ...


def stored_key(layer: str, *parts: object) -> str | None:
    """``StorableLayer.stored_as`` of a layer; None for layers that cannot be stored."""
    return None if None in parts else "|".join([layer, *map(str, parts)])


def text_array(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Encode texts as an array."""
    return np.frombuffer(json.dumps(list(texts)).encode(), np.uint8)


def texts_of(array: NDArray[Any]) -> list[str]:
    """Decode the texts that ``text_array`` encoded.

    Raises:
        ValueError: the array does not hold texts.
    """
    texts = json.loads(array.tobytes())
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("the array does not hold a list of texts")
    return texts


def check_words(
    ids: NDArray[Any], offsets: NDArray[Any], *, n_words: int, n_captions: int, what: str = "words"
) -> None:
    """Check that word ids fit their vocabulary and the number of captions.

    Args:
        ids: int32[n], the words of all captions, concatenated.
        offsets: int64[n_captions + 1], the boundaries of the captions.
        n_words: size of the vocabulary.

    Raises:
        ValueError: they do not fit.
    """
    sound = (
        ids.dtype == np.int32
        and ids.ndim == 1
        and offsets.dtype == np.int64
        and offsets.shape == (n_captions + 1,)
        and offsets[0] == 0
        and offsets[-1] == len(ids)
        and bool((np.diff(offsets) >= 0).all())
        and ids.min(initial=0) >= 0
        and ids.max(initial=-1) < n_words
    )
    if not sound:
        raise ValueError(f"{what} that contradict each other")
