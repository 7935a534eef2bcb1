"""Scene graphs as drawings: objects, attributes and relations of a candidate and of its references side by side.

Matches are filled, and share a row. matplotlib draws it. The same graphs give the same bytes.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captious.errors import ParameterError
from captious.files.atomic_write import whole_file
from captious.report import numbers
from captious.report.explanations.scene_layout import explained_rows
from captious.report.explanations.templates import named
from captious.report.plots import FORMATS, check_matplotlib, rendered
from captious.scenes.spice_explanation import Names, SceneExplanation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colors of objects, attributes and relations, by the parts of their tuples (Okabe and Ito 2008).
_COLORS = {1: "#D55E00", 2: "#009E73", 3: "#0072B2"}
#: Lengths in points: of a row, of the gaps in the middle and between columns, of the margins, and of the font.
_ROW, _MIDDLE, _GAP, _MARGIN, _FONT = 20.0, 34.0, 80.0, 20.0, 9
_ABOVE, _BELOW = 60.0, 36.0  # for titles and the legend
_PADDING = 0.3 * _FONT  # within boxes
_INCH = 72


def write_scenes(path: str | os.PathLike[str], explanation: SceneExplanation) -> None:
    """Draw the scene graphs to a file: svg, png or pdf, by its extension.

    Raises:
        ParameterError: another extension.
        MissingExtraError: matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    format = Path(path).suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise ParameterError(
            f"cannot draw to {Path(path).name}", help=f"use one of these extensions: .{', .'.join(FORMATS)}"
        )
    content = rendered(draw_scenes(explanation), format, {"svg.fonttype": "none"})
    with whole_file(path, "wb") as file:
        file.write(content)


def draw_scenes(explanation: SceneExplanation) -> Figure:
    """Draw the graph of the candidate on the left, and that of the references on the right.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    check_matplotlib()
    from matplotlib.figure import Figure

    sides = _sides(explanation)
    objects, tuples = (max((_width(node) for node in nodes), default=60.0) for nodes in _divide_by_kind(*sides))
    half = _MARGIN + tuples + _GAP + objects + _MIDDLE / 2
    n_rows = max((node.row + 1 for side in sides for node in side.values()), default=1)
    height = _ABOVE + _ROW * n_rows + _BELOW
    figure = Figure(figsize=(2 * half / _INCH, height / _INCH))
    axes: Any = figure.add_axes((0, 0, 1, 1), xlim=(-half, half), ylim=(height - _ABOVE, -_ABOVE))
    axes.set_axis_off()
    for left in sides[0].values():
        right = None if left.match is None else sides[1][left.match]
        if len(left.names) == 1 and right is not None and right.row == left.row:
            axes.plot([-_MIDDLE / 2, _MIDDLE / 2], [_y(left), _y(right)], color=_COLORS[1], linewidth=2, zorder=0)
    for direction, title, side in zip((-1, 1), ("candidate", "references"), sides, strict=True):
        columns = _Columns(direction, direction * _MIDDLE / 2, direction * (_MIDDLE / 2 + objects + _GAP))
        axes.text(columns.objects, -8, title, ha=columns.align, va="center", fontsize=_FONT + 1, color="0.4")
        for node in side.values():
            _draw_node(axes, node, side, columns)
    figure.suptitle(f"SPICE {numbers.format_score(explanation.score)}", y=1 - 10 / height, fontsize=12)
    figure.legend(handles=_legend(), loc="lower center", ncols=4, frameon=False, fontsize=_FONT)
    return figure


@dataclass(frozen=True)
class _Node:
    """A tuple, its match among those of the references, and its row."""

    names: Names
    match: Names | None
    row: int


def _sides(explanation: SceneExplanation) -> tuple[dict[Names, _Node], dict[Names, _Node]]:
    """Return the nodes of the candidate and of the references, by their names."""
    left, right = explained_rows(explanation)
    return (
        {fact.names: _Node(fact.names, fact.match, row) for fact, row in zip(explanation.candidate, left, strict=True)},
        {
            fact.names: _Node(fact.names, fact.names if fact.matched else None, row)
            for fact, row in zip(explanation.references, right, strict=True)
        },
    )


def _divide_by_kind(*sides: dict[Names, _Node]) -> tuple[list[_Node], list[_Node]]:
    """Divide nodes into objects, and attributes and relations."""
    nodes = [node for side in sides for node in side.values()]
    return [node for node in nodes if len(node.names) == 1], [node for node in nodes if len(node.names) > 1]


@dataclass(frozen=True)
class _Columns:
    """Start and direction of the boxes of a side."""

    direction: int
    objects: float
    tuples: float

    @property
    def align(self) -> str:
        return "left" if self.direction > 0 else "right"


def _draw_node(axes: Any, node: _Node, side: dict[Names, _Node], columns: _Columns) -> None:
    """Draw an object, or an attribute or relation with the edges from and to it."""
    if len(node.names) == 1:
        _draw_box(axes, node, columns.objects, columns)
        return
    _draw_box(axes, node, columns.tuples, columns)
    subject = side[node.names[:1]]
    _draw_edge(axes, (_end(subject, columns), _y(subject)), (columns.tuples, _y(node)), arrowstyle="-")
    if len(node.names) > 2:
        target = side[node.names[2:]]
        end = _end(target, columns), _y(target) + 3
        _draw_edge(axes, (columns.tuples, _y(node) + 3), end, arrowstyle="-|>", linestyle="--")


def _draw_edge(axes: Any, start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Line

    middle = (start[0] + end[0]) / 2
    line = Line([start, (middle, start[1]), (middle, end[1]), end], [Line.MOVETO, *3 * [Line.CURVE4]])
    axes.add_patch(FancyArrowPatch(path=line, color="0.6", mutation_scale=7, linewidth=0.8, zorder=0, **style))


def _draw_box(axes: Any, node: _Node, x: float, columns: _Columns) -> None:
    kind, is_matched = len(node.names), node.match is not None
    box = {
        "boxstyle": "round,pad=0.3" if kind > 1 else "square,pad=0.3",
        "edgecolor": _COLORS[kind],
        "facecolor": _COLORS[kind] if is_matched else "white",
        "linestyle": "-" if is_matched else "--",
    }
    label = _label(node).replace("$", r"\$")
    color = "w" if is_matched else "k"
    x += columns.direction * _PADDING
    axes.text(x, _y(node), label, ha=columns.align, va="center_baseline", fontsize=_FONT, color=color, bbox=box)


def _width(node: _Node) -> float:
    """Return the width of a box."""
    from matplotlib.textpath import TextPath

    label = _label(node).replace("$", r"\$")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks; a warning follows when they are drawn
        return float(TextPath((0, 0), label, size=_FONT).get_extents().width) + 2 * _PADDING if label else 2 * _PADDING


def _end(node: _Node, columns: _Columns) -> float:
    return columns.objects + columns.direction * _width(node)


def _y(node: _Node) -> float:
    return (node.row + 0.5) * _ROW


def _label(node: _Node) -> str:
    return named(node.names[len(node.names) // 2])


def _legend() -> list[Any]:
    from matplotlib.patches import Patch

    kinds = zip(_COLORS.values(), ("object", "attribute", "relation"), strict=True)
    return [
        *(Patch(edgecolor=color, facecolor="white", label=kind) for color, kind in kinds),
        Patch(edgecolor="0.4", facecolor="0.4", label="filled: matches"),
    ]
