"""Mapping of shards as tasks of a Ray cluster, one core each. Workers read shards themselves; only sums are sent back.

The plan is put into Ray's object store once, and every worker process unpacks it once. If a worker is lost, its task is
repeated elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from captious.errors import needed_for
from captious.native import using_threads
from captious.scale.engines import Outcome

R = TypeVar("R")

#: The number of Ray's retries of a task whose worker was lost.
_RETRIES = 20

_unpacked: dict[str, Any] = {}


def run(work: Callable[[int], R], tasks: Sequence[int], workers: int | None) -> Iterator[Outcome[R]]:
    """See ``Engine``; by default, as many concurrent tasks as the cluster has cores.

    Connects to the cluster in ``RAY_ADDRESS``, or to the one that the program is connected to; otherwise it starts one
    on this machine. Raises as ``session``.
    """
    with session():
        import ray

        work_reference = ray.put(work)
        at_a_time = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        remote = ray.remote(num_cpus=1, max_retries=_RETRIES)(_do)
        waiting = [*reversed(tasks)]
        running: dict[Any, int] = {}
        while waiting or running:
            while waiting and len(running) < at_a_time:
                task = waiting.pop()
                running[remote.remote([work_reference], work_reference.hex(), task)] = task
            done, _ = ray.wait([*running])
            for reference in done:
                task = running.pop(reference)
                try:
                    result: R | Exception = ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    result = error.cause if isinstance(error.cause, Exception) else error
                except ray.exceptions.RayError as error:
                    result = error
                yield task, result


@contextmanager
def session() -> Iterator[None]:
    """Connect to a cluster within the block; one that is started here is stopped at the end.

    Raises:
        MissingExtraError: Ray is not installed.
    """
    with needed_for("the engine ray", "ray"):
        import ray
    if ray.is_initialized():
        yield
        return
    ray.init(log_to_driver=False, include_dashboard=False, configure_logging=False)
    try:
        yield
    finally:
        ray.shutdown()


def _do(stored: list[Any], name: str, task: int) -> Any:
    """Run a task in a worker. The work is passed in a list, so that Ray does not unpack it for every task."""
    import ray

    if name not in _unpacked:
        _unpacked.clear()
        _unpacked[name] = ray.get(stored[0])
    with using_threads(1):
        return _unpacked[name](task)
