"""The package of the server: its wheel, its version, which is that of captious, and its licence."""

from __future__ import annotations

import re
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest

import captious
import captious_server
from captious.cli import OF_SERVER
from tools.release.check_wheel import problems_of_wheel

SERVER = Path(__file__).parents[1]
SOURCE = SERVER / "src" / "captious_server"
PROJECT: dict[str, Any] = tomllib.loads((SERVER / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LIBRARY: dict[str, Any] = tomllib.loads((SERVER.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builders = pytest.importorskip("hatchling.builders.wheel")
    (built,) = builders.WheelBuilder(str(SERVER)).build(
        directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"]
    )
    return Path(built)


def test_server_has_the_version_of_captious_and_requires_it() -> None:
    version = captious.__version__
    assert captious_server.__version__ == version
    own = [line for line in PROJECT["dependencies"] if line.startswith("captious")]
    assert own == [f"captious[parquet]=={version}"]
    tests = [line for line in PROJECT["optional-dependencies"]["test"] if line.startswith("captious")]
    assert tests == [f"captious[meteor,test]=={version}"]


def test_both_packages_are_for_the_same_pythons() -> None:
    assert PROJECT["requires-python"] == LIBRARY["requires-python"]
    for topic in ("Programming Language :: Python ::", "Operating System ::", "Development Status ::"):
        assert [line for line in PROJECT["classifiers"] if line.startswith(topic)] == [
            line for line in LIBRARY["classifiers"] if line.startswith(topic) and "Implementation" not in line
        ]
    assert (SERVER / "LICENSE").read_bytes() == (SERVER.parent / "LICENSE").read_bytes()


def test_commands_are_those_that_captious_expects() -> None:
    commands = PROJECT["entry-points"]["captious.commands"]
    assert commands == {name: f"captious_server.commands:{name}" for name in OF_SERVER}


def test_wheel_holds_the_files_of_the_package_and_no_others(wheel: Path) -> None:
    assert problems_of_wheel(wheel) == []
    with zipfile.ZipFile(wheel) as file:
        names = {name for name in file.namelist() if ".dist-info/" not in name}
    files = (path.relative_to(SOURCE.parent) for path in SOURCE.rglob("*") if path.is_file())
    assert names == {path.as_posix() for path in files if "__pycache__" not in path.parts}
    for kind in ("templates/captious/base.html", "static/captious/style.css", "challenge_folders/demo/challenge.toml"):
        assert f"captious_server/{kind}" in names


def test_metadata_of_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        (name,) = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(file.read(name).decode())
    assert (metadata["Name"], metadata["Version"]) == ("captious-server", captious.__version__)
    assert metadata["License-Expression"] == "Apache-2.0"
    assert str(metadata.get_payload()).startswith("# captious-server")


def test_every_package_that_the_server_imports_is_required() -> None:
    """typing_extensions comes with pydantic, whose classes need it."""
    names = {"yaml": "pyyaml", "allauth": "django-allauth", "jwt": "pyjwt", "markdown_it": "markdown-it-py"}
    imported = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        imported |= set(re.findall(r"^ *(?:from|import) ([a-z]\w*)(?= import|\.|$| as)", text, re.MULTILINE))
    required = {re.split(r"[\[<>=]", line)[0] for line in PROJECT["dependencies"]}
    of_captious = {"click", "numpy", "pyarrow", "scipy"}  # which it requires, with the extra
    others = imported - sys.stdlib_module_names - {"captious_server", "typing_extensions"} - of_captious
    assert {names.get(name, name).replace("_", "-") for name in others} <= required
