"""Files of prepared references: texts, ids, and everything that metrics compute about references alone."""

from __future__ import annotations

import json
import math
import mmap
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, Any, Protocol, TypeVar, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from captious.data.formats import PREPARED_MAGIC, reading
from captious.data.ids import ImageId
from captious.data.rows import Source
from captious.data.tables import LayerStore, References
from captious.errors import CaptionFileError, CaptiousError, TruncatedFileError
from captious.files import whole_file
from captious.version import __version__

# Annotations of references as they are stored in files.
#
# A storable layer has three more members than a ``ReferenceLayer``. Metrics need not know whether an annotation was
# computed or read.

R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Stored:
    """The stored part of an annotation: arrays by name, and other values as JSON, which is read whenever the file is
    opened.
    """

    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class StorableLayer(Protocol[R]):
    """A layer of references whose annotation can be stored in a file."""

    @property
    def stored_as(self) -> str | None:
        """Everything that the annotation depends on besides the references, as text.

        This is the name and version of the layer and the fingerprints of its resources. None if it is unknown, as for a
        user-defined tokenizer function.
        """
        ...

    def to_stored(self, annotation: R, references: References) -> Stored:
        """Return the part of the annotation of these references that is stored."""
        ...

    def from_stored(self, stored: Stored, references: References) -> R:
        """Restore an annotation.

        Its arrays are read-only and may be mapped from the file. Only their checksums have been verified, not their
        contents.

        Raises:
            ValueError, KeyError, TypeError, IndexError, OverflowError: the stored values contradict each other.
        """
        ...


def stored_key(layer: str, *parts: object) -> str | None:
    """``StorableLayer.stored_as`` of a layer; None for layers that cannot be stored."""
    return None if None in parts else "|".join([layer, *map(str, parts)])


def text_array(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Encode texts as an array."""
    return np.frombuffer(json.dumps(list(texts)).encode(), np.uint8)


def texts_of(array: NDArray[Any]) -> list[str]:
    """Decode the texts that ``text_array`` encoded.

    Raises:
        ValueError: the array does not hold texts.
    """
    texts = json.loads(array.tobytes())
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("the array does not hold a list of texts")
    return texts


def check_words(
    ids: NDArray[Any], offsets: NDArray[Any], *, n_words: int, n_captions: int, what: str = "words"
) -> None:
    """Check that word ids fit their vocabulary and the number of captions.

    Args:
        ids: int32[n], the words of all captions, concatenated.
        offsets: int64[n_captions + 1], the boundaries of the captions.
        n_words: size of the vocabulary.

    Raises:
        ValueError: they do not fit.
    """
    sound = (
        ids.dtype == np.int32
        and ids.ndim == 1
        and offsets.dtype == np.int64
        and offsets.shape == (n_captions + 1,)
        and offsets[0] == 0
        and offsets[-1] == len(ids)
        and bool((np.diff(offsets) >= 0).all())
        and ids.min(initial=0) >= 0
        and ids.max(initial=-1) < n_words
    )
    if not sound:
        raise ValueError(f"{what} that contradict each other")


# Files of named arrays with a JSON header, mapped into memory when they are read, so that processes share them.
#
# Layout: eight bytes of magic, the length and the CRC-32 of the header (little-endian, 32 bits each); the header, JSON,
# padded with spaces; the arrays, each padded with zeros. Header and arrays begin at multiples of 64. The header holds a
# description, and the dtype, shape and CRC-32 (padding included) of each array in file order.
#
# Opening checks the header, its own checksum included, against the size of the file. Arrays are checked when they are
# first requested, or all at once when the file is opened. Nothing is unpickled, and no memory is allocated for sizes
# that a header claims. Checksums detect damage, not malice: callers must check that indices in the arrays are within
# bounds.

_PROLOGUE = struct.Struct("<8sII")
_ALIGNMENT = 64
_LONGEST_HEADER = 1 << 28
_PIECE = 1 << 18
_DTYPES = frozenset(("|u1", "|b1", "<u2", "<u4", "<i4", "<i8", "<f4", "<f8"))


def write_array_file(
    file: IO[bytes], magic: bytes, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write named arrays, preceded by eight bytes of magic and a JSON header."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    entries = {}
    for name, array in plain.items():
        if array.dtype.str not in _DTYPES:
            raise TypeError(f"{name} is an array of {array.dtype}")
        crc = zlib.crc32(_padding(array.nbytes), zlib.crc32(_bytes(array)))
        entries[name] = [array.dtype.str, list(array.shape), crc]
    header = json.dumps({"arrays": entries, "about": about}, separators=(",", ":")).encode()
    header = header.ljust(_aligned(_PROLOGUE.size + len(header)) - _PROLOGUE.size)
    file.write(_PROLOGUE.pack(magic, len(header), zlib.crc32(header)) + header)
    for array in plain.values():
        file.write(_bytes(array))
        file.write(_padding(array.nbytes))


class ArrayFile:
    """An open file of arrays. Threads may share it.

    Args:
        path: the file.
        magic: the bytes that it must begin with.
        what: what such a file is called in messages, as in "a file of prepared references".
        help: advice for messages about a damaged file.
        check_unless: check all arrays now, unless the file has this identity. None: check each array when it is
            requested.

    Attributes:
        about: the description that was written.
        checksum: checksum of the header, which identifies the content.
        identity: inode, size and times of the file; it changes with the content.

    Raises:
        CaptionFileError: the file is damaged or of another kind; TruncatedFileError if it is truncated.
        OSError: it cannot be read.
    """

    def __init__(
        self, path: str | os.PathLike[str], magic: bytes, *, what: str, help: str, check_unless: str | None = None
    ) -> None:
        self.path = os.fspath(path)
        self._what, self._help = what, help
        with open(path, "rb") as file:
            state = os.fstat(file.fileno())
            self.identity = f"{state.st_ino} {state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}"
            prologue = file.read(_PROLOGUE.size)
            if len(prologue) < _PROLOGUE.size:
                raise self._truncated(state.st_size, _PROLOGUE.size)
            start, length, self.checksum = _PROLOGUE.unpack(prologue)
            if start != magic:
                raise CaptionFileError(f"this is not {what}", where=self.path, hint=help)
            if (_PROLOGUE.size + length) % _ALIGNMENT:
                raise self.damaged("its header has an impossible length")
            if state.st_size < _PROLOGUE.size + length:
                raise self._truncated(state.st_size, _PROLOGUE.size + length)
            header = file.read(length) if length <= _LONGEST_HEADER else b""
            if zlib.crc32(header) != self.checksum:
                raise self.damaged("its header does not have the checksum that it should have")
            try:
                content = json.loads(header)
                self.about: Mapping[str, Any] = content["about"]
                self._entries, whole = _entries(content["arrays"], _PROLOGUE.size + length)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                raise self.damaged(f"its header is wrong: {error}") from None
            if state.st_size < whole:
                raise self._truncated(state.st_size, whole)
            if state.st_size > whole or not isinstance(self.about, dict):
                raise self.damaged(f"it has {state.st_size:,} bytes where {whole:,} were written")
            self._all_checked = check_unless is not None
            if check_unless not in (None, self.identity):
                self._check_all(file)
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._arrays: dict[str, NDArray[Any]] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays by name; see ``array``."""
        return {name: self.array(name) for name in self._entries}

    def array(self, name: str) -> NDArray[Any]:
        """Return an array, read-only and mapped. It is checked at the first request.

        Raises:
            CaptionFileError: there is no such array, or it is damaged.
        """
        if name not in self._arrays:
            entry = self._entries.get(name)
            if entry is None:
                raise self.damaged(f"it has no array {name}")
            if not self._all_checked:
                self._compare(name, zlib.crc32(np.frombuffer(self._mapped, np.uint8, entry.stored, entry.start).data))
            flat = np.frombuffer(self._mapped, entry.dtype, math.prod(entry.shape), entry.start)
            self._arrays[name] = flat.reshape(entry.shape)
        return self._arrays[name]

    def damaged(self, how: str) -> CaptionFileError:
        """Return the error for damaged content."""
        return CaptionFileError(f"{self._what} is damaged: {how}", where=self.path, hint=self._help)

    def _check_all(self, file: IO[bytes]) -> None:
        """Check the arrays by reading the file, so that arrays which are never used are not mapped into memory."""
        for name, entry in self._entries.items():
            crc = 0
            for begin in range(0, entry.stored, _PIECE):
                crc = zlib.crc32(file.read(min(_PIECE, entry.stored - begin)), crc)
            self._compare(name, crc)

    def _compare(self, name: str, crc: int) -> None:
        if crc != self._entries[name].crc:
            raise self.damaged(f"{name} does not have the checksum that it should have")

    def _truncated(self, size: int, whole: int) -> TruncatedFileError:
        return TruncatedFileError(
            f"{self._what} is truncated: it has {size:,} of at least {whole:,} bytes", where=self.path, hint=self._help
        )


@dataclass(frozen=True)
class _Entry:
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    crc: int
    start: int  # in the file
    stored: int  # bytes, padding included


def _entries(header: Mapping[str, list[Any]], start: int) -> tuple[dict[str, _Entry], int]:
    """Return the entries of a header, and where the last array ends."""
    entries = {}
    for name, (dtype, shape, crc) in header.items():
        are_sizes = all(type(n) is int and 0 <= n < 1 << 62 for n in (crc, *shape))
        if dtype not in _DTYPES or len(shape) > 3 or not are_sizes:
            raise ValueError(f"{name} is not an array")
        kind = np.dtype(dtype)
        size = _aligned(math.prod(shape) * kind.itemsize)
        entries[name] = _Entry(kind, tuple(shape), crc, start, size)
        start += size
    return entries, start


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _padding(size: int) -> bytes:
    return bytes(_aligned(size) - size)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


# Prepared references: tables that are written, and tables that look in a file first.
#
# ``recorded`` returns a table that records which annotations metrics request; ``write_prepared`` writes them. The table
# that ``read_prepared`` returns looks in the file before it computes an annotation, so scores are bit-identical to
# those of the original references.
#
# An annotation is identified by everything that it depends on (``StorableLayer.stored_as``). Of files written by
# another version of captious, which may tokenize captions differently, only the texts are used.

_FORMAT = 1
_WHAT = "a file of prepared references"
_HELP = "prepare the references again: captious prepare REFERENCES -o FILE"
_SOURCE, _JOINED = "each", "cat"  # the tables that a file has annotations of


def recorded(references: References) -> References:
    """Return a copy of references that records the annotations requested of it."""
    return replace(references).attach_store(_Recording(references.stored))


def write_prepared(path: str | os.PathLike[str], references: References, metrics: Sequence[str]) -> None:
    """Write references that ``recorded`` returned, with all annotations requested of them.

    Args:
        metrics: the metrics that the file is prepared for, for display.

    Raises:
        OutputError: the file cannot be written.
    """
    arrays: dict[str, NDArray[Any]] = {"offsets": references.offsets, "ids": _packed_ids(references.ids)}
    for name in ("images", "without_references"):
        values: tuple[ImageId, ...] = getattr(references, name)
        if values and values != references.ids:
            arrays[name] = _packed_ids(values)
    characters = set().union(*references.texts)
    separator = next(character for character in map(chr, range(0xD800)) if character not in characters)
    arrays["texts"] = np.frombuffer(separator.join(references.texts).encode(), np.uint8)
    layers: dict[str, dict[str, Any]] = {}
    tables = [(_SOURCE, references)]
    if isinstance(references.stored, _Recording) and references.stored.of_concatenated.layers:
        tables.append((_JOINED, references.concatenated))
    number = 0
    for part, table in tables:
        layers[part] = {}
        recording = table.stored
        assert isinstance(recording, _Recording)
        for key, layer in recording.layers.items():
            stored = layer.to_stored(table.layer(layer), table)  # type: ignore[arg-type]
            arrays |= {f"{number}/{name}": array for name, array in stored.arrays.items()}
            layers[part][key] = {"number": number, "arrays": [*stored.arrays], "about": dict(stored.about)}
            number += 1
    about = {
        "format": _FORMAT,
        "captious": __version__,
        "source": references.name,
        "metrics": list(metrics),
        "id_form": references.id_form,
        "separator": separator,
        "layers": layers,
    }
    with whole_file(path, "wb") as file:
        write_array_file(file, PREPARED_MAGIC, about, arrays)


def read_prepared(path: str | os.PathLike[str]) -> References:
    """Open a file of prepared references, mapped into memory; annotations are read on demand.

    Raises:
        CaptionFileError: not such a file, a damaged one, or one of another format.
    """
    with reading(Source(os.fspath(path), "references", is_file=True)):
        file = ArrayFile(path, PREPARED_MAGIC, what=_WHAT, help=_HELP)
    about = file.about
    if about.get("format") != _FORMAT:
        raise CaptionFileError(
            f"the file has format {about.get('format')!r}, and this version of captious reads {_FORMAT}",
            where=file.path,
            hint=_HELP,
        )
    try:
        images, without = (
            _unpacked_ids(file.array(name)) if name in file else () for name in ("images", "without_references")
        )
        if about["id_form"] not in ("typed", "text", "position"):
            raise ValueError("unknown form of ids")
        table = References(
            ids=_unpacked_ids(file.array("ids")),
            texts=tuple(file.array("texts").tobytes().decode().split(about["separator"])),
            offsets=file.array("offsets"),
            name=file.path,
            id_form=about["id_form"],
            images=images,
            without_references=without,
        )
        return table.attach_store(_PreparedLayers(file, _SOURCE))
    except CaptionFileError:
        raise
    except (CaptiousError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise file.damaged(str(error).splitlines()[0] if str(error) else type(error).__name__) from None


class _Recording(LayerStore):
    """A store that records requests, and looks them up in another store."""

    def __init__(self, store: LayerStore | None) -> None:
        self._store = store
        self.layers: dict[str, StorableLayer[Any]] = {}
        self._joined: _Recording | None = None

    def find(self, layer: object, references: References) -> object | None:
        key = getattr(layer, "stored_as", None)
        if key is not None:
            self.layers[key] = cast(StorableLayer[Any], layer)
        return None if self._store is None else self._store.find(layer, references)

    @property
    def of_concatenated(self) -> _Recording:
        if self._joined is None:
            self._joined = _Recording(None if self._store is None else self._store.of_concatenated)
        return self._joined


class _PreparedLayers(LayerStore):
    """The annotations in a file."""

    def __init__(self, file: ArrayFile, part: str) -> None:
        self._file, self._part = file, part
        self.n_missed = 0
        self._version = str(file.about.get("captious"))
        layers = file.about["layers"].get(part, {}) if self._version == __version__ else {}
        self._layers: Mapping[str, Mapping[str, Any]] = layers
        if not isinstance(layers, dict):
            raise ValueError("wrong layers")

    def find(self, layer: object, references: References) -> object | None:
        key = getattr(layer, "stored_as", None)
        if key is None:
            return None
        entry = self._layers.get(key)
        if entry is None:
            self.n_missed += 1
            return None
        try:
            arrays = {str(name): self._file.array(f"{entry['number']}/{name}") for name in entry["arrays"]}
            annotation: object = layer.from_stored(Stored(arrays, entry["about"]), references)  # type: ignore[attr-defined]
        except (CaptiousError, MemoryError):
            raise
        except Exception as error:  # from numpy, the kernels or Python: the file is inconsistent
            raise self._file.damaged(f"{key}: {error}") from error
        return annotation

    @property
    def of_concatenated(self) -> _PreparedLayers:
        return _PreparedLayers(self._file, _JOINED)

    def advice(self, metrics: Sequence[str]) -> str:
        if self._version != __version__:
            return (
                f"{self._file.path} was prepared by captious {self._version}, so only its texts were used. "
                f"To save time, {_HELP}."
            )
        return (
            f"{self._file.path} is not prepared for {', '.join(metrics)} with these settings, so everything about the "
            "references was computed. To save that, name these metrics and settings when you prepare it: "
            f"captious prepare REFERENCES -o FILE -m {' -m '.join(metrics)}."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (os.path.abspath(self._file.path), self._part, self._file.checksum)


def _reopened(path: str, part: str, checksum: int) -> _PreparedLayers | None:
    """Open the annotations of a file in another process; None if it is gone or was replaced."""
    try:
        file = ArrayFile(path, PREPARED_MAGIC, what=_WHAT, help=_HELP)
    except (OSError, CaptionFileError):
        return None
    return _PreparedLayers(file, part) if file.checksum == checksum else None


# ---- ids as arrays


def _packed_ids(ids: Sequence[ImageId]) -> NDArray[Any]:
    """Pack ids as 64-bit integers, or else as JSON."""
    numbers = [image for image in ids if type(image) is int]
    if numbers and len(numbers) == len(ids) and min(numbers) >= -(1 << 63) and max(numbers) < 1 << 63:
        return np.array(numbers, np.int64)
    return np.frombuffer(json.dumps(list(ids)).encode(), np.uint8)


def _unpacked_ids(array: NDArray[Any]) -> tuple[ImageId, ...]:
    ids = array.tolist() if array.dtype == np.int64 else json.loads(array.tobytes())
    if not isinstance(ids, list) or not set(map(type, ids)) <= {int, str}:
        raise ValueError("these are not ids")
    return tuple(ids)
