"""Small JSON files that users name."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import ResourceError
from captious.resources.cache import text_as_json


def test_text_is_read_as_json_or_refused(tmp_path: Path) -> None:
    assert text_as_json('{"a": 1}', "a.json", "") == {"a": 1}
    for text in ("{", "[" * 100_000):
        with pytest.raises(ResourceError, match="not JSON"):
            text_as_json(text, "a.json", "")
