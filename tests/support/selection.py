"""Selection of the cases that run by default, among the slow or the nightly tests."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow_but(default: str, values: Iterable[str]) -> list[Any]:
    """Return values for ``parametrize``: those among the words of ``default`` always run, the others are slow."""
    return _marked(values, default.split(), pytest.mark.slow)


def nightly_but(default: str, values: Iterable[str]) -> list[Any]:
    """Select cases of a slow test: the others run before a release."""
    return _marked(values, default.split(), pytest.mark.nightly)


def _marked(values: Iterable[str], default: Collection[str], mark: pytest.MarkDecorator) -> list[Any]:
    return [value if value in default else pytest.param(value, marks=mark) for value in values]
