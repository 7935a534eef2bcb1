"""WMD: the transport of words from the nearest reference to each candidate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.metrics.wmd import Wmd
from captious.models.embedded_words import BagLayer
from captious.report.page.explanations.explained import Explained


def pack(metric: Wmd, explained: Explained) -> dict[str, Any]:
    """Pack, per system, the nearest reference of each image, and the moves of all images: a pair of words, and a share.

    The distance of a pair of words is stored once, however often it occurs.
    """
    columns = explained.columns
    pairs: dict[tuple[str, str], int] = {}
    distances: list[float] = []
    systems = []
    for report in explained.reports:
        captions = report.single_captions
        offsets = captions.references.offsets
        nearest = _nearest(metric.distances(captions), offsets)
        words = captions.layer(BagLayer(metric.words))[0].table.words
        counts, moves, shares = [], [], []
        for plan in metric.plans(captions, explained.rows.tolist(), nearest):
            counts.append(len(plan))
            for word, reference_word, share, distance in plan:
                pair = words[word], words[reference_word]
                if pair not in pairs:
                    pairs[pair] = len(pairs)
                    distances.append(distance)
                moves.append(pairs[pair])
                shares.append(share)
        systems.append(
            {
                "reference": columns.integers((nearest - offsets[:-1])[explained.rows]),
                "counts": columns.integers(counts),
                "moves": columns.integers(moves),
                "shares": columns.numbers(np.array(shares, np.float64)),
            }
        )
    numbers = {word: number for number, word in enumerate(dict.fromkeys(word for pair in pairs for word in pair))}
    return {
        "systems": systems,
        "words": columns.strings([*numbers]),
        "pairs": [columns.integers([numbers[pair[side]] for pair in pairs]) for side in (0, 1)],
        "distances": columns.numbers(np.array(distances, np.float64)),
        "sigma": metric.sigma,
    }


def _nearest(distances: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the first of the nearest references of each image, as indices of all references."""
    least = np.repeat(np.minimum.reduceat(distances, offsets[:-1]), np.diff(offsets))
    nearest = np.flatnonzero(distances == least)
    return nearest[np.searchsorted(nearest, offsets[:-1])]
