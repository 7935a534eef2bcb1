"""mypy accepts what users pass, and refuses what they should not: every form in ``uses.py``."""

from __future__ import annotations

from pathlib import Path

import pytest

USES = Path(__file__).with_name("uses.py")


def test_uses_are_accepted_by_strict_mypy() -> None:
    api = pytest.importorskip("mypy.api")
    options = ["--strict", "--config-file=", "--ignore-missing-imports", "--disable-error-code=import-untyped"]
    out, err, status = api.run([*options, str(USES)])
    assert (status, err) == (0, ""), out
