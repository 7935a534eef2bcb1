"""tools/mutants.py: which changes it makes to source, and which of them it reports as killed."""

from __future__ import annotations

import ast
import random
import re
from pathlib import Path
from textwrap import dedent

import pytest

from tests.support.tables import tables
from tools import mutants


def changes(source: str) -> dict[str, set[str]]:
    """Return the mutants of a source: line before -> lines after."""
    text = dedent(source).encode()
    found: dict[str, set[str]] = {}
    for mutant in mutants.mutants_of("file.py", text):
        ast.parse(mutant.applied(text))
        before, after = mutant.change(text)
        found.setdefault(before, set()).add(after)
    return found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = a < b", {"x = (a <= b)", "x = (a >= b)"}),
        ("x = a == b", {"x = (a != b)"}),
        ("x = a in (b, c)", {"x = (a not in (b, c))"}),
        ("x = a + b", {"x = (a - b)"}),
        ("x = a / b", {"x = (a * b)"}),
        ("x = a and b", {"x = (a or b)"}),
        ("x = not a", {"x = (a)"}),
        ("x = -a", {"x = (a)"}),
        ("x = f(3)", {"x = f((4))", "x = f((2))"}),
        ("x = max(a, b)", {"x = min(a, b)"}),
        ("x = a.max()", {"x = a.min()"}),
        ("x = sorted(a, key=b)", {"x = (list(a))"}),
        ("x = a if b else c", {"x = (c if b else a)"}),
        ("x = a[:b]", {"x = a[:(b + 1)]"}),
        ("x = a[::-1]", {"x = a[::1]"}),
        ("x = True", {"x = False"}),
        ("x = (a, b)", {"x = (b, a)"}),
        ("x = f(flag=False)", {"x = f(flag=True)"}),
        ("x = f(default='a', choices=('a', 'b'))", {"x = f(default='b', choices=('a', 'b'))"} | {
            "x = f(default='a', choices=('b', 'a'))"
        }),
        ("x += a", {"pass", "x -= a"}),
        ("x[a] = b", {"pass"}),
        ("f(a)", {"pass"}),
        ("raise ValueError(3)", {"pass"}),
        ("x = [a for a in b if a]", {"x = [a for a in b if (not a)]"}),
    ],
)  # fmt: skip
def test_mutants_of_a_line(line: str, expected: set[str]) -> None:
    assert changes(line) == {line: expected}


def test_mutants_of_statements() -> None:
    found = changes("""
        def f(a, b=False, c="x", *, d=1):
            for x in a:
                if x:
                    break
                continue
    """)
    assert found['def f(a, b=False, c="x", *, d=1):'] == {
        'def f(a, b=True, c="x", *, d=1):',
        "def f(a, b=False, c='', *, d=1):",
        'def f(a, b=False, c="x", *, d=(2)):',
        'def f(a, b=False, c="x", *, d=(0)):',
    }
    assert found["if x:"] == {"if (not x):"}
    assert (found["break"], found["continue"]) == ({"continue"}, {"break"})


def test_changes_of_several_lines_are_one_line() -> None:
    assert changes("x = (\n    a\n    + b\n)\n") == {"a + b": {"(a - b)"}}


@pytest.mark.parametrize("source", tables(__file__)["unchanged"])
def test_what_says_nothing_about_values_stays(source: str) -> None:
    assert changes(source) == {}


def test_every_mutant_can_be_compiled() -> None:
    sources = mutants.sources()
    assert {Path(file).parts[2] for file in sources} == set(mutants.ROOMS)
    for mutant in random.Random(0).sample(mutants.all_mutants(), 200):
        compile(mutant.applied(sources[mutant.file]), mutant.file, "exec")


def test_listed_equivalent_mutants_exist_and_have_reasons() -> None:
    """A line that has changed is no longer the one that was found equivalent."""
    sources = mutants.sources()
    listed = mutants.equivalent_mutants()
    assert all(len(reason.split()) > 3 for reason in listed.values())
    every = {(mutant.function, *mutant.change(sources[mutant.file])) for mutant in mutants.all_mutants()}
    assert listed.keys() <= every


SOURCE = """
def larger(a, b):
    return a if a > b else b


def capped(a):
    while a > 3:
        a -= 1
    return a


def unused(a):
    return not a
"""
TESTS = """
import pytest
from captious.text.numbers import capped, larger

def test_larger():
    assert (larger(1, 2), larger(2, 1)) == (2, 2)

def test_capped():
    assert capped(5) == 3

def test_failing():
    assert capped(3) == 4
"""


EQUIVALENT = """
[[equivalent]]
function = "larger"
before = "return a if a > b else b"
after = "return a if (a >= b) else b"
reason = "both are the same if they are equal"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of one room with some tests, one of which fails."""
    pytest.importorskip("coverage")
    for file, content in {
        "src/captious/__init__.py": "",
        "src/captious/text/__init__.py": "",
        "src/captious/text/numbers.py": SOURCE,
        "tests/text/test_numbers.py": TESTS,
        "mutants.toml": "",
        "pytest.ini": "[pytest]\n",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(content)
    monkeypatch.setattr(mutants, "PROJECT", tmp_path)
    monkeypatch.setattr(mutants, "CACHE", tmp_path / "build")
    monkeypatch.setattr(mutants, "EQUIVALENT", tmp_path / "mutants.toml")
    monkeypatch.setattr(mutants, "ROOMS", ("text",))
    monkeypatch.setattr(mutants, "TESTS", ("text",))
    return tmp_path


def outcomes(output: str) -> dict[str, str]:
    """Return outcomes of mutants: line after -> outcome."""
    after = re.findall(r"^ {7}\+ (.*)$", output, re.MULTILINE)
    found = re.findall(r"^ *\d+ (killed|survived|timeout|no test) ", output, re.MULTILINE)
    return dict(zip(after, found, strict=True))


@pytest.mark.slow
@pytest.mark.nightly
def test_survivors_are_told_from_killed_mutants(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mutants.main(["--matching", "return", "--seconds", "5", "--at-least", "90"]) == 1
    printed = capsys.readouterr().out
    assert outcomes(printed) == {
        "return (b if a > b else a)": "killed",
        "return a if (a >= b) else b": "survived",
        "return a if (a <= b) else b": "killed",
        "return (a)": "no test",
    }
    assert "2 of 4 killed: 50.0 %" in printed
    (project / "mutants.toml").write_text(EQUIVALENT)
    assert mutants.main(["--matching", "a > b else", "--at-least", "100"]) == 0
    printed = capsys.readouterr().out
    assert "2 of 2 killed: 100.0 %" in printed
    assert "measuring" not in printed  # which is kept
    assert (project / "src/captious/text/numbers.py").read_text() == SOURCE


@pytest.mark.slow
def test_copies_have_the_kernels(tmp_path: Path) -> None:
    status, results, output = mutants.Copy(tmp_path).run(["tests/text/test_stop_words.py"])
    assert (status, bool(results["passed"])) == (0, True), output


@pytest.mark.slow
def test_mutants_need_tests_that_pass(project: Path) -> None:
    (project / "tests/text/test_numbers.py").write_text("import captious.nothing\n")
    with pytest.raises(SystemExit, match=r"tests/text ended with status 2"):
        mutants.measure()
