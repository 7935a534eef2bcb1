"""The checksum by which signatures and results name the content of a resource."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


def checksum(*parts: str | bytes | NDArray[Any]) -> str:
    """Return the CRC-32 of parts, one after the other, as eight hexadecimal digits.

    Texts are encoded as UTF-8; the elements of arrays are taken in C order and as little-endian numbers, so that the
    checksum is the same on every machine.
    """
    crc = 0
    for part in parts:
        crc = zlib.crc32(_content(part), crc)
    return f"{crc:08x}"


def _content(part: str | bytes | NDArray[Any]) -> bytes:
    if isinstance(part, bytes):
        return part
    if isinstance(part, str):
        return part.encode("utf-8", "surrogatepass")
    return part.astype(part.dtype.newbyteorder("<"), copy=False).tobytes()
