"""Warnings about scores: organisers read all of them, others what does not concern the operation of the server."""

from __future__ import annotations

import re
from typing import Any

from captious.server.models import Submission
from captious.server.people.access import may_manage

__all__ = ["warnings_for", "without_commands"]


def warnings_for(user: Any, submission: Submission) -> list[str]:
    """The warnings of a submission, as a user is shown them."""
    if may_manage(user, submission.challenge):
        return list(submission.warnings)
    return [shown for warning in submission.warnings if (shown := without_commands(warning))]


def without_commands(warning: str) -> str:
    """The sentences of a warning before the one that names a command of captious, which only operators can run."""
    before, command, _ = warning.partition("captious ")
    if not command:
        return warning
    ends = [match.end() for match in re.finditer(r"[.!?](?=\s)", before)]
    return before[: ends[-1]] if ends else ""
