"""Fixtures of the tests of captious.data: files written in one line, refusals checked in one line, real captions."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from captious.errors import CaptiousError

Write: TypeAlias = Callable[[str, str | bytes], str]
Refuses: TypeAlias = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """``write(name, content)`` makes a file, packed if its name ends in .gz, and gives its path."""

    def write_file(name: str, content: str | bytes) -> str:
        data = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return str(path)

    return write_file


@pytest.fixture
def refuses() -> Refuses:
    """``with refuses(kind, *parts)``: exactly that class is raised, says each part, and says what to do."""

    @contextmanager
    def check(kind: type[CaptiousError], *parts: str) -> Iterator[None]:
        with pytest.raises(kind) as caught:
            yield
        error = caught.value
        assert type(error) is kind
        assert error.message
        assert error.where
        assert error.hint
        for part in parts:
            assert part in str(error)

    return check
