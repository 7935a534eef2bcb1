"""The table of adversarial pairs, for any metrics."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

import pytest

PAIRS = [
    ("a dog bites a man", "a man bites a dog", ["a dog bites a man in a park"]),
    ("two cats sleep on a bed", "two cats sleep on a car", ["two cats lie on a bed", "cats asleep on a bed"]),
]


@pytest.fixture
def module(program: Callable[[str], ModuleType]) -> ModuleType:
    return program("adversarial")


@pytest.mark.parametrize(
    ("metrics", "cells"),
    [
        (["bleu-1", "concur"], ["75", "100"]),
        (["bleu-1", "cider-d"], ["75", "100"]),
    ],
    ids=["none with document frequencies", "one with document frequencies"],
)
def test_share_of_pairs_that_metrics_order_rightly(
    module: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    metrics: list[str],
    cells: list[str],
) -> None:
    monkeypatch.setattr(module, "_pairs", lambda data: iter([("exchanged", PAIRS)]))
    monkeypatch.setattr(sys, "argv", ["adversarial.py", "--data", "unread", *metrics])
    module.main()
    row = capsys.readouterr().out.splitlines()[-1]
    assert [cell.strip() for cell in row.strip("|").split("|")] == ["exchanged", "2", *cells]
