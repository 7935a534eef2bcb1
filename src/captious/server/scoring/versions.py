"""Versions of scores: their references, metrics and programs, and the version shown on pages.

A phase has a new version when the references, metrics or settings of one of its reference sets change, or the program
does. Its submissions are scored again, by reference set and only where something has changed. Meanwhile the board shows
the old version. It changes to the new one, in one transaction, when nothing that is on it waits to be scored any more.
Scores of old versions stay.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Subquery
from django.utils import timezone

from captious.server.models import Phase, Scores, Submission
from captious.server.people.audit import record
from captious.server.scoring.board_outputs import BoardOutputs
from captious.server.scoring.queue import queue_again
from captious.server.submissions.board_changes import board_changed
from captious.version import __version__

_Status = Submission.Status


def change(phase: Phase, set_keys: dict[str, str]) -> int:
    """Begin a new version of a phase if its references, metrics or program changed; return the number of rescorings.

    Args:
        set_keys: key of a reference set -> checksum. A retired phase without reference sets keeps its version.
    """
    if not set_keys or (set_keys, __version__) == (phase.set_keys, phase.program):
        _describe_board(phase)
        return 0
    is_new = not phase.set_keys
    phase.set_keys, phase.program = set_keys, __version__
    phase.scoring_version += not is_new
    phase.save(update_fields=["set_keys", "program", "scoring_version"])
    _describe_board(phase)
    n = queue_again(phase.submissions.all())
    _show_if_complete(phase.pk)
    return n


def change_program() -> int:
    """Begin a new version of all phases that another version of captious has scored; returns the submissions."""
    n = 0
    for pk in Phase.objects.exclude(program__in=["", __version__]).values_list("pk", flat=True):
        with transaction.atomic():
            phase = Phase.objects.select_for_update().get(pk=pk)
            n += change(phase, phase.set_keys)
    return n


def reusable(submission: Submission) -> dict[str, Scores]:
    """Earlier scores by key of the reference set, where nothing has changed for it.

    There are none if an organizer has the current version scored once more.
    """
    phase = submission.phase
    if submission.all_scores.filter(version=phase.scoring_version).exists():
        return {}
    return {
        key: scores
        for scores in submission.all_scores.filter(program=phase.program)
        for key, checksum in scores.set_keys.items()
        if phase.set_keys.get(key) == checksum
    }


def store(submission: Submission, **values: Any) -> None:
    """Store the scores of the current version, in the transaction that has locked the phase.

    Args:
        values: ``outputs``, ``set_warnings`` and ``results_file`` of ``Scores``.
    """
    phase = submission.phase
    values |= {"program": phase.program, "set_keys": phase.set_keys, "finished": timezone.now()}
    scores, _ = Scores.objects.update_or_create(submission=submission, version=phase.scoring_version, defaults=values)
    not_on_board = Submission.objects.filter(pk=submission.pk).exclude(shown_scores__version=F("phase__shown_version"))
    not_on_board.update(shown_scores=scores)
    board_changed(phase.pk)
    _show_if_complete(phase.pk)


def show_complete() -> None:
    """Show the new versions of phases in which nothing is left to be scored, because it failed or was deleted."""
    for pk in Phase.objects.filter(shown_version__lt=F("scoring_version")).values_list("pk", flat=True):
        _show_if_complete(pk)


def _describe_board(phase: Phase) -> None:
    """Update the columns of the board to those of the challenge, unless it shows older scores."""
    values = BoardOutputs.of_challenge(phase).to_values()
    Phase.objects.filter(pk=phase.pk, shown_version=F("scoring_version")).update(board_values=values)


def _show_if_complete(pk: int) -> None:
    with transaction.atomic():
        phase = Phase.objects.select_for_update(no_key=True).select_related("challenge").get(pk=pk)
        if phase.shown_version == phase.scoring_version:
            return
        # New submissions are not waited for: under load, there is always one.
        pending = Submission.objects.filter(
            phase=phase, status__in=[_Status.QUEUED, _Status.RUNNING], shown_scores__isnull=False
        ).exclude(shown_scores__version=phase.scoring_version)
        if pending.exists():
            return
        current = Scores.objects.filter(submission=OuterRef("pk"), version=phase.scoring_version)
        submissions = Submission.objects.filter(Exists(current), phase=phase)
        submissions.update(shown_scores=Subquery(current.values("pk")[:1]))
        Phase.objects.filter(pk=pk).update(shown_version=phase.scoring_version)
        _describe_board(phase)
        board_changed(pk)
        record("show scores", phase.name, challenge=phase.challenge, detail=f"version {phase.scoring_version}")
