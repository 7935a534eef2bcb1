"""Explanations of coverage as text: the sentences of both sides with what covers them, and the matrix between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from rich.console import Group
from rich.text import Text

from captious.metrics.shared.sentence_coverage import CoverageMatrix
from captious.report import numbers
from captious.report.hanging_lines import HangingLine

__all__ = ["coverage_text"]

_COLUMNS_AT_ONCE = 10
_BEST = "green"


def coverage_text(explanation: CoverageMatrix) -> Group:
    """Each sentence with its best score and the sentence that gives it; then all scores."""
    columns = [*zip(*explanation.matrix, strict=True)]
    names = [f"{i}.{j}" for i, side in enumerate(explanation.references, 1) for j in range(1, len(side) + 1)]
    own = [str(i) for i in range(1, len(explanation.sentences) + 1)]
    theirs = [*chain.from_iterable(explanation.references)]
    return Group(
        *_side("candidate", own, explanation.sentences, explanation.matrix, names),
        *_side("references", names, theirs, columns, own),
        Text(""),
        *_grid(own, names, explanation.matrix),
        Text(
            f"  precision {numbers.score(explanation.precision)} · recall {numbers.score(explanation.recall)} · "
            f"score {numbers.score(explanation.score)}"
        ),
        Text(""),
        Text(
            "Arrows: the sentence of the other side that agrees best. 2.1: the first sentence of the second reference."
        ),
    )


def _side(
    name: str,
    labels: Sequence[str],
    sentences: Sequence[str],
    scores: Sequence[Sequence[float]],
    others: Sequence[str],
) -> Iterator[Text | HangingLine]:
    yield Text(f"  {name}", "dim")
    width = max(map(len, [*labels, *others, ""]))
    for i, (label, sentence) in enumerate(zip(labels, sentences, strict=True)):
        best = max(scores[i], default=0.0) if i < len(scores) else 0.0
        by = others[scores[i].index(best)] if i < len(scores) and scores[i] else "–"
        head = Text.assemble(f"  {label:>{width}}  {numbers.score(best)} ", ("← ", "dim"), f"{by:{width}}  ")
        yield HangingLine(head, Text(numbers.plain(sentence)))


def _grid(rows: Sequence[str], columns: Sequence[str], matrix: Sequence[Sequence[float]]) -> Iterator[Text]:
    """The matrix, in blocks of columns; the best score of each row and column is green."""
    for start in range(0, len(columns) if rows else 0, _COLUMNS_AT_ONCE):
        names = columns[start : start + _COLUMNS_AT_ONCE]
        yield Text("      " + "".join(f"{name:>7}" for name in names), "dim", no_wrap=True)
        for label, line in zip(rows, matrix, strict=True):
            cells = [
                (f"{numbers.score(value):>7}", _BEST if value and value in (max(line), _most(matrix, place)) else "")
                for place, value in enumerate(line[start : start + _COLUMNS_AT_ONCE], start)
            ]
            yield Text.assemble((f"  {label:>4}", "dim"), *cells, no_wrap=True)
        yield Text("")


def _most(matrix: Sequence[Sequence[float]], column: int) -> float:
    return max(line[column] for line in matrix)
