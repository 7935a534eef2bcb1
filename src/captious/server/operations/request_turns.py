"""The threads of the web server, in which senders take turns."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass

from waitress.channel import HTTPChannel
from waitress.task import ThreadedTaskDispatcher

_Owner = tuple[str, str]


class TurnThreads(ThreadedTaskDispatcher):
    """Answers requests in order of arrival, but only some of each party at the same time.

    Args:
        n: number of threads.
        limits: requests of a party that are answered at the same time; its others come after those of other parties. A
            request may belong to parties of several kinds, such as an account and an address.
    """

    def __init__(self, n: int, *limits: int) -> None:
        super().__init__()
        self._gates = [_Gate(limit) for limit in limits]
        self.set_thread_count(n)

    def add(self, channel: HTTPChannel, *parties: str, begin: Callable[[], bool] = lambda: True) -> None:
        """Queue the first request of a connection for an answer.

        Args:
            parties: one party of each kind.
            begin: called first; returns whether an answer is still wanted.
        """
        self._pass(PendingRequest(self, channel, parties, begin), 0)

    def end(self, turn: PendingRequest) -> None:
        """A party's next request goes to the end of the queue."""
        for i in reversed(range(len(self._gates))):
            if (successor := self._gates[i].leave(turn.parties[i])) is not None:
                self._pass(successor, i + 1)

    def _pass(self, turn: PendingRequest, start: int) -> None:
        for gate, party in zip(self._gates[start:], turn.parties[start:], strict=True):
            if not gate.enter(party, turn):
                return
        self.add_task(turn)


class _Gate:
    """Lets some requests of each party pass; others follow when one of these has ended."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._mutex = threading.Lock()
        self._passed: Counter[str] = Counter()
        self._queues: defaultdict[str, deque[PendingRequest]] = defaultdict(deque)

    def enter(self, party: str, turn: PendingRequest) -> bool:
        """Return whether the request passes now."""
        with self._mutex:
            passes = self._passed[party] < self._limit
            if passes:
                self._passed[party] += 1
            else:
                self._queues[party].append(turn)
            return passes

    def leave(self, party: str) -> PendingRequest | None:
        """Record the end of a task; return the task that takes its place."""
        with self._mutex:
            if self._queues[party]:
                return self._queues[party].popleft()
            del self._queues[party]
            self._passed[party] -= 1
            if not self._passed[party]:
                del self._passed[party]
            return None


@dataclass(frozen=True)
class PendingRequest:
    """A task, as waitress defines it."""

    threads: TurnThreads
    channel: HTTPChannel
    parties: tuple[str, ...]
    begin: Callable[[], bool]

    def service(self) -> None:
        try:
            if self.begin():
                self.channel.service()
        finally:
            self.threads.end(self)

    def cancel(self) -> None:
        self.channel.cancel()


class UploadThreads:
    """Answers uploads, of each sender one at a time, and of each address as many as there are threads.

    Args:
        n: number of threads.
        places: number of uploads that may wait. If all places are taken, an upload of a sender with few places replaces
            the latest one of the sender with the most.
        share: of these, one sender and one address may have ``places / share`` each.
    """

    def __init__(self, n: int, places: int, share: int) -> None:
        self._threads = TurnThreads(n, 1, n)
        self._places, self._places_per_owner = places, max(places // share, 1)
        self._mutex = threading.Lock()
        self._waiting: dict[HTTPChannel, tuple[_Owner, _Owner]] = {}  # latest last
        self._taken: Counter[_Owner] = Counter()  # number of places

    def add(self, channel: HTTPChannel, sender: str, address: str) -> list[HTTPChannel]:
        """Queue the first request of a connection for an answer.

        Returns:
            The connections whose upload has no place: this one, another one that waited until now, or none.
        """
        owners = (("sender", sender), ("address", address))
        channels: list[HTTPChannel] = []
        with self._mutex:
            n = max(self._taken[owner] for owner in owners)
            if n >= self._places_per_owner:
                return [channel]
            if len(self._waiting) >= self._places:
                largest, n_largest = self._taken.most_common(1)[0]
                if n_largest <= n + 1:
                    return [channel]
                channels.append(
                    next(
                        waiting_channel
                        for waiting_channel in reversed(self._waiting)
                        if largest in self._waiting[waiting_channel]
                    )
                )
                self._leave(channels[0])
            self._waiting[channel] = owners
            self._taken.update(owners)

        def begin() -> bool:
            with self._mutex:
                return self._leave(channel)

        self._threads.add(channel, sender, address, begin=begin)
        return channels

    def _leave(self, channel: HTTPChannel) -> bool:
        """Give up a place; False if it had none."""
        owners = self._waiting.pop(channel, None)
        if owners is None:
            return False
        self._taken.subtract(owners)
        self._taken = +self._taken
        return True
