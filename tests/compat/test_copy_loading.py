"""Copies of a toolkit are recognized in whichever way their files are loaded."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest

import captious
from tests.compat.copies import CLASSES, copy_toolkit, imported, is_replaced, what_became_of

pytestmark = pytest.mark.usefixtures("replaced_copies")


@pytest.mark.parametrize("way", ["by their paths", "by finders"])
def test_modules_that_are_loaded_without_an_import(way: str, tmp_path: Path) -> None:
    copy_toolkit(tmp_path / "evalcap")
    for module in ("rouge.rouge", "tokenizer.ptbtokenizer"):
        path = tmp_path / "evalcap" / f"{module.replace('.', '/')}.py"
        if way == "by finders":
            spec = PathFinder.find_spec(path.stem, [str(path.parent)])
        else:
            spec = importlib.util.spec_from_file_location(f"loaded_{path.stem}", path)
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        assert what_became_of(loaded.__name__, CLASSES[module])[0] == (
            "replaced" if module == "rouge.rouge" else "java"
        )


def test_finders_of_others_find_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Editable:
        """A finder like those of editable installations."""

        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
            if name == "pycocoevalcap":
                return importlib.util.spec_from_file_location(name, tmp_path / "theirs" / "cap" / "__init__.py")
            return None

    copy_toolkit(tmp_path / "theirs" / "cap")
    (tmp_path / "theirs" / "cap" / "__init__.py").write_text("OWN = 3")
    others = [finder for finder in sys.meta_path if finder is not PathFinder]
    monkeypatch.setattr(sys, "meta_path", [*others, Editable, PathFinder])
    assert imported("pycocoevalcap", "OWN") == 3
    assert is_replaced("pycocoevalcap.cider.cider")


def test_errors_of_other_modules_have_no_frames_of_captious(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise ValueError")
    with pytest.raises(ValueError) as error:
        importlib.import_module("broken")
    package = Path(captious.__file__).parent
    assert not [entry for entry in error.traceback if package in Path(entry.path).parents]
