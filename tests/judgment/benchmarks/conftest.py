"""Helpers of the tests of several benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.judgments import read_jsonl


@pytest.fixture(scope="session")
def expert(shared_data: Path) -> list[dict[str, Any]]:
    return read_jsonl(shared_data / "flickr8k" / "expert.jsonl.gz")
