"""Fixtures of the tests of the server's commands: those of captious's commands."""

from __future__ import annotations

from tests.cli.conftest import flags, folder, run

__all__ = ["flags", "folder", "run"]
