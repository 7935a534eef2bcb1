"""What the wheel of the server holds besides Python modules, and what it needs.

The files are those of the package, which the build takes as they are. Modules are not recorded, as they may move.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import captious_server
from tests.golden.files import checksum
from tests.golden.record import Record

PACKAGE = Path(captious_server.__file__).parent
PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_files_of_the_package_are_as_recorded(record: Record) -> None:
    found = {}
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".py", ".pyc"):
            content = path.read_bytes()
            found[path.relative_to(PACKAGE.parent).as_posix()] = [len(content), checksum(content)]
    record("wheel", found)


def test_requirements_of_the_package_are_as_recorded(record: Record) -> None:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    names = ("name", "license", "license-files", "requires-python", "dependencies", "optional-dependencies")
    record("project", {name: project[name] for name in (*names, "entry-points")})
