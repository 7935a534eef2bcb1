"""Programs in Java that pycocoevalcap carries."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest


def toolkit_jar(folder: str, name: str) -> Path:
    """Return a jar of the toolkit; skips the test if it or java is missing."""
    if shutil.which("java") is None:
        pytest.skip("no java")
    package = importlib.util.find_spec("pycocoevalcap")
    if package is None or not package.submodule_search_locations:
        pytest.skip("no pycocoevalcap: pip install 'captious[meteor]'")
    return Path(package.submodule_search_locations[0]) / folder / name
