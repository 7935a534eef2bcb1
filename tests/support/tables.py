"""Tables of cases: modules of tests with many have them in a TOML file of their name beside them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

__all__ = ["tables"]


def tables(module: str) -> dict[str, Any]:
    """Return the tables beside a module, by name: ``tables(__file__)`` reads ``test_x.toml`` beside ``test_x.py``."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text("utf-8"))
