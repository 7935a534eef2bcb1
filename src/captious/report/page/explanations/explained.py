"""Data shared by the explanations of a page: systems, images, words, tokens and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.evaluation import Report
from captious.report.page.caption_words import CaptionWords, TokenTable
from captious.report.page.packed_columns import Columns


@dataclass(frozen=True)
class Explained:
    """Captions that a page explains.

    Args:
        reports: the systems, scored with the same metrics on the same images.
        rows: the images to explain, in ascending order.
        words: words of the references, then of the candidates of every system.
        columns: columns of the page.
        tables: token tables by layer, shared by metrics.
    """

    reports: Sequence[Report]
    rows: NDArray[np.int64]
    words: CaptionWords
    columns: Columns
    tables: dict[Any, TokenTable] = field(default_factory=dict)

    def tokens(self, layer: Any) -> tuple[int, TokenTable]:
        """Return the tokens of a layer, and the number of their table."""
        if layer not in self.tables:
            table = TokenTable(self.words, layer)
            table.add(0, self.reports[0].captions.references.layer(layer))
            for number, report in enumerate(self.reports, 1):
                table.add(number, report.single_captions.layer(layer)[0])
            self.tables[layer] = table
        return [*self.tables].index(layer), self.tables[layer]
