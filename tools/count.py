"""Count lines of code by room, and words of the documentation, for the budgets of this project.

    python tools/count.py            prints each room: lines now, the figure that it may not exceed, and the goal
    python tools/count.py --lower    lowers the figures of tools/budgets.tsv to those of today

Only code counts: no blank line, no comment, no docstring, so that nobody saves lines at the expense of readers.
``tests/test_budgets.py`` holds the figures. A change that needs more raises its figure in the same commit and says why.
"""

from __future__ import annotations

import ast
import csv
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUDGETS = Path(__file__).with_name("budgets.tsv")
FIELDS = ("room", "most", "goal")

#: Rows that are not rooms of captious.
CAPTIOUS, SERVER, TESTS, WORDS, FILES = "captious, all", "captious-server", "tests", "docs, words", "files of both"
PROGRAMS = "tools, benchmarks, training"
#: Pages that a program writes, and parts of pages, which do not count as words: tests compare them with the program.
_GENERATED_PAGES = ("docs/papers.md", "docs/papers/")
_GENERATED = re.compile(r"<!-- (\w+): made by tools/.*?<!-- end of \1 -->", re.DOTALL)
#: The room of the modules at the top level.
BASE = "base"

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Budget:
    """A figure that may not rise.

    Args:
        room: what is counted.
        most: the figure that it may not exceed.
        goal: the figure to reach.
    """

    room: str
    most: int
    goal: int


def budgets() -> list[Budget]:
    """Read ``tools/budgets.tsv``."""
    with BUDGETS.open(encoding="utf-8", newline="") as file:
        return [Budget(row["room"], int(row["most"]), int(row["goal"])) for row in csv.DictReader(file, delimiter="\t")]


def code_lines(text: str) -> int:
    """Return the number of lines that hold code."""
    nodes = [*ast.walk(ast.parse(text))]
    documented = [n for n in nodes if isinstance(n, Documented) and ast.get_docstring(n, clean=False) is not None]
    texts = {node.body[0] for node in documented}
    statements = {node.lineno for node in nodes if isinstance(node, ast.stmt) and node not in texts}
    strings = {line for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr) for line in _lines_of(node)}
    lines = (line.strip() for line in text.splitlines())
    code = {number for number, line in enumerate(lines, 1) if line and not line.startswith("#")}
    return len((code | strings) - {line for node in texts for line in _lines_of(node)} | statements)


def _lines_of(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def count() -> Counter[str]:
    """Return the figures of today by room."""
    counts: Counter[str] = Counter()
    rooms = {budget.room for budget in budgets()}
    for name in _files():
        path = ROOT / name
        is_page = name.endswith(".md") and name.startswith(("docs/", "server/docs/"))
        if is_page and not name.startswith(_GENERATED_PAGES):
            counts[WORDS] += len(_GENERATED.sub("", path.read_text("utf-8")).split())
        if not name.endswith(".py") or "/migrations/" in name:
            continue
        lines = code_lines(path.read_text("utf-8"))
        if name.startswith(("tests/", "server/tests/", "conftest.py")):
            counts[TESTS] += lines
        elif name.startswith(("tools/", "benchmarks/", "training/")):
            counts[PROGRAMS] += lines
        elif name.startswith("server/src/"):
            counts[SERVER] += lines
            counts[FILES] += 1
        elif name.startswith("src/captious/"):
            room = name.split("/")[2]
            counts[room if room in rooms else BASE] += lines
            counts[CAPTIOUS] += lines
            counts[FILES] += 1
    return counts


def documented(folder: Path) -> tuple[int, int]:
    """Return the number of public classes, functions and methods below a folder, and how many have a docstring."""
    flags = [
        ast.get_docstring(node) is not None
        for path in sorted(folder.rglob("*.py"))
        if "migrations" not in path.parts
        for node in _public(ast.parse(path.read_text("utf-8")))
    ]
    return len(flags), sum(flags)


def _public(tree: ast.Module | ast.ClassDef) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the definitions of a module or class whose names, and those of their classes, have no underscore."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from _public(node)


def _files() -> list[str]:
    """Return the files of the project that exist, those not yet committed included."""
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def lower(counts: Counter[str]) -> None:
    """Write the figures of today where they are lower."""
    lines = ["\t".join(FIELDS)]
    for budget in budgets():
        budget = replace(budget, most=min(budget.most, counts[budget.room]))
        lines.append(f"{budget.room}\t{budget.most}\t{budget.goal}")
    BUDGETS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Print the figures, or lower the budgets."""
    counts = count()
    if arguments == ["--lower"]:
        lower(counts)
    for budget in budgets():
        print(f"{budget.room:27} {counts[budget.room]:8,}  at most {budget.most:8,}  goal {budget.goal:8,}")
    for folder in ("src", "server/src"):
        n, with_text = documented(ROOT / folder)
        print(f"{folder}: {with_text:,} of {n:,} public definitions have a docstring ({with_text / n:.1%})")


if __name__ == "__main__":
    main(sys.argv[1:])
