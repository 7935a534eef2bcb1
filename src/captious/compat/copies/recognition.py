"""Recognition of what a method of a copied class computes, from the source of all that takes part in it.

Nothing of the copy is called. A method is recognized if every function that it can reach is a known body: the helpers
and methods that the bodies name, the constructors and operators of the classes they make. What the names mean is read
from the loaded module, and held against the source: functions must be those that their files define, with the defaults
written there, libraries the libraries, builtins the builtins. ``change`` says at each call what is not so any more.
"""

from __future__ import annotations

import ast
import builtins
import dis
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

from captious.compat.copies.known_bodies import Body, by_digest, nearest
from captious.compat.copies.normal_form import LIBRARIES, LOG_CALLS, Function, functions
from captious.plugins import is_installed

#: Modules of a published toolkit -> others whose functions they use.
_USES = {
    "bleu": ("bleu_scorer",),
    "cider": ("cider_scorer",),
    "ciderD": ("ciderD_scorer",),
    "plain_cider": ("plain_cider_scorer",),
    "m2_bleu": ("bleu_scorer",),
    "m2_cider": ("m2_cider_scorer",),
}
#: Methods that Python calls by itself for objects that known bodies make.
_IMPLICIT = (
    *("__new__", "__init__", "__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__iadd__", "__add__"),
    *("__len__", "__bool__", "__iter__", "__getitem__", "__call__", "__eq__", "__del__"),
)
#: Functions that call each other with counts as one argument or as several.
_CALLING = ("cook_test", "cook_append", "retest")
#: The package that the toolkit's own name leads to.
_OWN = ["captious", "compat", "pycocoevalcap"]
#: Names in libraries of what has another name itself.
_ALIASES = {"abs": "absolute", "max": "amax", "min": "amin", "xrange": "range", "tqdm": "tqdm_asyncio"}
_MISSING = object()


class UnknownBodyError(Exception):
    """Something takes part that is not known; the text says what, and where it stands."""


@lru_cache(maxsize=32)
def _source(path: str, source: bytes) -> tuple[dict[str, Function], dict[str, list[CodeType]]]:
    """Return the normal forms of the functions of a file, and what they are compiled to."""
    compiled: dict[str, list[CodeType]] = {}
    for code in _codes(compile(source, path, "exec", dont_inherit=True)):
        compiled.setdefault(code.co_qualname, []).append(code)
    return functions(ast.parse(source)), compiled


def form_of(function: object) -> Function | None:
    """Return the normal form of a function; None if it is not one that a file defines, with its defaults."""
    if type(function) is not FunctionType or function.__closure__ or vars(function):
        return None
    code = function.__code__
    try:
        forms, compiled = _source(code.co_filename, Path(code.co_filename).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
    form = forms.get(code.co_qualname)
    if form is None or form.line != code.co_firstlineno or code not in compiled[code.co_qualname]:
        return None
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    return form if repr(form.values.get("")) == repr(defaults) else None


class Recognition:
    """A method of a class that is recognized.

    Args:
        owner: the class.
        entry: name of the method.
        role: the module of a published toolkit whose method it is.
        also: other methods that must be known.

    Attributes:
        options: what it computes otherwise than the published method.
        prints: whether any of its functions prints.
        text: its normal form.
        classes: the classes of the objects that it makes.

    Raises:
        UnknownBodyError: a function that takes part is not known.
    """

    def __init__(self, owner: type, entry: str, role: str, also: tuple[str, ...] = ()) -> None:
        self.owner, self.entry, self.role = owner, entry, role
        self.options: dict[str, str] = {}
        self.prints = False
        self._roles: dict[type, tuple[str, ...]] = {owner: (role,)}
        self.text = ""
        self._bodies: list[Body] = []
        self._functions: dict[FunctionType, tuple[object, ...]] = {}
        self._names: dict[type | None, set[str]] = {owner: {entry, *also, "__getattribute__"}, None: {*_IMPLICIT}}
        #: Names and what they must mean: in a namespace, in a class and its bases, and by value.
        self._pins: list[tuple[Mapping[str, object], str, object]] = []
        self._members: dict[tuple[type, str], object] = {}
        self._values: list[tuple[Mapping[str, object], str, str]] = []
        while missing := [*self._missing_members()]:
            for cls, name in missing:
                self._add_member(cls, name)
        calls = {body.options.get("call") for body in self._bodies if body.name in _CALLING}
        if len(calls) > 1 or ("given" in self.options and "when" not in self.options):
            raise UnknownBodyError(f"functions that {owner.__name__}.{entry} uses do not belong together")

    @property
    def attributes(self) -> set[str]:
        """Names of attributes that the methods of the class use."""
        return self._names[self.owner]

    @property
    def classes(self) -> list[type]:
        return [cls for cls in self._roles if cls is not self.owner]

    def change(self, instance: object) -> str | None:
        """Return what of all this has been changed since, for an object; empty if it is only that the object is of a
        subclass with a method of its own, None if nothing has.
        """
        cls, own = type(instance), getattr(instance, "__dict__", {})
        for (owner, name), value in self._members.items():
            if owner is self.owner:
                if name != self.entry and value is not _MISSING and (name in own or _member(cls, name) is not value):
                    return "" if cls is not owner or name in own else f"{owner.__name__}.{name}"
            elif _member(owner, name) is not value:
                return f"{owner.__name__}.{name}"
        for space, name, value in self._pins:
            if space.get(name, _MISSING) is not value:
                return name
        for space, name, text in self._values:
            if repr(space.get(name)) != text:
                return name
        for function, state in self._functions.items():
            if _state(function) != state:
                return function.__qualname__
        return None

    def _missing_members(self) -> Iterator[tuple[type, str]]:
        for cls in self._roles:
            names = self._names[self.owner] if cls is self.owner else self._names[None]
            yield from ((cls, name) for name in sorted(names) if (cls, name) not in self._members)

    def _add_member(self, cls: type, name: str) -> None:
        value = self._members[cls, name] = _member(cls, name)
        if value is _MISSING or value is vars(object).get(name):
            return
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if isinstance(function, FunctionType):
            self._add_function(function, name, self._roles[cls], cls)
        elif callable(value) or (cls is not self.owner and not isinstance(value, MemberDescriptorType)):
            raise UnknownBodyError(f"{cls.__name__}.{name} is not a known method")

    def _add_function(self, function: FunctionType, name: str, roles: tuple[str, ...], cls: type | None) -> None:
        if function in self._functions:
            return
        form = form_of(function)
        if form is None:
            raise UnknownBodyError(not_as_defined(f"{cls.__name__}.{name}" if cls else name, function))
        bodies = [body for body in by_digest().get(form.digest, ()) if body.role in roles and body.name == name]
        unread = {*_globals(function.__code__)} - form.reads.keys() - form.left_out
        if not bodies or function.__name__ != name or unread:
            raise UnknownBodyError(difference(form, function.__code__.co_filename, roles))
        (body, *_) = bodies
        self._bodies.append(body)
        self.text = self.text or "\n".join(statement.text for statement in form.statements)
        if any(self.options.setdefault(option, value) != value for option, value in body.options.items()):
            raise UnknownBodyError(f"{form.name} and others of its functions differ from the toolkit in several ways")
        self.prints |= form.prints
        self._functions[function] = _state(function)
        for names in {self.owner if cls is self.owner else None, None}:
            self._names[names] |= form.attributes
        for read, what in [*form.reads.items(), *((log, "!") for log in form.logs)]:
            try:
                self._add_read(read, what, function, form, (body.role, *_USES.get(body.role, ())), cls)
            except LookupError:
                raise UnknownBodyError(
                    f"{form.name} in line {form.line} of {Path(function.__code__.co_filename).name} uses "
                    f"{read.lstrip('.')}, which is not what it is in the toolkit"
                ) from None

    def _add_read(
        self, read: str, what: str, function: FunctionType, form: Function, roles: tuple[str, ...], cls: type | None
    ) -> None:
        """Add a name that a function reads; a LookupError says that it means something else."""
        space: Mapping[str, Any] = function.__globals__
        if read.startswith("__"):
            return
        if what == "=":
            written = form.values.get(read, _MISSING)
            if read.startswith(".") and cls is not None:
                space, read = next(vars(base) for base in cls.__mro__ if read[1:] in vars(base)), read[1:]
            if repr(written) != repr(space[read]):
                raise LookupError
            self._values.append((space, read, repr(space[read])))
        elif what == "":
            if read in space or not _is_of_library(vars(builtins)[read], read):
                raise LookupError
            self._pins += [(space, read, _MISSING), (vars(builtins), read, vars(builtins)[read])]
        elif what == "!":
            self._add_log(space, read)
        elif what.startswith("@"):
            *modules, read = read.split(".")
            for module in modules:
                self._pins.append((space, module, space[module]))
                space = vars(space[module])
            value = space[read]
            self._pins.append((space, read, value))
            if isinstance(value, FunctionType):
                self._add_function(value, what[1:], roles, None)
            elif type(value) is type:
                if (value.__module__.split(".")[:3], value.__name__) == (_OWN, what[1:]):
                    self.prints = True  # as captious's own scorer does
                else:
                    self._roles.setdefault(value, roles)
            elif what != "@" or not isinstance(value, ModuleType):
                raise LookupError
        else:
            self._add_library(space, read, what, form.attributes)

    def _add_log(self, space: Mapping[str, Any], read: str) -> None:
        """Add a name in messages: one of these modules, or a logger that the standard library has made."""
        value = space[read]
        is_module = isinstance(value, ModuleType)
        owner = value if is_module else type(value)
        library = value if is_module else sys.modules[owner.__module__]
        known = ("logging", "sys", "warnings") if is_module else ("logging",)
        if not any(library is sys.modules.get(name) for name in known) or not _is_installed(library):
            raise LookupError
        if not is_module and LOG_CALLS & vars(value).keys():
            raise LookupError
        self._pins.append((space, read, value))
        self._add_attributes(vars(owner), LOG_CALLS)

    def _add_library(self, space: Mapping[str, Any], read: str, what: str, attributes: frozenset[str]) -> None:
        module, *words = what.split(".")
        expected: Any = sys.modules[module]
        if not _is_installed(expected):
            raise LookupError
        for word in words:
            expected = getattr(expected, word, _MISSING)
        if space[read] is not expected or not _is_of_library(expected, (words or [module])[-1]):
            raise LookupError
        self._pins.append((space, read, expected))
        if isinstance(expected, ModuleType):
            self._add_attributes(vars(expected), attributes)

    def _add_attributes(self, space: Mapping[str, Any], names: frozenset[str]) -> None:
        """Add those names of the namespace of a library that are there."""
        for name in sorted(names & space.keys()):
            if not _is_of_library(space[name], name):
                raise LookupError
            self._pins.append((space, name, space[name]))


def _member(cls: type, name: str) -> object:
    """Return what a class has under a name, itself or from its bases, without binding it."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), _MISSING)


def _state(function: FunctionType) -> tuple[object, ...]:
    return function.__code__, function.__defaults__, repr(function.__kwdefaults__)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _globals(code: CodeType) -> Iterator[str]:
    """Yield the global names that a code object and those in it use."""
    for instruction in (instruction for each in _codes(code) for instruction in dis.get_instructions(each)):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"):
            yield instruction.argval


def _is_installed(module: ModuleType) -> bool:
    """Return whether a module is of Python or an installed package, not a file of the program with such a name."""
    file = getattr(module, "__file__", None)
    return file is None or Path(file).is_relative_to(Path(os.__file__).parent) or is_installed(file)


def _is_of_library(value: object, name: str) -> bool:
    """Return whether what a library has under a name is its own, not what a program has put there."""
    if isinstance(value, int | float):
        return repr(value) == repr(getattr(math, name, value))
    if isinstance(value, FunctionType | type) and str(value.__module__).partition(".")[0] not in LIBRARIES:
        return False
    return not callable(value) or getattr(value, "__name__", None) in (name, _ALIASES.get(name, name))


def not_as_defined(name: str, function: FunctionType) -> str:
    """Describe a function that is not what its file defines under its name."""
    code = function.__code__
    place = f"line {code.co_firstlineno} of {Path(code.co_filename).name}"
    return f"{name} is not what its file defines: it is {code.co_qualname} in {place}, decorated or changed"


def difference(form: Function, path: str, roles: Iterable[str]) -> str:
    """Describe where a function differs from the nearest known body."""
    line = nearest(form, roles)[1]
    text = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()[line - 1].strip()
    return f"{form.name} differs from the toolkit in line {line} of {Path(path).name}: {text}"
