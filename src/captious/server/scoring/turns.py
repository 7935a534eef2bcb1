"""The order of the queue: parties take turns, so that nobody waits for all submissions of another party.

The parties of a submission are its team and its user, so that neither many members nor many teams give more turns. What
is scored again belongs to its challenge alone, which has turns like a team. In a round, every party has one submission;
one that is being scored has had its turn in the first round. Within a round, who waits longest is first: since its
submission came in or, if that is later, since its last turn ended. A party that has several challenges takes turns
between them, and otherwise its oldest submission is first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

#: A time: a date in the server, a number in simulations.
_Time = TypeVar("_Time")


@dataclass(frozen=True)
class QueueEntry(Generic[_Time]):
    """A submission that waits to be scored.

    Args:
        id: lower ids came in earlier.
        since: time of its arrival.
        parties: the parties that take turns.
        challenge: the challenge, which takes turns within the parties.
    """

    id: int
    since: _Time
    parties: tuple[str, ...]
    challenge: str


def in_turn(
    waiting: Iterable[QueueEntry[_Time]], running: Iterable[tuple[str, ...]], ended: Mapping[str, _Time]
) -> list[int]:
    """The ids of submissions in the order in which they will be scored if no others come in.

    Args:
        waiting: all waiting submissions.
        running: the parties of each submission that is being scored.
        ended: end of the last turn of parties and challenges, where known.
    """
    n_before: Counter[str] = Counter(party for parties in running for party in parties)
    order = []
    for row in _between_challenges(waiting, ended):
        turn = max(n_before[party] for party in row.parties)
        n_before.update(row.parties)
        since = max([row.since, *(ended[party] for party in row.parties if party in ended)])  # type: ignore[type-var]
        order.append((turn, since, row.id))
    return [id for _, _, id in sorted(order)]


def _between_challenges(waiting: Iterable[QueueEntry[_Time]], ended: Mapping[str, _Time]) -> list[QueueEntry[_Time]]:
    """Submissions, those of the same parties in turn between challenges."""
    n_before: Counter[tuple[tuple[str, ...], str]] = Counter()
    order = []
    for row in sorted(waiting, key=lambda row: row.id):
        since = (1, ended[row.challenge]) if row.challenge in ended else (0, row.since)
        order.append((n_before[row.parties, row.challenge], since, row.id, row))
        n_before[row.parties, row.challenge] += 1
    return [row for _, _, _, row in sorted(order, key=lambda entry: entry[:3])]
