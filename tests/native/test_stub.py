"""The stub of the kernels says what the kernels are."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from captious import native
from captious.native import _kernels

STUB = Path(__file__).parents[2] / "src" / "captious" / "native" / "_kernels.pyi"


def content(stub: str) -> str:
    """Return the content of a stub without its layout."""
    tree = ast.parse(stub)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = inspect.cleandoc(node.value)
    return ast.dump(tree, indent=1)


def test_stub_is_the_generated_one() -> None:
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(_kernels)
    generator.put(_kernels)
    make = f"make it again: python -m nanobind.stubgen -m captious.native._kernels -o {STUB.name}, then ruff format"
    assert content(STUB.read_text()) == content(generator.get()), make


def test_public_names_come_from_the_kernels() -> None:
    assert native.__all__ == sorted(native.__all__, key=lambda name: (not name.isupper(), name))
    assert {*native.__all__} - {"MOST_THREADS", "threads", "using_threads"} <= {*dir(_kernels)}
