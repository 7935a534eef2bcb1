"""Modules of other toolkits that only re-export names, defined by a table instead of files.

Toolkits have a file for each class, often in a folder of its own, from which programs import it. The scorers of
captious do not look up helpers in these modules. If a program sets one, or an attribute of a class that nothing calls,
a warning says so, as its scores may be others than with the toolkit.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any

from captious.compat import replacement_log
from captious.errors import CaptionWarning
from captious.evaluation.checks import issue

#: Methods that run where a program has replaced them, in all classes.
_CALLED = frozenset({"compute_score", "calc_score", "tokenize", "method"})
#: Classes all of whose methods run; in other toolkits, only if the program itself makes such scorers.
_COUNTING = ("pycocoevalcap.bleu.", "pycocoevalcap.cider.", "pyciderevalcap.")
#: Modules by name -> what they have. Classes and lists in them -> their names in the toolkit, and what they were.
_names: dict[str, Mapping[str, object]] = {}
_classes: dict[type, tuple[str, dict[str, object]]] = {}
_lists: dict[int, tuple[str, list[object], list[object]]] = {}


class _Module(ModuleType):
    """A module that warns of names that a program sets."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        is_own = name.startswith("__") or isinstance(value, ModuleType) or value is _names[self.__name__].get(name)
        if not is_own:
            _warn(f"{_in_toolkit(self.__name__)}.{name}")


def _in_toolkit(module: str) -> str:
    return module.removeprefix("captious.compat.")


def _warn(name: str) -> None:
    what = f"the program sets {name}, which captious does not use: scores may differ from those of the toolkit"
    replacement_log.add("ignored", name=name, reason=what)
    issue([CaptionWarning(what, "ignored")])


def is_changed(cls: type) -> bool:
    """Return whether a program has set attributes of a class of a toolkit."""
    return bool(_changed(cls))


def _changed(cls: type) -> list[str]:
    before = _classes[cls][1]
    others = [(name, value) for name, value in vars(cls).items() if before.get(name) is not value]
    return [name for name, value in others if isinstance(value, FunctionType) or not name.startswith("__")]


def note_changes() -> None:
    """Warn of attributes of classes, and of items of lists, that a program has set and nothing uses."""
    for cls, (name, before) in _classes.items():
        for changed in _changed(cls):
            is_its_own = changed in before or any(changed in vars(base) for base in cls.__mro__[1:])
            runs = is_its_own and hasattr(cls, "cook_append") and name.startswith(_COUNTING)
            if changed not in _CALLED and not runs:
                _warn(f"{name}.{changed}")
    for name, items, as_made in _lists.values():
        if items != as_made:
            _warn(name)


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
    vars(sys.modules[package]).setdefault("__path__", [])  # imports of other modules below it ask their finders
    for path, names in {**folders, **table}.items():
        _names[f"{package}.{path}"] = names
        module = _Module(f"{package}.{path}", f"``{path}`` of the toolkit.")
        spec = ModuleSpec(module.__name__, None, origin=sys.modules[package].__file__, is_package=path in folders)
        module.__spec__ = spec
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        vars(module).update(names, __all__=[*names], __file__=spec.origin)
        sys.modules[module.__name__] = module
        parent, _, name = module.__name__.rpartition(".")
        vars(sys.modules[parent]).setdefault(name, module)
    for path, names in table.items():
        for name, value in names.items():
            where = f"{_in_toolkit(package)}.{path}.{name}"
            if isinstance(value, type):
                _classes.setdefault(value, (where, dict(vars(value))))
            elif isinstance(value, list):
                _lists.setdefault(id(value), (where, value, [*value]))


def by_name(*things: Any) -> dict[str, object]:
    """Return classes and functions by their own names."""
    return {thing.__name__: thing for thing in things}
