"""What a wheel holds besides Python modules, and what it needs: data, weights, stubs, licences, dependencies.

The files are those of the package that is imported: of an installed wheel or, in an editable installation, those of src
that the build takes. Modules are not recorded, as they may move. Nor are the contents of stubs, which name modules, and
of kernels, which are built.
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


def files() -> dict[str, Any]:
    """Return the files of the package: name -> size and checksum, if the content is recorded."""
    found: dict[str, Any] = {}
    for path in sorted(PACKAGE.rglob("*")):
        name = f"captious/{path.relative_to(PACKAGE).as_posix()}"
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
    found = files()
    of_server = {name for name in found if name.startswith("captious/server/")}
    record("wheel/files", {name: about for name, about in found.items() if name not in of_server})
    record("wheel/server-files", {name: found[name] for name in sorted(of_server)})


def test_requirements_of_the_package_are_as_recorded(record: Record) -> None:
    project = TABLES["project"]
    names = ("name", "license", "license-files", "requires-python", "dependencies", "optional-dependencies", "scripts")
    record("wheel/project", {name: project[name] for name in names} | {"entry-points": project.get("entry-points", {})})
