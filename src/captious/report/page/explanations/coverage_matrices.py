"""coverage: the sentences of candidates and references, and how well they agree."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from captious.metrics.shared.sentence_coverage import SentenceCoverage
from captious.report import numbers
from captious.report.page.explanations.explained import Explained

__all__ = ["pack"]


def pack(metric: SentenceCoverage, explained: Explained) -> dict[str, Any]:
    """The sentences of each reference, and per system the sentences of each candidate and all scores of pairs."""
    columns, rows = explained.columns, explained.rows.tolist()
    references = explained.reports[0].captions.references
    state = metric.fit(references)
    systems = []
    sides: list[tuple[str, ...]] = []
    for report in explained.reports:
        matrices = [*metric.matrices(report.single_captions, state, rows)]
        sides = sides or [side for of_image in matrices for side in of_image.references]
        cells = [value for of_image in matrices for line in of_image.matrix for value in line]
        systems.append(
            {
                "sentences": columns.strings(
                    [numbers.plain(text) for text in chain.from_iterable(m.sentences for m in matrices)]
                ),
                "counts": columns.integers([len(of_image.sentences) for of_image in matrices]),
                "cells": columns.numbers(np.array(cells, np.float64)),
            }
        )
    return {
        "sentences": columns.strings([numbers.plain(text) for text in chain.from_iterable(sides)]),
        "counts": columns.integers([*map(len, sides)]),
        "references": columns.integers(np.diff(references.offsets)[explained.rows]),
        "systems": systems,
    }
