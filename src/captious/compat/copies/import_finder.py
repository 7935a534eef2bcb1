"""Finds copies of toolkits when they are imported, and replaces their scorers and tokenizers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from captious.compat.copies.class_replacement import replace_classes
from captious.compat.copies.copied_files import is_named_as_one, look_alikes

__all__ = ["CopyFinder", "replace_imported"]


class CopyFinder(MetaPathFinder):
    """Finds modules with classes that look like a toolkit's; leaves all others to the finders after it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec that loads a copy and then replaces its classes; None for every other module."""
        if not is_named_as_one(Path(f"{name.rpartition('.')[2]}.py")) or name.startswith("captious."):
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is None or spec.origin is None or not isinstance(spec.loader, SourceFileLoader):
            return None
        if not look_alikes(Path(spec.origin)):
            return None
        spec.loader = _CopyLoader(name, spec.origin)
        return spec


class _CopyLoader(SourceFileLoader):
    """Loads a file as it is, and replaces its copied classes."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        replace_classes(module)


def replace_imported() -> None:
    """Replace the classes of copies that were imported before."""
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and is_named_as_one(Path(file)) and not name.startswith("captious."):
            replace_classes(module)
