"""The catalogue of benchmarks by name: built-in ones, and those of other packages.

Another package adds one with an entry point of the group ``captious.benchmarks``, whose name is that of the benchmark
and whose value is a ``Benchmark``.
"""

from __future__ import annotations

from importlib import import_module

from captious.errors import ParameterError, UnknownNameError
from captious.judgment.benchmarks.benchmark import Benchmark
from captious.judgment.judgments import Protocol
from captious.plugins import EntryPoints, did_you_mean

#: The benchmarks of the package, and the module beside this one in which each is a constant.
_BUILT_IN = {
    "flickr8k-expert": "flickr8k",
    "flickr8k-cf": "flickr8k",
    "composite": "rated",
    "pascal-50s": "consensus",
    "abstract-50s": "consensus",
    "coco-2015": "systems",
    "wmt16-daseg": "systems",
    "conll14-gec": "systems",
    "sugarcrepe": "foils",
    "sugarcrepe-pp": "foils",
    "valse": "foils",
    "thumb": "rated",
    "polaris": "rated",
    "nebula": "rated",
    "foil-coco": "foils",
    "nocaps-foil": "foils",
    "hat": "rated",
    "vatex-eval": "rated",
    "audiocaps-eval": "audio",
    "clotho-eval": "audio",
    "factvc": "long",
    "iiw": "long",
    "distractors": "foils",
}
_PLUGINS = EntryPoints("captious.benchmarks", "benchmark", tuple(_BUILT_IN))


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
        module = import_module(f"captious.judgment.benchmarks.{_BUILT_IN[name]}")
        return getattr(module, name.replace("-", "_").upper())  # type: ignore[no-any-return]
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
