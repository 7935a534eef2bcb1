"""The threads of the web server that answer uploads: senders take turns, with one upload at a time."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

from waitress.channel import HTTPChannel
from waitress.task import ThreadedTaskDispatcher

__all__ = ["UploadThreads"]


class UploadThreads(ThreadedTaskDispatcher):
    """Answers uploads, of each sender one at a time, in the order in which they came.

    Args:
        n: number of threads.
    """

    def __init__(self, n: int) -> None:
        super().__init__()
        self._mutex = threading.Lock()
        self._waiting: dict[str, deque[HTTPChannel]] = {}  # of senders that have a turn, what comes after it
        self.set_thread_count(n)

    def __len__(self) -> int:
        """How many uploads wait."""
        with self._mutex:
            return len(self.queue) + sum(map(len, self._waiting.values()))

    def add(self, channel: HTTPChannel, sender: str) -> None:
        """Have the first request of a connection answered."""
        with self._mutex:
            if sender in self._waiting:
                self._waiting[sender].append(channel)
                return
            self._waiting[sender] = deque()
        self.add_task(_Turn(self, channel, sender))

    def end_turn(self, sender: str) -> None:
        """A sender's next upload goes to the end of the queue."""
        with self._mutex:
            if not self._waiting[sender]:
                del self._waiting[sender]
                return
            channel = self._waiting[sender].popleft()
        self.add_task(_Turn(self, channel, sender))


@dataclass(frozen=True)
class _Turn:
    """What waitress knows as a task."""

    threads: UploadThreads
    channel: HTTPChannel
    sender: str

    def service(self) -> None:
        try:
            self.channel.service()
        finally:
            self.threads.end_turn(self.sender)

    def cancel(self) -> None:
        self.channel.cancel()
