"""The judgments of benchmarks that coefficients are fitted to: half of the images of each.

An image is in the half for development or in that for tests by the checksum of its number, in all benchmarks alike. The
half for tests is only for figures that are reported.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References
from captious.judgment.judging import load_judgments
from captious.judgment.judgments import CaptionPairs, RatedCaptions
from captious.text.tokens import ranges

__all__ = ["BENCHMARKS", "half", "is_of_tests"]

#: The benchmarks, as ``captious judge`` names them.
BENCHMARKS = ("flickr8k-expert", "flickr8k-cf", "composite", "pascal-50s", "sugarcrepe", "sugarcrepe-pp", "valse")


def is_of_tests(image: str) -> bool:
    """Return whether an image, given by its id or file name, is in the half for tests."""
    (number,) = re.findall(r"[1-9]\d*", re.sub(r".*20\d\d_|_[0-9a-f]{10}\b|\.\w+\Z", "", image))[:1] or [image]
    return zlib.crc32(number.encode()) % 2 == 1


def half(benchmark: str, data: Path, *, of_tests: bool) -> RatedCaptions | CaptionPairs:
    """Return the judgments of a benchmark on one half of its images."""
    judgments = load_judgments(benchmark, data)
    assert isinstance(judgments, RatedCaptions | CaptionPairs)
    rows = np.array([is_of_tests(str(image)) == of_tests for image in judgments.captions.references.images])
    captions = _taken(judgments.captions, np.flatnonzero(rows))
    if isinstance(judgments, RatedCaptions):
        ratings = [ratings for ratings, kept in zip(judgments.ratings, rows.tolist(), strict=True) if kept]
        units = np.unique(judgments.units[rows], return_inverse=True)[1]
        raters = None if judgments.raters is None else judgments.raters[rows]
        return replace(judgments, captions=captions, ratings=ratings, units=units, raters=raters)
    pairs = rows if judgments.draws is None else rows[np.unique(judgments.draws, return_index=True)[1]]
    kept = np.flatnonzero(pairs[::2])
    draws = None if judgments.draws is None else np.unique(judgments.draws[rows], return_inverse=True)[1]
    return replace(
        judgments,
        captions=captions,
        preferred=judgments.preferred[kept],
        units=np.unique(judgments.units[kept], return_inverse=True)[1],
        parts=judgments.parts[kept],
        draws=draws,
    )


def _taken(captions: Captions, rows: NDArray[np.int64]) -> Captions:
    references = captions.references
    lengths = np.diff(references.offsets)[rows]
    texts = tuple(references.texts[i] for i in ranges(references.offsets[rows], lengths).tolist())
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Captions(
        tuple(captions.candidates[i] for i in rows.tolist()), References(tuple(range(len(rows))), texts, offsets)
    )
