"""Changes to boards: counted with what changes them; boards/standings.py ranks when the transaction is committed."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F
from django.dispatch import Signal

from captious.server.models import Phase, Submission

#: Sent with the ``phase``, its number, when ranks are to be computed.
board_is_stale = Signal()
_MAX_ROWS = 500  # rows of a board that is computed at the change; larger ones are left to a worker


def board_changed(phase: int) -> None:
    """Count a change to the board of a phase, and compute the board when the transaction is committed.

    Boards of many rows are left to a worker, so that a page does not take seconds.
    """
    Phase.objects.filter(pk=phase).update(board_changes=F("board_changes") + 1)
    if Submission.objects.competing().filter(phase=phase).count() <= _MAX_ROWS:
        transaction.on_commit(lambda: board_is_stale.send(None, phase=phase), robust=True)
