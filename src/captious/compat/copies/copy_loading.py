"""Replacement of scorers and tokenizers in copies of toolkits: their classes, when their files are loaded."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from functools import partial, wraps
from importlib.machinery import SourceFileLoader
from itertools import product
from operator import itemgetter
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from captious.compat import replacement_log
from captious.compat.copies.copied_files import is_named_as_one, look_alikes
from captious.compat.copies.original_classes import Original
from captious.compat.copies.trials import difference

__all__ = ["is_replacing", "replace_classes", "replace_copies", "restore_classes", "restore_copies"]


# Replacement of copied classes in an imported module, after a trial of each.
#
# A copied class becomes a subclass of captious's, with the parameters, attributes and additional methods of the copy:
#
#     class Spice:                                        class Spice(captious.compat.pycocoevalcap.spice.spice.Spice):
#         def __init__(self, jar="spice.jar", ...): ...       def __init__(self, jar="spice.jar", ...):
#         def compute_score(self, gts, res): ...                  super().__init__()
#         def of_own(self): ...                               def of_own(self): ...
#
# Everything else in the module is kept.

_replaced: list[tuple[ModuleType, str, type]] = []


def replace_classes(module: ModuleType) -> None:
    """Replace the copies of a toolkit's classes in a module."""
    path = Path(module.__file__ or "")
    for name, (originals, reason) in look_alikes(path).items():
        copy = vars(module).get(name)
        if not isinstance(copy, type):
            continue
        about = {"module": module.__name__, "name": name, "file": str(path)}
        reasons = [reason] if reason else []
        for original, sorts in product(originals, (False, True)):
            if sorts and "gts" not in original.required:
                continue
            replacement = _subclass(copy, original, sorts=sorts)
            reasons.append(difference(copy, replacement, original.trial, module))
            if not reasons[-1]:
                setattr(module, name, replacement)
                _replaced.append((module, name, copy))
                replacement_log.add("replaced", by=original.module, **about)
                break
        else:
            replacement_log.add("kept", reason=reasons[0], **about)
            _restore_used_by(module, name)


def restore_classes() -> None:
    """Restore the replaced classes."""
    while _replaced:
        module, name, copy = _replaced.pop()
        setattr(module, name, copy)


def _restore_used_by(module: ModuleType, user: str) -> None:
    """Restore the classes used by a class that is kept, as it may rely on more of them than scores."""
    for entry in [*_replaced]:
        home, name, copy = entry
        if home is not module and vars(module).get(name) is vars(home).get(name):
            setattr(home, name, copy)
            setattr(module, name, copy)
            _replaced.remove(entry)
            replacement_log.add(
                "kept",
                reason=f"{user}, which uses it, is not replaced",
                module=home.__name__,
                name=name,
                file=str(home.__file__),
            )


def _subclass(copy: type, original: Original, *, sorts: bool) -> type:
    """Create the class that replaces a copied one; with ``sorts``, its scores are in the order of sorted image ids."""
    base = original.replacement
    contents: dict[str, Any] = {"__module__": copy.__module__, "__doc__": copy.__doc__}
    for name, value in vars(copy).items():
        if name in ("__init__", original.method):
            contents[name] = _delegating(value, name, base, sorts=sorts and name == original.method)
        elif not name.startswith("__") and not hasattr(base, name) and not inspect.isdatadescriptor(value):
            contents[name] = value
    return type(copy.__name__, (base,), contents)


def _delegating(method: Any, name: str, base: type, *, sorts: bool) -> Any:
    """Create a method with the parameters of the copy, which calls captious's with those that it has."""
    function = method.__func__ if isinstance(method, classmethod | staticmethod) else method
    assert isinstance(function, FunctionType)
    original = getattr(base, name)
    parameters = inspect.signature(original).parameters
    signature = inspect.signature(function)

    @wraps(function)
    def delegate(self: Any, *arguments: Any, **options: Any) -> Any:
        bound = signature.bind(self, *arguments, **options)
        bound.apply_defaults()
        passed = {key: value for key, value in bound.arguments.items() if key in parameters and key != "self"}
        if sorts and isinstance(passed["gts"], Mapping):
            passed["gts"] = dict(sorted(passed["gts"].items(), key=itemgetter(0)))
        return original(**passed) if inspect.ismethod(original) else original(self, **passed)

    return classmethod(delegate) if isinstance(method, classmethod) else delegate


# Replacement when files are loaded, by an import or otherwise.
#
# All ways of loading a file end in one method of its loader: imports by any finder, ``spec_from_file_location``,
# ``load_module``. A descriptor replaces that method, so that files of other names are loaded without an additional
# step, and tracebacks without an additional line.

_load = SourceFileLoader.exec_module


class _Loading:
    """The loader method that runs the source of a module; for a copy, it also replaces its classes."""

    def __get__(self, loader: SourceFileLoader | None, owner: type[SourceFileLoader]) -> Any:
        if loader is None:
            return _load
        if is_named_as_one(Path(loader.path)) and not loader.name.startswith("captious."):
            return partial(_load_copy, loader)
        return _load.__get__(loader, owner)


def _load_copy(loader: SourceFileLoader, module: ModuleType) -> None:
    _load(loader, module)
    replace_classes(module)


def is_replacing() -> bool:
    """Return whether copies are replaced."""
    return isinstance(vars(SourceFileLoader).get("exec_module"), _Loading)


def replace_copies() -> None:
    """Replace the classes of copies from now on, and in modules that were already imported."""
    if is_replacing():
        return
    type.__setattr__(SourceFileLoader, "exec_module", _Loading())
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and is_named_as_one(Path(file)) and not name.startswith("captious."):
            replace_classes(module)


def restore_copies() -> None:
    """Undo ``replace_copies``."""
    if is_replacing():
        type.__delattr__(SourceFileLoader, "exec_module")
    restore_classes()
