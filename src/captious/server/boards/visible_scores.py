"""The scores that may leave the server: rounded as their phase demands, and not before it allows.

Private references can be probed with scores: a submission that differs from another in one caption reveals how well
that caption fits. Pages, files and the API therefore take scores from here, and none has more digits than another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from captious.server.boards.shown_digits import rounded, rounded_ends
from captious.server.models import Phase, Submission
from captious.server.people.access import is_own, may_manage, may_see_scores
from captious.server.scoring.board_outputs import BoardOutputs, sets_of


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


def warnings_for(user: Any, submission: Submission) -> list[str]:
    """The warnings of a submission, each once."""
    return [*dict.fromkeys(warning for warnings in set_warnings_for(user, submission).values() for warning in warnings)]


def set_warnings_for(user: Any, submission: Submission) -> dict[str, list[str]]:
    """The warnings of a submission on each reference set, by key.

    Unless captions are public, warnings reveal nothing about references, and only the team and organizers see ids.
    Only those who manage its challenge read about commands of the server.
    """
    if submission.shown_scores is None or not may_see_scores(user, submission.phase):
        return {}
    manages = may_manage(user, submission.challenge)
    reader = "organizers" if manages else "team" if is_own(user, submission) else "others"
    warnings: dict[str, list[str]] = {}
    for key, references in sets_of(submission.phase).items():
        warnings_by_reader = submission.shown_scores.set_warnings.get(key, {})
        is_public = submission.challenge.is_public(references.captions)
        all_warnings = warnings_by_reader.get("public" if is_public else reader, [])
        warnings[key] = [
            text for warning in all_warnings if (text := warning if manages else without_commands(warning))
        ]
    return warnings


def without_commands(warning: str) -> str:
    """The sentences of a warning before the one that names a command of captious, which only operators can run."""
    head, command, _ = warning.partition("captious ")
    if not command:
        return warning
    ends = [match.end() for match in re.finditer(r"[.!?](?=\s)", head)]
    return head[: ends[-1]] if ends else ""
