"""Content of an installed wheel: the package with its data and license, and neither sources of kernels nor tests."""

from __future__ import annotations

import importlib.metadata
import json
import zipfile
from pathlib import Path

import pytest

from tools.release import check_wheel, score_examples
from tools.release.check_wheel import problems_of_names


def test_installed_files_are_those_of_the_package() -> None:
    """CI installs captious from a wheel; an editable installation has other files."""
    try:
        installed = importlib.metadata.distribution("captious")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("not here: captious is not installed")
    if json.loads(installed.read_text("direct_url.json") or "{}").get("dir_info", {}).get("editable"):
        pytest.skip("not here: captious is installed in editable mode")
    names = [file.as_posix() for file in installed.files or ()]
    scripts = {name for name in names if name.startswith("..")}
    made = {name for name in names if "__pycache__/" in name}
    assert problems_of_names(set(names) - scripts - made) == []


def test_problems_are_found() -> None:
    assert "holds captious/native/meteor/meteor.cpp" in problems_of_names(["captious/native/meteor/meteor.cpp"])
    assert "holds captious/native/CMakeLists.txt" in problems_of_names(["captious/native/CMakeLists.txt"])
    assert "holds tests/conftest.py, outside of the package" in problems_of_names(["tests/conftest.py"])
    assert any("LICENSE" in problem for problem in problems_of_names(["captious/__init__.py"]))
    assert "holds captious_server/urls.py, outside of the package" in problems_of_names(["captious_server/urls.py"])


def test_problems_of_the_server_are_found() -> None:
    problems = problems_of_names(["captious_server/__init__.py", "captious/__init__.py"], of_server=True)
    assert "holds captious/__init__.py, outside of the package" in problems
    assert any("style" in problem for problem in problems)
    assert not any("__init__" in problem and "lacks" in problem for problem in problems)


def test_problems_of_all_files_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheels = [tmp_path / "first.whl", tmp_path / "second.whl"]
    for wheel, name in zip(wheels, ["tests/one.py", "tests/two.py"], strict=True):
        with zipfile.ZipFile(wheel, "w") as file:
            file.writestr(name, "")
    assert check_wheel.main(wheels) == 1
    shown = capsys.readouterr().out
    assert "first.whl: holds tests/one.py, outside of the package" in shown
    assert "second.whl: holds tests/two.py, outside of the package" in shown


def test_scores_of_the_readme_are_those_of_the_examples() -> None:
    score_examples.main(Path(__file__).parents[1])
