"""A bounded cache of model outputs for texts, so that systems with equal captions share the work."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

V = TypeVar("V")


class TextCache(Generic[V]):
    """A thread-safe least-recently-used cache of values for texts.

    Args:
        size: maximum number of values, at least 1.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[str, V] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Return the number of cached values."""
        return len(self._values)

    def get(self, texts: Sequence[str], compute: Callable[[list[str]], Iterable[V]]) -> list[V]:
        """Return the value of each text.

        Args:
            texts: n texts; equal ones are computed once.
            compute: returns the values of the distinct texts that are not cached, in their order. It runs outside the
                lock.
        """
        distinct = dict.fromkeys(texts)
        with self._lock:
            values = {text: self._values[text] for text in distinct if text in self._values}
            for text in values:
                self._values.move_to_end(text)
        new = [text for text in distinct if text not in values]
        if new:
            computed = dict(zip(new, compute(new), strict=True))
            values |= computed
            with self._lock:
                self._values.update(computed)
                while len(self._values) > self._size:
                    self._values.popitem(last=False)
        return [values[text] for text in texts]
