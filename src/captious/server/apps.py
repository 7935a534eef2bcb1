"""The Django application: its name, and its models."""

from __future__ import annotations

from django.apps import AppConfig


class ServerConfig(AppConfig):
    """The evaluation server as one Django application."""

    name = "captious.server"
    label = "captious"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from captious.server.boards import standings  # noqa: F401  (it computes boards that have changed)
