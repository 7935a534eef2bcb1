"""The small challenge that the queue is tested with."""

from __future__ import annotations

from server.tests.scoring.conftest import folder

__all__ = ["folder"]
