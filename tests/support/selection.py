"""Which of many similar cases run by default; the others are slow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow_but(default: str, values: Iterable[str]) -> list[Any]:
    """Values for ``parametrize``: those that are among the words of ``default`` run always, the others are slow."""
    return [value if value in default.split() else pytest.param(value, marks=pytest.mark.slow) for value in values]
