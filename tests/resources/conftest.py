"""An empty cache, and machines on which METEOR's tables and the grammar of SPICE are installed or not."""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from captious.resources.corenlp import read_grammar
from captious.resources.grammar import Grammar

#: Makes a folder the installed package pycocoevalcap; None for no such package.
Install = Callable[[Path | None], None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    find_spec = PathFinder.find_spec

    def make(package: Path | None) -> None:
        def instead(name: str, *more: Any) -> Any:
            if name != "pycocoevalcap":
                return find_spec(name, *more)
            return None if package is None else SimpleNamespace(submodule_search_locations=[str(package)])

        monkeypatch.setattr(PathFinder, "find_spec", staticmethod(instead))

    return make


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, install: Install) -> Path:
    """A cache folder that is not there yet; no tables and no grammar anywhere."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("CAPTIOUS_CACHE", str(folder))
    monkeypatch.delenv("CAPTIOUS_METEOR_HOME", raising=False)
    monkeypatch.delenv("CAPTIOUS_SPICE_GRAMMAR", raising=False)
    monkeypatch.setenv("AAC_METRICS_CACHE_PATH", str(tmp_path / "caches"))
    install(None)
    return folder


@pytest.fixture(scope="session")
def corenlp_grammar(shared_data: Path) -> Path:
    """The published grammar of CoreNLP, beside its text form."""
    path = shared_data / "spice" / "corenlp" / "englishPCFG.ser.gz"
    if not path.is_file():
        pytest.skip("no shared_data: the grammar of CoreNLP")
    return path


@pytest.fixture(scope="session")
def published_grammar(corenlp_grammar: Path) -> Grammar:
    """Content of the published grammar."""
    return read_grammar(corenlp_grammar.read_bytes(), "corenlp-3.6.0")
