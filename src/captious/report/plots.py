"""Pictures of results and scene graphs drawn with matplotlib: png, svg or pdf. No window is opened, no state is kept.

The same picture gives the same bytes.
"""

from __future__ import annotations

import io
import os
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import cycle, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from captious import drawing
from captious.errors import OutputError, ParameterError, UnknownNameError, needed_for
from captious.files import whole_file
from captious.layouts import explained_rows, named
from captious.scenes.layers import Names, SceneExplanation
from captious.tables import Clouds, Curves, Displayed, Dots, Matrix, Picture, Ranking
from captious.words import shortened

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: File formats, with the metadata to leave out so that the same picture gives the same bytes.
FORMATS: dict[str, dict[str, None]] = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}

# Okabe and Ito 2008: distinguishable with color blindness and in print.
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
_STROKES = ("-", "--", ":", "-.")
_FEW = 25  # points of a line that are marked
_NOT_IN_NAMES = re.compile(r"[/:*]")  # characters to avoid in file names


def check_plots(folder: str | os.PathLike[str]) -> None:
    """Check that pictures can be drawn and written, before any work is done.

    Raises:
        MissingExtraError: matplotlib is not installed.
        OutputError: there is no such folder, and it cannot be created.
    """
    check_matplotlib()
    path = Path(folder)
    place = path if path.exists() else path.absolute().parent
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise OutputError(
            f"cannot write plots to {path}",
            where=f"{place} is not a writable folder",
            hint="give a writable folder, or a new one inside an existing folder",
        )


def check_matplotlib() -> None:
    """Check that matplotlib is installed.

    Raises:
        MissingExtraError: it is not.
    """
    with needed_for("plotting", "report"):
        import matplotlib  # noqa: F401


def write_plots(folder: str | os.PathLike[str], result: Displayed, format: str = "png") -> list[Path]:
    """Write every picture of a result to a folder, which is created if necessary; each file is written atomically.

    Slashes, colons and asterisks in names become hyphens.

    Args:
        folder: the folder.
        result: the result.
        format: one of ``FORMATS``.

    Returns:
        The files.

    Raises:
        ParameterError: another format.
        MissingExtraError, OutputError: as ``check_plots``; or a file cannot be written.
    """
    if format not in FORMATS:
        raise ParameterError(f"plots cannot be written as {format}", hint=f"choose from {', '.join(FORMATS)}")
    check_plots(folder)
    files = {
        f"{_NOT_IN_NAMES.sub('-', name)}.{format}": rendered(draw(picture), format)
        for name, picture in result.to_table().pictures.items()
    }
    try:
        if files:
            Path(folder).mkdir(exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot write plots to {folder}", where=reason, hint="choose another folder") from error
    for name, content in files.items():
        with whole_file(Path(folder) / name, "wb") as file:
            file.write(content)
    return [Path(folder) / name for name in files]


def draw(picture: Picture) -> Figure:
    """Draw a picture of any kind."""
    return _DRAW[type(picture)](picture)


def draw_one(pictures: Mapping[str, Picture], name: str | None = None) -> Figure:
    """Draw the picture of a name, or the first one.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ParameterError: there are no pictures.
        UnknownNameError: no picture of this name.
    """
    check_matplotlib()
    if not pictures:
        raise ParameterError("this result has no picture", hint="show it as a table")
    if name is not None and name not in pictures:
        raise UnknownNameError(f"there is no picture {shortened(name)}", hint=f"choose {', '.join(pictures)}")
    return draw(pictures[next(iter(pictures)) if name is None else name])


def draw_ranking(ranking: Ranking) -> Figure:
    """Draw values with intervals, the best on top; values of one rank share a color and a stripe."""
    figure, axes = _figure(6.4, 1.4 + 0.32 * len(ranking.rows))
    color = _styles()
    ranked = zip(ranking.ranks, ranking.rows.values(), strict=True)
    start = 0
    for number, (rank, group) in enumerate(groupby(ranked, lambda pair: pair[0])):
        dots = [dot for _, dot in group]
        y = np.arange(start, start + len(dots))
        paint = next(color)[0]
        low, high = np.transpose([dot.interval for dot in dots])
        axes.hlines(y, low, high, color=paint, linewidth=2, alpha=0.5)
        axes.plot([dot.value for dot in dots], y, "o", color=paint)
        if rank is not None:
            axes.axhspan(start - 0.5, start + len(dots) - 0.5, color="0.95" if number % 2 == 0 else "1", zorder=0)
            middle = float(y.mean())
            axes.annotate(
                f"rank {rank}", (1.01, middle), xycoords=("axes fraction", "data"), va="center", annotation_clip=False
            )
        start += len(dots)
    axes.set_yticks(range(start), [_label(label) for label in ranking.rows])
    axes.set_ylim(start - 0.5, -0.5)
    axes.set_xlabel(_label(ranking.x_label))
    axes.set_title(_title(ranking.title, 60))
    axes.grid(axis="x", color="0.85")
    return figure


def draw_curves(curves: Curves) -> Figure:
    """Draw lines with bands for their intervals, and points with bars."""
    figure, axes = _figure(7.6, 4.6)
    for (name, line), (paint, stroke) in zip(curves.lines.items(), _styles(), strict=False):
        label = _label(name)
        for x, y, point in zip(line.x, line.y, line.names, strict=False):
            if point:
                axes.annotate(_label(point), (x, y), xytext=(3, 3), textcoords="offset points", fontsize=7)
        if line.points:
            axes.plot(line.x, line.y, "o", color=paint, markersize=3, label=label)
            if line.low is not None and line.high is not None:
                axes.vlines(line.x, line.low, line.high, color=paint, alpha=0.4)
            continue
        marker = "o" if len(line.x) <= _FEW else ""
        axes.plot(line.x, line.y, stroke, color=paint, marker=marker, markersize=3, label=label)
        if line.low is not None and line.high is not None:
            axes.fill_between(line.x, line.low, line.high, color=paint, alpha=0.15, linewidth=0)
    if curves.logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,g}")
    elif all(np.all(line.x == np.round(line.x)) for line in curves.lines.values()):
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel(_label(curves.x_label))
    axes.set_ylabel(_label(curves.y_label))
    axes.set_title(_title(curves.title, 70))
    axes.grid(color="0.9")
    if len(curves.lines) > 1:
        figure.legend(loc="outside right upper", frameon=False)
    return figure


def draw_matrix(matrix: Matrix) -> Figure:
    """Draw a heat map from -1 to 1, with the numbers in it."""
    n = len(matrix.labels)
    figure, axes = _figure(2.8 + 0.52 * n, 1.6 + 0.52 * n)
    image = axes.imshow(matrix.values, cmap="RdBu_r", vmin=-1, vmax=1)
    labels = [_label(label) for label in matrix.labels]
    axes.set_xticks(range(n), labels, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(n), labels)
    for row, column in np.ndindex(n, n):
        value = float(matrix.values[row, column])
        text = drawing.format_score(value, 2) if np.isfinite(value) else ""
        axes.text(column, row, text, ha="center", va="center", fontsize=8, color="w" if abs(value) > 0.7 else "k")
    axes.set_title(_title(matrix.title, 22 + 5 * n))
    figure.colorbar(image, ax=axes, shrink=0.8)
    return figure


def draw_clouds(clouds: Clouds) -> Figure:
    """Draw points with their outlines, and a triangle at the center of each cloud."""
    figure, axes = _figure(7.2, 5.4)
    for (name, cloud), (paint, _) in zip(clouds.clouds.items(), _styles(), strict=False):
        axes.fill(*cloud.outline.T, facecolor=paint, alpha=0.12, zorder=1)
        axes.plot(*np.vstack([cloud.outline, cloud.outline[:1]]).T, color=paint, linewidth=1.2, zorder=2)
        axes.plot(*cloud.points.T, "o", color=paint, markersize=2, alpha=0.7, zorder=3)
        axes.plot(*cloud.center, "^", color=paint, markersize=9, markeredgecolor="k", label=_label(name), zorder=4)
    axes.set_aspect("equal")
    axes.set_xlabel(_label(clouds.x_label))
    axes.set_ylabel(_label(clouds.y_label))
    axes.set_title(_title(clouds.title, 60))
    axes.grid(color="0.9")
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def draw_dots(dots: Dots) -> Figure:
    """Draw values with their intervals, one below the other, and a line through the first."""
    figure, axes = _figure(6.4, 1.2 + 0.2 * len(dots.rows))
    paint = _COLORS[0]
    for y, dot in enumerate(dots.rows.values()):
        if dot.interval is not None:
            axes.hlines(y, *np.round(dot.interval, 9), color=paint, linewidth=2, alpha=0.5)
        axes.plot(round(dot.value, 9), y, "o", color=paint, markersize=4)  # an axis of rounding errors says nothing
    if dots.marked is not None:
        axes.axvline(round(dots.marked, 9), color="0.6", linewidth=1, zorder=0)
    axes.set_yticks(range(len(dots.rows)), [_label(label) for label in dots.rows], fontsize=8)
    axes.set_ylim(len(dots.rows) - 0.5, -0.5)
    axes.set_xlabel(_label(dots.x_label))
    axes.set_title(_title(dots.title, 60))
    axes.grid(axis="x", color="0.85")
    return figure


def _figure(width: float, height: float) -> tuple[Figure, Any]:
    """Create a figure with one pair of axes; size in inches."""
    figure = _shown_figure()(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


@cache
def _shown_figure() -> type[Figure]:
    """Return a figure class that notebooks display, but without the windows and state of pyplot."""
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        def _repr_png_(self) -> bytes:
            return rendered(self, "png")

    return ShownFigure


def _styles() -> Iterator[tuple[str, str]]:
    """Yield colors, and line styles that change when the colors repeat."""
    return ((color, stroke) for stroke in cycle(_STROKES) for color in _COLORS)


def _label(text: str) -> str:
    """Escape text so that a dollar sign does not begin a formula."""
    return drawing.single_line(text).replace("$", r"\$")


def _title(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(_label(text), width))


def rendered(figure: Figure, format: str, settings: Any = ()) -> bytes:
    """Return the file content of a matplotlib figure in one of ``FORMATS``, drawn with our settings."""
    from matplotlib import rc_context

    out = io.BytesIO()
    # Without a salt, names in the file would be random.
    with rc_context({"svg.hashsalt": "captious", **dict(settings)}), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about letters that matplotlib's own font does not have
        figure.savefig(out, format=format, dpi=150, metadata=FORMATS[format])
    return out.getvalue()


_DRAW: Mapping[type[Picture], Callable[[Any], Figure]] = {
    Curves: draw_curves,
    Matrix: draw_matrix,
    Clouds: draw_clouds,
    Dots: draw_dots,
    Ranking: draw_ranking,
}


# Scene graphs as drawings: objects, attributes and relations of a candidate and of its references side by side.
#
# Matches are filled, and share a row. matplotlib draws it. The same graphs give the same bytes.

#: Colors of objects, attributes and relations, by the parts of their tuples (Okabe and Ito 2008).
_KIND_COLORS = {1: "#D55E00", 2: "#009E73", 3: "#0072B2"}
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
            f"cannot draw to {Path(path).name}", hint=f"use one of these extensions: .{', .'.join(FORMATS)}"
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
            axes.plot([-_MIDDLE / 2, _MIDDLE / 2], [_y(left), _y(right)], color=_KIND_COLORS[1], linewidth=2, zorder=0)
    for direction, title, side in zip((-1, 1), ("candidate", "references"), sides, strict=True):
        columns = _Columns(direction, direction * _MIDDLE / 2, direction * (_MIDDLE / 2 + objects + _GAP))
        axes.text(columns.objects, -8, title, ha=columns.align, va="center", fontsize=_FONT + 1, color="0.4")
        for node in side.values():
            _draw_node(axes, node, side, columns)
    figure.suptitle(f"SPICE {drawing.format_score(explanation.score)}", y=1 - 10 / height, fontsize=12)
    figure.legend(handles=_kind_legend(), loc="lower center", ncols=4, frameon=False, fontsize=_FONT)
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
        "edgecolor": _KIND_COLORS[kind],
        "facecolor": _KIND_COLORS[kind] if is_matched else "white",
        "linestyle": "-" if is_matched else "--",
    }
    label = _node_label(node).replace("$", r"\$")
    color = "w" if is_matched else "k"
    x += columns.direction * _PADDING
    axes.text(x, _y(node), label, ha=columns.align, va="center_baseline", fontsize=_FONT, color=color, bbox=box)


def _width(node: _Node) -> float:
    """Return the width of a box."""
    from matplotlib.textpath import TextPath

    label = _node_label(node).replace("$", r"\$")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks; a warning follows when they are drawn
        return float(TextPath((0, 0), label, size=_FONT).get_extents().width) + 2 * _PADDING if label else 2 * _PADDING


def _end(node: _Node, columns: _Columns) -> float:
    return columns.objects + columns.direction * _width(node)


def _y(node: _Node) -> float:
    return (node.row + 0.5) * _ROW


def _node_label(node: _Node) -> str:
    return named(node.names[len(node.names) // 2])


def _kind_legend() -> list[Any]:
    from matplotlib.patches import Patch

    kinds = zip(_KIND_COLORS.values(), ("object", "attribute", "relation"), strict=True)
    return [
        *(Patch(edgecolor=color, facecolor="white", label=kind) for color, kind in kinds),
        Patch(edgecolor="0.4", facecolor="0.4", label="filled: matches"),
    ]
