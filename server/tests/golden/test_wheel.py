"""What the wheel of the server holds besides Python modules, which may move, and what it needs."""

from __future__ import annotations

import tomllib
from pathlib import Path

import captious_server
from tests.golden.record import Record
from tests.golden.test_wheel_contents import files

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_files_of_the_package_are_as_recorded(record: Record) -> None:
    record("wheel", files(Path(captious_server.__file__).parent))


def test_requirements_of_the_package_are_as_recorded(record: Record) -> None:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    names = ("name", "license", "license-files", "requires-python", "dependencies", "optional-dependencies")
    record("project", {name: project[name] for name in (*names, "entry-points")})
