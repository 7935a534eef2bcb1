"""Copies of toolkits for tests: the toolkit of PyPI under other names, with changes, and small ones of our own.

Nothing of a toolkit is kept here. ``AUTHORS`` and ``MESHED_MEMORY`` have the shapes of packages that are not on PyPI;
their CIDEr-D is written from the paper, and ``known_shapes`` makes it known.
"""

from __future__ import annotations

import ast
import importlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from captious.compat import replacements
from captious.compat.copies import known_bodies
from captious.compat.copies.known_bodies import Body
from captious.compat.copies.normal_form import functions
from captious.resources.fetch import installed_folder
from tests.support.tables import tables

#: Classes of the toolkit by their modules.
CLASSES = {
    "bleu.bleu": "Bleu",
    "bleu.bleu_scorer": "BleuScorer",
    "cider.cider": "Cider",
    "cider.cider_scorer": "CiderScorer",
    "meteor.meteor": "Meteor",
    "rouge.rouge": "Rouge",
    "spice.spice": "Spice",
    "tokenizer.ptbtokenizer": "PTBTokenizer",
}

_PACKAGES = tables(__file__)
#: The rewards of the authors' code: path -> source.
AUTHORS = _PACKAGES["authors"] | {"counts.py": _PACKAGES["counts"]}
#: The package of the meshed-memory transformer's code.
MESHED_MEMORY = _PACKAGES["meshed-memory"] | {"counts.py": _PACKAGES["counts"]}


def copy_toolkit(folder: Path, changes: Mapping[str, tuple[str, str]] | None = None, *, flat: bool = False) -> None:
    """Copy the installed toolkit, without its jars.

    Args:
        folder: where to.
        changes: path in the toolkit -> text and what it is replaced by.
        flat: all files in one folder.
    """
    installed = installed_folder("pycocoevalcap")
    if installed is None:
        pytest.skip("no pycocoevalcap")
    left_out = shutil.ignore_patterns("*.jar", "*.gz", "lib", "example", "__pycache__")
    shutil.copytree(installed, folder, ignore=left_out, dirs_exist_ok=True)
    for path, (old, new) in (changes or {}).items():
        text = (folder / path).read_text()
        assert old in text, f"{path} has no {old!r}"
        (folder / path).write_text(text.replace(old, new))
    if flat:
        for path in [*folder.glob("*/*.py")]:
            if path.name != "__init__.py":
                path.rename(folder / path.name)
        for path in [path for path in folder.iterdir() if path.is_dir()]:
            shutil.rmtree(path)


#: Files of the two -> modules of the published toolkits.
_ROLES = {
    "ciderD/ciderD.py": "ciderD",
    "ciderD/ciderD_scorer.py": "ciderD_scorer",
    "cider/cider.py": "m2_cider",
    "cider/cider_scorer.py": "m2_cider_scorer",
}


@contextmanager
def known_shapes() -> Iterator[None]:
    """Return a context in which the bodies of ``AUTHORS`` and ``MESHED_MEMORY`` are known."""
    added = {}
    for path, source in [*AUTHORS.items(), *MESHED_MEMORY.items()]:
        for function in functions(ast.parse(source)).values():
            roles = [_ROLES[path]] if path in _ROLES else [*_ROLES.values()]
            added[function.digest] = [Body(f"{role}.{function.name}", {}, function.marks) for role in roles]
    with mock.patch.dict(known_bodies.by_digest(), added):
        yield


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write a copy, with an ``__init__.py`` in every folder."""
    for path, source in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)
        for above in (file.parent, folder):
            (above / "__init__.py").touch()


def imported(module: str, name: str) -> Any:
    """Return a class of a module."""
    return getattr(importlib.import_module(module), name)


def ours(module: str) -> Any:
    """Return the class of captious for a module of the toolkit."""
    return imported(f"captious.compat.pycocoevalcap.{module}", CLASSES[module])


def what_became_of(module: str, name: str) -> tuple[str, str]:
    """Return whether a class was "replaced" or "kept", with the reason, or "java"; the last that was said of it."""
    events = [event for event in replacements() if (event.get("module"), event.get("name")) == (module, name)]
    return (events[-1]["event"], events[-1].get("reason", "")) if events else ("", "")


#: Classes by the names of their files.
BY_FILE = {module.partition(".")[2]: name for module, name in CLASSES.items()}


def is_replaced(module: str) -> bool:
    """Import a module of a copy, and return whether captious computes its class, or answers its Java."""
    name = BY_FILE[module.rpartition(".")[2]]
    imported(module, name)
    return what_became_of(module, name)[0] in ("replaced", "java")
