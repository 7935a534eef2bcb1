"""Fixtures of the golden record."""

from __future__ import annotations

from tests.golden.command_line import shell

__all__ = ["shell"]
