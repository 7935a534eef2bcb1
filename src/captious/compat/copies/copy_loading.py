"""Replacement of methods in copies of toolkits when their files are loaded.

The class of the copy stays, with its constructor, its attributes and all other methods. Its ``compute_score`` becomes a
function that computes the same with captious:

    def compute_score(self, gts, res):
        if everything is still as recognized, and the captions are plain:
            return captious's scores
        return the copy's own compute_score(self, gts, res)

Modules that start Java get a stand-in for ``subprocess``, which answers the toolkit's command lines.
"""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from captious.compat import replacement_log
from captious.compat.copies import java
from captious.compat.copies.known_bodies import by_digest, nearest
from captious.compat.copies.recognition import Recognition, UnknownBodyError, difference, form_of, not_as_defined
from captious.errors import CaptiousError

_ENTRY = "compute_score"
#: Options of known bodies that ``computed`` has; those about calls and objects ``Recognition`` and ``is_for`` check.
_OPTIONS = frozenset({"order", "ids", "by", "reflen", "frequencies", "ref_len_one", "call", "when", "given"})


class _Method(NamedTuple):
    """What computes the ``compute_score`` of a class.

    Attributes:
        function: its name in ``computed``.
        by: the class of ``captious.compat`` that computes the same.
        also: other methods that must be known.
    """

    function: str
    by: str
    also: tuple[str, ...] = ()


#: Modules of published toolkits -> the method of their class.
_METHODS = {
    "bleu": _Method("bleu", "pycocoevalcap.bleu.bleu.Bleu"),
    "cider": _Method("cider", "pycocoevalcap.cider.cider.Cider"),
    "rouge": _Method("rouge", "pycocoevalcap.rouge.rouge.Rouge"),
    "ciderD": _Method("rewards", "pyciderevalcap.ciderD.ciderD.CiderD", also=("__init__",)),
    "plain_cider": _Method("rewards", "pyciderevalcap.cider.cider.Cider", also=("__init__",)),
    "m2_bleu": _Method("bleu", "meshed_memory.bleu.bleu.Bleu"),
    "m2_cider": _Method("cider", "meshed_memory.cider.cider.Cider"),
    "m2_rouge": _Method("rouge", "meshed_memory.rouge.rouge.Rouge"),
}
#: Names of their classes -> a module that has one. A class of such a name that has much in common with them is reported
#: if it is not replaced.
_NAMES = {"bleu": "bleu", "cider": "cider", "ciderd": "ciderD", "rouge": "rouge"}
_MUCH = 0.5
_JAVA = {
    "METEOR": "pycocoevalcap.meteor.meteor.Meteor",
    "SPICE": "pycocoevalcap.spice.spice.Spice",
    "PTBTokenizer": "pycocoevalcap.tokenizer.ptbtokenizer.PTBTokenizer",
}
#: What was changed: object, name, and what it was before.
_changed: list[tuple[Any, str, object]] = []


def replace_methods(module: ModuleType) -> None:
    """Replace the methods of a module that are recognized."""
    about = {"module": module.__name__, "file": str(module.__file__ or "")}
    of_java = _answer_java(module, about)
    for name, cls in [*vars(module).items()]:
        is_own = isinstance(cls, type) and cls.__module__ == module.__name__ and cls.__name__ == name
        if is_own and name not in of_java and isinstance(vars(cls).get(_ENTRY), FunctionType):
            _replace_method(cls, {**about, "name": name})


def restore_methods() -> None:
    """Undo all changes that nothing else has changed since."""
    while _changed:
        owner, name, before = _changed.pop()
        setattr(owner, name, before)


def _change(owner: Any, name: str, value: object) -> None:
    _changed.append((owner, name, vars(owner)[name]))
    setattr(owner, name, value)


def _keep(reason: str, role: str, about: dict[str, str]) -> None:
    """Log that a class is not replaced, and the toolkit that it is most like."""
    package = _METHODS[role].by.partition(".")[0]
    toolkit = "evaluation" if package == "meshed_memory" else package
    replacement_log.add("kept", reason=reason, toolkit=toolkit, **about)


def _replace_method(cls: type, about: dict[str, str]) -> None:
    method: FunctionType = vars(cls)[_ENTRY]
    form = form_of(method)
    name = cls.__name__.lower()
    if form is None:
        if name in _NAMES:
            _keep(not_as_defined(f"{cls.__name__}.{_ENTRY}", method), _NAMES[name], about)
        return
    bodies = by_digest().get(form.digest, ())
    known = {body.role for body in bodies if body.name == _ENTRY}
    roles = [role for role in _METHODS if role in known]
    if not roles and (name not in _NAMES or nearest(form, _METHODS)[0] < _MUCH):
        return
    reason = "" if roles else difference(form, method.__code__.co_filename, _METHODS)
    for role in roles:
        try:
            recognition = Recognition(cls, _ENTRY, role, _METHODS[role].also)
        except UnknownBodyError as error:
            reason = reason or str(error)
            continue
        unknown = recognition.options.keys() - _OPTIONS
        if unknown:
            reason = reason or f"captious has no option for {', '.join(sorted(unknown))}"
            continue
        _change(cls, _ENTRY, _computing(method, recognition, about))
        replacement_log.add("replaced", by=_METHODS[role].by, **about)
        return
    _keep(reason, roles[0] if roles else max(_METHODS, key=lambda role: nearest(form, [role])[0]), about)


def _computing(method: FunctionType, recognition: Recognition, about: dict[str, str]) -> Callable[..., Any]:
    """Return the method that computes with captious, or else calls that of the copy."""
    signature = inspect.signature(method)
    name = _METHODS[recognition.role].function

    @wraps(method)
    def compute_score(*arguments: Any, **options: Any) -> Any:
        from captious.compat.copies import computed

        try:
            bound = signature.bind(*arguments, **options)
        except TypeError:
            return method(*arguments, **options)
        bound.apply_defaults()
        instance, *values = bound.args
        changed = recognition.change(instance)
        if changed:
            _keep(f"the program has changed {changed}", recognition.role, about)
        if changed is None and _is_usual(bound) and computed.is_for(instance, recognition):
            given = {"verbose": bound.arguments["verbose"]} if "verbose" in bound.arguments else {}
            with suppress(CaptiousError):
                return getattr(computed, name)(instance, recognition, *values[:2], **given)
        return method(*arguments, **options)

    return compute_score


def _is_usual(bound: inspect.BoundArguments) -> bool:
    """Return whether nothing but captions and ``verbose`` has another value than its default."""
    others = [name for name in [*bound.arguments][3:] if name != "verbose"]
    parameters = bound.signature.parameters
    return all(bound.arguments[name] is parameters[name].default for name in others)


# Java.


def _answer_java(module: ModuleType, about: dict[str, str]) -> set[str]:
    """Let captious answer the Java programs of a module, and return the names of its classes that start them."""
    try:
        tree = ast.parse(Path(about["file"]).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return set()
    names, are_known, answered = set(), True, []
    for name, line, command in java.commands(tree):
        names.add(name)
        are_known = are_known and bool(command.tool)
        if command.tool:
            answered.append({"by": _JAVA[command.tool], "name": name, **about})
            replacement_log.add("java", **answered[-1])
            continue
        reason = f"it runs {command} in line {line}"
        if not java.is_there():
            reason += ", and this machine has no Java"
            print(
                f"captious: {about['module']}.{name} needs Java, which this machine does not have: {reason}",
                file=sys.stderr,
            )
        replacement_log.add("kept", reason=reason, name=name, **about)

    def note(tool: str) -> None:
        for event in answered:
            if event["by"] == _JAVA[tool]:
                replacement_log.add("replaced", **event)

    if names:
        _stand_in(module, java.processes(note), are_known=are_known)
    return names


def _stand_in(module: ModuleType, stand_in: ModuleType, *, are_known: bool) -> None:
    own = {name: getattr(subprocess, name) for name in java.FUNCTIONS}
    for name, value in [*vars(module).items()]:
        if value is subprocess:
            _change(module, name, stand_in)
        elif value is os and are_known:
            _change(module, name, java.system())
        elif name in own and value is own[name]:
            _change(module, name, getattr(stand_in, name))
    models = vars(module).get("get_stanford_models")
    form = form_of(models)
    if form is not None and any(
        body.unit == "get_stanford_models.get_stanford_models" for body in by_digest().get(form.digest, ())
    ):
        _change(module, "get_stanford_models", _no_models)


def _no_models(*arguments: object) -> None:
    """Do nothing; the toolkit downloads CoreNLP for SPICE, which captious answers without it."""
