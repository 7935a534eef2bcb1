"""Annotations of references that a file can keep: what is stored of them, and how a table asks for it.

A layer that can be stored has three members more than a ``ReferenceLayer``; metrics need not know whether an annotation
was computed or read.
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
    """The part of an annotation that a file keeps: arrays by name, and the rest as JSON, read at every opening."""

    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class StorableLayer(Protocol[R]):
    """A layer of references whose annotation a file can keep."""

    @property
    def stored_as(self) -> str | None:
        """All that the annotation depends on besides the references, as text: a name and a version of the layer, and
        fingerprints of all resources. None if that is unknown, as for a tokenizer that is a user's function.
        """
        ...

    def to_stored(self, annotation: R, references: References) -> Stored:
        """The part of the annotation of these references that is kept."""
        ...

    def from_stored(self, stored: Stored, references: References) -> R:
        """The annotation again. Arrays are read-only, may be mapped from the file, and may be anything that has the
        right checksum.

        Raises:
            ValueError, KeyError, TypeError, IndexError, OverflowError: what was stored contradicts itself.
        """
        ...


def stored_key(layer: str, *parts: object) -> str | None:
    """``StorableLayer.stored_as`` of a layer: its name with a version, and what it depends on. None if a part is."""
    return None if None in parts else "|".join([layer, *map(str, parts)])


def text_array(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Texts as an array."""
    return np.frombuffer(json.dumps(list(texts)).encode(), np.uint8)


def texts_of(array: NDArray[Any]) -> list[str]:
    """The texts of ``text_array``.

    Raises:
        ValueError: the array has none.
    """
    texts = json.loads(array.tobytes())
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("the array does not hold a list of texts")
    return texts


def check_words(
    ids: NDArray[Any], offsets: NDArray[Any], *, n_words: int, n_captions: int, what: str = "words"
) -> None:
    """Refuse words of captions that do not fit their vocabulary or the number of captions.

    Args:
        ids: int32[n], the words of all captions, end to end.
        offsets: int64[n_captions + 1], where those of each caption begin and end.
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
