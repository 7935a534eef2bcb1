"""The catalogue of benchmarks by name: built-in ones, and those of other packages.

Another package adds one with an entry point of the group ``captious.benchmarks``, whose name is that of the benchmark
and whose value is a ``Benchmark``.
"""

from __future__ import annotations

from importlib import import_module

from captious.entry_points import EntryPoints, did_you_mean
from captious.errors import ParameterError, UnknownNameError
from captious.judgment.benchmarks.benchmark import Benchmark
from captious.judgment.protocols import Protocol

#: The benchmarks of the package: each is a constant in the module of its name, or in that which ``_MODULES`` names.
_BUILT_IN = (
    "flickr8k-expert",
    "flickr8k-cf",
    "composite",
    "pascal-50s",
    "abstract-50s",
    "coco-2015",
    "wmt16-daseg",
    "conll14-gec",
    "sugarcrepe",
    "sugarcrepe-pp",
    "valse",
    "thumb",
    "polaris",
    "nebula",
    "foil-coco",
    "nocaps-foil",
    "hat",
    "vatex-eval",
    "audiocaps-eval",
    "clotho-eval",
    "factvc",
    "iiw",
    "distractors",
)
_MODULES = {"audiocaps-eval": "fense", "clotho-eval": "fense"}
_PLUGINS = EntryPoints("captious.benchmarks", "benchmark", _BUILT_IN)


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
        identifier = name.replace("-", "_")
        module = import_module(f"captious.judgment.benchmarks.{_MODULES.get(name, identifier)}")
        return getattr(module, identifier.upper())  # type: ignore[no-any-return]
    if name not in _PLUGINS.by_name:
        raise unknown(name)
    benchmark: Benchmark = _PLUGINS.load(
        name, lambda item: isinstance(item, Benchmark), "a captious.judgment.Benchmark"
    )
    if benchmark.name != name:
        raise ParameterError(
            f"{_PLUGINS.by_name[name].value} is the benchmark {benchmark.name!r}, "
            f"but its entry point is called {name!r}",
            help="give both the same name",
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
        raise UnknownNameError(f"{label} has no protocol ''", help=help)
    return benchmark.protocol(choice)


def unknown(name: str) -> UnknownNameError:
    """Return the error for an unknown name, with the closest known one."""
    guess = did_you_mean(name, names())
    return UnknownNameError(
        f"there is no benchmark {name!r}",
        help=f"{guess}available benchmarks: {', '.join(names())}; or give a .jsonl file with your own judgments",
    )
