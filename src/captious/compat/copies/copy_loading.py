"""Replacement of scorers and tokenizers in copies of toolkits when their files are loaded, by an import or otherwise.

All ways of loading a file end in one method of its loader: imports by any finder, ``spec_from_file_location``,
``load_module``. A descriptor replaces that method, so that files of other names are loaded without an additional step,
and tracebacks without an additional line.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

from captious.compat.copies.class_replacement import replace_classes, restore_classes
from captious.compat.copies.copied_files import is_named_as_one

__all__ = ["is_replacing", "replace_copies", "restore_copies"]

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
