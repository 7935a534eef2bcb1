"""Docstrings of the server name parameters that exist."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import captious_server

SOURCE = Path(captious_server.__file__).parent


def parameters(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    """Return the parameters of a function; those of ``__init__``, and the fields, of a class."""
    if isinstance(node, ast.FunctionDef):
        lists = node.args
        others = [argument for argument in (lists.vararg, lists.kwarg) if argument is not None]
        return {argument.arg for argument in (*lists.posonlyargs, *lists.args, *lists.kwonlyargs, *others)}
    names: set[str] = set()
    for member in node.body:
        if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
            names.add(member.target.id)
        elif isinstance(member, ast.FunctionDef) and member.name == "__init__":
            names |= parameters(member)
    return names


def described(docstring: str) -> Iterator[str]:
    """Yield the names in the section "Args"."""
    section = re.search(r"^Args:\n((?:    .*\n?|\n)+)", docstring, re.MULTILINE)
    for names in re.findall(r"^    ([\w, ]+):", section[1] if section else "", re.MULTILINE):
        yield from names.split(", ")


def wrong_names(source: str) -> list[str]:
    """Return each name that is described and is no parameter, with its function or class."""
    wrong = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            known = parameters(node)
            wrong += [f"{node.name}: {name}" for name in described(ast.get_docstring(node) or "") if name not in known]
    return wrong


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_described_parameters_exist(path: Path) -> None:
    assert wrong_names(path.read_text(encoding="utf-8")) == []


def test_wrong_names_are_found() -> None:
    source = (
        'def f(a: int, *, b: int) -> int:\n    """F.\n\n    Args:\n        a, c: numbers.\n        b: one.\n    """\n'
    )
    assert wrong_names(source) == ["f: c"]
