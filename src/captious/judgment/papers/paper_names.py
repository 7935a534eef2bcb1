"""The catalogue of papers by name: built-in ones, and those of other packages.

Another package adds one with an entry point of the group ``captious.papers``, whose name is that of the paper and whose
value is a ``Paper``.
"""

from __future__ import annotations

from importlib import import_module

from captious.entry_points import EntryPoints, did_you_mean
from captious.errors import UnknownNameError
from captious.judgment.papers.paper import Paper

#: The papers of the package: each is the constant PAPER in the module of its name.
BUILT_IN = ("lceval", "wembsim", "leic", "yi2020", "smurf", "coco")
_PLUGINS = EntryPoints("captious.papers", "paper", BUILT_IN)


def names() -> list[str]:
    """Return the names of all papers: those of the package, then others by name."""
    return _PLUGINS.names


def get(name: str) -> Paper:
    """Return a paper.

    Raises:
        UnknownNameError: an unknown paper.
        ParameterError: an entry point that is not a paper.
    """
    if name in BUILT_IN:
        return import_module(f"captious.judgment.papers.{name}").PAPER  # type: ignore[no-any-return]
    if name not in _PLUGINS.by_name:
        guess = did_you_mean(name, names())
        raise UnknownNameError(f"there is no paper {name!r}", help=f"{guess}available papers: {', '.join(names())}")
    paper: Paper = _PLUGINS.load(name, lambda item: isinstance(item, Paper), "a captious.judgment.Paper")
    return paper
