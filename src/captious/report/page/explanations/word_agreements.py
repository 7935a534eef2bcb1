"""captious: which words of candidates agree with the references, and what they miss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from captious.evaluation import Report
from captious.learned.caption_agreement.caption_explanation import Agreement
from captious.learned.captious_metric import Captious
from captious.report.page.caption_words import TokenTable
from captious.report.page.explanations.explained import Explained
from captious.report.page.packed_columns import Column, Columns
from captious.text import WordLayer


def pack(metric: Captious, explained: Explained) -> dict[str, Any]:
    """Pack the tokens of captions, and per system the agreement of each word, missing words, and the features."""
    number, table = explained.tokens(WordLayer(metric.tokenizer))
    return {
        "table": number,
        "coefficients": metric.coefficients,
        "systems": [_system(metric, report, explained, table) for report in explained.reports],
    }


def _system(metric: Captious, report: Report, explained: Explained, table: TokenTable) -> dict[str, Any]:
    columns = explained.columns
    agreements = [*metric.explanations(report.single_captions.select(explained.rows))]
    words = [word for agreement in agreements for word in agreement.words]

    def numbers(values: Iterable[float]) -> Column:
        return columns.numbers(np.fromiter(values, np.float64))

    def tokens(values: Iterable[str | None]) -> Column:
        """Return their numbers plus 1, 0 for none."""
        return columns.integers([0 if token is None else table.number(token) + 1 for token in values])

    return {
        "scores": numbers(agreement.score for agreement in agreements),
        "features": numbers(feature.value for agreement in agreements for feature in agreement.features),
        "cosines": {
            "counts": _counts(columns, [agreement.cosines for agreement in agreements]),
            "values": numbers(chain.from_iterable(agreement.cosines for agreement in agreements)),
        },
        "words": {
            "counts": _counts(columns, [agreement.words for agreement in agreements]),
            "shares": numbers(word.share for word in words),
            "similarities": numbers(word.similarity for word in words),
            "supported": columns.integers([word.status == "supported" for word in words]),
            "closest": tokens(word.closest for word in words),
            "instead": tokens(word.instead for word in words),
        },
        "missing": {
            "counts": _counts(columns, [agreement.missing for agreement in agreements]),
            "words": tokens(word for agreement in agreements for word, _ in agreement.missing),
            "losses": numbers(loss for agreement in agreements for _, loss in agreement.missing),
        },
        "unsound": columns.lists(map(_places, agreements)),
    }


def _counts(columns: Columns, lists: Sequence[Sequence[Any]]) -> Column:
    return columns.integers([len(values) for values in lists])


def _places(agreement: Agreement) -> list[int]:
    """Return the positions of words after unsound junctions; the end of a caption is after its last word."""
    ends = ["", *(word.word for word in agreement.words), ""]
    return [place for place, junction in enumerate(pairwise(ends)) if junction in agreement.unsound]
