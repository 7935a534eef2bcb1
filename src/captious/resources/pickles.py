"""Reader of pickles as data: no class is loaded and no callable named in a pickle is called.

``pickletools`` decodes the opcodes and their arguments; this module implements the stack. Objects become bags of
attributes, whatever their class. numpy arrays and scalars are created from the numbers in the stream, after their type
and size have been checked; arrays of text and of objects only on request. Everything else that a pickle can request is
refused. Protocols 2 to 5 are supported. Memory is allocated in proportion to the stream, whatever sizes it claims, and
for at most 2**24 lists, dicts, tuples and objects.
"""

from __future__ import annotations

import io
import math
import pickletools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.words import shortened

#: The source: bytes, or a file that is mapped into memory.
Buffer: TypeAlias = Any

_DTYPE = re.compile(r"[<>=|]?[biuf][0-9]{1,2}")
_TEXT_DTYPE = re.compile(r"[<>=|]?(U[0-9]{1,6}|O8?)")
_MOST_OBJECTS = 1 << 24
_MOST_MARKS = 1 << 10
_MOST_DIMENSIONS = 4
_LARGEST_DIMENSION = 1 << 40


class PickleError(ValueError):
    """A pickle that is truncated or damaged, or that asks for more than data."""


class PickledObject:
    """An object reduced to its attributes.

    Args:
        type: module and name of its class.
    """

    __slots__ = ("attributes", "type")

    def __init__(self, type: str) -> None:
        self.type = type
        self.attributes: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class _Global:
    """A class or function named in the stream; only its name is used."""

    module: str
    name: str

    def __str__(self) -> str:
        return shortened(f"{self.module}.{self.name}", 100)

    @property
    def role(self) -> str:
        """Its role for arrays and objects; empty if it is not allowed."""
        package, _, tail = self.module.partition(".")
        if package == "gensim":
            return "object"
        if package == "numpy":
            return _NUMPY.get((tail.rpartition(".")[2], self.name), "")
        return "encode" if (self.module, self.name) == ("_codecs", "encode") else ""


#: By the last part of the module, which moved between versions of numpy, and the name.
_NUMPY = {
    ("multiarray", "_reconstruct"): "empty array",
    ("multiarray", "scalar"): "scalar",
    ("numeric", "_frombuffer"): "array",
    ("", "ndarray"): "array type",
    ("", "dtype"): "dtype",
}


class _Type:
    """A numeric dtype; its byte order is set after its kind and size."""

    __slots__ = ("code",)

    def __init__(self, code: object, text: bool) -> None:
        if not isinstance(code, str) or not (_DTYPE.fullmatch(code) or (text and _TEXT_DTYPE.fullmatch(code))):
            described = shortened(code) if isinstance(code, str) else "something"
            raise PickleError(f"an array of {described}, not of numbers")
        self.code = code

    @property
    def dtype(self) -> np.dtype[Any]:
        try:
            return np.dtype(self.code)
        except TypeError:
            raise PickleError(f"an array of {self.code!r}, which is not a type of numbers") from None


class _Array:
    """An array, None until its content has been read."""

    __slots__ = ("values",)

    def __init__(self, values: NDArray[Any] | None = None) -> None:
        self.values = values


def read_pickle(data: Buffer, *, text: bool = False) -> Any:
    """Return the value in a pickle.

    Values are numbers, strings, None, lists (sets as well), tuples, dicts, bytes and ``PickledObject``; the value
    itself or one of its attributes may also be a read-only numpy array of numbers.

    Args:
        data: bytes, or a file mapped into memory.
        text: also allow arrays of text and of objects; the latter have the same values as lists.

    Raises:
        PickleError: not a pickle, or truncated, damaged, or asking for more than data.
    """
    try:
        value = _Reader(data, text).value()
    except PickleError:
        raise
    except UnicodeDecodeError as error:
        raise PickleError(f"a string that cannot be decoded: {error.reason}") from error
    except (IndexError, ValueError):  # from the stack, and from pickletools
        raise PickleError("the pickle is truncated or damaged") from None
    if isinstance(value, PickledObject):
        value.attributes = {name: _plain(attribute) for name, attribute in value.attributes.items()}
    return _plain(value)


def _plain(value: Any) -> Any:
    return value.values if isinstance(value, _Array) else value


class _Reader:
    def __init__(self, data: Buffer, text: bool) -> None:
        self._stream = io.BytesIO(data) if isinstance(data, bytes) else data
        self._text_arrays = text
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: list[Any] = []
        self._n_encodable = len(data)  # characters that may still be turned into bytes
        self._n_objects = 0

    def value(self) -> Any:
        while code := self._stream.read(1):
            if code == b".":
                return self._stack.pop()
            if code not in _OPCODES:
                self._refuse(f"the opcode {code!r}")
            read_argument, operate = _OPCODES[code]
            operate(self, read_argument(self._stream))
        raise PickleError("the pickle is truncated")

    # ---- the stack

    def _pop(self) -> Any:
        if self._marks and len(self._stack) == self._marks[-1]:
            self._refuse("a value below the mark on the stack")
        return self._stack.pop()

    def _top(self, kind: type[Any], problem: str) -> Any:
        if not self._stack or not isinstance(self._stack[-1], kind):
            self._refuse(problem)
        return self._stack[-1]

    def _push(self, value: Any) -> None:
        """Add a value that takes more memory than its bytes in the stream."""
        self._n_objects += 1
        if self._n_objects > _MOST_OBJECTS:
            self._refuse(f"more than {_MOST_OBJECTS:,} lists, dicts, tuples and objects")
        self._stack.append(value)

    def _since_mark(self) -> list[Any]:
        start = self._marks.pop()
        values = self._stack[start:]
        del self._stack[start:]
        return values

    def _mark(self) -> None:
        if len(self._marks) >= _MOST_MARKS:
            self._refuse(f"more than {_MOST_MARKS:,} nested values")
        self._marks.append(len(self._stack))

    def _push_tuple(self, size: int) -> None:
        self._push(tuple(self._pop() for _ in range(size))[::-1])

    def _push_ascii(self, text: str) -> None:
        """Add a string of Python 2, which pickletools reads as Latin-1."""
        text.encode("latin-1").decode("ascii")
        self._stack.append(text)

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

    def _extend(self, items: list[Any]) -> None:
        self._top(list, "items without a list").extend(items)

    def _update(self, items: list[Any]) -> None:
        target, keys = self._top(dict, "items without a dict"), items[0::2]
        # No other keys: hashing nested tuples could recurse too deeply.
        if len(items) % 2 or not all(type(key) in (str, int) for key in keys):
            self._refuse("a dict whose keys are not strings or integers")
        target.update(zip(keys, items[1::2], strict=True))

    # ---- objects and arrays

    def _push_global(self, module: object, name: object) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            self._refuse("a class without a name")
        symbol = _Global(module, name)
        if not symbol.role:
            raise PickleError(f"{symbol} is not allowed in it")
        self._stack.append(symbol)

    def _new(self, n_arguments: int) -> None:
        for _ in range(n_arguments):
            self._pop()
        symbol = self._pop()
        if not isinstance(symbol, _Global) or symbol.role != "object":
            self._refuse("an object whose class is not from gensim")
        self._push(PickledObject(f"{symbol.module}.{symbol.name}"))

    def _call(self) -> None:
        arguments, function = self._pop(), self._pop()
        if not isinstance(function, _Global) or not isinstance(arguments, tuple):
            self._refuse("a call of a value that is not a function")
        construct = _CONSTRUCTORS.get(function.role)
        if construct is None or len(arguments) > 4:
            self._refuse(f"an unsupported call of {function}")
        self._push(construct(self, *arguments))

    def _encode(self, text: object = None, encoding: object = None, *_: object) -> bytes:
        if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
            self._refuse("bytes in an unexpected encoding")
        self._n_encodable -= len(text)
        if self._n_encodable < 0:
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
        return _Array(self._array(raw, dtype, shape, order == "F"))

    def _scalar(self, dtype: object = None, raw: object = None, *_: object) -> Any:
        return self._array(raw, dtype, (), False).item()

    def _build(self) -> None:
        state, target = self._pop(), self._top(object, "a state without an object")
        size = len(state) if isinstance(state, tuple) else 0
        if isinstance(target, PickledObject):
            for part in state if size else (state,):
                if isinstance(part, dict) and all(type(name) is str for name in part):
                    target.attributes.update(part)
                elif part is not None:
                    self._refuse("an object whose state is not a dict")
        elif isinstance(target, _Array) and size == 5:
            _, shape, dtype, fortran, raw = state
            target.values = self._array(raw, dtype, shape, fortran is True)
        elif isinstance(target, _Type) and size >= 5:
            if state[1] not in ("<", ">", "=", "|") or any(part is not None for part in state[2:5]):
                self._refuse("a structured array")
            target.code = state[1] + target.code.lstrip("<>=|")
        else:
            self._refuse("state for an object that does not accept any")

    def _array(self, raw: object, dtype: object, shape: object, fortran: bool) -> NDArray[Any]:
        """Create an array of numbers from bytes, or of objects from a list."""
        if not isinstance(dtype, _Type) or not isinstance(raw, list if "O" in dtype.code else bytes | bytearray):
            self._refuse("an array that is not of numbers")
        if (
            not isinstance(shape, tuple)
            or len(shape) > _MOST_DIMENSIONS
            or not all(type(size) is int and 0 <= size < _LARGEST_DIMENSION for size in shape)
            or math.prod(shape) * (1 if isinstance(raw, list) else dtype.dtype.itemsize) != len(raw)
        ):
            self._refuse(f"an array whose size does not match its {'items' if isinstance(raw, list) else 'bytes'}")
        if isinstance(raw, list):
            values = np.empty(len(raw), dtype=object)
            values[:] = [_plain(item) for item in raw]
        else:
            values = np.frombuffer(bytes(raw), dtype.dtype)
        return values.reshape(shape, order="F" if fortran else "C")

    def _refuse(self, problem: str) -> NoReturn:
        raise PickleError(f"{problem}, before byte {self._stream.tell():,}")


_CONSTRUCTORS: dict[str, Callable[..., Any]] = {
    "empty array": _Reader._empty_array,
    "array": _Reader._array_of_bytes,
    "scalar": _Reader._scalar,
    "dtype": _Reader._dtype,
    "encode": _Reader._encode,
}

#: Functions of opcodes. Those only of protocols 0 and 1, of other processes and of extensions are left out.
_OPERATIONS: dict[str, Callable[[_Reader, Any], None]] = dict.fromkeys(
    (
        *("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE"),
        *("BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
    ),
    lambda r, argument: r._stack.append(argument),
) | {
    "PROTO": lambda r, _: None,
    "FRAME": lambda r, _: None,
    "BINPUT": _Reader._remember,
    "LONG_BINPUT": _Reader._remember,
    "MEMOIZE": lambda r, _: r._remember(len(r._memo)),
    "BINGET": _Reader._recall,
    "LONG_BINGET": _Reader._recall,
    "SHORT_BINSTRING": _Reader._push_ascii,
    "BINSTRING": _Reader._push_ascii,
    "MARK": lambda r, _: r._mark(),
    "NONE": lambda r, _: r._stack.append(None),
    "NEWTRUE": lambda r, _: r._stack.append(True),
    "NEWFALSE": lambda r, _: r._stack.append(False),
    "EMPTY_LIST": lambda r, _: r._push([]),
    "EMPTY_SET": lambda r, _: r._push([]),
    "EMPTY_DICT": lambda r, _: r._push({}),
    "EMPTY_TUPLE": lambda r, _: r._stack.append(()),
    "TUPLE": lambda r, _: r._push(tuple(r._since_mark())),
    "TUPLE1": lambda r, _: r._push_tuple(1),
    "TUPLE2": lambda r, _: r._push_tuple(2),
    "TUPLE3": lambda r, _: r._push_tuple(3),
    "FROZENSET": lambda r, _: r._push(r._since_mark()),
    "APPEND": lambda r, _: r._extend([r._pop()]),
    "APPENDS": lambda r, _: r._extend(r._since_mark()),
    "ADDITEMS": lambda r, _: r._extend(r._since_mark()),
    "SETITEM": lambda r, _: r._update([r._pop(), r._pop()][::-1]),
    "SETITEMS": lambda r, _: r._update(r._since_mark()),
    "GLOBAL": lambda r, names: r._push_global(*names),
    "STACK_GLOBAL": lambda r, _: r._push_global(*[r._pop(), r._pop()][::-1]),
    "NEWOBJ": lambda r, _: r._new(1),
    "NEWOBJ_EX": lambda r, _: r._new(2),
    "REDUCE": lambda r, _: r._call(),
    "BUILD": lambda r, _: r._build(),
}


def _read_names(stream: IO[bytes]) -> tuple[str, str]:
    """Read two lines, without the escapes that pickletools would interpret."""
    module, name = stream.readline().decode(), stream.readline().decode()
    if not module.endswith("\n") or not name.endswith("\n"):
        raise PickleError("a class name without an end")
    return module[:-1], name[:-1]


_READERS: dict[str, Callable[[IO[bytes]], Any]] = {
    opcode.name: opcode.arg.reader if opcode.arg else lambda _: None for opcode in pickletools.opcodes
} | {"GLOBAL": _read_names}
#: By the byte in the stream: how its argument is read, and what it does.
_OPCODES = {
    opcode.code.encode("latin-1"): (_READERS[opcode.name], _OPERATIONS[opcode.name])
    for opcode in pickletools.opcodes
    if opcode.name in _OPERATIONS
}
