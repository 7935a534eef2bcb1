"""coverage: the sentences of candidates and references, and how well they match."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from captious.metrics.shared.sentence_coverage import CoveredSentence, SentenceCoverage
from captious.report import numbers
from captious.report.page.explanations.explained import Explained


def pack(metric: SentenceCoverage, explained: Explained) -> dict[str, Any]:
    """Pack the sentences of each reference, and per system the sentences of each candidate and all pair scores."""
    columns, rows = explained.columns, explained.rows.tolist()
    references = explained.reports[0].captions.references
    n_references = np.diff(references.offsets)[explained.rows]
    state = metric.fit(references)
    of_systems = [[*metric.matrices(report.single_captions, state, rows)] for report in explained.reports]
    return {
        "sentences": columns.strings([text for matrix in of_systems[0] for text in _texts(matrix.references)]),
        "counts": columns.integers(
            [
                count
                for matrix, n in zip(of_systems[0], n_references.tolist(), strict=True)
                for count in _lengths(matrix.references, n)
            ]
        ),
        "references": columns.integers(n_references),
        "systems": [
            {
                "sentences": columns.strings([text for matrix in matrices for text in _texts(matrix.candidate)]),
                "counts": columns.integers([len(matrix.candidate) for matrix in matrices]),
                "cells": columns.numbers(np.array([cell for m in matrices for row in m.matrix for cell in row], float)),
            }
            for matrices in of_systems
        ],
    }


def _texts(sentences: tuple[CoveredSentence, ...]) -> list[str]:
    return [numbers.single_line(sentence.text) for sentence in sentences]


def _lengths(sentences: tuple[CoveredSentence, ...], n_references: int) -> list[int]:
    """Return the number of sentences of each reference of an image; their names begin with that of the reference."""
    counts = Counter(int(sentence.name.partition(".")[0]) for sentence in sentences)
    return [counts[number] for number in range(1, n_references + 1)]
