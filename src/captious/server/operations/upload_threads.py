"""The threads of the web server that answer uploads: senders take turns, with one upload at a time."""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import dataclass

from waitress.channel import HTTPChannel
from waitress.task import ThreadedTaskDispatcher

__all__ = ["UploadThreads"]


class UploadThreads(ThreadedTaskDispatcher):
    """Answers uploads, of each sender one at a time, in the order in which they came.

    Args:
        n: number of threads.
        places: uploads that may wait.
        share: of these, one sender and one address may have ``places / share`` each.
    """

    def __init__(self, n: int, places: int, share: int) -> None:
        super().__init__()
        self._places, self._most = places, max(places // share, 1)
        self._mutex = threading.Lock()
        self._n_waiting = 0
        self._taken: Counter[tuple[str, str]] = Counter()  # places, by sender and by address
        self._behind: dict[str, deque[_Upload]] = {}  # of senders that have a turn, what comes after it
        self.set_thread_count(n)

    def add(self, channel: HTTPChannel, sender: str, address: str) -> bool:
        """Have the first request of a connection answered; False if there is no place for it."""
        upload = _Upload(self, channel, sender, address)
        with self._mutex:
            if self._n_waiting >= self._places or any(self._taken[owner] >= self._most for owner in upload.owners):
                return False
            self._n_waiting += 1
            self._taken.update(upload.owners)
            if sender in self._behind:
                self._behind[sender].append(upload)
                return True
            self._behind[sender] = deque()
        self.add_task(upload)
        return True

    def begin_turn(self, upload: _Upload) -> None:
        """An upload waits no more."""
        with self._mutex:
            self._n_waiting -= 1
            for owner in upload.owners:
                self._taken[owner] -= 1
                if not self._taken[owner]:
                    del self._taken[owner]

    def end_turn(self, sender: str) -> None:
        """A sender's next upload goes to the end of the queue."""
        with self._mutex:
            if not self._behind[sender]:
                del self._behind[sender]
                return
            upload = self._behind[sender].popleft()
        self.add_task(upload)


@dataclass(frozen=True)
class _Upload:
    """What waitress knows as a task."""

    threads: UploadThreads
    channel: HTTPChannel
    sender: str
    address: str

    @property
    def owners(self) -> tuple[tuple[str, str], ...]:
        """Whose places it takes."""
        return ("sender", self.sender), ("address", self.address)

    def service(self) -> None:
        self.threads.begin_turn(self)
        try:
            self.channel.service()
        finally:
            self.threads.end_turn(self.sender)

    def cancel(self) -> None:
        self.channel.cancel()
