"""Reads pickles as data: no class is loaded and nothing that a pickle names is called.

Objects become bags of attributes, whatever their class. Arrays and scalars of numpy are made of the numbers in the
stream, after their type and size have been checked; arrays of text and of objects only on request. Everything else that
a pickle can ask for is refused. Protocols 2 to 5 are read. Memory is taken in proportion to the stream, whatever sizes
it claims, and for at most 2**24 lists, dicts, tuples and objects.
"""

from __future__ import annotations

import math
import re
import reprlib
import struct
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["PickleError", "PickledObject", "read_pickle"]

#: What is read from: bytes, or a file that is mapped into memory.
Buffer: TypeAlias = Any

_DTYPE = re.compile(r"[<>=|]?[biuf][0-9]{1,2}")
_TEXT_DTYPE = re.compile(r"[<>=|]?(U[0-9]{1,6}|O8?)")
_LONGEST_NAME = 1 << 10
_LARGEST_COPY = 1 << 12  # bytes; longer ones stay where they are
_MOST_OBJECTS = 1 << 24
_MOST_MARKS = 1 << 10
_MOST_DIMENSIONS = 4
_LARGEST_DIMENSION = 1 << 40

_U16, _I32, _U32, _U64 = (struct.Struct(f"<{code}") for code in "HiIQ")
_F64 = struct.Struct(">d")


class PickleError(ValueError):
    """A pickle that is truncated or damaged, or that asks for more than data."""


class PickledObject:
    """An object of which only the attributes are kept.

    Args:
        type: module and name of its class.
    """

    __slots__ = ("attributes", "type")

    def __init__(self, type: str) -> None:
        self.type = type
        self.attributes: dict[str, Any] = {}


class _Global:
    """A name of the stream, which stands for nothing but itself."""

    __slots__ = ("called", "module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name
        package, _, tail = module.partition(".")
        self.called = f"numpy {name}" if package == "numpy" and (tail.rpartition(".")[2], name) in _NUMPY else ""
        if package == "gensim":
            self.called = "object"
        elif (module, name) == ("_codecs", "encode"):
            self.called = "encode"
        if not self.called:
            raise PickleError(f"{f'{module}.{name}'!r:.100} is not allowed in it")


#: Last part of the module, and name, of what the arrays and numbers of a pickle are made with.
_NUMPY = {
    ("multiarray", "_reconstruct"),
    ("multiarray", "scalar"),
    ("numeric", "_frombuffer"),
    ("", "ndarray"),
    ("", "dtype"),
}


class _Type:
    """A numeric dtype; its byte order comes later than its kind and size."""

    __slots__ = ("code",)

    def __init__(self, code: object, text: bool = False) -> None:
        if not isinstance(code, str) or not (_DTYPE.fullmatch(code) or (text and _TEXT_DTYPE.fullmatch(code))):
            raise PickleError(
                f"an array of {reprlib.repr(code) if isinstance(code, str) else 'something'}, not of numbers"
            )
        self.code = code

    @property
    def dtype(self) -> np.dtype[Any]:
        try:
            return np.dtype(self.code)
        except TypeError:
            raise PickleError(f"an array of {self.code!r}, which is not a type of numbers") from None


class _Array:
    """An array, None until its content has come."""

    __slots__ = ("values",)

    def __init__(self, values: NDArray[Any] | None = None) -> None:
        self.values = values


def read_pickle(data: Buffer, *, text: bool = False) -> Any:
    """The value that a pickle holds.

    Values are numbers, strings, None, lists (sets as well), tuples, dicts, bytes or read-only memory, and
    ``PickledObject``; the value itself or one of its attributes may also be a numpy array of numbers. Large arrays and
    bytes refer to ``data`` instead of being copied.

    Args:
        data: bytes, or a file mapped into memory.
        text: allow arrays of text and of objects, too; the latter hold what lists may hold.

    Raises:
        PickleError: not a pickle, or truncated, damaged, or asking for more than data.
    """
    try:
        return _resolved(_Reader(data, text).value())
    except (IndexError, struct.error):
        raise PickleError("the pickle is truncated or damaged") from None
    except UnicodeDecodeError as error:
        raise PickleError(f"a string that cannot be decoded: {error.reason}") from error


def _resolved(value: Any) -> Any:
    """A value with arrays in place of what stood for them, in the attributes of an object as well."""
    if isinstance(value, _Array):
        return value.values
    if isinstance(value, PickledObject):
        value.attributes = {
            name: each.values if isinstance(each, _Array) else each for name, each in value.attributes.items()
        }
    return value


class _Reader:
    def __init__(self, data: Buffer, text: bool = False) -> None:
        self._data = data
        self._text_arrays = text
        self._view = memoryview(data).toreadonly()
        self._at = 0
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: list[Any] = []
        self._to_encode = len(data)  # characters that may still be turned into bytes
        self._to_make = _MOST_OBJECTS

    def value(self) -> Any:
        data, operations = self._data, [_OPERATIONS.get(code) for code in range(256)]
        while True:
            code = data[self._at]
            self._at += 1
            if code == _STOP:
                return self._stack.pop()
            operation = operations[code]
            if operation is None:
                self._refuse(f"the opcode {bytes([code])!r}")
            operation(self)

    # ---- the bytes of the stream

    def _span(self, size: int) -> memoryview:
        start, end = self._at, self._at + size
        if end > len(self._view):
            raise PickleError("the pickle is truncated")
        self._at = end
        return self._view[start:end]

    def _bytes(self, size: int) -> bytes | memoryview:
        span = self._span(size)
        return span if size > _LARGEST_COPY else bytes(span)

    def _number(self, form: struct.Struct) -> int:
        (number,) = form.unpack_from(self._view, self._at)
        self._at += form.size
        return int(number)

    def _byte(self) -> int:
        self._at += 1
        return int(self._data[self._at - 1])

    def _line(self) -> str:
        end = self._data.find(b"\n", self._at, self._at + _LONGEST_NAME)
        if end < 0:
            self._refuse("an unterminated name")
        line = str(self._span(end - self._at), "utf-8")
        self._at += 1
        return line

    def _text(self, size: int) -> None:
        self._stack.append(str(self._span(size), "utf-8", "surrogatepass"))

    def _old_text(self, size: int) -> None:
        self._stack.append(str(self._span(size), "ascii"))

    def _integer(self, size: int) -> None:
        self._stack.append(int.from_bytes(self._span(size), "little", signed=True))

    # ---- the stack

    def _pop(self) -> Any:
        if self._marks and len(self._stack) == self._marks[-1]:
            self._refuse("a value below the mark on the stack")
        return self._stack.pop()

    def _top(self, kind: type[Any], what: str) -> Any:
        if not self._stack or not isinstance(self._stack[-1], kind):
            self._refuse(what)
        return self._stack[-1]

    def _made(self, value: Any) -> Any:
        """Count values that take more memory than their bytes in the stream."""
        self._to_make -= 1
        if self._to_make < 0:
            self._refuse(f"more than {_MOST_OBJECTS:,} lists, dicts, tuples and objects")
        return value

    def _since_mark(self) -> list[Any]:
        start = self._marks.pop()
        found = self._stack[start:]
        del self._stack[start:]
        return found

    def _mark(self) -> None:
        if len(self._marks) >= _MOST_MARKS:
            self._refuse(f"more than {_MOST_MARKS:,} nested values")
        self._marks.append(len(self._stack))

    def _tuple(self, size: int) -> tuple[Any, ...]:
        return tuple(self._pop() for _ in range(size))[::-1]

    def _remember(self, place: int) -> None:
        missing = place - len(self._memo)
        if missing > 1:  # picklers count, some from 1
            self._refuse("a memo index out of order")
        if missing >= 0:
            self._memo += [None] * (missing + 1)
        self._memo[place] = self._stack[-1]

    def _recall(self, place: int) -> None:
        if place >= len(self._memo):
            self._refuse("a reference to a missing object")
        self._stack.append(self._memo[place])

    def _append(self, items: list[Any]) -> None:
        self._top(list, "items without a list").extend(items)

    def _set(self, items: list[Any]) -> None:
        target, keys = self._top(dict, "items without a dict"), items[0::2]
        # No other keys: hashing nested tuples could recurse too deeply.
        if len(items) % 2 or not all(type(key) in (str, int) for key in keys):
            self._refuse("a dict whose keys are not strings or integers")
        target.update(zip(keys, items[1::2], strict=True))

    # ---- objects and arrays

    def _global(self, module: object, name: object) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            self._refuse("a class without a name")
        self._stack.append(_Global(module, name))

    def _global_from_stack(self) -> None:
        name, module = self._pop(), self._pop()
        self._global(module, name)

    def _new(self, n_arguments: int) -> PickledObject:
        for _ in range(n_arguments):
            self._pop()
        made = self._pop()
        if not isinstance(made, _Global) or made.called != "object":
            self._refuse("an object whose class is not from gensim")
        return PickledObject(f"{made.module}.{made.name}")

    def _call(self) -> Any:
        arguments, function = self._pop(), self._pop()
        if not isinstance(function, _Global) or not isinstance(arguments, tuple):
            self._refuse("a call of a value that is not a function")
        make = _CALLS.get(function.called)
        if make is None or len(arguments) > 4:
            self._refuse(f"an unsupported call of {f'{function.module}.{function.name}'!r:.100}")
        return make(self, *arguments)

    def _encode(self, text: object = None, encoding: object = None, *_: object) -> bytes:
        if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
            self._refuse("bytes in an unexpected encoding")
        self._to_encode -= len(text)
        if self._to_encode < 0:
            self._refuse("more bytes than the pickle contains")
        try:
            return text.encode("latin1")
        except UnicodeEncodeError:
            self._refuse("bytes in an unexpected encoding")

    def _dtype(self, code: object = None, *_: object) -> _Type:
        return _Type(code, self._text_arrays)

    def _empty_array(self, *_: object) -> _Array:
        return _Array()

    def _array_of_bytes(
        self, raw: object = None, dtype: object = None, shape: object = None, order: object = "C"
    ) -> _Array:
        return _Array(self._numbers(raw, dtype, shape, order == "F"))

    def _scalar(self, dtype: object = None, raw: object = None, *_: object) -> Any:
        return self._numbers(raw, dtype, (), False).item()

    def _build(self) -> None:
        state, target = self._pop(), self._top(object, "a state without an object")
        if isinstance(target, PickledObject):
            for part in state if isinstance(state, tuple) else (state,):
                if isinstance(part, dict) and all(type(name) is str for name in part):
                    target.attributes.update(part)
                elif part is not None:
                    self._refuse("an object whose state is not a dict")
        elif isinstance(target, _Array) and isinstance(state, tuple) and len(state) == 5:
            _, shape, dtype, fortran, raw = state
            target.values = self._numbers(raw, dtype, shape, fortran is True)
        elif isinstance(target, _Type) and isinstance(state, tuple) and len(state) >= 5:
            if state[1] not in ("<", ">", "=", "|") or any(part is not None for part in state[2:5]):
                self._refuse("a structured array")
            target.code = state[1] + target.code.lstrip("<>=|")
        else:
            self._refuse("state for an object that does not accept any")

    def _numbers(self, raw: object, dtype: object, shape: object, fortran: bool) -> NDArray[Any]:
        if isinstance(raw, list) and isinstance(dtype, _Type) and dtype.code.lstrip("<>=|").startswith("O"):
            return self._objects(raw, shape, fortran)
        if not isinstance(raw, bytes | memoryview) or not isinstance(dtype, _Type) or "O" in dtype.code:
            self._refuse("an array that is not of numbers")
        if (
            not isinstance(shape, tuple)
            or len(shape) > _MOST_DIMENSIONS
            or not all(type(size) is int and 0 <= size < _LARGEST_DIMENSION for size in shape)
            or math.prod(shape) * dtype.dtype.itemsize != len(raw)
        ):
            self._refuse("an array whose size does not match its bytes")
        if not len(raw):
            return np.zeros(0, dtype.dtype)
        return np.frombuffer(raw, dtype.dtype).reshape(shape, order="F" if fortran else "C")

    def _objects(self, items: list[Any], shape: object, fortran: bool) -> NDArray[Any]:
        """An array of what a list holds."""
        if (
            not isinstance(shape, tuple)
            or len(shape) > _MOST_DIMENSIONS
            or not all(type(size) is int and size >= 0 for size in shape)
            or math.prod(shape) != len(items)
        ):
            self._refuse("an array whose size does not match its items")
        values = np.empty(len(items), dtype=object)
        values[:] = [each.values if isinstance(each, _Array) else each for each in items]
        return values.reshape(shape, order="F" if fortran else "C")

    def _refuse(self, what: str) -> NoReturn:
        raise PickleError(f"{what}, before byte {self._at:,}")


_CALLS: dict[str, Callable[..., Any]] = {
    "numpy _reconstruct": _Reader._empty_array,
    "numpy _frombuffer": _Reader._array_of_bytes,
    "numpy scalar": _Reader._scalar,
    "numpy dtype": _Reader._dtype,
    "encode": _Reader._encode,
}

_STOP = ord(".")


def _operations() -> dict[int, Callable[[_Reader], object]]:
    """What each opcode does. Those of protocols 0 and 1 alone, of other processes and of extensions are left out."""
    push: dict[bytes, Callable[[_Reader], Any]] = {
        b"N": lambda r: None,
        b"\x88": lambda r: True,
        b"\x89": lambda r: False,
        b"]": lambda r: r._made([]),
        b"\x8f": lambda r: r._made([]),  # a set
        b"}": lambda r: r._made({}),
        b")": lambda r: (),
        b"J": lambda r: r._number(_I32),
        b"K": lambda r: r._byte(),
        b"M": lambda r: r._number(_U16),
        b"G": lambda r: _F64.unpack(r._span(8))[0],
        b"B": lambda r: r._bytes(r._number(_U32)),
        b"C": lambda r: r._bytes(r._byte()),
        b"\x8e": lambda r: r._bytes(r._number(_U64)),
        b"\x96": lambda r: r._bytes(r._number(_U64)),  # a bytearray
        b"t": lambda r: r._made(tuple(r._since_mark())),
        b"\x85": lambda r: r._made(r._tuple(1)),
        b"\x86": lambda r: r._made(r._tuple(2)),
        b"\x87": lambda r: r._made(r._tuple(3)),
        b"\x91": lambda r: r._made(r._since_mark()),  # a frozenset
        b"R": lambda r: r._made(r._call()),
        b"\x81": lambda r: r._made(r._new(1)),
        b"\x92": lambda r: r._made(r._new(2)),
    }
    others: dict[bytes, Callable[[_Reader], object]] = {
        b"\x80": _Reader._byte,  # the protocol
        b"\x95": lambda r: r._number(_U64),  # a frame; what follows is read as it comes
        b"(": _Reader._mark,
        b"X": lambda r: r._text(r._number(_U32)),
        b"\x8c": lambda r: r._text(r._byte()),
        b"\x8d": lambda r: r._text(r._number(_U64)),
        b"U": lambda r: r._old_text(r._byte()),
        b"T": lambda r: r._old_text(r._number(_U32)),
        b"\x8a": lambda r: r._integer(r._byte()),
        b"\x8b": lambda r: r._integer(r._number(_U32)),
        b"a": lambda r: r._append([r._pop()]),
        b"e": lambda r: r._append(r._since_mark()),
        b"\x90": lambda r: r._append(r._since_mark()),
        b"s": lambda r: r._set([r._pop(), r._pop()][::-1]),
        b"u": lambda r: r._set(r._since_mark()),
        b"q": lambda r: r._remember(r._byte()),
        b"r": lambda r: r._remember(r._number(_U32)),
        b"\x94": lambda r: r._remember(len(r._memo)),
        b"h": lambda r: r._recall(r._byte()),
        b"j": lambda r: r._recall(r._number(_U32)),
        b"c": lambda r: r._global(r._line(), r._line()),
        b"\x93": _Reader._global_from_stack,
        b"b": _Reader._build,
    }

    def pushing(make: Callable[[_Reader], Any]) -> Callable[[_Reader], object]:
        return lambda r: r._stack.append(make(r))

    return {code[0]: pushing(make) for code, make in push.items()} | {code[0]: do for code, do in others.items()}


_OPERATIONS = _operations()
