"""Benchmarks: protocols, judgment files and their loaders, and published figures; and the catalogue of them by name.

``benchmarks.toml`` describes the benchmarks of the package. Another package adds one with an entry point of the group
``captious.benchmarks``, whose name is that of the benchmark and whose value is a ``Benchmark``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, partial
from importlib import import_module
from itertools import product
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from captious.data import References
from captious.errors import (
    CaptionFileError,
    CaptiousError,
    EmptyInputError,
    ParameterError,
    ResourceError,
    UnknownNameError,
)
from captious.judgment.files import DataFolder, entry_of
from captious.judgment.items import CaptionPair, Item, RatedCaption, judgments_of
from captious.judgment.judgments import AS_GIVEN, NOTHING, HumanJudgments, Protocol, Rule
from captious.plugins import EntryPoints, choices


@dataclass(frozen=True)
class Files:
    """One file format of a benchmark's judgments.

    Args:
        names: file names relative to the folder of judgment data; all are needed.
        read: reads the items: ``RatedCaption``, ``CaptionPair`` or ``RankedSystem``; raises CaptionFileError with file
            and line.
    """

    names: tuple[str, ...]
    read: Callable[[DataFolder], Any]


class Figure(NamedTuple):
    """A published value of a protocol's statistic, as a fraction.

    Args:
        value: the statistic.
        source: the publication.
        parts: the values of parts, if published.
        tolerance: half a unit of the last published digit, or more if the source explains it.
    """

    value: float
    source: str
    parts: Mapping[str, float] = {}
    tolerance: float = 0.0005


@dataclass(frozen=True)
class Benchmark:
    """Data with at least one protocol.

    Args:
        name: name on the command line.
        protocols: the protocols; the first is the default.
        files: alternative formats of the data; the first complete one is read.
        obtain: where to get the files.
        published: protocol -> metric -> published figure.
        pool: for studies that draw references, those of every caption if there are more than metrics get; None if there
            are no others.
        items: creates the items from (protocol, result of ``Files.read``, folder), if they depend on the protocol. None
            if the second are the items.

    Raises:
        ParameterError: no files, no protocol, two protocols with one name, a protocol of another benchmark, or figures
            of an unknown protocol.
    """

    name: str
    protocols: tuple[Protocol, ...]
    files: tuple[Files, ...]
    obtain: str
    published: Mapping[str, Mapping[str, Figure]] = field(default_factory=dict)
    pool: Callable[[Any, DataFolder], References] | None = None
    items: Callable[[Protocol, Any, DataFolder], Sequence[Item]] | None = None

    def __post_init__(self) -> None:
        names = [protocol.name for protocol in self.protocols]
        foreign = [protocol.benchmark for protocol in self.protocols if protocol.benchmark != self.name]
        wrong = ""
        if not names or not self.files:
            wrong = "it has no files" if names else "it has no protocol"
        elif len(set(names)) < len(names):
            wrong = "two of its protocols have the same name"
        elif foreign:
            wrong = f"one of its protocols belongs to the benchmark {foreign[0]!r}"
        elif unknown := self.published.keys() - set(names):
            wrong = f"it has published figures for {min(unknown)!r}, which is not one of its protocols"
        if wrong:
            raise ParameterError(
                f"{self.name!r} is not a benchmark: {wrong}",
                hint="help(captious.judgment.Benchmark) describes what it needs",
            )

    def protocol(self, name: str = "") -> Protocol:
        """Return a protocol by its name, or the default without one.

        Raises:
            UnknownNameError: an unknown protocol.
        """
        by_name = {protocol.name: protocol for protocol in self.protocols}
        if not name:
            return self.protocols[0]
        if name not in by_name:
            hint = choices(name, by_name, "its protocols are")
            raise UnknownNameError(f"{self.name} has no protocol {name!r}", hint=hint)
        return by_name[name]

    def judgments(self, protocol: Protocol, folder: DataFolder) -> HumanJudgments:
        """Return the judgments under a protocol.

        Raises:
            ResourceError: a file is missing.
            EmptyInputError: no judgments.
            CaptionFileError: a file does not have the expected format.
        """
        files = self._form(folder)
        try:
            content = self.content(folder)
            items = content if self.items is None else self.items(protocol, content, folder)
            return judgments_of(protocol, items, folder.read)
        except CaptiousError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise CaptionFileError(
                f"the data of {self.name} do not have the expected format: {type(error).__name__} {error}",
                where=f"{folder.folder}: {', '.join(files.names)}",
                hint="get the published files again; captious data list says where",
            ) from error

    def content(self, folder: DataFolder) -> Any:
        """Return the result of ``Files.read`` for the first complete format; raises as ``judgments``."""
        files = self._form(folder)
        content = files.read(folder)
        if not content:
            where = folder.place(files.names[0])
            raise EmptyInputError("there are no judgments", where=where, hint="download the file again")
        return content

    def _form(self, folder: DataFolder) -> Files:
        """Return the first complete format, or raise an error that says what each of them lacks."""
        for files in self.files:
            if folder.has(*files.names):
                return files
        missing = [" and ".join(name for name in files.names if not folder.has(name)) for files in self.files]
        raise ResourceError(
            f"the files of {self.name} are missing",
            where="\nor ".join([f"{missing[0]} was not found in {folder.folder}", *missing[1:]]),
            hint="captious data list names their source",
        )


# The catalogue of benchmarks by name.

#: The benchmarks of the package: name -> its keys in the file.
_BUILT_IN: Mapping[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("benchmarks.toml").read_text(encoding="utf-8")
)
_PLUGINS = EntryPoints("captious.benchmarks", "benchmark", tuple(_BUILT_IN))
#: The rules of a protocol, with their functions if the file names none, and the keys that name one.
_RULES: Mapping[str, Callable[[Any], Any] | None] = {
    "references": AS_GIVEN.function,
    "excluded": NOTHING.function,
    "parts": None,
    "measure": None,
    "systems": None,
}
_RETURNED = ("function", "field", "fact")


def names() -> list[str]:
    """Return the names of all benchmarks: those of the package, then others by name."""
    return _PLUGINS.names


def get(name: str) -> Benchmark:
    """Return a benchmark.

    Raises:
        UnknownNameError: an unknown benchmark.
        ParameterError: an entry point that is not a benchmark.
    """
    if name in _BUILT_IN:
        return _built_in(name)
    if name not in _PLUGINS.by_name:
        raise unknown(name)
    benchmark: Benchmark = _PLUGINS.load(
        name, lambda item: isinstance(item, Benchmark), "a captious.judgment.Benchmark"
    )
    if benchmark.name != name:
        raise ParameterError(
            f"{_PLUGINS.by_name[name].value} is the benchmark {benchmark.name!r}, "
            f"but its entry point is called {name!r}",
            hint="give both the same name",
        )
    return benchmark


def protocol(name: str) -> Protocol:
    """Return the protocol of a name such as ``composite`` or ``flickr8k-expert@yi2020``.

    Raises:
        UnknownNameError: an unknown benchmark or protocol.
        ParameterError: an entry point that is not a benchmark.
    """
    label, mark, choice = name.partition("@")
    benchmark = get(label)
    if mark and not choice:
        help = f"its protocols are {', '.join(protocol.name for protocol in benchmark.protocols)}"
        raise UnknownNameError(f"{label} has no protocol ''", hint=help)
    return benchmark.protocol(choice)


def unknown(name: str) -> UnknownNameError:
    """Return the error for an unknown name, with the benchmarks that it begins, or the closest known one."""
    members = [known for known in names() if known.startswith(f"{name}-")]
    if len(members) > 1:
        return UnknownNameError(f"{name} has several sets of judgments", hint=f"name {' or '.join(members)}")
    hint = choices(name, names(), "available benchmarks:") + "; or give a .jsonl file with your own judgments"
    return UnknownNameError(f"there is no benchmark {name!r}", hint=hint)


# Benchmarks as ``benchmarks.toml`` describes them.


@cache
def _built_in(name: str) -> Benchmark:
    content = {**_BUILT_IN.get(_BUILT_IN[name].get("like", ""), {}), **_BUILT_IN[name]}
    functions = import_module(f"captious.judgment.benchmarks.{content['module']}")
    shared = {key: content[key] for key in (field.name for field in fields(Protocol)) if key in content}
    return Benchmark(
        name,
        tuple(
            Protocol(name, **{key: _value(functions, key, value) for key, value in choice.items()})
            for own in content["protocols"]
            for choice in _choices(shared, own)
        ),
        tuple(_files(functions, **files) for files in content["files"]),
        content["obtain"],
        {
            protocol: _figures(of, content.get("part_order", ()))
            for protocol, of in content.get("published", {}).items()
        },
        **{key: getattr(functions, content[key]) for key in ("pool", "items") if key in content},
    )


def _choices(shared: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the fields of every protocol that an entry describes; the first choice of "vary" changes fastest."""
    for choice in product(*reversed(own.get("vary", []))):
        parts = [own, *reversed(choice)]
        merged = dict(shared)
        for part in parts:
            merged |= {key: _changed(merged.get(key), value) for key, value in part.items() if key != "vary"}
        yield {**merged, "name": "".join(part["name"] for part in parts)}


def _changed(rule: Any, value: Any) -> Any:
    """Return a new value or, for a rule that only changes the text or arguments of another, that rule with changes."""
    changes = isinstance(rule, Mapping) and isinstance(value, Mapping) and not any(key in value for key in _RETURNED)
    return {**rule, **value} if changes else value


def _value(functions: Any, key: str, value: Any) -> Any:
    """Return a field of a protocol; an empty text stands for no rule."""
    if key not in _RULES or not value:
        return value if key not in _RULES else None
    arguments = {name: argument for name, argument in value.items() if name not in ("text", *_RETURNED)}
    if "function" in value:
        function = getattr(functions, value["function"])
        return Rule(value["text"], partial(function, **arguments) if arguments else function)
    if not any(name in value for name in _RETURNED):
        return Rule(value["text"], _RULES[key] or AS_GIVEN.function)
    return Rule(value["text"], partial(_fact, value.get("field"), value.get("fact"), arguments.get("is")))


def _fact(field: str | None, fact: str | None, allowed: Sequence[object] | None, item: Any) -> Any:
    """Return an attribute or a fact of an item, or whether it is one of some values."""
    value = getattr(item, field) if field else item.facts[fact]
    return value if allowed is None else value in allowed


def _files(
    functions: Any,
    names: Sequence[str],
    read: str = "",
    fields: Sequence[str] = ("", "", "", ""),
    id: str = "",
    part: str = "",
    **converted: str,
) -> Files:
    """Return a format of files: that of a function, or of a rated caption or a pair of captions per record, as
    ``DataFolder.placed_records`` reads them. Rules find all fields, and the ``place`` of the record, among the facts.

    Args:
        functions: the module of the functions.
        names: names of the files.
        read: the function that reads them.
        fields: those of image, candidate, references and ratings; of pairs, those of image, right caption, wrong one
            and references. A single reference or rating needs no list; without a field of images, each record is one.
        id: of rated captions, an id with the names of fields in braces; {number} is the number of the record, and
            {index} the number before it. Without it, records are pairs.
        part: the field of the part; by default, it is the name of the file.
        converted: functions that return ``image``, ``rating`` and ``texts`` (references), from the value of their field
            and its place in the file; ``captions`` reads the references of all images from the last file instead.
    """
    if read:
        return Files(tuple(names), lambda folder: getattr(functions, read)(folder, *names))
    (image, candidate, third, fourth), named = fields, [*filter(None, fields)]
    of: dict[str, Callable[..., Any]] = {kind: getattr(functions, name) for kind, name in converted.items()}
    of_records = names[:-1] if "captions" in of else names

    def value(kind: str, value: Any, where: str) -> Any:
        return of[kind](value, where) if kind in of else value

    def item(captions: Any, name: str, number: int, where: str, r: Mapping[str, Any]) -> RatedCaption | CaptionPair:
        facts = {"index": number - 1, "number": number, **r, "place": where}
        of_image = value("image", facts[image or "index"], where)
        given = facts[third if id else fourth] if captions is None else entry_of(captions, of_image, where)
        texts = value("texts", given, where)
        several = [texts] if isinstance(texts, str) else texts
        of_part = facts[part] if part else PurePath(name).stem
        if not id:
            return CaptionPair(of_image, (facts[candidate], facts[third]), 0, several, of_part, facts)
        ratings = value("rating", facts[fourth], where)
        each = ratings if isinstance(ratings, list) else [ratings]
        return RatedCaption(id.format_map(facts), of_image, facts[candidate], several, each, of_part, facts)

    def read_records(folder: DataFolder) -> list[RatedCaption | CaptionPair]:
        captions = of["captions"](folder, names[-1]) if "captions" in of else None
        found = ((name, *placed) for name in of_records for placed in folder.placed_records(name, named))
        return [item(captions, *each) for each in found]

    return Files(tuple(names), read_records)


def _figures(by_source: Mapping[str, Mapping[str, Any]], parts: Sequence[str]) -> dict[str, Figure]:
    """Return figures by metric; of several values, the first is the mean over parts, whose names are given."""
    found = {}
    for source, values in by_source.items():
        for metric, value in values.items():
            if metric != "tolerance":
                mean, *of_parts = (v / 100 for v in (value if isinstance(value, list) else [value]))
                tolerance = values.get("tolerance", 0.0005)
                found[metric] = Figure(mean, source, dict(zip(parts, of_parts, strict=False)), tolerance)
    return found
