"""Registry of benchmarks by name: built-in ones, and those of other packages.

Another package adds one with an entry point of the group ``captious.benchmarks``, whose name is the benchmark's and
whose value is a ``Benchmark``.
"""

from __future__ import annotations

from importlib import import_module

from captious.entry_points import EntryPoints, did_you_mean
from captious.errors import ParameterError, UnknownNameError
from captious.judgment.benchmarks.benchmark import Benchmark
from captious.judgment.protocols import Protocol

__all__ = ["get", "names", "protocol", "unknown"]

#: One line per benchmark of the package.
_BUILT_IN = {
    "flickr8k-expert": "captious.judgment.benchmarks.flickr8k_expert:FLICKR8K_EXPERT",
    "flickr8k-cf": "captious.judgment.benchmarks.flickr8k_cf:FLICKR8K_CF",
    "composite": "captious.judgment.benchmarks.composite:COMPOSITE",
    "pascal-50s": "captious.judgment.benchmarks.pascal_50s:PASCAL_50S",
    "abstract-50s": "captious.judgment.benchmarks.abstract_50s:ABSTRACT_50S",
    "coco-2015": "captious.judgment.benchmarks.coco_2015:COCO_2015",
    "wmt16-daseg": "captious.judgment.benchmarks.wmt16_daseg:WMT16_DASEG",
    "conll14-gec": "captious.judgment.benchmarks.conll14_gec:CONLL14_GEC",
    "sugarcrepe": "captious.judgment.benchmarks.sugarcrepe:SUGARCREPE",
    "thumb": "captious.judgment.benchmarks.thumb:THUMB",
    "polaris": "captious.judgment.benchmarks.polaris:POLARIS",
    "nebula": "captious.judgment.benchmarks.nebula:NEBULA",
    "foil-coco": "captious.judgment.benchmarks.foil_coco:FOIL_COCO",
    "nocaps-foil": "captious.judgment.benchmarks.nocaps_foil:NOCAPS_FOIL",
    "hat": "captious.judgment.benchmarks.hat:HAT",
    "vatex-eval": "captious.judgment.benchmarks.vatex_eval:VATEX_EVAL",
    "audiocaps-eval": "captious.judgment.benchmarks.audiocaps_eval:AUDIOCAPS_EVAL",
    "clotho-eval": "captious.judgment.benchmarks.clotho_eval:CLOTHO_EVAL",
}

_OTHERS = EntryPoints("captious.benchmarks", "benchmark", tuple(_BUILT_IN))


def names() -> list[str]:
    """Names of all benchmarks: those of the package, then others by name."""
    return [*_BUILT_IN, *sorted(_OTHERS.found)]


def get(name: str) -> Benchmark:
    """A benchmark.

    Raises:
        UnknownNameError: no benchmark of that name.
        ParameterError: an entry point that does not lead to a benchmark.
    """
    if name in _BUILT_IN:
        module, attribute = _BUILT_IN[name].split(":")
        benchmark: Benchmark = getattr(import_module(module), attribute)
        return benchmark
    if name not in _OTHERS.found:
        raise unknown(name)
    found = _OTHERS.load(name)
    if not isinstance(found, Benchmark):
        raise _OTHERS.refuse(name, "a captious.judgment.Benchmark")
    if found.name != name:
        raise ParameterError(
            f"{_OTHERS.found[name].value} is the benchmark {found.name!r}, but its entry point is called {name!r}",
            help="give both the same name",
        )
    return found


def protocol(name: str) -> Protocol:
    """The protocol of a name such as ``composite`` or ``flickr8k-expert@yi2020``.

    Raises:
        UnknownNameError: no such benchmark, or no such protocol of it.
        ParameterError: an entry point that does not lead to a benchmark.
    """
    benchmark, mark, recipe = name.partition("@")
    found = get(benchmark)
    if mark and not recipe:
        help = f"its protocols are {', '.join(each.name for each in found.protocols)}"
        raise UnknownNameError(f"{benchmark} has no protocol ''", help=help)
    return found.protocol(recipe)


def unknown(name: str) -> UnknownNameError:
    """The error for a name that no benchmark has, with the closest one."""
    guess = did_you_mean(name, names())
    return UnknownNameError(
        f"there is no benchmark {name!r}",
        help=f"{guess}available benchmarks: {', '.join(names())}; or give a .jsonl file with your own judgments",
    )
