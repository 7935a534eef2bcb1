"""Fixtures of the tests of the server's commands: those of captious's commands."""

from __future__ import annotations

from tests.cli.conftest import folder, run

__all__ = ["folder", "run"]
