"""Which of many similar cases run by default, and which only among the slow or nightly tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow_but(default: str, values: Iterable[str]) -> list[Any]:
    """Values for ``parametrize``: those that are among the words of ``default`` always run, the others are slow."""
    return [value if value in default.split() else pytest.param(value, marks=pytest.mark.slow) for value in values]


def nightly_but(default: str, values: Iterable[str]) -> list[Any]:
    """The same for cases of a slow test: the others run before a release."""
    return [value if value in default.split() else pytest.param(value, marks=pytest.mark.nightly) for value in values]
