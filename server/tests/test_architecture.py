"""The layers of the server's packages: each imports only from layers below it, and no files import one another."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import captious_server

PACKAGE = Path(captious_server.__file__).parent
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts)

#: From the lowest up. Modules beside the packages join them, and are not in this order.
LAYERS = (
    {"people"},
    {"submissions"},
    {"challenges"},
    {"scoring"},
    {"boards"},
    {"notices"},
    {"actions"},
    {"operations"},
    {"api", "pages"},
)
LAYER_OF = {package: layer for layer, packages in enumerate(LAYERS) for package in packages}


def name_of(path: Path) -> str:
    """Return the name of a module."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {name_of(path) for path in MODULES}


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield every module of the server that a tree imports, wherever the import is, but not for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in NAMES)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in NAMES else node.module for name in names if node.module in NAMES)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            yield from imported(ast.Module(node.orelse, []))
        else:
            yield from imported(node)


def test_every_package_has_a_layer() -> None:
    folders = {path.relative_to(PACKAGE).parts[0] for path in MODULES if path.parent != PACKAGE}
    assert folders == {*LAYER_OF, "formats", "templatetags"}


@pytest.mark.parametrize("package", sorted(LAYER_OF))
def test_packages_import_only_from_layers_below(package: str) -> None:
    for path in (PACKAGE / package).rglob("*.py"):
        for module in imported(ast.parse(path.read_text(encoding="utf-8"))):
            _, _, other = module.partition(".")
            other = other.split(".")[0]
            if other in LAYER_OF and other != package:
                assert LAYER_OF[other] < LAYER_OF[package], f"{package}/{path.name} must not import {module}"


def test_no_files_import_one_another() -> None:
    graph = {
        name_of(path): {*imported(ast.parse(path.read_text(encoding="utf-8")))} - {name_of(path)} for path in MODULES
    }
    assert sum(map(len, graph.values())) > 100
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_private_names_stay_in_their_modules(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in {"captious", "captious_server"}:
            private = [alias.name for alias in node.names if re.match("_[^_]", alias.name)]
            assert not private, f"line {node.lineno} imports {', '.join(private)}"


def test_modules_run_by_name_are_not_looked_for_in_the_current_folder() -> None:
    # python -m NAME runs ./NAME.py if there is one, python -P -m NAME does not.
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.List):
                words = [word.value for word in node.elts if isinstance(word, ast.Constant)]
                assert "-m" not in words or "-P" in words, f"{path}, line {node.lineno}"
