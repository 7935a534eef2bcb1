"""Scene graphs as drawings: objects, attributes and relations of a candidate and of its references side by side.

What matches is filled. networkx places the nodes, matplotlib draws them. The same graphs give the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captious.atomic_write import whole_file
from captious.errors import MissingExtraError, ParameterError
from captious.report import numbers
from captious.report.plots import FORMATS, rendered
from captious.report.scene_text import named
from captious.scenes.spice_explanation import Names, SceneExplanation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_scenes", "write_scenes"]

#: Colors of objects, attributes and relations, by the parts of their tuples (Okabe and Ito 2008).
_COLORS = {1: "#D55E00", 2: "#009E73", 3: "#0072B2"}
_HUB = 0  # a node that is not drawn, and connects separate parts of the graph


def write_scenes(path: str | os.PathLike[str], explanation: SceneExplanation) -> None:
    """Draw the scene graphs to a file: svg, png or pdf, by its extension.

    Raises:
        ParameterError: another kind of file.
        MissingExtraError: matplotlib or networkx is not installed.
        OutputError: the file cannot be written.
    """
    format = Path(path).suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise ParameterError(
            f"cannot draw to {Path(path).name}", help=f"use one of these extensions: .{', .'.join(FORMATS)}"
        )
    drawn = rendered(draw_scenes(explanation), format, {"svg.fonttype": "none"})
    with whole_file(path, "wb") as file:
        file.write(drawn)


def draw_scenes(explanation: SceneExplanation) -> Figure:
    """The graph of the candidate on the left, that of the references on the right."""
    try:
        from matplotlib.figure import Figure

        networkx = import_module("networkx")
    except ImportError:
        raise MissingExtraError(
            "drawings need matplotlib and networkx", help="pip install 'captious[report]'"
        ) from None
    candidate = [(fact.names, fact.match is not None) for fact in explanation.candidate]
    size = max(len(candidate), len(explanation.references), 4)
    height = min(3 + 0.2 * size, 12)
    figure = Figure(figsize=(2.2 * height, height), layout="constrained")
    for axes, (title, facts) in zip(
        figure.subplots(1, 2), (("candidate", candidate), ("references", explanation.references)), strict=True
    ):
        axes.set_title(title)
        axes.set_axis_off()
        axes.margins(0.15)
        _draw(axes, networkx, facts)
    figure.suptitle(f"SPICE {numbers.score(explanation.score)}")
    figure.legend(handles=_legend(), loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def _legend() -> list[Any]:
    from matplotlib.patches import Patch

    kinds = zip(_COLORS.values(), ("object", "attribute", "relation"), strict=True)
    return [
        *(Patch(edgecolor=color, facecolor="white", label=kind) for color, kind in kinds),
        Patch(edgecolor="0.4", facecolor="0.4", label="filled: matches"),
    ]


def _draw(axes: Any, networkx: Any, facts: Sequence[tuple[Names, bool]]) -> None:
    """Draw tuples, each with whether it matches: objects, then their attributes and relations."""
    graph = networkx.Graph()
    for names, _ in facts:
        graph.add_node(names)
        graph.add_edges_from((names, end) for end in _ends(names))
    if not facts:
        return
    for part in list(networkx.connected_components(graph)):
        graph.add_edge(_HUB, min(part))
    places = networkx.kamada_kawai_layout(graph)
    for names, _ in facts:
        for style, end in zip(("-", "-|>"), _ends(names), strict=False):
            line = {"arrowstyle": style, "color": "0.6", "shrinkA": 12, "shrinkB": 14}
            axes.annotate("", places[end], places[names], arrowprops=line)
    for names, is_matched in facts:
        color = _COLORS[len(names)]
        box = {
            "boxstyle": "round,pad=0.3" if len(names) > 1 else "square,pad=0.35",
            "edgecolor": color,
            "facecolor": color if is_matched else "white",
            "linestyle": "-" if is_matched else "--",
        }
        x, y = places[names]
        label = named(names[len(names) // 2]).replace("$", r"\$")
        axes.plot(x, y, alpha=0)  # text alone does not widen the axes
        axes.text(x, y, label, ha="center", va="center", fontsize=9, color="w" if is_matched else "k", bbox=box)


def _ends(names: Names) -> list[Names]:
    """The objects that a tuple is about, its subject first; an object is about itself."""
    return [names[:1], names[2:]][: len(names) - 1]
