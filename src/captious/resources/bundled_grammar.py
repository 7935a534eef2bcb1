"""The bundled grammar: a grammar of captions that is part of the package; ``training/grammar`` makes it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from captious.errors import ResourceError
from captious.resources.arrays import open_arrays
from captious.resources.grammar import Grammar

__all__ = ["BUNDLED", "FILE", "FORMAT", "VERSION", "bundled_grammar"]

#: What users call it.
BUNDLED = "bundled"
#: What signatures call it; counts up when the grammar is trained again.
VERSION = f"{BUNDLED}-1"
FILE = Path(__file__).parent / "bundled.grammar"
FORMAT = "captious grammar 1"  # of the file


@cache
def bundled_grammar() -> Grammar:
    """The grammar.

    Raises:
        ResourceError: the file of the package is damaged.
    """
    arrays = open_arrays(FILE, FORMAT)
    if arrays is None:
        raise ResourceError("the bundled grammar is damaged", where=str(FILE), help="reinstall captious")
    return Grammar.from_arrays(arrays, VERSION, VERSION)
