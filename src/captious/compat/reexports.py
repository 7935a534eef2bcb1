"""Modules of other toolkits that only re-export names, defined by a table instead of files.

Toolkits have a file for each class, often in a folder of its own, from which programs import it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def add_modules(package: str, table: Mapping[str, Mapping[str, object]]) -> None:
    """Make modules below a package importable.

    A package calls this at the end of its ``__init__``, as importing one of the modules imports the package first.

    Args:
        package: name of the package.
        table: path below the package -> contents of the module, by name. A folder comes before its modules; one that is
            not there has what its modules have. If a folder and a module share a name, as ``functional.bleu`` is a
            function and a module, the attribute is that of the folder.
    """
    folders: dict[str, dict[str, object]] = {}
    for path, names in table.items():
        folders.setdefault(path.rpartition(".")[0], {}).update(names)
    folders.pop("", None)
    for path, names in {**folders, **table}.items():
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
    """Return classes and functions by their own names."""
    return {thing.__name__: thing for thing in things}
