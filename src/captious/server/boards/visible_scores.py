"""The scores that may leave the server: rounded as their phase demands, and not before it allows.

Private references can be probed with scores: a submission that differs from another in one caption reveals how well
that caption fits. Pages, files and the API therefore take scores from here, and none has more digits than another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from captious.server.boards.board_outputs import BoardOutputs, sets_of
from captious.server.boards.shown_digits import rounded, rounded_ends
from captious.server.models import Phase, Submission
from captious.server.people.access import may_see_scores


def rounded_outputs(outputs: Mapping[str, Mapping[str, Any]], phase: Phase) -> dict[str, dict[str, Any]]:
    """The scores on one reference set, output -> {"score", "low", "high", "signature"}, rounded."""
    return {
        name: {
            "score": rounded(entry["score"], phase.digits),
            **dict(zip(("low", "high"), rounded_ends(entry["low"], entry["high"], phase.digits), strict=True)),
            "signature": entry["signature"],
        }
        for name, entry in outputs.items()
    }


def visible_scores(user: Any, submission: Submission) -> dict[str, dict[str, dict[str, Any]]]:
    """The scores of a submission that a user may see, by the key of the reference set.

    Empty if it has none, or its phase shows scores later or never. Sets and outputs are in the order of the challenge,
    which databases may not keep.
    """
    phase = submission.phase
    if submission.shown_scores is None or not may_see_scores(user, phase):
        return {}
    all_scores = submission.shown_scores.outputs
    names = dict.fromkeys([*BoardOutputs.of_board(phase).names, *phase.challenge.definition.outputs])
    scores = {}
    for key in sets_of(phase):
        if key in all_scores:
            outputs = all_scores[key]
            in_order = {name: outputs[name] for name in names if name in outputs}
            scores[key] = rounded_outputs(in_order | outputs, phase)
    return scores
