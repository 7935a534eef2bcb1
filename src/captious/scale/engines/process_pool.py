"""Mapping of shards in several processes of this machine, each with one thread.

Processes are started with the spawn method, so scripts that use them keep their own work under ``if __name__ ==
"__main__"``. A process that is killed, for instance for lack of memory, is replaced, and its shard is retried.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from multiprocessing import connection
from multiprocessing.synchronize import Event
from typing import Any, TypeVar

from captious.errors import ShardError
from captious.native import using_threads
from captious.scale.engines import Outcome

#: Processes are started by ``run``.
session = nullcontext

R = TypeVar("R")

_work: Any = None

#: The number of retries of a task whose process was killed, and a process that did not come as far as its first task.
_MOST_LOST, _MOST_STILLBORN = 10, 3


def run(work: Callable[[int], R], tasks: Sequence[int], workers: int | None) -> Iterator[Outcome[R]]:
    """See ``Engine``; as many workers as cores by default."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    packed = pickle.dumps(work)
    waiting = [*reversed(tasks)]
    lost: dict[int, int] = {}
    stillborn = 0
    before = {*multiprocessing.active_children()}
    # A pool of its own for each process: one that is killed takes no other with it.
    idle = [_Worker(packed) for _ in range(min(workers or cores, len(tasks)))]
    running: dict[Future[R], tuple[int, _Worker]] = {}
    try:
        while waiting or running:
            while waiting and idle:
                task, worker = waiting.pop(), idle.pop()
                running[worker.pool.submit(_do, task)] = task, worker
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                task, worker = running.pop(future)
                error = future.exception()
                if not isinstance(error, BrokenProcessPool):
                    idle.append(worker)
                    if error is None:
                        yield task, future.result()
                    elif isinstance(error, Exception):
                        yield task, error
                    else:
                        raise error
                    continue
                worker.pool.shutdown(wait=False)
                idle.append(_Worker(packed))
                stillborn = 0 if worker.started.is_set() else stillborn + 1
                if stillborn > _MOST_STILLBORN:
                    raise ShardError(
                        "no process could be started",
                        hint='in a script, call this below if __name__ == "__main__": processes import the script',
                    )
                lost[task] = lost.get(task, 0) + 1
                if lost[task] <= _MOST_LOST:
                    waiting.append(task)
                else:
                    yield (
                        task,
                        ShardError(
                            f"the processes that scored it were killed {_MOST_LOST + 1} times",
                            hint="were they out of memory? Use fewer workers, or fewer rows at a time (batch_rows)",
                        ),
                    )
    finally:
        for worker in [*idle, *(worker for _, worker in running.values())]:
            worker.pool.shutdown(wait=False, cancel_futures=True)
        if running:  # interrupted
            for child in {*multiprocessing.active_children()} - before:
                child.terminate()


class _Worker:
    """A process, started with its first task."""

    def __init__(self, packed: bytes) -> None:
        context = multiprocessing.get_context("spawn")
        self.started = context.Event()
        self.pool = ProcessPoolExecutor(1, context, initializer=_begin, initargs=(packed, self.started))


def _begin(packed: bytes, started: Event) -> None:
    """Initialize a new process."""
    global _work
    started.set()
    sys.stdout = sys.stderr  # of metrics that print: results are on standard output
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, and ends its children
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    _work = packed


def _end_with(sentinel: int) -> None:
    """End this process when another ends."""
    connection.wait([sentinel])
    os._exit(1)


def _do(task: int) -> Any:
    global _work
    if isinstance(_work, bytes):  # at the first task, so that a failure is that of the task
        _work = pickle.loads(_work)
    with using_threads(1):
        return _work(task)
