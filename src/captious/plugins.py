"""Objects that are imported on first use: functions of this package, and entry points of other packages."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from captious.errors import ParameterError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint  # slow to import

#: The names of the folders that packages are installed in.
INSTALLED = ("site-packages", "dist-packages")


def is_installed(file: str) -> bool:
    """Return whether a file is in a folder that packages are installed in."""
    return not {*INSTALLED}.isdisjoint(Path(file).parts)


def deferred(path: str) -> Callable[..., Any]:
    """Return a function by its path, such as "text.languages:as_language", imported when it is called."""
    module, name = path.split(":")
    return lambda *arguments: attrgetter(name)(import_module(f"captious.{module}"))(*arguments)


@dataclass(frozen=True)
class EntryPoints:
    """The entry points of a group. Names are converted to lower case, or as ``spelled`` does.

    Args:
        group: such as "captious.metrics".
        kind: kind of object in messages.
        built_in: names that other packages cannot use.
        spelled: how a name is spelled in requests.
    """

    group: str
    kind: str
    built_in: Sequence[str]
    spelled: Callable[[str], str] = str.lower

    @cached_property
    def by_name(self) -> dict[str, EntryPoint]:
        """Entry points by name."""
        return {name: point for name, point in dict(self._named).items() if name not in self.built_in}

    @property
    def ignored(self) -> list[tuple[str, EntryPoint]]:
        """Entry points with a name that is built in, or that a later one has, too."""
        return [item for item in self._named if item not in self.by_name.items()]

    @property
    def _named(self) -> list[tuple[str, EntryPoint]]:
        from importlib.metadata import entry_points

        return [(self.spelled(point.name), point) for point in entry_points(group=self.group)]

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


@cache
def meanings() -> Mapping[str, Sequence[str]]:
    """Return the names of metrics, keywords, settings and options that people mean by other words: word -> names."""
    _, *lines = Path(__file__).with_name("meanings.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return {word: names.split() for words, names in rows for word in words.split()}


def meant(name: object, names: Iterable[str], most: int = 1) -> list[str]:
    """Return the known names that an unknown one may mean: by ``meanings``, else those with the closest letters.

    Args:
        name: the unknown name; capitals, underscores and the dashes of an option are ignored.
        names: the known names.
        most: maximum number of names that are only close.
    """
    import difflib

    known: dict[str, str] = {}
    for item in names:
        known.setdefault(_plain_name(item), item)
    plain = _plain_name(str(name))
    by_meaning = [known[item] for item in meanings().get(plain, ()) if item in known]
    return by_meaning or [
        known[item] for item in difflib.get_close_matches(plain, known, n=most, cutoff=0.7 if most == 1 else 0.6)
    ]


def did_you_mean(name: object, names: Iterable[str], most: int = 1) -> str:
    """Return a suggestion for the hint of an error, followed by a space; empty if no name is close.

    Args:
        name, names, most: as for ``meant``.
    """
    *before, last = meant(name, names, most) or [""]
    return f"did you mean {', '.join(before)}{' or ' if before else ''}{last}? " if last else ""


def choices(name: object, names: Collection[str], listing: str) -> str:
    """Return the hint of an error about an unknown name: a suggestion, and the known names after "its tables are"."""
    return f"{did_you_mean(name, names)}{listing} {', '.join(names)}"


def _plain_name(name: str) -> str:
    return name.lower().lstrip("-").replace("_", "-")


# Keywords that users know from other libraries, or expect of a function: what is written here.

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")
Class = TypeVar("Class", bound=type)

#: Keywords of ``captious.CaptionFile``.
_OF_FILES = frozenset({"columns", "split", "format", "layout"})
#: Parameters that take words -> what to write.
_WORDS = {"match": 'match="common"', "several": 'several="mean" or several="best"'}
_INTERVALS = (
    'report.to_table(intervals=True) or report["cider-d"].confidence_interval(level=..., resamples=..., seed=...)'
)
#: Parameters of functions that scores are given to -> the call.
_ELSEWHERE = {
    **dict.fromkeys(("ci", "intervals", "level", "resamples", "seed"), _INTERVALS),
    **dict.fromkeys(("percent", "naming"), "report.to_markdown(percent=..., naming=...)"),
    "weights": 'captious.reward(references, {"cider-d": 1, "bleu-4": 0.5})',
    "device": "captious.Encoder(..., device=...) as the model of the settings",
    "endpoint": "captious.ChatModel(..., endpoint=...) as the judge of the settings",
}


def answers_other_keywords(function: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
    """Decorate a public function so that a keyword of another library raises a TypeError that says what to write.

    A file that must be named by keyword is asked for by a ParameterError.
    """
    known = inspect.signature(function).parameters
    in_order = [name for name, one in known.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    by_name = [name for name, one in known.items() if one.kind is one.KEYWORD_ONLY]
    needed = [name for name in by_name if known[name].default is inspect.Parameter.empty]
    title = _TITLES.get(function.__qualname__, function.__qualname__.removesuffix(".__init__").rpartition(".")[2])
    takes_any = any(one.kind is one.VAR_KEYWORD for one in known.values())

    @functools.wraps(function)
    def called(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        for name in kwargs:
            if name not in known and not takes_any and (instead := _written_instead(name, known, title)):
                raise TypeError(f"{title}() has no parameter {name!r}: write {instead}")
        if len(args) > len(in_order) and by_name:
            shown = [name for name in in_order if name != "self"]
            order = f"{title}({', '.join([*shown, '...'])})"
            raise TypeError(
                f"{title}() takes {', then '.join(shown) or 'nothing in order'}, the rest by name: write {order} with "
                f"{', '.join(f'{name}=' for name in by_name)}"
            )
        for name in needed:
            if name not in kwargs:
                raise ParameterError(f"{title} needs {name}", hint=f"give it by its name: {name}=...")
        return function(*args, **kwargs)

    return called


def answering_other_keywords(cls: Class) -> Class:
    """Decorate a class of which the constructor is generated; see ``answers_other_keywords``."""
    cls.__init__ = answers_other_keywords(cls.__init__)  # type: ignore[misc]
    return cls


#: Names of settings, which ``captious.metrics.contract.settings`` fills in.
NAMES_OF_SETTINGS: list[str] = []
#: What people call objects.
_TITLES = {"Reward.__call__": "reward"}


def _written_instead(name: str, known: Mapping[str, inspect.Parameter], function: str) -> str:
    """Return what to write instead of an unknown keyword; empty if that is not known."""
    settings = NAMES_OF_SETTINGS if "settings" in known else ()
    for meaning in (name, *meanings().get(name.replace("_", "-"), ())):
        if meaning in known:
            said = ", which is 1 - alpha" if name == "alpha" else ""
            return _WORDS.get(meaning, f"{meaning}=...") + said
        if meaning in settings:
            return f"settings=captious.Settings({meaning}=...)"
        if meaning in _OF_FILES and function != "CaptionFile":
            return f"captious.CaptionFile(path, {meaning}=...), which is accepted wherever a path is"
        if meaning in _ELSEWHERE:
            return _ELSEWHERE[meaning]
    return ""
