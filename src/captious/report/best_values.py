"""Choice of values that papers print in bold: all that look like the best one, unless all look alike."""

from __future__ import annotations

from collections.abc import Sequence

from captious.report import numbers
from captious.results.table import Table


def best_looking(table: Table) -> list[list[bool]]:
    """Return, for each cell of each row, whether it looks like the best of the comparable values."""
    texts = [[*map(numbers.format_cell, row.cells, table.columns)] for row in table.rows]
    best = [[cell is not None and cell.best for cell in row.cells] for row in table.rows]
    if table.across:
        return [*map(_alike, texts, best)]
    by_column = [
        _alike([*column], [*of_column])
        for column, of_column in zip(zip(*texts, strict=True), zip(*best, strict=True), strict=True)
    ]
    return [[*row] for row in zip(*by_column, strict=True)]


def _alike(texts: Sequence[str], best: Sequence[bool]) -> list[bool]:
    """Return a mask of the texts that equal one of the best; all False if all texts are the same."""
    best_texts = {text for text, is_best in zip(texts, best, strict=True) if is_best}
    return [len({*texts}) > 1 and text in best_texts for text in texts]
