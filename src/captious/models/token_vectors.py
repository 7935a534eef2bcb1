"""Token vectors of many texts: in memory if they are few, otherwise in a temporary file."""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.errors import OutputError

_MEMORY_LIMIT = 256 << 20  # bytes


class TokenVectors:
    """Token vectors, float32[n_tokens, d] for each text, written in any order and read by text.

    The temporary file has no name: it disappears with this object or with the process, however the process ends.

    Args:
        lengths: number of tokens of each text.
        width: d.
    """

    def __init__(self, lengths: Sequence[int] | NDArray[np.int64], width: int) -> None:
        self.offsets = np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))])
        self.width = width
        self._size = int(self.offsets[-1]) * width * 4
        self._array = np.zeros((int(self.offsets[-1]), width), np.float32) if self._size <= _MEMORY_LIMIT else None
        self._descriptor = -1
        if self._array is None:
            try:
                file = tempfile.TemporaryFile(prefix="captious-", buffering=0)  # noqa: SIM115
            except OSError as error:
                raise self._no_room(error) from error
            self._descriptor = file.fileno()
            weakref.finalize(self, file.close)

    @classmethod
    def of(cls, lengths: NDArray[np.int64], array: NDArray[np.float32]) -> TokenVectors:
        """Wrap existing vectors, float32[n_tokens, d]; they cannot be written."""
        vectors = cls(lengths[:0], array.shape[1])
        vectors.offsets = np.concatenate([[0], np.cumsum(lengths)])
        vectors._array = array
        return vectors

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def array(self) -> NDArray[np.float32]:
        """All vectors, float32[n_tokens, d]; mapped if they are in a file."""
        if self._array is not None:
            return self._array
        os.ftruncate(self._descriptor, self._size)  # unwritten parts are zeros
        mapped: NDArray[np.float32] = np.frombuffer(
            mmap.mmap(self._descriptor, self._size, access=mmap.ACCESS_READ), np.float32
        )
        return mapped.reshape(-1, self.width)

    def write(self, text: int, vectors: NDArray[np.float32]) -> None:
        """Set the vectors of a text, float32[its number of tokens, d].

        Raises:
            OutputError: the file cannot be written; most likely the disk is full.
        """
        start = int(self.offsets[text])
        if self._array is not None:
            self._array[start : start + len(vectors)] = vectors
            return
        data = np.ascontiguousarray(vectors, np.float32).reshape(-1).view(np.uint8).data
        at = start * self.width * 4
        try:
            while len(data):
                n_bytes = os.pwrite(self._descriptor, data, at)
                data, at = data[n_bytes:], at + n_bytes
        except OSError as error:
            raise self._no_room(error) from error

    def read(self, text: int) -> NDArray[np.float32]:
        """Return the vectors of a text, float32[its number of tokens, d]."""
        start, stop = self.offsets[text : text + 2].tolist()
        if self._array is not None:
            return self._array[start:stop]
        out = np.zeros((stop - start, self.width), np.float32)
        data, at = out.reshape(-1).view(np.uint8).data, start * self.width * 4
        while len(data) and (piece := os.pread(self._descriptor, len(data), at)):  # unwritten parts are zeros
            data[: len(piece)] = piece
            data, at = data[len(piece) :], at + len(piece)
        return out

    def read_alike(self, texts: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of texts with equal numbers of tokens, float32[n_texts, tokens of each, d]."""
        starts = self.offsets[texts]
        length = int(self.offsets[texts[0] + 1] - starts[0]) if len(texts) else 0
        if self._array is not None:
            return self._array[starts[:, None] + np.arange(length)]
        out = np.empty((len(texts), length, self.width), np.float32)
        for place, text in zip(out, texts.tolist(), strict=True):
            place[:] = self.read(text)
        return out

    def _no_room(self, error: OSError) -> OutputError:
        return OutputError(
            f"hidden states do not fit in the temporary folder: {error.strerror}",
            where=tempfile.gettempdir(),
            help=f"set TMPDIR to a folder with room for {self._size / (1 << 30):,.1f} GiB, or score fewer captions at "
            "once",
        )
