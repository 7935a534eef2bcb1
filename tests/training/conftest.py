"""The programs that train concur, which import one another by their names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "training" / "concur"


@pytest.fixture(scope="package")
def program() -> Iterator[Callable[[str], ModuleType]]:
    """Returns a program by its name."""
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module
    sys.path.remove(str(FOLDER))
    for file in FOLDER.glob("*.py"):
        sys.modules.pop(file.stem, None)
