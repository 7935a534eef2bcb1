"""Turns: a fixed number of requests of each kind is answered at the same time, and their senders take turns."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from captious_server.people.accounts import TooManyRequests
from captious_server.settings import ServerSettings

#: Uploads, and other requests of each kind, that may wait for their turn in a web process, each in a thread of its own.
_UPLOAD_PLACES, _PLACES = 200, 30
_RETRY_SECONDS = 30

_PASSWORD_PATHS = re.compile(
    r"/sign-(in|up)|/account/(again/|password|password/set|reset/[^/]+-[^/]+/)"
    r"|/admin/captious/user/.*"
)
_SLOW_PATHS = re.compile(
    r"(/api/v1)?/challenges/[^/]+/(captions(/.+)?|compare)|/submissions/\d+/(scores/.+)?|/api/v1/submissions/\d+/scores"
    r"|/sign-in/with/.+"
)


def takes_long(path: str) -> bool:
    """Return whether a page is slow because it computes something or calls another site."""
    return _SLOW_PATHS.fullmatch(path) is not None


def hashes_password(method: str | None, path: str) -> bool:
    """Return whether a password is hashed to answer a request."""
    return method == "POST" and _PASSWORD_PATHS.fullmatch(path) is not None


@dataclass(eq=False)
class _Ticket:
    parties: tuple[str, ...]
    number: int
    turn: threading.Event = field(default_factory=threading.Event)


class Turns:
    """Lets ``n`` requests pass at the same time; others wait.

    A request goes behind those that arrived before the last one of its party ended, so however many one party sends,
    another one waits for one of them at most.

    Args:
        n: requests that are answered at the same time.
        limits: of these, requests of one party, for each kind of party: an account and an address, for example.
        places: requests that may wait. A party has as many places as it leaves free, so a few that send much
            leave room for another.
    """

    def __init__(self, n: int, *limits: int, places: int = _PLACES) -> None:
        self._free, self._limits, self._places = n, limits, places
        #: Threads that the requests need, with those that wait.
        self.threads = n + places
        self._mutex, self._numbers = threading.Lock(), count()
        self._waiting: list[_Ticket] = []
        self._passed: Counter[str] = Counter()
        self._last_ends: dict[str, int] = {}

    @contextmanager
    def turn(self, *parties: str) -> Iterator[None]:
        """Wait for the turn of a request, and end it with the block.

        Args:
            parties: the party of each kind that the request counts for.

        Raises:
            TooManyRequests: there is no place to wait.
        """
        parties = tuple(f"{kind} {party}" for kind, party in enumerate(parties))
        with self._mutex:
            ticket = _Ticket(parties, next(self._numbers))
            self._waiting.append(ticket)
            self._let_pass()
            if not ticket.turn.is_set() and not self._has_place(parties):
                self._waiting.remove(ticket)
                raise TooManyRequests(_RETRY_SECONDS, "There are too many requests at once.")
        ticket.turn.wait()
        try:
            yield
        finally:
            with self._mutex:
                self._free += 1
                self._passed.subtract(parties)
                self._passed = +self._passed
                self._last_ends |= dict.fromkeys(parties, next(self._numbers))
                self._let_pass()
                known = {party for waiting in self._waiting for party in waiting.parties}
                self._last_ends = {party: end for party, end in self._last_ends.items() if party in known}

    def _has_place(self, parties: tuple[str, ...]) -> bool:
        """Return whether the last request that came may wait."""
        taken = max(sum(party in ticket.parties for ticket in self._waiting) for party in parties)
        return taken <= self._places - len(self._waiting) + 1

    def _let_pass(self) -> None:
        """Begin the turns of waiting requests as far as the limits allow."""
        while self._free and (ready := [ticket for ticket in self._waiting if self._may_pass(ticket)]):
            ticket = min(ready, key=self._place)
            self._waiting.remove(ticket)
            self._free -= 1
            self._passed.update(ticket.parties)
            ticket.turn.set()

    def _may_pass(self, ticket: _Ticket) -> bool:
        return all(self._passed[party] < limit for party, limit in zip(ticket.parties, self._limits, strict=True))

    def _place(self, ticket: _Ticket) -> int:
        return max(ticket.number, *(self._last_ends.get(party, -1) for party in ticket.parties))


def all_turns(own: ServerSettings) -> tuple[Turns, Turns, Turns, Turns]:
    """The turns of uploads, of passwords, of pages that take long, and of other pages."""
    return (
        Turns(own.concurrent_reads, 1, own.concurrent_reads, places=_UPLOAD_PLACES),
        Turns(own.concurrent_passwords, 1),
        Turns(max(own.web_threads // 4, 1), 1),
        Turns(own.web_threads, max(own.web_threads // 2, 1)),
    )
