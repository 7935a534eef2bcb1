"""Engines: where the shards of a plan are mapped.

An engine has a function from work and tasks to their outcomes, in whatever order they come:

    engine.run(work, tasks, workers) -> iterator of (task, result or exception)

``work`` is picklable and does one task. An engine may do a task more than once, if a worker was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Protocol, TypeAlias, TypeVar, cast

from captious.errors import UnknownNameError

__all__ = ["ENGINES", "Engine", "Outcome", "engine_named"]

R = TypeVar("R")

#: The number of a task, and its result or why there is none.
Outcome: TypeAlias = tuple[int, R | Exception]


class Engine(Protocol):
    """An engine."""

    def run(self, work: Callable[[int], R], tasks: Sequence[int], workers: int | None) -> Iterator[Outcome[R]]:
        """Do tasks.

        Args:
            work: does the task of a number.
            tasks: n numbers.
            workers: how many tasks are done at a time; None for the engine's default.
        """
        ...

    def session(self) -> AbstractContextManager[None]:
        """A context in which ``run`` is called once or more often: connects to what the engine needs."""
        ...


class _Stream:
    """Shards one after the other in this process; kernels use several threads."""

    session = nullcontext

    def run(self, work: Callable[[int], R], tasks: Sequence[int], workers: int | None) -> Iterator[Outcome[R]]:
        for task in tasks:
            try:
                result: R | Exception = work(task)
            except Exception as error:
                result = error
            yield task, result


_MODULES = {"processes": "process_pool", "ray": "ray_cluster"}

ENGINES = ("stream", *_MODULES)


def engine_named(name: str) -> Engine:
    """The engine of a name.

    Raises:
        UnknownNameError: there is none of that name.
    """
    if name not in ENGINES:
        raise UnknownNameError(f"there is no engine {name!r}", help=f"engines are {', '.join(ENGINES)}")
    return cast(Engine, _Stream() if name == "stream" else import_module(f"{__name__}.{_MODULES[name]}"))
