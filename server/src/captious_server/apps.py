"""The Django application: its name, and its models."""

from __future__ import annotations

from django.apps import AppConfig


class ServerConfig(AppConfig):
    """The evaluation server as one Django application."""

    name = "captious_server"
    label = "captious"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from captious_server.models import board_is_stale

        board_is_stale.connect(_refresh_board)
        from captious_server.people.sign_in import listen

        listen()


def _refresh_board(phase: int, **_: object) -> None:
    """Compute a board that has changed."""
    from captious_server.boards.ranking import refresh  # slow to import, and few commands change boards

    refresh(phase)
