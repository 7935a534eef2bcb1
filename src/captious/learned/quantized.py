"""Matrices as 8-bit integers with one scale per row, as weights files store them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["packed", "unpacked"]


def packed(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Rows as 8-bit integers, and a scale for each."""
    scales = np.maximum(np.abs(rows).max(axis=1), 1e-12).astype(np.float32) / np.float32(127)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales


def unpacked(rows: NDArray[np.int8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows again.

    Raises:
        ValueError: shapes or types that do not match.
    """
    if rows.dtype != np.int8 or rows.ndim != 2 or scales.shape != (len(rows),):
        raise ValueError("rows and scales do not match")
    return rows.astype(np.float32) * scales.astype(np.float32)[:, None]
