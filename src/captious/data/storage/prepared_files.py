"""Files of prepared references: texts, ids, and everything that metrics compute about references alone.

``recorded`` returns a table that records which annotations metrics request; ``write_prepared`` writes them. The table
that ``read_prepared`` returns looks in the file before it computes an annotation, so scores are bit-identical to those
of the original references.

An annotation is identified by everything that it depends on (``StorableLayer.stored_as``). Of files written by another
version of captious, which may tokenize captions differently, only the texts are used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from captious.data.captions import LayerStore, References
from captious.data.ids import ImageId
from captious.data.reading.file_contents import PREPARED_MAGIC
from captious.data.storage.annotations import StorableLayer, Stored
from captious.data.storage.array_files import ArrayFile, write_array_file
from captious.errors import CaptionFileError, CaptiousError
from captious.files.atomic_write import whole_file
from captious.version import __version__

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
    try:
        file = ArrayFile(path, PREPARED_MAGIC, what=_WHAT, help=_HELP)
    except OSError as error:
        raise CaptionFileError(
            f"the file cannot be read: {error.strerror}", where=os.fspath(path), help="check its path and permissions"
        ) from None
    about = file.about
    if about.get("format") != _FORMAT:
        raise CaptionFileError(
            f"the file has format {about.get('format')!r}, and this version of captious reads {_FORMAT}",
            where=file.path,
            help=_HELP,
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


class _Recording:
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

    @property
    def n_missed(self) -> int:
        return 0

    def advice(self, metrics: Sequence[str]) -> str:
        return ""


class _PreparedLayers:
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
            f"captious prepare REFERENCES -o FILE{''.join(f' -m {metric}' for metric in metrics)}."
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
