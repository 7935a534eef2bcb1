"""Errors with a status and an explanation of their own, on pages and in the API."""

from __future__ import annotations


class ExplainedError(Exception):
    """An error answer with a status and its own message, on pages and in the API."""

    status = 404


class OldScoresError(ExplainedError):
    """The shown scores come from earlier references or metrics than the current ones, which pages would show."""

    status = 503

    def __init__(self) -> None:
        super().__init__(
            "The references or metrics have changed, and submissions are being scored again. Scores of single images "
            "are shown when that is done."
        )
