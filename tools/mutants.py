"""Changes the source of the package in many small ways, one at a time, and counts the changes that tests notice.

    python tools/mutants.py 120 --seed 3                 draws 120 mutants, runs tests on each, prints the share killed
    python tools/mutants.py 120 --seed 3 --at-least 97   exits with status 1 if the share is lower
    python tools/mutants.py --matching 'max(resamples'   tries every mutant of the lines with this text
    python tools/mutants.py 12 --control                 runs the same tests without the changes: all must survive
    python tools/mutants.py --coverage                   prints the coverage of each room by its own tests

A mutant is one change: another comparison or a shifted bound, another arithmetic or boolean operator, a constant one
larger or smaller, max for min, sorted reversed, a removed statement, ``not``, or argument, another default value, a
shifted slice, break for continue, another order of a written sequence. Annotations, docstrings, messages, logging,
progress, ``__repr__``, decorators and code for type checkers are left alone, and so are the folders in ``DATA``.

Mutants are drawn from the rooms in ``ROOMS``, all with the same probability, and applied to a copy of the package in a
temporary folder, never to the working tree. The first run measures in such a copy, room by room, which test runs which
line, and how long each test takes; the result is kept in ``build/mutants`` until the source of a room changes (remove
it after writing tests for lines that no test has run). For each mutant, one pytest process then runs tests that are new
since then, the tests that run its line, file by file, fastest first, and the other tests of the same files; it stops at
the first failure. A mutant survives if none fails within ``--seconds``. If the tests hang, it counts as killed.

``mutants.toml`` lists the equivalent mutants, which no test can notice, by function and text, with a reason. They are
not run, and are not part of the share.

Requires coverage, which the extra [dev] has.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[1]
#: Folders of src/captious that are measured, each with tests in a folder of the same name.
ROOMS = ("metrics", "evaluation", "text", "scenes", "judgment")
#: Folders of tests that mutants are tried on: those of the rooms, and the records of what captious prints.
TESTS = (*ROOMS, "golden")
#: Folders in rooms that are not mutated: values of published tables, which only the papers can contradict.
DATA = ("papers",)
CACHE = PROJECT / "build" / "mutants"
EQUIVALENT = Path(__file__).with_name("mutants.toml")

_PACKAGE = Path("src") / "captious"


# Mutants


@dataclass(frozen=True)
class Mutant:
    """One change to one file.

    Args:
        file: path below the project.
        line, last_line: the lines whose tests are run.
        function: the function and class that it is in, ``Class.method``; empty if it runs when the module is imported.
        start, end: the span of bytes that is replaced.
        text: what replaces it.
    """

    file: str
    line: int
    last_line: int
    function: str
    start: int
    end: int
    text: str

    def applied(self, source: bytes) -> bytes:
        """Return the source with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def change(self, source: bytes) -> tuple[str, str]:
        """Return the changed lines before and after, without indentation, lines joined by single spaces."""
        first = source.rfind(b"\n", 0, self.start) + 1
        after = source.find(b"\n", self.end)
        last = len(source) if after < 0 else after
        replaced = self.applied(source[:last])[first:]
        before, now = (" ".join(text.decode().split()) for text in (source[first:last], replaced))
        return before, now


_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_OPPOSITE = {
    **{"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"},
    **{"argmin": "argmax", "argmax": "argmin", "any": "all", "all": "any"},
    **{"floor": "ceil", "ceil": "floor", "first": "last", "zeros": "ones", "ones": "zeros"},
}
#: Calls whose only effect is on their first argument's order: the argument alone is the mutant.
_ORDERS = frozenset({"sorted", "reversed"})
#: Calls with messages, or whose arguments say nothing about values.
_MESSAGES = frozenset({"warn", "issue", "isinstance", "issubclass", "TypeVar", "NewType", "cast", "getattr"})
_UNCHANGED_FUNCTIONS = frozenset({"__repr__", "_repr_html_", "_repr_mimebundle_", "__dir__"})


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """Return all mutants of a file, in the order of its lines."""
    finder = _Finder(file, source)
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda mutant: (mutant.start, mutant.end, mutant.text))


class _Finder(ast.NodeVisitor):
    """Collects the mutants of a file."""

    def __init__(self, file: str, source: bytes) -> None:
        self.found: list[Mutant] = []
        self._file = file
        self._line_starts = [0]
        for line in source.splitlines(keepends=True):
            self._line_starts.append(self._line_starts[-1] + len(line))
        self._statement: ast.stmt | None = None
        self._names: list[str] = []  # of classes and functions around the present place
        self._n_functions = 0

    def _replace(self, node: ast.expr | ast.stmt, text: str) -> None:
        start, end = self._span(node)
        place = self._statement if self._statement is not None else node
        # A compound statement is run with its first line; its body has statements of its own.
        last = max(place.lineno if hasattr(place, "body") else place.end_lineno or 0, node.lineno)
        function = ".".join(self._names) if self._n_functions else ""
        self.found.append(Mutant(self._file, place.lineno, last, function, start, end, text))

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._line_starts[node.lineno - 1] + node.col_offset,
            self._line_starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _replace_by(self, node: ast.expr, new: ast.expr) -> None:
        self._replace(node, f"({ast.unparse(new)})")

    # Statements

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            outer, self._statement = self._statement, node
            super().visit(node)
            self._statement = outer
        else:
            super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name in _UNCHANGED_FUNCTIONS or any("overload" in ast.unparse(d) for d in node.decorator_list):
            return
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self._default(default)
        self._n_functions += 1
        self._visit_body(node)
        self._n_functions -= 1

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_body(node)

    def _visit_body(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        self._names.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self._names.pop()

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" in ast.unparse(node.test):
            for statement in node.orelse:
                self.visit(statement)
            return
        if not isinstance(node.test, ast.Compare):
            self._replace_by(node.test, _negated(node.test))
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._replace(node, "pass")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring, or the dots of an abstract method
        if isinstance(node.value, ast.Call):
            called = ast.unparse(node.value.func)
            if called.startswith(("log.", "logger.", "logging.", "progress.")):
                return
            self._replace(node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace(node, "pass")
        if type(node.op) in _OPERATORS and not _is_text(node.value):
            new = ast.AugAssign(node.target, _OPERATORS[type(node.op)](), node.value)
            self._replace(node, ast.unparse(new))
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.targets[0], ast.Subscript):
            self._replace(node, "pass")
        if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            self._visit_value(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        annotation = ast.unparse(node.annotation)
        if node.value is not None and "TypeAlias" not in annotation and "Literal" not in ast.unparse(node.value):
            self._visit_value(node.value)

    def _visit_value(self, value: ast.expr) -> None:
        if isinstance(value, ast.Constant) and isinstance(value.value, bool):
            self._replace(value, str(not value.value))
        else:
            self.visit(value)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self._visit_value(node.value)

    def visit_Break(self, node: ast.Break) -> None:
        self._replace(node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._replace(node, "break")

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_Assert(self, node: ast.Assert) -> None:
        """Leave what is always true."""

    def visit_Import(self, node: ast.Import) -> None:
        """Leave imports."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Leave imports."""

    # Expressions

    def _default(self, value: ast.expr, others: Sequence[str] = ()) -> None:
        """Mutate a default value; ``others`` are words that are allowed instead of it."""
        if isinstance(value, ast.Constant):
            if isinstance(value.value, bool):
                self._replace(value, str(not value.value))
            elif isinstance(value.value, str):
                if (other := next((word for word in others if word != value.value), "")) != value.value:
                    self._replace(value, repr(other))
            else:
                self.visit(value)
        else:
            self.visit(value)

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, operator in enumerate(node.ops):
            for other in _COMPARISONS[type(operator)]:
                operators = [*node.ops[:place], other(), *node.ops[place + 1 :]]
                self._replace_by(node, ast.Compare(node.left, operators, node.comparators))
        self.visit(node.left)
        for operator, compared in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.In | ast.NotIn) and isinstance(compared, ast.Tuple | ast.List | ast.Set):
                continue  # the order is of no importance
            self.visit(compared)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in _OPERATORS and not _is_text(node.left) and not _is_text(node.right):
            self._replace_by(node, ast.BinOp(node.left, _OPERATORS[type(node.op)](), node.right))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._replace_by(node, ast.BoolOp(ast.And() if isinstance(node.op, ast.Or) else ast.Or(), node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            self._replace_by(node, node.operand)
        self.visit(node.operand)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._replace_by(node, ast.IfExp(node.test, node.orelse, node.body))
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.visit(node.iter)
        for condition in node.ifs:
            if not isinstance(condition, ast.Compare):
                self._replace_by(condition, _negated(condition))
            self.visit(condition)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            self._replace(node, f"({node.value + 1!r})")
            self._replace(node, f"({node.value - 1!r})")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave messages and names."""

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if "Literal" not in ast.unparse(node.value):
            self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        for bound in (node.lower, node.upper):
            if bound is not None and not isinstance(bound, ast.Constant):
                self._replace(bound, f"({ast.unparse(bound)} + 1)")
        if node.step is not None and ast.unparse(node.step) == "-1":
            self._replace(node.step, "1")
        for bound in (node.lower, node.upper):
            if bound is not None:
                self.visit(bound)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        self._sequence(node)

    def visit_List(self, node: ast.List) -> None:
        self._sequence(node)

    def _sequence(self, node: ast.Tuple | ast.List) -> None:
        simple = all(isinstance(item, ast.Constant | ast.Name | ast.Attribute) for item in node.elts)
        if simple and isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
            swapped = [node.elts[1], node.elts[0], *node.elts[2:]]
            self._replace(node, ast.unparse(type(node)(swapped, node.ctx)))
        for item in node.elts:
            self.visit(item)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if called in _MESSAGES or called.endswith(("Error", "Warning")):
            return
        if called in _OPPOSITE:
            new: ast.expr = ast.Name(_OPPOSITE[called])
            if isinstance(node.func, ast.Attribute):
                new = ast.Attribute(node.func.value, _OPPOSITE[called])
            self._replace(node.func, ast.unparse(new))
        elif called in _ORDERS and isinstance(node.func, ast.Name) and node.args:
            self._replace_by(node, ast.Call(ast.Name("list"), node.args[:1], []))
        if isinstance(node.func, ast.Attribute):
            self.visit(node.func.value)
        for argument in node.args:
            self.visit(argument)
        words = [
            item.value
            for keyword in node.keywords
            for item in getattr(keyword.value, "elts", [])
            if isinstance(item, ast.Constant) and isinstance(item.value, str)
        ]
        for keyword in node.keywords:
            if keyword.arg in ("help", "where", "summary") or (called == "zip" and keyword.arg == "strict"):
                continue  # messages, and what is like an assertion
            if isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, bool):
                self._replace(keyword.value, str(not keyword.value.value))
            elif keyword.arg == "default":
                self._default(keyword.value, words)
            else:
                self.visit(keyword.value)


def _negated(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    return ast.UnaryOp(ast.Not(), node)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def sources() -> dict[str, bytes]:
    """Return the source of every file of the rooms, by its path below the project."""
    paths = sorted(path for room in ROOMS for path in (PROJECT / _PACKAGE / room).rglob("*.py"))
    return {path.relative_to(PROJECT).as_posix(): path.read_bytes() for path in paths}


def all_mutants() -> list[Mutant]:
    """Return all mutants of the rooms."""
    mutated = {file: source for file, source in sources().items() if not set(DATA).intersection(Path(file).parts)}
    return [mutant for file, source in mutated.items() for mutant in mutants_of(file, source)]


# The process that runs tests


class Watcher:
    """A plugin of pytest that selects tests, measures them one by one, and stops after some time.

    Args:
        order: tests in the order in which they are run, after others, which are new. None for all as they are found.
        seconds: time after which no further test is begun.
        coverage: measures each test as a context of its own.
    """

    def __init__(self, order: Sequence[str] | None, seconds: float | None, coverage: Any) -> None:
        self.durations: dict[str, float] = {}
        self.passed: dict[str, bool] = {}
        self.failed: list[str] = []
        self._order = None if order is None else {test: place for place, test in enumerate(order)}
        self._seconds = seconds
        self._coverage = coverage
        self._started = time.monotonic()

    def pytest_sessionstart(self) -> None:
        """Let Hypothesis report the first example that fails, without the search for a smaller one."""
        from hypothesis import Phase, settings

        if self._order is not None:
            phases = (Phase.explicit, Phase.generate)
            settings.register_profile("mutants", settings(), phases=phases)
            settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._order is not None:
            order = self._order
            items.sort(key=lambda item: order.get(item.nodeid, -1))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        if self._coverage is not None:
            self._coverage.switch_context(item.nodeid)
        started = time.monotonic()
        result = yield
        self.durations[item.nodeid] = time.monotonic() - started
        if self._coverage is not None:
            self._coverage.switch_context("")
        if self._seconds is not None and time.monotonic() - self._started > self._seconds:
            item.session.shouldstop = "the time is over"
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed[report.nodeid] = self.passed.get(report.nodeid, True) and report.outcome == "passed"
        if report.outcome == "failed":  # neither passed nor skipped
            self.failed.append(report.nodeid)


def worker(request: dict[str, Any]) -> int:
    """Run tests in this process, as a request says, against the copy of the package on the path."""
    coverage = None
    if request["data"] is not None:
        from coverage import Coverage

        coverage = Coverage(
            data_file=request["data"], branch=True, config_file=False, source=request["source"], messages=False
        )
        coverage.start()
    copy = Path(request["copy"])
    _put_on_path(copy)
    watcher = Watcher(request["order"], request["seconds"], coverage)
    status = int(pytest.main(["-q", "-p", "no:cacheprovider", *request["arguments"]], plugins=[watcher]))
    if coverage is not None:
        coverage.stop()
        coverage.save()
    results = {
        "durations": watcher.durations,
        "passed": [test for test, passed in watcher.passed.items() if passed],
        "failed": watcher.failed,
    }
    Path(request["results"]).write_text(json.dumps(results))
    return status


def _put_on_path(copy: Path) -> None:
    """Make sure that the copy is imported, also where an editable installation has a finder of its own."""
    sys.path.insert(0, str(copy))
    sys.meta_path[:] = [finder for finder in sys.meta_path if "captious" not in type(finder).__module__]
    found = find_spec("captious")
    if found is None or found.origin is None or copy not in Path(found.origin).parents:
        sys.exit(f"the copy in {copy} is hidden by {found and found.origin}")


class Copy:
    """A copy of the package in a temporary folder, and processes that run tests against it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "src"
        ignored = shutil.ignore_patterns("__pycache__", "*.cpp", "*.hpp")
        shutil.copytree(PROJECT / _PACKAGE, self.path / "captious", ignore=ignored)
        kernels = find_spec("captious.native._kernels")  # outside of the source, in an editable installation
        assert kernels is not None
        assert kernels.origin is not None
        native = self.path / "captious" / "native"
        native.mkdir(exist_ok=True)
        shutil.copy(kernels.origin, native)
        compileall.compile_dir(self.path, quiet=2)

    def run(
        self,
        arguments: Sequence[str],
        *,
        order: Sequence[str] | None = None,
        seconds: float | None = None,
        limit: float | None = None,
        data: Path | None = None,
    ) -> tuple[int | None, dict[str, Any], str]:
        """Run pytest in a process of its own: exit status, None after ``limit`` seconds; results, and output."""
        results = self.folder / "results.json"
        results.unlink(missing_ok=True)
        request = {
            "copy": str(self.path),
            "arguments": [*arguments],
            "order": order,
            "seconds": seconds,
            "data": None if data is None else str(data),
            "source": [str(self.path / "captious" / room) for room in ROOMS],
            "results": str(results),
        }
        written = self.folder / "request.json"
        written.write_text(json.dumps(request))
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTEST_ADDOPTS": "",  # such as --cov, which would measure in place of this
            "COVERAGE_CORE": "ctrace",
            "OMP_NUM_THREADS": "1",
        }
        with (self.folder / "output.txt").open("w+", encoding="utf-8", errors="replace") as output:
            process = subprocess.Popen(
                [sys.executable, str(Path(__file__).absolute()), "--worker", str(written)],
                cwd=PROJECT,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status: int | None = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                _end(process)
            output.seek(0)
            text = output.read()
        return status, json.loads(results.read_text()) if results.exists() else {}, text


def _end(process: subprocess.Popen[Any]) -> None:
    """End the process, and those that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


# Which tests run which lines


class CoveredLines:
    """The tests that run each line of the rooms, measured once and kept until the source changes."""

    def __init__(self) -> None:
        from coverage import CoverageData

        self._data = {}
        self._durations: dict[str, float] = {}
        self._passed: set[str] = set()
        self.rooms: dict[str, dict[str, int]] = {}
        self._copies: dict[str, str] = {}
        for room in TESTS:
            measured = json.loads((CACHE / f"{room}.json").read_text())
            self._durations |= measured["durations"]
            self._passed |= set(measured["passed"])
            self._copies[room] = measured["copy"]
            if room in ROOMS:
                self.rooms[room] = measured["totals"]
            self._data[room] = CoverageData(str(CACHE / f"{room}.coverage"))
            self._data[room].read()
        self._lines: dict[str, dict[int, set[str]]] = {}

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that run the lines of a mutant, file by file, fastest first.

        Lines that run when the module is imported belong to all tests that run any line of the module.
        """
        lines = self._of_file(mutant.file)
        found = set().union(*(lines.get(line, ()) for line in range(mutant.line, mutant.last_line + 1)))
        if not mutant.function:
            found.update(*lines.values())
        found &= self._passed
        by_file: dict[str, float] = {}
        for test in found:
            file = test.partition("::")[0]
            by_file[file] = by_file.get(file, 0.0) + self._durations[test]
        return sorted(
            found,
            key=lambda test: (by_file[test.partition("::")[0]], test.partition("::")[0], self._durations[test], test),
        )

    def _of_file(self, file: str) -> dict[int, set[str]]:
        if file not in self._lines:
            merged: dict[int, set[str]] = {}
            for room, data in self._data.items():
                path = str(Path(self._copies[room]) / Path(file).relative_to("src"))
                for line, contexts in data.contexts_by_lineno(path).items():
                    merged.setdefault(line, set()).update(contexts)
            self._lines[file] = merged
        return self._lines[file]

    def others(self, tests: Sequence[str]) -> list[str]:
        """Return the other tests in the files of these tests."""
        files = {test.partition("::")[0] for test in tests}
        others = self._durations.keys() - set(tests)
        return sorted((t for t in others if t.partition("::")[0] in files), key=lambda t: (self._durations[t], t))

    def new_files(self, mutant: Mutant) -> list[str]:
        """Return the files of tests of the mutant's room that have not been measured."""
        measured = {test.partition("::")[0] for test in self._durations}
        folder = PROJECT / "tests" / Path(mutant.file).relative_to(_PACKAGE).parts[0]
        files = sorted(path.relative_to(PROJECT).as_posix() for path in folder.rglob("test_*.py"))
        return [file for file in files if file not in measured]

    def failing_in(self, files: Sequence[str]) -> list[str]:
        """Return the tests of files that did not pass without a mutant."""
        failing = self._durations.keys() - self._passed
        return sorted(test for test in failing if test.partition("::")[0] in files)


def measure() -> CoveredLines:
    """Return which test runs which line; measure it where it is not known for the present source."""
    current = _checksum()
    missing = [room for room in TESTS if not _is_current(room, current)]
    if missing:
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="captious-mutants-") as folder:
            copy = Copy(Path(folder))
            for room in missing:
                _measure_room(copy, room, current)
    return CoveredLines()


def _measure_room(copy: Copy, room: str, checksum: str) -> None:
    from coverage import Coverage

    print(f"measuring tests/{room} ...", flush=True)
    data = CACHE / f"{room}.coverage"
    data.unlink(missing_ok=True)
    status, results, output = copy.run([f"tests/{room}"], data=data)
    if not results.get("passed"):
        sys.exit(f"tests/{room} ended with status {status}:\n{output[-3000:]}")
    if left_out := len(results["durations"]) - len(results["passed"]):
        print(f"  {left_out} tests failed or were skipped; they are left out")
    source = copy.path / "captious" / (room if room in ROOMS else "")
    coverage = Coverage(data_file=str(data), branch=True, config_file=False, include=[f"{source}/*"])
    coverage.load()
    report = copy.folder / "coverage.json"
    coverage.json_report(outfile=str(report))
    totals = json.loads(report.read_text())["totals"]
    kept = {"checksum": checksum, "copy": str(copy.path), "totals": totals, **results}
    (CACHE / f"{room}.json").write_text(json.dumps(kept))


def _is_current(room: str, checksum: str) -> bool:
    kept = CACHE / f"{room}.json"
    return kept.exists() and bool(json.loads(kept.read_text())["checksum"] == checksum)


def _checksum() -> str:
    """Return a checksum of the sources of the rooms; new tests may be written meanwhile."""
    digest = hashlib.sha256()
    for file, source in sources().items():
        digest.update(file.encode() + b"\0" + source + b"\0")
    return digest.hexdigest()


# The command


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: killed, timeout (which counts as killed), survived, or no test, which runs its line."""

    outcome: str
    seconds: float
    detail: str = ""

    @property
    def is_killed(self) -> bool:
        return self.outcome in ("killed", "timeout")


def judged(mutant: Mutant, covered: CoveredLines, copy: Copy, seconds: float, *, control: bool = False) -> Verdict:
    """Run the tests of a mutant; with ``control``, without it."""
    tests = covered.tests(mutant)
    files = [*covered.new_files(mutant), *dict.fromkeys(test.partition("::")[0] for test in tests)]
    if not files:
        return Verdict("no test", 0.0)
    path = copy.path / Path(mutant.file).relative_to("src")
    source = (PROJECT / mutant.file).read_bytes()
    started = time.monotonic()
    if not control:
        path.write_bytes(mutant.applied(source))
    try:
        deselected = [f"--deselect={test}" for test in covered.failing_in(files)]
        status, results, output = copy.run(
            ["-x", *deselected, *files], order=[*tests, *covered.others(tests)], seconds=seconds, limit=2 * seconds + 60
        )
    finally:
        shutil.copy2(PROJECT / mutant.file, path)
    took = time.monotonic() - started
    if status is None:
        return Verdict("timeout", took)
    if status == 0 or (not results.get("failed") and status == 2 and "the time is over" in output):
        return Verdict("survived", took, f"{len(results['passed'])} tests, {len(tests)} of them on the line")
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        return Verdict("no test", took)
    failed = results.get("failed", ["a module cannot be imported"])
    return Verdict("killed", took, failed[-1] if failed else "an error before the first test")


def equivalent_mutants() -> dict[tuple[str, str, str], str]:
    """Return the listed equivalent mutants: function, lines before and after -> the reason."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("equivalent", [])
    return {(entry["function"], entry["before"], entry["after"]): entry["reason"] for entry in listed}


def run(arguments: argparse.Namespace) -> int:
    """Draw mutants, judge them, and print verdicts and the share killed; return the exit status."""
    source_of = sources()
    equivalent = equivalent_mutants()
    drawn = all_mutants()
    print(f"{len(drawn):,} mutants", flush=True)
    if arguments.matching is not None:
        drawn = [m for m in drawn if arguments.matching in m.change(source_of[m.file])[0]]
    if arguments.n is not None:
        drawn = random.Random(arguments.seed).sample(drawn, min(arguments.n, len(drawn)))
    n_drawn = len(drawn)
    drawn = [m for m in drawn if (m.function, *m.change(source_of[m.file])) not in equivalent]
    if len(drawn) < n_drawn:
        print(f"{n_drawn - len(drawn)} of {n_drawn} are equivalent, and are not run")
    covered = measure()
    killed, survivors = 0, []
    with tempfile.TemporaryDirectory(prefix="captious-mutants-") as folder:
        copy = Copy(Path(folder))
        for number, mutant in enumerate(drawn, 1):
            verdict = judged(mutant, covered, copy, arguments.seconds, control=arguments.control)
            killed += verdict.is_killed
            before, after = mutant.change(source_of[mutant.file])
            place = f"{mutant.file}:{mutant.line} {mutant.function}"
            print(f"{number:4} {verdict.outcome:8} {verdict.seconds:5.0f} s  {place}")
            print(f"       - {before}\n       + {after}\n       {verdict.detail}", flush=True)
            if not verdict.is_killed:
                survivors.append((mutant, before, after))
    share = 100 * killed / len(drawn) if drawn else 100.0
    print(f"\n{killed} of {len(drawn)} killed: {share:.1f} %")
    for mutant, before, after in survivors:
        print(f"{mutant.file}:{mutant.line} {mutant.function}\n  - {before}\n  + {after}")
    return int(share < arguments.at_least)


def print_coverage(covered: CoveredLines) -> None:
    """Print the share of lines and branches of each room that its own tests run."""
    total = [0, 0, 0, 0]
    for room, totals in covered.rooms.items():
        counts = [totals[key] for key in ("covered_lines", "num_statements", "covered_branches", "num_branches")]
        total = [a + b for a, b in zip(total, counts, strict=True)]
        print(_coverage_line(room, counts))
    print(_coverage_line("all", total))


def _coverage_line(name: str, counts: Sequence[int]) -> str:
    lines, statements, taken, branches = counts
    both = 100 * (lines + taken) / (statements + branches)
    return f"{name:12} {both:5.1f} %: {lines:,} of {statements:,} lines, {taken:,} of {branches:,} branches"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with its arguments; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", type=int, nargs="?", help="number of mutants; by default all")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--at-least", type=float, default=0.0, metavar="SHARE", help="share that must be killed, in %%")
    parser.add_argument("--seconds", type=float, default=120.0, help="time of the tests of one mutant")
    parser.add_argument("--matching", metavar="TEXT", help="only mutants of lines with this text")
    parser.add_argument("--control", action="store_true", help="run the tests without the mutants")
    parser.add_argument("--coverage", action="store_true", help="print the coverage of each room by its own tests")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.worker is not None:
        return worker(json.loads(arguments.worker.read_text()))
    if arguments.coverage:
        print_coverage(measure())
        return 0
    if arguments.n is None and arguments.matching is None:
        parser.error("give a number of mutants, or --matching TEXT")
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
