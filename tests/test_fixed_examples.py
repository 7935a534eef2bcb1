"""The examples of Hypothesis are the same in every run."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def examples() -> list[list[str | int]]:
    drawn: list[list[str | int]] = []

    @given(values=st.lists(st.integers() | st.text(max_size=9), min_size=20))
    def draw(values: list[str | int]) -> None:
        drawn.append(values)

    draw()
    return drawn


def test_examples_do_not_depend_on_loaded_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not settings().derandomize:
        pytest.skip("not here: a search for new examples")
    before = examples()
    file = tmp_path / "many_constants.py"
    file.write_text("\n".join(f"x = {n}000123\ny = 'word{n}'" for n in range(1, 500)))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    monkeypatch.setitem(sys.modules, file.stem, importlib.util.module_from_spec(spec))
    assert examples() == before
