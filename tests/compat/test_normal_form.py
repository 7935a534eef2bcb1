"""The normal form of functions: what computes the same has the same digest, and what does not has another."""

from __future__ import annotations

import textwrap

import pytest

from captious.compat.copies.normal_form import functions
from tests.support.tables import tables
from tools.known_bodies import parse

TABLES = tables(__file__)

#: lib2to3 says that it will not be in Python 3.13.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")

BODY = """
import numpy as np

WORDS = ["a", "the"]

def helper(text, n=4):
    words = text.split()
    counts = {}
    for k in range(n):
        counts[k] = np.log(len(words)) if words[0] in WORDS else max(0, k)
    return counts
"""
#: Text of the body, and what it is replaced by.
SAME = TABLES["same"]
OTHER = TABLES["other"]


def digest(source: str) -> str:
    return functions(parse(source))["helper"].digest


@pytest.mark.parametrize(("old", "new"), SAME)
def test_what_computes_the_same(old: str, new: str) -> None:
    changed = BODY.replace(old, new)
    if new == "import numpy":
        changed = changed.replace("np.", "numpy.")
    assert changed != BODY
    assert digest(changed) == digest(BODY)


@pytest.mark.parametrize(("old", "new"), OTHER)
def test_what_computes_something_else(old: str, new: str) -> None:
    assert digest(BODY.replace(old, new)) != digest(BODY)


def test_python_2_is_translated() -> None:
    source = """
        def helper(x, f):
        \tprint 'a; b', x
        \tprint >>f, "%d" % x
        \tif x <> 010 and f.has_key(x): return `x`
        \ttry:
        \t\traise ValueError, "text"
        \texcept (ValueError, KeyError), error:
                        pass
                return 10L
    """
    modern = """
        def helper(x, f):
            print("%d" % x, file=f)
            if x != 8 and x in f:
                return repr(x)
            try:
                raise ValueError("another text")
            except (ValueError, KeyError) as e:
                pass
            return 10
    """
    old = functions(parse(textwrap.dedent(source)))["helper"]
    new = functions(parse(textwrap.dedent(modern)))["helper"]
    assert old.digest == new.digest


def test_neither_python_3_nor_python_2() -> None:
    with pytest.raises(SyntaxError):
        parse("def helper(:")
