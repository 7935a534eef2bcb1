"""captious' own grammar of captions, which is part of the package: see training/grammar."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from captious.errors import ResourceError
from captious.resources.arrays import open_arrays
from captious.resources.grammar import Grammar

__all__ = ["FILE", "LABEL", "NAME", "own_grammar"]

#: Where it is.
FILE = Path(__file__).parent / "captious.grammar"
#: What signatures call it; counts up when it is trained again.
NAME = "captious-1"
LABEL = "captious grammar 1"


@cache
def own_grammar() -> Grammar:
    """The grammar.

    Raises:
        ResourceError: the file of the package is damaged.
    """
    arrays = open_arrays(FILE, LABEL)
    if arrays is None:
        raise ResourceError("the bundled grammar is damaged", where=str(FILE), help="reinstall captious")
    return Grammar.from_arrays(arrays, NAME, NAME)
