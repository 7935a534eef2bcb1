"""Detection of classes in a Python file that look like a toolkit's, without running it.

Whether they are copies is determined when the file has been imported; see ``copy_loading``.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import lru_cache
from pathlib import Path

from captious.compat.copies.original_classes import ORIGINALS, Original

__all__ = ["is_ignored", "is_named_as_one", "look_alikes"]

#: File names of the toolkits' scorers and tokenizers, in lower case, and the folders that hold them side by side.
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
#: Parameters that say where files are and how processes run; scores do not depend on them.
_ABOUT_FILES = re.compile(r"path|jar|java|dir|folder|home|te?mp|cache|mem|heap|timeout|thread|proc|debug|quiet")


def is_named_as_one(path: Path) -> bool:
    """Return whether a file has the name of a scorer or tokenizer."""
    return path.stem.lower() in _FILES and path.suffix == ".py"


def is_ignored(parameter: str, original: Original) -> bool:
    """Return whether a copy may have a parameter that captious lacks, because scores do not depend on it."""
    return parameter == "verbose" or (original.starts_java and _ABOUT_FILES.search(parameter.lower()) is not None)


@lru_cache(maxsize=64)
def look_alikes(path: Path) -> dict[str, tuple[tuple[Original, ...], str]]:
    """Return the classes in a file that look like a toolkit's.

    In a file without other scorers or tokenizers in its folder or sibling folders, only classes that start Java count.

    Returns:
        Name of a class -> the classes of toolkits with the same methods and parameters; if there are none, the
        difference.
    """
    if not is_named_as_one(path):
        return {}
    try:
        tree = ast.parse(path.read_bytes(), str(path))
        alone = not _has_neighbor(path)
    except (OSError, SyntaxError, ValueError):
        return {}
    originals = [original for original in ORIGINALS if original.starts_java or not alone]
    classes = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            differences = {original: _difference(node, original) for original in originals if _is_like(node, original)}
            matches = tuple(original for original, difference in differences.items() if not difference)
            if differences:
                classes[node.name] = matches, "" if matches else next(iter(differences.values()))
    return classes


def _has_neighbor(path: Path) -> bool:
    here = (file for file in path.parent.iterdir() if is_named_as_one(file))
    beside = (folder / name for folder in (path.parent, path.parent.parent) for name in _BESIDE)
    return any(file != path and file.is_file() for files in (here, beside) for file in files)


def _methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {method.name: method for method in node.body if isinstance(method, ast.FunctionDef)}


def _is_like(node: ast.ClassDef, original: Original) -> bool:
    """Return whether a class has the name of a toolkit's, and the features that distinguish it from other toolkits'
    classes.
    """
    methods = _methods(node)
    if node.name != original.name or original.method not in methods:
        return False
    return not original.told_by or ("__init__" in methods and original.told_by in _names(methods["__init__"]))


def _difference(node: ast.ClassDef, original: Original) -> str:
    """Describe the difference between the methods of a class and those of a toolkit's; empty if there is none."""
    methods = _methods(node)
    required = _required(methods[original.method])
    if required != list(original.required):
        return f"{original.method} takes {', '.join(required) or 'nothing'}"
    for name, method in methods.items():
        method_replacing = getattr(original.replacement, name, None)
        if method_replacing is None or (name.startswith("_") and name != "__init__"):
            continue
        parameters = [word for word in inspect.signature(method_replacing).parameters if word != "self"]
        names = _names(method)
        for unknown in [word for word in names if word not in parameters]:
            if unknown in _required(method) or not is_ignored(unknown, original):
                return f"{name} takes {unknown}"
        shared = [word for word in names if word in parameters]
        if shared != [word for word in parameters if word in shared]:
            return f"{name} takes its arguments in another order"
    return ""


def _names(method: ast.FunctionDef) -> list[str]:
    """Return the parameters of a method, without the object or the class."""
    is_static = any(isinstance(node, ast.Name) and node.id == "staticmethod" for node in method.decorator_list)
    arguments = [*method.args.posonlyargs, *method.args.args][0 if is_static else 1 :]
    return [argument.arg for argument in (*arguments, *method.args.kwonlyargs)]


def _required(method: ast.FunctionDef) -> list[str]:
    """Return the parameters without a default."""
    optional = len(method.args.defaults) + len(method.args.kwonlyargs)
    names = _names(method)
    return names[: len(names) - optional]
