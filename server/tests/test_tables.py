"""The tables of the server's pages are those of the code."""

from __future__ import annotations

import pytest

from tools import tables


@pytest.mark.parametrize("page", tables.OF_SERVER)
def test_tables_are_those_of_the_code(page: str) -> None:
    text = (tables.PROJECT / page).read_text(encoding="utf-8")
    assert tables.written(text, tables.OF_SERVER[page]) == text, "run python -m tools.tables"
