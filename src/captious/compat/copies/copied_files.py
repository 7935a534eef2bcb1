"""Reads a Python file and tells which of its classes are copies of a toolkit's, without running anything in it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path

from captious.compat.copies.original_classes import ORIGINALS, Original

__all__ = ["CopiedFile", "copied_file", "is_ignored", "is_named_as_one", "replacement_of_class"]

#: File names of the toolkits' scorers and tokenizers, in lower case, and folders that have one of them each.
_FILES = frozenset(
    {
        *("bleu", "bleu_scorer", "cider", "cider_scorer", "ciderd", "ciderd_scorer"),
        *("meteor", "rouge", "spice", "ptbtokenizer", "tokenizer"),
    }
)
_BESIDE = (
    *("bleu/bleu.py", "bleu/bleu_scorer.py", "cider/cider.py", "ciderD/ciderD.py", "meteor/meteor.py"),
    *("rouge/rouge.py", "spice/spice.py", "tokenizer/ptbtokenizer.py", "tokenizer.py"),
)
#: Parameters that say where files are, how processes run and what is printed; scores do not depend on them.
_ABOUT_FILES = re.compile(r"path|jar|java|dir|folder|home|te?mp|cache|memory|heap|timeout|thread|proc|debug|quiet")
_PUNCTUATIONS = "PUNCTUATIONS"


@dataclass(frozen=True)
class CopiedFile:
    """What a file has of a toolkit.

    Attributes:
        path: the file.
        classes: name of a class -> the class of a toolkit that it is a copy of.
        differences: name of a class that is like one of a toolkit -> what it has of its own, so that it is no copy.
    """

    path: Path
    tree: ast.Module
    classes: dict[str, Original]
    differences: dict[str, str]


def is_named_as_one(path: Path) -> bool:
    """Whether a file has the name of a scorer or tokenizer."""
    return path.stem.lower() in _FILES and path.suffix == ".py"


def is_ignored(parameter: str, original: Original) -> bool:
    """Whether a copy may have a parameter that captious has not: scores do not depend on it."""
    return parameter == "verbose" or (original.starts_java and _ABOUT_FILES.search(parameter.lower()) is not None)


def replacement_of_class(original: Original) -> type:
    """The class of captious that replaces one of a toolkit."""
    replacement: type = getattr(import_module(f"captious.compat.{original.module}"), original.name)
    return replacement


@lru_cache(maxsize=64)
def copied_file(path: Path) -> CopiedFile | None:
    """What a file has of a toolkit; None if it has nothing, or is not Python 3.

    A file that stands alone, with no other scorer or tokenizer in its folder or in those beside it, has nothing.
    """
    tree = _tree(path) if is_named_as_one(path) and _has_neighbour(path) else None
    if tree is None:
        return None
    classes: dict[str, Original] = {}
    differences: dict[str, str] = {}
    for name in [node.name for node in tree.body if isinstance(node, ast.ClassDef)]:
        original = _original_of(name, tree, path)
        if isinstance(original, str):
            differences[name] = original
        elif original is not None:
            classes[name] = original
    return CopiedFile(path, tree, classes, differences) if classes or differences else None


def _tree(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_bytes(), str(path))
    except (OSError, SyntaxError, ValueError):
        return None


def _has_neighbour(path: Path) -> bool:
    here = (file for file in path.parent.iterdir() if is_named_as_one(file))
    beside = (folder / name for folder in (path.parent, path.parent.parent) for name in _BESIDE)
    return any(file != path and file.is_file() for files in (here, beside) for file in files)


def _original_of(name: str, tree: ast.Module, path: Path) -> Original | str | None:
    """The class of a toolkit of which a class in a file is a copy; what differs, if it only looks like one."""
    node = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name), None)
    if node is None:
        return None
    copied = _Class(node, tree, path)
    differences = []
    for original in [original for original in ORIGINALS if copied.is_like(original)]:
        differences.append(copied.difference(original))
        if not differences[-1]:
            return original
    return next(iter(differences), None)


@dataclass(frozen=True)
class _Class:
    """A class in a file that may be a copy."""

    node: ast.ClassDef
    tree: ast.Module
    path: Path

    @cached_property
    def methods(self) -> dict[str, ast.FunctionDef]:
        return {node.name: node for node in self.node.body if isinstance(node, ast.FunctionDef)}

    def is_like(self, original: Original) -> bool:
        """Whether it has the name of a toolkit's class, and what tells that from the classes of other toolkits."""
        if self.node.name != original.name or original.method not in self.methods:
            return False
        init = self.methods.get("__init__")
        return not original.told_by or (init is not None and original.told_by in _names(init))

    def difference(self, original: Original) -> str:
        """What tells this class from one of a toolkit; empty if it is a copy."""
        checks = (self._methods, self._work, self._code, self._punctuations, self._counter)
        return next(filter(None, (check(original) for check in checks)), "")

    def _methods(self, original: Original) -> str:
        """Methods that the replacement has, too, take the same parameters."""
        replacement = replacement_of_class(original)
        for name, method in self.methods.items():
            own = getattr(replacement, name, None)
            if own is None or (name.startswith("_") and name != "__init__"):
                continue
            known = [*inspect.signature(own).parameters]
            known = known[known[:1] == ["self"] :]
            names = _names(method)
            for unknown in [word for word in names if word not in known]:
                if unknown in _required(method) or not is_ignored(unknown, original):
                    return f"{name} takes {unknown}"
            shared = [word for word in names if word in known]
            if shared != [word for word in known if word in shared]:
                return f"{name} takes its arguments in another order"
        return ""

    def _work(self, original: Original) -> str:
        method = self.methods[original.method]
        required = _required(method)
        if required != list(original.required):
            return f"{method.name} takes {', '.join(required) or 'nothing'}"
        if len(required) == 2 and not all(_is_pair(node.value) for node in _returns(method)):
            return "compute_score does not return a pair"
        return ""

    def _code(self, original: Original) -> str:
        nodes = [*ast.walk(self.node)]
        values = [node.value for node in nodes if isinstance(node, ast.Constant)]
        if lacking := sorted(original.texts - {value for value in values if isinstance(value, str)}):
            return f"its code lacks {lacking[0]!r}"
        numbers = {value for value in values if isinstance(value, int | float) and not isinstance(value, bool)}
        if original.numbers and (other := sorted(numbers - original.numbers)):
            return f"its code has the number {other[0]:g}"
        called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        if original.clips is not None and ("min" in called) != original.clips:
            return "it does not clip counts" if original.clips else "it clips counts"
        return ""

    def _punctuations(self, original: Original) -> str:
        """A tokenizer drops the same tokens."""
        if original.method != "tokenize":
            return ""
        for node in (*self.tree.body, *self.node.body):
            names = [name.id for name in getattr(node, "targets", []) if isinstance(name, ast.Name)]
            if isinstance(node, ast.Assign) and _PUNCTUATIONS in [name.upper() for name in names]:
                module = import_module("captious.compat.pycocoevalcap.ptb_tokenizer")
                try:
                    dropped = set(ast.literal_eval(node.value))
                except (ValueError, TypeError):
                    dropped = set()
                if dropped != set(module.PUNCTUATIONS):
                    return "it drops other punctuation"
        return ""

    def _counter(self, original: Original) -> str:
        """The class that counts is a copy of the same toolkit's: in this file, or one in the same folder."""
        if not original.counter:
            return ""
        counter = _original_of(original.counter, self.tree, self.path)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and original.counter in [alias.name for alias in node.names]:
                path = self.path.parent / f"{(node.module or '').rpartition('.')[2]}.py"
                tree = _tree(path)
                counter = None if tree is None else _original_of(original.counter, tree, path)
        if isinstance(counter, Original) and counter.module.split(".")[0] == original.module.split(".")[0]:
            return ""
        return f"its {original.counter} differs" + (f": {counter}" if isinstance(counter, str) else "")


def _names(method: ast.FunctionDef) -> list[str]:
    """The parameters of a method, without the object or the class."""
    is_static = any(isinstance(node, ast.Name) and node.id == "staticmethod" for node in method.decorator_list)
    arguments = [*method.args.posonlyargs, *method.args.args][0 if is_static else 1 :]
    return [argument.arg for argument in (*arguments, *method.args.kwonlyargs)]


def _required(method: ast.FunctionDef) -> list[str]:
    """Those of them that have no default."""
    optional = len(method.args.defaults) + len(method.args.kwonlyargs)
    names = _names(method)
    return names[: len(names) - optional]


def _returns(method: ast.FunctionDef) -> Iterator[ast.Return]:
    """What a method returns; functions within it are left out."""
    nodes: list[ast.AST] = [*method.body]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, ast.FunctionDef | ast.Lambda):
            nodes.extend(ast.iter_child_nodes(node))


def _is_pair(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Tuple) and len(node.elts) == 2
