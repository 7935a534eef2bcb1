"""Encoders for tests of models: small ones with random weights, and a real one where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.support.encoders import save_tiny_encoder


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a small model with random weights, by kind: see ``KINDS``."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")

    @cache
    def folder(kind: str) -> Path:
        return save_tiny_encoder(kind, tmp_path_factory.mktemp("models") / kind)

    return folder
