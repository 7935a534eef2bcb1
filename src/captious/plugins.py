"""Objects that are imported on first use: functions of this package, and entry points of other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from captious.errors import ParameterError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint  # slow to import


def deferred(path: str) -> Callable[..., Any]:
    """Return a function by its path, such as "text.languages:as_language", imported when it is called."""
    module, name = path.split(":")
    return lambda *arguments: attrgetter(name)(import_module(f"captious.{module}"))(*arguments)


@dataclass(frozen=True)
class EntryPoints:
    """The entry points of a group. Names are converted to lower case.

    Args:
        group: such as "captious.metrics".
        kind: kind of object in messages.
        built_in: names that other packages cannot use.
    """

    group: str
    kind: str
    built_in: Sequence[str]

    @cached_property
    def by_name(self) -> dict[str, EntryPoint]:
        """Entry points by name."""
        from importlib.metadata import entry_points

        points = {point.name.lower(): point for point in entry_points(group=self.group)}
        return {name: point for name, point in points.items() if name not in self.built_in}

    @property
    def names(self) -> list[str]:
        """Built-in names, then those of other packages in alphabetical order."""
        return [*self.built_in, *sorted(self.by_name)]

    def load(self, name: str, fits: Callable[[Any], bool], expected: str) -> Any:
        """Load the object that an entry point names.

        Args:
            name: one of ``by_name``.
            fits: checks whether an object is as expected.
            expected: the kind of object expected, in messages.

        Raises:
            ParameterError: it cannot be imported, or is not as expected.
        """
        point = self.by_name[name]
        try:
            loaded = point.load()
        except MemoryError:
            raise
        except Exception as error:  # whatever the code of another package does when it is imported
            raise ParameterError(
                f"the {self.kind} {name} cannot be loaded: {error}",
                where=f"entry point {point.value}",
                hint="repair or uninstall the package that provides it",
            ) from error

        if not fits(loaded):
            raise ParameterError(f"{point.value} is not a {self.kind}", hint=f"the entry point must name {expected}")
        return loaded


def did_you_mean(name: object, names: Iterable[str], most: int = 1) -> str:
    """Return a suggestion for the help of an error, followed by a space; empty if no name is close.

    Args:
        name: the unknown name.
        names: the known names.
        most: maximum number of suggestions.
    """
    import difflib

    close = difflib.get_close_matches(str(name).lower().replace("_", "-"), names, n=most, cutoff=0.6)
    *before, last = close or [""]
    return f"did you mean {', '.join(before)}{' or ' if before else ''}{last}? " if close else ""
