"""The table of promises in server/docs/promises.md names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

_TESTS = Path(__file__).parent


def test_promises_name_existing_tests() -> None:
    section = (_TESTS.parent / "docs" / "promises.md").read_text().partition("## Under load and attack")[2]
    rows = re.findall(r"^\| (?!promise)(.+?) \| (.+) \|$", section.partition("\n## ")[0], re.MULTILINE)
    assert len(rows) > 5
    for promise, tests in rows:
        names = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", tests)
        assert names, promise
        for file, name in names:
            tree = ast.parse((_TESTS / file).read_text())
            assert not name or name in {getattr(node, "name", "") for node in ast.walk(tree)}, f"{file}::{name}"
