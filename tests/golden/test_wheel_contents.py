"""What a wheel holds besides Python modules, and what it needs: data, weights, stubs, licences, dependencies.

The files are those of the package that is imported: of an installed wheel or, in an editable installation, those of src
that the build takes. The server's are those in its folder of sources: its wheel takes all. Modules are not recorded, as
they may move. Nor are the contents of stubs, which name modules, and of kernels, which are built.
"""

from __future__ import annotations

import fnmatch
import re
import tomllib
from pathlib import Path
from typing import Any

import captious
from tests.golden.command_line import PROJECT
from tests.golden.files import checksum
from tests.golden.record import Record

PACKAGE = Path(captious.__file__).parent
TABLES = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
EXCLUDED: list[str] = TABLES["tool"]["scikit-build"]["wheel"]["exclude"]


def files(package: Path) -> dict[str, Any]:
    """Return the files of a package: name -> size and checksum, if the content is recorded."""
    found: dict[str, Any] = {}
    for path in sorted(package.rglob("*")):
        name = f"{package.name}/{path.relative_to(package).as_posix()}"
        if not path.is_file() or "__pycache__" in path.parts or path.suffix in (".py", ".pyc"):
            continue
        if any(fnmatch.fnmatch(name, pattern.replace("**/", "*")) for pattern in EXCLUDED):
            continue
        if path.suffix in (".so", ".pyi"):
            found[re.sub(r"\.(cpython-[\w-]+|abi3)\.so$", ".so", name)] = "present"
        else:
            content = path.read_bytes()
            found[name] = [len(content), checksum(content)]
    return found


def test_files_of_the_package_are_as_recorded(record: Record) -> None:
    record("wheel/files", files(PACKAGE))


def test_requirements_of_the_package_are_as_recorded(record: Record) -> None:
    project = TABLES["project"]
    names = ("name", "license", "license-files", "requires-python", "dependencies", "optional-dependencies", "scripts")
    record("wheel/project", {name: project[name] for name in names} | {"entry-points": project.get("entry-points", {})})
