"""What files beside the package repeat: the version, its date, keywords, and the versions of tools."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from captious.version import __version__

yaml = pytest.importorskip("yaml")

PROJECT = Path(__file__).parents[1]
METADATA: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def content(name: str) -> Any:
    return yaml.safe_load((PROJECT / name).read_text(encoding="utf-8"))


def test_citation_is_of_this_version() -> None:
    """A version without a date in the changelog has not been released."""
    citation = content("CITATION.cff")
    assert citation["version"] == __version__
    assert citation["keywords"] == METADATA["keywords"]
    assert citation["license"] in METADATA["license"].split(" AND ")
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    [heading] = re.findall(rf"^## {re.escape(__version__)} \((.*)\)$", changelog, re.MULTILINE)
    assert str(citation.get("date-released", "unreleased")) == heading


def test_server_is_of_this_version() -> None:
    """Its own tests compare more; these run without it."""
    text = (PROJECT / "server" / "src" / "captious_server" / "__init__.py").read_text(encoding="utf-8")
    assert re.findall(r'^__version__ = "(.*)"$', text, re.MULTILINE) == [__version__]
    server = tomllib.loads((PROJECT / "server" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    every = [*server["dependencies"], *server["optional-dependencies"]["test"]]
    assert [line.rpartition("==")[2] for line in every if line.startswith("captious")] == [__version__] * 2
    assert server["requires-python"] == METADATA["requires-python"]


def test_python_versions_are_those_of_ci() -> None:
    supported = {name.rsplit(" ", 1)[1] for name in METADATA["classifiers"] if re.search(r"Python :: 3\.\d+$", name)}
    jobs = content(".github/workflows/ci.yml")["jobs"]
    matrix = jobs["tests"]["strategy"]["matrix"]
    [first] = [step["with"]["python-version"] for step in jobs["checks"]["steps"] if "with" in step]
    assert supported == {first, *matrix["python"], *(more["python"] for more in matrix["include"])}
    assert METADATA["requires-python"] == f">={first}"


def test_tools_have_the_same_version_before_a_commit_and_in_ci() -> None:
    pinned = dict(line.split("==") for line in METADATA["optional-dependencies"]["dev"] if "==" in line)
    hooks = {
        hook["id"]: repo.get("rev", "")
        for repo in content(".pre-commit-config.yaml")["repos"]
        for hook in repo["hooks"]
    }
    assert pinned
    for tool, version in pinned.items():
        assert hooks[tool] == f"v{version}"
