"""Skipped tests: each names what it lacks, and fails where that must be there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.needs import GROUPS, problem, required

PROJECT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("no gensim", ""),
        ("no shared_data: gold trees", ""),
        ("could not import 'sklearn.metrics': No module named 'sklearn'", ""),
        ("not here: no torch", ""),
        ("no java", "CAPTIOUS_REQUIRED has java"),
        ("could not import 'torch.nn': No module named 'torch'", "CAPTIOUS_REQUIRED has torch"),
        ("could not import 'torhc': No module named 'torhc'", "does not know"),
        ("no time", "does not know"),
        ("no java here", "does not know"),
        ("unconditional skip", "does not know"),
    ],
)
def test_reason_is_that_of_a_need_that_is_not_required(reason: str, message: str) -> None:
    wrong = problem(reason, required("models java"))
    assert message in wrong
    assert bool(message) == bool(wrong)


def test_required_needs_are_names_or_groups() -> None:
    assert required("") == set()
    assert required("java browser") == {"java", *GROUPS["browser"]}
    with pytest.raises(pytest.UsageError, match="jave is not in"):
        required("java jave")


def test_skips_of_fixtures_tests_and_modules_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_REQUIRED", "java models")
    (tmp_path / "test_module.py").write_text("import pytest\npytest.skip('no torch', allow_module_level=True)")
    (tmp_path / "test_functions.py").write_text(FUNCTIONS)
    options = ["-q", "-rA", "-p", "conftest", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)], cwd=PROJECT, capture_output=True, text=True
    )
    outcomes = re.findall(r"^(PASSED|SKIPPED|FAILED|ERROR) .*?(test_\w+.py(?:::\w+)?)", run.stdout, re.M)
    assert sorted(outcomes) == [
        ("ERROR", "test_functions.py::test_fixture"),
        ("ERROR", "test_functions.py::test_mark"),
        ("ERROR", "test_module.py"),
        ("FAILED", "test_functions.py::test_unknown"),
        ("SKIPPED", "test_functions.py"),
    ], run.stdout


FUNCTIONS = """
import pytest

@pytest.fixture
def java():
    pytest.skip("no java")

def test_fixture(java):
    pass

@pytest.mark.skip("no transformers")
def test_mark():
    pass

def test_call():
    pytest.importorskip("gensim_of_another_name", reason="no gensim")

def test_unknown():
    pytest.importorskip("torhc")
"""
