"""Which metrics of a report can be explained, and on which images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.evaluation import Report
from captious.metrics.cider import Cider
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import Metric
from captious.metrics.meteor import Meteor
from captious.metrics.spice import Spice
from captious.metrics.wmd import Wmd
from captious.progress import steps
from captious.report.page.columns import Columns
from captious.report.page.explanations import alignments, ngrams, scenes, transport
from captious.report.page.texts import CaptionWords, TokenTable

__all__ = ["Explained", "explanations_of"]


@dataclass(frozen=True)
class Explained:
    """Captions that a page explains.

    Args:
        reports: the systems, scored with the same metrics on the same images.
        rows: the images that are explained, ascending.
        words: references and candidates of every system as words, in this order.
        columns: of the page.
    """

    reports: Sequence[Report]
    rows: NDArray[np.int64]
    words: CaptionWords
    columns: Columns


def explanations_of(explained: Explained) -> dict[str, Any]:
    """What the manifest says about explanations: tables of tokens, and one entry per metric."""
    tables: dict[Any, TokenTable] = {}

    def tokens(layer: Any) -> tuple[int, TokenTable]:
        """The tokens that a layer makes, which metrics share, and their number."""
        if layer not in tables:
            table = TokenTable(explained.words, layer)
            table.add(0, explained.reports[0].captions.references.layer(layer))
            for number, report in enumerate(explained.reports, 1):
                table.add(number, report.single.layer(layer)[0])
            tables[layer] = table
        return [*tables].index(layer), tables[layer]

    found = []
    with steps(_explainable(explained.reports[0]), lambda each: f"explaining {each[0]}") as metrics:
        for label, metric in metrics:
            if isinstance(metric, Meteor):
                about = alignments.pack(metric, explained, tokens)
            elif isinstance(metric, Spice):
                about = scenes.pack(metric, explained)
            elif isinstance(metric, Cider):
                about = ngrams.pack(metric, explained, tokens)
            else:
                assert isinstance(metric, Wmd)
                about = transport.pack(metric, explained, tokens)
            found.append({"label": label, **about})
    return {
        "rows": None if _is_all(explained) else explained.columns.integers(explained.rows),
        "tables": [table.pack(explained.columns) for table in tables.values()],
        "metrics": found,
    }


def _is_all(explained: Explained) -> bool:
    return len(explained.rows) == explained.reports[0].n_images


def _explainable(report: Report) -> list[tuple[str, Metric]]:
    """Metrics that can be explained, with their labels: those that were asked for, and parts of combined ones."""
    found: dict[str, tuple[str, Metric]] = {}
    for label, result in report.items():
        if "|references:cat|" in result.signature:
            continue
        metric = result.statistics.metric
        parts = [*metric.metrics] if isinstance(metric, Combined) else [metric]
        for part in parts:
            if isinstance(part, Meteor | Spice | Cider | Wmd):
                found.setdefault(part.signatures()[0], (label if part is metric else part.name, part))
    return [*found.values()]
