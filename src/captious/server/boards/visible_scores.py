"""What of the scores leaves the server: rounded as the phase says, and only when it says.

Private references can be probed with scores: a submission that differs from another in one caption tells how well that
caption fits. Pages, files and the API therefore take scores from here, and none of them has more digits than another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from captious.server.boards.shown_digits import interval_digits, rounded
from captious.server.models import Phase, Submission
from captious.server.people.access import may_see_scores

__all__ = ["rounded_outputs", "visible_scores"]


def rounded_outputs(outputs: Mapping[str, Mapping[str, Any]], phase: Phase) -> dict[str, dict[str, Any]]:
    """The scores on one reference set, output -> {"score", "low", "high", "signature"}, rounded."""
    digits = phase.digits
    return {
        name: {
            "score": rounded(entry["score"], digits),
            **{end: rounded(entry[end], interval_digits(digits)) for end in ("low", "high")},
            "signature": entry["signature"],
        }
        for name, entry in outputs.items()
    }


def visible_scores(user: Any, submission: Submission) -> dict[str, dict[str, dict[str, Any]]]:
    """What a user who may see a submission sees of its scores, by the key of the reference set.

    Empty if it has none, or its phase shows scores later or never.
    """
    if submission.shown_scores is None or not may_see_scores(user, submission.phase):
        return {}
    return {key: rounded_outputs(outputs, submission.phase) for key, outputs in submission.shown_scores.outputs.items()}
