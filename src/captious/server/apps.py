"""The Django application: its name, and its models."""

from __future__ import annotations

from django.apps import AppConfig


class ServerConfig(AppConfig):
    """The evaluation server as one Django application."""

    name = "captious.server"
    label = "captious"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from captious.server.submissions.board_changes import board_is_stale

        board_is_stale.connect(_refresh_board)


def _refresh_board(phase: int, **_: object) -> None:
    """Compute a board that has changed."""
    from captious.server.boards.standings import refresh  # slow to import, and few commands change boards

    refresh(phase)
