"""Functions of users as metrics: of one candidate with its references, or of lists of both."""

from __future__ import annotations

import inspect
import math
import os
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError, UnknownNameError
from captious.files import checksum, help_for_missing
from captious.metrics.contract.metric import MeanMetric, ScoreFunction, State, check_label
from captious.metrics.contract.user_code import function_hash, running
from captious.version import __version__
from captious.words import counted, counted_of, shortened

#: Names of a first parameter that gets all candidates at once.
_PLURAL = frozenset(
    {"candidates", "captions", "hypotheses", "predictions", "sentences", "texts", "cands", "hyps", "preds"}
)
#: Names of a first parameter that gets references where candidates are expected.
_REFERENCES = frozenset({"references", "reference", "refs", "ref", "targets", "target", "gts", "gt"})
#: Names of a second parameter that gets candidates where references are expected; captions and texts may be either.
_SINGULAR = {"candidate", "cand", "hypothesis", "hyp", "prediction", "pred"}
_CANDIDATES = (_PLURAL - {"captions", "sentences", "texts"}) | _SINGULAR


class FunctionMetric(MeanMetric):
    """A function as a metric whose corpus score is the mean. Its signature includes a hash of the source.

    The function takes one candidate and the list of its references, or a list of candidates and a list of lists. The
    annotation of its first parameter decides, if it is ``str`` or a sequence; otherwise the name: plural names, such as
    ``candidates``, get lists. Its attributes ``name`` and ``lower_is_better`` (a bool) are those of the metric.

    Args:
        function: the function.
        name: name of the metric; by default that of the function.

    Raises:
        ParameterError: a function without a name, or one that cannot be called with candidates and references in this
            order.
    """

    without_parameters = frozenset({"tokenizer", "variant"})
    bounds = (-math.inf, math.inf)

    def __init__(self, function: ScoreFunction, name: str = "") -> None:
        self.function = function
        self.name = name or _name(function)
        self.outputs = (self.name,)
        self.lower_is_better = _lower_is_better(function, self.name)
        self.takes_lists = _takes_lists(function, self.name)
        self.hash = function_hash(function, self.name)
        super().__init__()

    def suffix(self) -> str:
        return ""

    def signatures(self, state: State | None = None) -> tuple[str, ...]:
        return (f"{self.name}|function:{self.hash}|captious:{__version__}",)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        if not captions.references.present:
            return self.values(captions.candidates, [[]] * len(captions))
        texts, offsets = captions.references.texts, captions.references.offsets.tolist()
        return self.values(captions.candidates, [texts[a:b] for a, b in pairwise(offsets)])

    def values(self, candidates: Sequence[str], references: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Return the scores of the candidates, float64[n].

        Raises:
            ParameterError: the function failed, or its scores are not one finite number for each candidate.
        """
        lists = [list(texts) for texts in references]
        calls: list[tuple[Any, Any]] = [*zip(candidates, lists, strict=True)]
        shape: tuple[int, ...] = ()
        if self.takes_lists:
            calls, shape = [([*candidates], lists)], (len(candidates),)
        results: list[NDArray[np.float64]] = []
        with running(f"{self.name} failed", lambda: self._where(calls[len(results)][0]), self._advice):
            for given, texts in calls:
                results.append(self._checked(self.function(given, texts), given, shape))
        scores = results[0] if self.takes_lists else np.array(results, np.float64)
        infinite = np.flatnonzero(~np.isfinite(scores))
        if infinite.size:
            first = infinite[0]
            raise ParameterError(
                f"{self.name} gave {counted_of(infinite.size, len(scores), 'caption')} a score that is not finite",
                where=_place(self.function, f"{float(scores[first])} for {shortened(candidates[first])}"),
                hint="return a number for every caption, such as 0",
            )
        return scores

    def _where(self, given: Any) -> str:
        """Return the place of the function, and the caption that it was called for."""
        return _place(self.function, "" if self.takes_lists else f"for {shortened(given)}")

    def _checked(self, values: Any, given: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
        expected = f"for {counted(shape[0], 'item')}" if shape else "for one caption"
        if values is None:
            raise ParameterError(f"{self.name} returned nothing", where=self._where(given), hint=self._calls)
        try:
            array = np.asarray(values, np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError(
                f"the scores of {self.name} are not numbers: {error}", where=self._where(given), hint=self._calls
            ) from error
        if array.shape != shape:
            size = counted(len(array), "score") if array.ndim == 1 else f"scores of the shape {array.shape}"
            raise ParameterError(f"{self.name} gave {size} {expected}", where=self._where(given), hint=self._calls)
        return array

    def _advice(self, error: Exception) -> str:
        """Return how it is called, if the error may come from that."""
        if self.takes_lists or isinstance(error, TypeError | AttributeError):
            return self._calls
        return "correct it: it must return a number for every caption, such as 0"

    @property
    def _calls(self) -> str:
        """The arguments of the function calls."""
        if self.takes_lists:
            return (
                "it is called with a list of candidates and a list with the references of each, and returns one number "
                "per candidate; for one caption at a time, call its first parameter candidate"
            )
        return (
            "it is called with one candidate and the list of its references, and returns one number; for all captions "
            "at once, call its first parameter candidates"
        )


def metric_class(function: ScoreFunction, name: str) -> type[FunctionMetric]:
    """Return a class of metrics without parameters that call a function, such as one that an entry point names.

    Args:
        function: the function.
        name: name of the metric and of its output.

    Raises:
        ParameterError: a function that cannot be called with two arguments.
    """
    FunctionMetric(function, name)

    class OfFunction(FunctionMetric):
        summary = (inspect.getdoc(function) or "").partition("\n")[0]

        def __init__(self) -> None:
            super().__init__(function, name)

        def __reduce__(self) -> tuple[object, ...]:
            return FunctionMetric, (function, name)

    OfFunction.name, OfFunction.outputs = name, (name,)
    OfFunction.lower_is_better = _lower_is_better(function, name)
    return OfFunction


class FileMetric(FunctionMetric):
    """A function in a file as a metric, labeled by its request.

    Args:
        request: FILE.py:FUNCTION.

    Raises:
        ParameterError, UnknownNameError: as ``function_in_file`` and ``FunctionMetric`` do.
    """

    def __init__(self, request: str) -> None:
        super().__init__(function_in_file(request))
        self.request = request

    def __str__(self) -> str:
        return self.request

    def __reduce__(self) -> tuple[object, ...]:
        return FileMetric, (self.request,)  # another process runs the file, too


def function_in_file(request: str) -> ScoreFunction:
    """Return the function named by FILE.py:FUNCTION. This executes the file, so use it only for files that the user
    names.

    Raises:
        ParameterError: a file that cannot be run, or a class.
        UnknownNameError: an unknown function.
    """
    file, _, name = request.rpartition(":")
    module = _run(Path(file))
    function = getattr(module, name, None)
    if not callable(function):
        functions = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise UnknownNameError(
            f"{file} has no function {name}",
            where=file,
            hint=f"it has {', '.join(functions)}" if functions else "write it: def NAME(candidate, references)",
        )
    if isinstance(function, type):
        raise ParameterError(
            f"{name} is a class, and FILE.py:FUNCTION names a function",
            where=file,
            hint=f"give an object of it, {name}(), to a function of captious, or name the class by an entry point of a "
            "package, in the group captious.metrics",
        )
    score_function: ScoreFunction = function
    return score_function


def _run(file: Path) -> ModuleType:
    name = f"captious_own_{checksum(os.fsencode(file.absolute()))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, file)
    if not file.is_file() or spec is None or spec.loader is None:
        raise ParameterError(
            f"there is no file {file}", where=str(file), hint=help_for_missing(file, "give FILE.py:FUNCTION")
        )
    module = module_from_spec(spec)
    sys.modules[name] = module
    folder = str(file.absolute().parent)
    sys.path.insert(0, folder)  # for what it imports from its own folder
    try:
        with running(f"{file} cannot be run", lambda: str(file)):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        if folder in sys.path:  # the file may have changed the path
            sys.path.remove(folder)
    return module


def _name(function: ScoreFunction) -> str:
    label = getattr(function, "name", None)
    if isinstance(label, str):
        check_label(label)
        return label
    while isinstance(function, partial):
        function = function.func
    name = str(getattr(function, "__name__", type(function).__name__))
    if not name.isidentifier():
        raise ParameterError("a metric function needs a name", hint="define it with def")
    return name


def _lower_is_better(function: ScoreFunction, name: str) -> frozenset[str]:
    is_lower = getattr(function, "lower_is_better", False)
    if not isinstance(is_lower, bool):
        raise ParameterError(
            f"{name} has {shortened(is_lower)} as lower_is_better", where=_place(function), hint="give True or False"
        )
    return frozenset({name} if is_lower else ())


def _takes_lists(function: ScoreFunction, name: str) -> bool:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # functions that are not written in Python
        return True
    try:
        names = [*signature.bind(None, None).arguments]
    except TypeError as error:
        raise ParameterError(
            f"{name} cannot be called with candidates and references: {error}",
            where=_place(function),
            hint="define it with two parameters: def NAME(candidate, references)",
        ) from None
    _check_order(function, name, names)
    try:
        annotation = get_type_hints(function).get(names[0])
    except Exception:  # names in annotations that are not defined when the program runs
        annotation = None
    kind = get_origin(annotation) or annotation
    if kind is str or not isinstance(kind, type) or not issubclass(kind, Iterable):
        return kind is not str and names[0] in _PLURAL
    return True


def _check_order(function: ScoreFunction, name: str, names: Sequence[str]) -> None:
    """Refuse a function whose parameters have the names of references, then candidates."""
    first, second = (*names, "")[:2]
    if first in _REFERENCES or (second in _CANDIDATES and first not in _CANDIDATES):
        own = "candidates" if second in _PLURAL else "candidate"
        raise ParameterError(
            f"{name} takes {' and '.join(names)}, but it is called with candidates first, then references",
            where=_place(function),
            hint=f"write def NAME({own}, references): return {name}(references, {own})",
        )


def _place(function: ScoreFunction, spot: str = "") -> str:
    """Return the file and line of the function, if known, and what it was called for."""
    code = getattr(function, "__code__", None)
    place = "" if code is None else f"{code.co_filename}:{code.co_firstlineno}"
    return ": ".join(filter(None, [place, spot]))
