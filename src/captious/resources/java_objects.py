"""Reader of Java object serialization as data: no class is loaded and no code from the stream is run.

Source: Java Object Serialization Specification, chapter 6 (stream protocol version 5). Features that data files do not
use are not supported: proxies, exceptions, resets, and the obsolete protocol 1 of externalizable classes. Reading takes
time and memory in proportion to the stream, whatever sizes it claims, and at most 2**22 values are read.
"""

from __future__ import annotations

import struct
from collections import ChainMap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

_HEADER = bytes.fromhex("aced0005")
_NULL, _REFERENCE, _CLASS_DESCRIPTION, _OBJECT, _STRING, _ARRAY, _CLASS, _BLOCK, _END = range(0x70, 0x79)
_LONG_BLOCK, _LONG_STRING, _ENUM = 0x7A, 0x7C, 0x7E
_FIRST_HANDLE = 0x7E0000

_WRITES, _SERIALIZABLE, _EXTERNALIZABLE, _BLOCKS = 1, 2, 4, 8
_PRIMITIVES = {"B": "b", "C": "H", "D": "d", "F": "f", "I": "i", "J": "q", "S": "h", "Z": "?"}
_DEEPEST = 60  # nested values; a level takes up to three of the thousand frames that Python has
_MOST_FIELDS = 1000  # per object
_MOST_VALUES = 1 << 22  # in all objects; CoreNLP's English PCFG has half as many

_U16, _I32, _U32, _I64 = (struct.Struct(f">{code}") for code in "HiIq")


class JavaStreamError(ValueError):
    """A stream that is truncated, damaged, or not one of Java objects."""


@dataclass(frozen=True)
class _Layer:
    """The values that one class of a hierarchy writes for an object; values of primitive types come first."""

    primitives: struct.Struct
    references: int
    written: bool


class JavaClass:
    """A class as described in the stream.

    Args:
        name: as returned by ``Class.getName`` (``java.util.ArrayList``, ``[I``).
    """

    __slots__ = ("layers", "n_fields", "name", "places")

    def __init__(self, name: str) -> None:
        self.name = name
        #: From the topmost class down to this one; empty until the description is read.
        self.layers: tuple[_Layer, ...] = ()
        #: Places of fields among the values of an object; of two with the same name, that of the lower class.
        self.places: ChainMap[str, int] = ChainMap()
        self.n_fields = 0


class JavaObject:
    """An object: ``object["field"]`` is the value of a field.

    Values are numbers, booleans (a ``char`` is a number), strings, None, numpy arrays of primitives (big-endian),
    lists for arrays of objects, ``JavaClass``, ``JavaConstant`` and ``JavaObject``.

    Args:
        type: its class.
    """

    __slots__ = ("type", "values", "written")

    def __init__(self, type: JavaClass) -> None:
        self.type = type
        self.values: Any = []
        #: What its classes wrote besides the fields: blocks of bytes and values, in order.
        self.written: Sequence[Any] = ()

    def __getitem__(self, field: str) -> Any:
        return self.values[self.type.places[field]]


@dataclass(frozen=True)
class JavaConstant:
    """A constant of an enumeration."""

    type: JavaClass
    name: str


def read_object(stream: bytes) -> Any:
    """Read the first object of a stream, with everything that it refers to.

    Raises:
        JavaStreamError: not such a stream, or truncated, damaged, or nested too deeply.
    """
    if not stream.startswith(_HEADER):
        raise JavaStreamError("not a stream of Java objects")
    try:
        return _Reader(stream).value(0)
    except (IndexError, struct.error):
        raise JavaStreamError("the stream of Java objects is truncated") from None


class _Reader:
    def __init__(self, stream: bytes) -> None:
        self._stream = stream
        self._at = len(_HEADER)
        self._handles: list[Any] = []  # earlier objects that the stream can refer to
        self._n_values = 0

    def value(self, depth: int) -> Any:
        self._n_values += 1
        if self._n_values > _MOST_VALUES:
            self._refuse(f"more than {_MOST_VALUES:,} values")
        code = self._stream[self._at]
        self._at += 1
        if code == _OBJECT:
            return self._object(depth + 1)
        if code == _REFERENCE:
            return self._reference()
        if code == _STRING:
            return self._remember(self._short_string())
        if code == _NULL:
            return None
        if code == _ARRAY:
            return self._array(depth + 1)
        if code == _CLASS_DESCRIPTION:
            return self._new_class(depth + 1)
        if code == _LONG_STRING:
            return self._remember(_text(self._take(self._number(_I64))))
        if code == _CLASS:
            return self._remember(self._class(depth + 1))
        if code == _ENUM:
            return self._constant(depth + 1)
        self._refuse(f"byte {code:#04x} where a value should be")

    def _object(self, depth: int) -> JavaObject:
        if depth > _DEEPEST:
            self._refuse("values nested too deeply")
        type = self._class(depth)
        instance = JavaObject(type)
        self._handles.append(instance)  # before its values, which may refer to it
        values = instance.values
        self._n_values += type.n_fields
        for layer in type.layers:
            values += layer.primitives.unpack_from(self._stream, self._at)
            self._at += layer.primitives.size
            for _ in range(layer.references):
                values.append(self.value(depth))
            if layer.written:
                instance.written = [*instance.written, *self._until_end(depth)]
        return instance

    def _array(self, depth: int) -> Any:
        if depth > _DEEPEST:
            self._refuse("values nested too deeply")
        type = self._class(depth)
        place = len(self._handles)
        values: Any = self._remember([])
        length = self._number(_I32)
        if not type.name.startswith("["):
            self._refuse(f"an array of class {type.name}")
        if type.name[1:] in _PRIMITIVES:
            dtype = np.dtype(">" + _PRIMITIVES[type.name[1:]])
            values = self._handles[place] = np.frombuffer(self._take(length * dtype.itemsize), dtype)
            return values
        if not 0 <= length <= len(self._stream) - self._at:  # a value takes one byte at least
            self._refuse(f"an array of {length} values")
        for _ in range(length):
            values.append(self.value(depth))
        return values

    def _constant(self, depth: int) -> JavaConstant:
        type = self._class(depth)
        place = len(self._handles)
        self._remember(None)
        name = self.value(depth)
        if not isinstance(name, str):
            self._refuse("a constant without a name")
        constant = self._handles[place] = JavaConstant(type, name)
        return constant

    def _class(self, depth: int) -> JavaClass:
        """Read the class of the following value, described here or before."""
        description = self._class_or_none(depth)
        if description is None:
            self._refuse("a value without a class")
        return description

    def _class_or_none(self, depth: int) -> JavaClass | None:
        code = self._stream[self._at]
        if code not in (_NULL, _REFERENCE, _CLASS_DESCRIPTION):
            self._refuse(f"byte {code:#04x} where a class should be")
        description = self.value(depth)
        if description is not None and (not isinstance(description, JavaClass) or not description.layers):
            self._refuse("a null reference where a class should be")
        return description

    def _new_class(self, depth: int) -> JavaClass:
        if depth > _DEEPEST:
            self._refuse("values nested too deeply")
        description = JavaClass(self._short_string())
        self._take(8)  # serialVersionUID
        self._handles.append(description)
        flags = self._take(1)[0]
        fields: dict[str, int] = {}
        formats, references = "", 0
        for place in range(self._number(_U16)):
            kind = chr(self._take(1)[0])
            fields[self._short_string()] = place
            if len(fields) <= place:
                self._refuse(f"{description.name} with two fields of the same name")
            if kind in "[L":
                references += 1
                if not isinstance(self.value(depth), str):  # the field's type, which values tell themselves
                    self._refuse("a field without a type")
            elif kind not in _PRIMITIVES or references:
                self._refuse(f"a field of type {kind!r}" + " behind objects" * bool(references))
            else:
                formats += _PRIMITIVES[kind]
        self._until_end(depth)  # annotations of the class
        above = self._class_or_none(depth)
        if flags & _EXTERNALIZABLE and (flags & _SERIALIZABLE or not flags & _BLOCKS):
            self._refuse(f"{description.name} in a format that only its own code can read")
        if not flags & _SERIALIZABLE:  # the class writes no fields, or none by itself
            fields, references, formats = {}, 0, ""
        written = bool(flags & _EXTERNALIZABLE or (flags & _SERIALIZABLE and flags & _WRITES))
        layers, places, n_above = (above.layers, above.places, above.n_fields) if above else ((), ChainMap(), 0)
        description.layers = (*layers, _Layer(struct.Struct(f">{formats}"), references, written))
        places_of_class = {field: n_above + place for field, place in fields.items()}
        description.places = places.new_child(places_of_class) if places_of_class else places
        description.n_fields = n_above + len(fields)
        if len(description.layers) > _DEEPEST or description.n_fields > _MOST_FIELDS:
            n_classes = len(description.layers)
            self._refuse(f"{description.name} with {description.n_fields} fields in {n_classes} classes")
        return description

    def _until_end(self, depth: int) -> list[Any]:
        """Read blocks of bytes and values up to the end mark."""
        values: list[Any] = []
        while (code := self._stream[self._at]) != _END:
            self._n_values += 1
            if code == _BLOCK:
                self._at += 2
                values.append(self._take(self._stream[self._at - 1]))
            elif code == _LONG_BLOCK:
                self._at += 1
                values.append(self._take(self._number(_I32)))
            else:
                values.append(self.value(depth))
        self._at += 1
        return values

    def _reference(self) -> Any:
        handle = self._number(_U32) - _FIRST_HANDLE
        if not 0 <= handle < len(self._handles):
            self._refuse("a reference to a missing object")
        return self._handles[handle]

    def _remember(self, value: Any) -> Any:
        self._handles.append(value)
        return value

    def _short_string(self) -> str:
        return _text(self._take(self._number(_U16)))

    def _number(self, form: struct.Struct) -> int:
        (number,) = form.unpack_from(self._stream, self._at)
        self._at += form.size
        return int(number)

    def _take(self, size: int) -> bytes:
        start, self._at = self._at, self._at + size
        if size < 0 or self._at > len(self._stream):
            raise JavaStreamError("the stream of Java objects is truncated")
        return self._stream[start : self._at]

    def _refuse(self, what: str) -> NoReturn:
        raise JavaStreamError(f"the stream of Java objects is damaged or unsupported: {what}, before byte {self._at}")


def _text(content: bytes) -> str:
    """Decode Java's modified UTF-8: no zero bytes, and two surrogates for a character beyond the first plane."""
    try:
        if content.isascii():
            return content.decode("ascii")
        units = content.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    except UnicodeDecodeError as error:
        raise JavaStreamError(f"a string that is not modified UTF-8: {error.reason}") from error
