"""Finds copies of toolkits when they are imported, and loads them with their scorers and tokenizers replaced.

A copied class becomes a subclass of captious's, with the parameters, attributes and additional methods of the copy:

    class Spice:                                          class Spice(captious.compat.pycocoevalcap.spice.spice.Spice):
        def __init__(self, jar="spice.jar", ...): ...         def __init__(self, jar="spice.jar", ...):
        def compute_score(self, gts, res): ...                    super().__init__()
        def of_own(self): ...                                 def of_own(self): ...

Everything else in the file stays, line for line.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from captious.compat import replacement_log
from captious.compat.copies.copied_files import CopiedFile, copied_file, is_named_as_one, replacement_of_class
from captious.compat.copies.original_classes import Original

__all__ = ["CopyFinder"]


class CopyFinder(MetaPathFinder):
    """Finds modules that are copies of a toolkit's; leaves all others to the finders after it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec that loads a copy with its classes replaced; None for every other module."""
        if not is_named_as_one(Path(f"{name.rpartition('.')[2]}.py")) or name.startswith("captious."):
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is None or spec.origin is None or not isinstance(spec.loader, SourceFileLoader):
            return None
        file = copied_file(Path(spec.origin))
        if file is None:
            return None
        for class_name, original in file.classes.items():
            replacement_log.add("replaced", module=name, name=class_name, file=spec.origin, by=original.module)
        for class_name, difference in file.differences.items():
            replacement_log.add("kept", module=name, name=class_name, file=spec.origin, reason=difference)
        if not file.classes:
            return None
        spec.loader = _CopyLoader(name, spec.origin, file)
        spec.cached = None
        return spec


class _CopyLoader(SourceFileLoader):
    """Loads a file with its copied classes replaced."""

    def __init__(self, name: str, path: str, file: CopiedFile) -> None:
        super().__init__(name, path)
        self._file = file

    def get_code(self, fullname: str) -> CodeType:
        """The code of the file, compiled anew: what Python keeps of it is that of the copy."""
        return compile(replaced(self._file), str(self._file.path), "exec")


def replaced(file: CopiedFile) -> ast.Module:
    """The syntax tree of a file with its copied classes replaced."""
    body: list[ast.stmt] = []
    for node in file.tree.body:
        if isinstance(node, ast.ClassDef) and node.name in file.classes:
            body += _subclass(node, file.classes[node.name])
        else:
            body.append(node)
    return ast.fix_missing_locations(ast.Module(body, file.tree.type_ignores))


def _subclass(node: ast.ClassDef, original: Original) -> list[ast.stmt]:
    """The statements that make a class of the copy's name from captious's class."""
    base = replacement_of_class(original)
    alias = f"_captious_{node.name}"
    imported = ast.ImportFrom(f"captious.compat.{original.module}", [ast.alias(original.name, alias)], 0)
    body: list[ast.stmt] = []
    for statement in node.body:
        if not isinstance(statement, ast.FunctionDef):
            body += [statement] if _is_of_the_copy(statement, base) else []
        elif hasattr(base, statement.name) and statement.name in ("__init__", original.method):
            body.append(_delegating(statement, getattr(base, statement.name)))
        elif not hasattr(base, statement.name) and not statement.name.startswith("__"):
            body.append(statement)
    made = ast.ClassDef(node.name, [ast.Name(alias, ast.Load())], [], body or [ast.Pass()], [])
    return [ast.copy_location(statement, node) for statement in (imported, made)]


def _is_of_the_copy(statement: ast.stmt, base: type) -> bool:
    """Whether a statement of a class, such as an attribute, says something that the replacement does not."""
    names = [target.id for target in getattr(statement, "targets", []) if isinstance(target, ast.Name)]
    return not any(name.startswith("__") or hasattr(base, name) for name in names)


def _delegating(method: ast.FunctionDef, base: Any) -> ast.FunctionDef:
    """A method with the parameters of the copy, which calls captious's with those that it has."""
    known = inspect.signature(base).parameters
    names = [argument.arg for argument in (*method.args.args[1:], *method.args.kwonlyargs) if argument.arg in known]
    function = ast.Attribute(ast.Call(ast.Name("super", ast.Load()), [], []), method.name, ast.Load())
    call = ast.Call(function, [], [ast.keyword(name, ast.Name(name, ast.Load())) for name in names])
    statement: ast.stmt = ast.Expr(call) if method.name == "__init__" else ast.Return(call)
    made = ast.FunctionDef(method.name, method.args, [statement], method.decorator_list, None)
    return ast.copy_location(made, method)
