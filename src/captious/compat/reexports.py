"""Modules of other toolkits that only pass names on: a table of them, instead of a file for each.

Toolkits keep a class in a file of its own, often in a folder of its own, and programs import it from there.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["add_modules", "by_name"]


def add_modules(package: str, table: Mapping[str, Mapping[str, object]]) -> None:
    """Make modules below a package importable.

    A package calls it at the end of its ``__init__``: importing one of the modules imports the package first.

    Args:
        package: name of the package.
        table: path below the package -> what the module has, by name. A folder comes before its modules. Where both
            have a name, as ``functional.bleu`` is a function and a module, the attribute is what the folder has.
    """
    folders = {path.rpartition(".")[0] for path in table}
    for path, names in table.items():
        module = ModuleType(f"{package}.{path}", f"``{path}`` of the toolkit.")
        spec = ModuleSpec(module.__name__, None, origin=sys.modules[package].__file__, is_package=path in folders)
        module.__spec__ = spec
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        vars(module).update(names, __all__=[*names])
        sys.modules[module.__name__] = module
        parent, _, name = module.__name__.rpartition(".")
        vars(sys.modules[parent]).setdefault(name, module)


def by_name(*things: Any) -> dict[str, object]:
    """Classes and functions, each under its own name."""
    return {thing.__name__: thing for thing in things}
