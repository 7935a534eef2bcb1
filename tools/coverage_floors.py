"""Compare the coverage of a run of the tests with figures that may not fall: ``coverage_floors.tsv``, by room.

    pytest -n auto --cov              measures lines and branches, with pytest-cov
    python tools/coverage_floors.py   prints them, and exits with 1 if one is below its floor

The second figure of a room is the share of its ``raise`` statements that a test reaches. Processes that tests start
are not measured. A floor stands one point below what was measured when it was set: tests draw some of their inputs, and
shorter code that is tested as well has a smaller share.
"""

from __future__ import annotations

import ast
import csv
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FLOORS = Path(__file__).with_name("coverage_floors.tsv")
ALL = "captious, all"
#: How far a figure may be above its floor before the floor has to be raised, in percent.
SLACK = 2.0


@dataclass(frozen=True)
class Coverage:
    """Shares of a room that tests reach, in percent.

    Args:
        lines: of lines and branches.
        raises: of ``raise`` statements.
    """

    lines: float
    raises: float


def floors() -> dict[str, Coverage]:
    """Read the figures that may not fall."""
    with FLOORS.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t")]
    return {row["room"]: Coverage(float(row["lines and branches"]), float(row["raises"])) for row in rows}


def measured(report: Mapping[str, Any]) -> dict[str, Coverage]:
    """Return the figures of a run.

    Args:
        report: the JSON report of coverage.py, of files of captious that can be read.
    """
    reached: Counter[str] = Counter()
    possible: Counter[str] = Counter()
    raised: Counter[str] = Counter()
    raises: Counter[str] = Counter()
    for name, file in report["files"].items():
        parts = Path(name).parts
        below = parts[len(parts) - parts[::-1].index("captious") :]
        lines = raise_lines(Path(name).read_text("utf-8"))
        missing = {*file["missing_lines"], *file.get("excluded_lines", ())}
        summary = file["summary"]
        for room in (below[0] if len(below) > 1 else "base", ALL):
            reached[room] += summary["covered_lines"] + summary["covered_branches"]
            possible[room] += summary["num_statements"] + summary["num_branches"]
            raised[room] += len(lines - missing)
            raises[room] += len(lines)
    return {
        room: Coverage(100 * reached[room] / possible[room], 100 * raised[room] / max(raises[room], 1))
        for room in sorted(possible)
        if possible[room]
    }


def raise_lines(text: str) -> set[int]:
    """Return the lines on which ``raise`` statements of a source begin."""
    return {node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Raise)}


def problems(found: Mapping[str, Coverage], least: Mapping[str, Coverage]) -> list[str]:
    """Return a sentence for each figure that has fallen, or risen so far that its floor has to follow."""
    sentences = [f"{room}: nothing was measured" for room in least if room not in found]
    sentences += [f"{room}: it has no floor in {FLOORS.name}" for room in found if room not in least]
    for room, floor in least.items():
        if room not in found:
            continue
        for what, now, before in (
            ("lines and branches", found[room].lines, floor.lines),
            ("raises", found[room].raises, floor.raises),
        ):
            if now < before:
                sentences.append(f"{room}: {now:.1f}% of {what} are tested, {before:.1f}% before")
            elif now > before + SLACK:
                sentences.append(f"{room}: {now:.1f}% of {what} are tested; raise the floor of {before:.1f}%")
    return sentences


def main() -> int:
    """Print the figures of the latest run; return the exit status."""
    import coverage

    measurement = coverage.Coverage()
    measurement.load()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.json"
        measurement.json_report(outfile=str(path))
        found = measured(json.loads(path.read_text("utf-8")))
    print(f"{'room':16} {'lines and branches':>20} {'raises':>8}")
    for room, figures in found.items():
        print(f"{room:16} {figures.lines:19.1f}% {figures.raises:7.1f}%")
    failed = problems(found, floors())
    print("\n".join(failed), file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
