"""The cache folder: messages that are noted in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.resources.cache import is_first_time


def test_a_message_is_new_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    assert [is_first_time(message) for message in ("a", "b", "a", "b")] == [True, True, False, False]


def test_message_is_always_new_without_a_writable_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "file"))
    assert [is_first_time("a") for _ in range(2)] == [True, True]
