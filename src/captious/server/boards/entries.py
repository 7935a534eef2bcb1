"""Entries: the submission of each team that counts on the board of a phase.

A team chooses it while the phase is open; until then it is the best in the output that ranks. The entry is the same in
every column and on every reference set, so that a row is one system.

Nothing reveals the team of an anonymous submission: its place on the board never depends on the
named submissions of the team.
In phases that show all submissions, each of them is an entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from captious.server.boards.resampled_scores import Record
from captious.server.models import Phase


class Member(NamedTuple):
    """The properties of a submission that determine its place on a board."""

    record: Record
    team: int
    anonymous: bool
    is_baseline: bool
    is_chosen: bool


def entries_of(phase: Phase, members: Sequence[Member], best_first: Iterable[Member]) -> set[int]:
    """The ids of entries: the chosen or else the best submission of each team, and every baseline.

    Args:
        members: all submissions that can be on the board.
        best_first: the same submissions in the order of the ranking output.
    """
    entries: dict[object, int] = {}
    for member in (*(member for member in members if member.is_chosen), *best_first):
        stands_alone = member.is_baseline or (member.anonymous and phase.entries == "all")
        entries.setdefault(member.record if stands_alone else (member.team, member.anonymous), member.record[0])
    return {*entries.values()}
