"""What the server imports from captious, and of it what is not public: a list that only gets shorter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import captious_server

#: The modules whose names are public: all of errors, of the others those that they list.
PUBLIC_MODULES = (
    "cli",
    "compat",
    "data",
    "drawing",
    "evaluation",
    "files",
    "judgment",
    "metrics",
    "models",
    "progress",
    "scale",
    "statistics",
    "text",
)

#: What the server imports although it is not public. Nothing may be added; what is no longer imported must be removed.
NOT_PUBLIC: tuple[str, ...] = ()


def is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of a name in a module that is no package
        return False


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a file imports from captious, wherever; of an imported module, the names that are used."""
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            assert not any(name.split(".")[0] == "captious" for name in names), "write: from captious import NAME"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "captious":
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if is_module(name):
                    modules[alias.asname or alias.name] = name
                else:
                    yield name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield f"{modules[node.value.id]}.{node.attr}"


def is_public(name: str) -> bool:
    """Whether the same object has a public name."""
    module, _, last = name.rpartition(".")
    value = getattr(import_module(module), last)
    if module == "captious.errors" or getattr(value, "__module__", "") == "captious.errors":
        return True
    places: list[ModuleType] = [import_module("captious")]
    places += [import_module(f"captious.{place}") for place in PUBLIC_MODULES]
    return any(last in getattr(place, "__all__", ()) and getattr(place, last) is value for place in places)


def test_names_that_are_not_public_get_fewer() -> None:
    files = Path(captious_server.__file__).parent.rglob("*.py")
    names = {name for file in files for name in imported(ast.parse(file.read_text(encoding="utf-8")))}
    assert names
    internal = {name for name in names if not is_public(name)}
    assert sorted(internal - {*NOT_PUBLIC}) == [], "use public names of captious"
    assert sorted({*NOT_PUBLIC} - internal) == [], "remove them from the list"
    assert sorted(NOT_PUBLIC) == [*NOT_PUBLIC]


def test_names_are_found_wherever_they_are_imported() -> None:
    tree = ast.parse(
        "from captious.errors import ParameterError\n"
        "def f() -> None:\n"
        "    from captious.report import html as pages\n"
        "    pages.asset('x')\n"
    )
    assert sorted(imported(tree)) == ["captious.errors.ParameterError", "captious.report.html.asset"]
    assert is_public("captious.errors.ParameterError")
    assert is_public("captious.data.ids.ImageId")  # as captious.data.ImageId
    assert not is_public("captious.report.html.asset")
