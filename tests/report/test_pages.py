"""Pages print as rich prints them."""

from __future__ import annotations

import io
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from captious.report.pages import Cell, Columns, Page

# A mark is on a letter: alone, rich leaves it out.
texts = st.lists(st.sampled_from([*"ab .0◀–犬é\n\x1b🐕", "e\u0301"]), max_size=6).map("".join)
tables = st.integers(1, 4).flatmap(
    lambda n: st.builds(
        Columns,
        st.lists(texts, min_size=n, max_size=n),
        st.lists(st.lists(st.builds(Cell, texts), min_size=n, max_size=n), max_size=4),
    )
)
pages = st.builds(Page, st.lists(st.one_of(st.builds(Cell, texts), tables), max_size=4))


@given(pages)
def test_as_rich_prints_them(page: Page) -> None:
    out = io.StringIO()
    Console(file=out, width=10_000).print(page)
    assert page.text == "".join(f"{line.rstrip(' ')}\n" for line in out.getvalue().splitlines())


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
