"""Selection of the cases that run by default, among the slow or the nightly tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow_but(default: str, values: Iterable[str], *, nightly: str = "") -> list[Any]:
    """Return values for ``parametrize``: those among the words of ``default`` always run, the others are slow.

    Of these, those among the words of ``nightly`` run before a release only.
    """
    marks = {name: [pytest.mark.slow, pytest.mark.nightly] for name in nightly.split()}
    marks |= {name: [] for name in default.split()}
    return [pytest.param(value, marks=marks.get(value, [pytest.mark.slow])) for value in values]


def nightly_but(default: str, values: Iterable[str]) -> list[Any]:
    """Select cases of a slow test: the others run before a release."""
    return [value if value in default.split() else pytest.param(value, marks=pytest.mark.nightly) for value in values]
