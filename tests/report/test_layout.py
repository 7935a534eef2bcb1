"""Tables in a terminal: aligned by the width of characters, the same with and without rich."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from captious.drawing import as_text
from captious.report.terminal import plain_text, rich_text
from captious.tables import Cell, Column, Row, Table

# A mark is on a letter: alone, rich leaves it out.
texts = st.lists(st.sampled_from([*"ab .0◀–犬é\n\x1b🐕", "e\u0301"]), max_size=6).map("".join)
numbers = st.floats(-1, 1)
cells = st.none() | st.builds(Cell, texts | numbers, st.none() | st.tuples(numbers, numbers), st.booleans())


@st.composite
def tables(draw: st.DrawFn) -> Table:
    aligned = st.sampled_from(["left", "right"])
    columns = draw(st.lists(st.builds(Column, texts, align=aligned, marked=st.booleans()), min_size=1, max_size=4))
    rows = st.builds(Row, texts, st.lists(cells, min_size=len(columns), max_size=len(columns)), texts)
    return Table(columns, draw(st.lists(rows, max_size=4)), [], {}, title=draw(texts), notes=draw(st.lists(texts)))


@given(tables())
def test_rich_and_plain_tables_are_equal(table: Table) -> None:
    assert plain_text(table).rstrip("\n") == as_text(rich_text(table)).rstrip("\n")


@given(tables())
def test_lines_hold_no_control_characters(table: Table) -> None:
    assert all(line.isprintable() for line in plain_text(table).split("\n"))


def test_plain_tables_do_without_rich() -> None:
    program = (
        "import sys\n"
        "from captious.cli import main\n"
        "sys.argv = ['captious', 'score', 'examples/improved.json', 'examples/references.json', '-m', 'rouge-l']\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted({'rich', 'torch', 'captious.models', 'secrets', 'subprocess'} & {*sys.modules}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
