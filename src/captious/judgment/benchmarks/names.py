"""The catalogue of benchmarks by name: built-in ones, which ``benchmarks.toml`` describes, and those of other packages.

Another package adds one with an entry point of the group ``captious.benchmarks``, whose name is that of the benchmark
and whose value is a ``Benchmark``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache, partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

from captious.errors import ParameterError, UnknownNameError
from captious.judgment.benchmarks.benchmark import Benchmark, Figure, Files, rated
from captious.judgment.judgments import AS_GIVEN, NOTHING, Protocol, Rule
from captious.plugins import EntryPoints, did_you_mean

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
    guess = did_you_mean(name, names())
    return UnknownNameError(
        f"there is no benchmark {name!r}",
        hint=f"{guess}available benchmarks: {', '.join(names())}; or give a .jsonl file with your own judgments",
    )


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


def _files(functions: Any, names: Sequence[str], read: str = "", **record: Any) -> Files:
    if read:
        return Files(tuple(names), lambda folder: getattr(functions, read)(folder, *names))
    rating, texts = (getattr(functions, record[key]) if key in record else None for key in ("rating", "texts"))
    return rated(names[0], record["id"], record["fields"], rating_of=rating, texts_of=texts)


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
