"""Decompression of gzip files with a size limit: a few megabytes may unpack to gigabytes.

Content is limited to 2 GiB, or to eight times the size of the compressed file if that is more. The environment variable
``CAPTIOUS_MAX_UNPACKED`` replaces the limit of 2 GiB.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from pathlib import Path
from typing import IO, Any, cast

from captious.errors import CaptiousError, ParameterError, ResourceError, reason

#: The variable of the environment that sets the limit.
VARIABLE = "CAPTIOUS_MAX_UNPACKED"
#: The remedy for a file that unpacks to more.
RAISE_LIMIT = f"if the file is correct, increase {VARIABLE}, for example to 8G, or unpack it"

_MAGIC = b"\x1f\x8b"
_USUAL = 2 << 30
_USUAL_RATIO = 8  # text and vectors are rarely compressed to less than an eighth
_PIECE = 1 << 20
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


class UnpackedSizeError(OSError):
    """A file that decompresses to more than the limit."""


def check_size(size: int, packed_size: int) -> None:
    """Check that decompressed content is within the limit.

    Raises:
        UnpackedSizeError: it is not.
        ParameterError: ``CAPTIOUS_MAX_UNPACKED`` is not a size.
    """
    most = max(_limit(), _USUAL_RATIO * packed_size)
    if size > most:
        raise UnpackedSizeError(f"it unpacks to more than {most:,} bytes")


def is_gzip(start: bytes) -> bool:
    """Return whether data begin like a gzip file."""
    return start.startswith(_MAGIC)


def plain_content(data: bytes, name: str) -> bytes:
    """Return the content of a file, decompressed if it is a gzip file, whatever its name.

    Args:
        data: all bytes of the file.
        name: name of the file; one that ends in ``.gz`` must be a gzip file.

    Raises:
        UnpackedSizeError: it decompresses to more than the limit.
        gzip.BadGzipFile, zlib.error: damaged, or not gzip despite its name.
        EOFError: it is truncated.
    """
    if not is_gzip(data):
        if data and name.lower().endswith(".gz"):
            raise gzip.BadGzipFile("it has no gzip header")
        return data
    with unpacked(io.BytesIO(data)) as file:
        pieces = iter(lambda: file.read(_PIECE), b"")
        return b"".join(pieces)


def user_text(path: str | os.PathLike[str], what: str, help: str, damaged: type[CaptiousError] = ResourceError) -> str:
    """Read a small UTF-8 text file that users write or download, decompressed if it is a gzip file.

    Args:
        path: the file.
        what: its content in messages.
        help: advice on how to write or get the file.
        damaged: class of the error if the file exists but is not text.

    Raises:
        ResourceError: it cannot be read.
        CaptiousError: of the class ``damaged``: it is damaged, too large, or not text.
    """
    return decoded(user_bytes(path, what, help, damaged), path, what, help, damaged)


def user_bytes(
    path: str | os.PathLike[str], what: str, help: str, damaged: type[CaptiousError] = ResourceError
) -> bytes:
    """Read a file and decompress it. Arguments and errors are those of ``user_text``."""
    where = os.fspath(path)
    try:
        return plain_content(Path(path).read_bytes(), where)
    except UnpackedSizeError as error:
        raise damaged(f"the file is too large: {error}", where=where, help=RAISE_LIMIT) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise damaged(f"cannot read {what}: damaged gzip file: {error}", where=where, help=help) from error
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise ResourceError(f"cannot read {what}: {reason(error)}", where=where, help=help) from error


def decoded(
    content: bytes,
    path: str | os.PathLike[str],
    what: str,
    help: str,
    damaged: type[CaptiousError] = ResourceError,
) -> str:
    """Decode what ``user_bytes`` read."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise damaged(
            f"cannot read {what}: not UTF-8 text", where=f"{os.fspath(path)}, line {line:,}", help=help
        ) from error


def unpacked(packed: IO[bytes]) -> IO[bytes]:
    """Open a gzip file as a file of its content; reading beyond the limit raises ``UnpackedSizeError``."""
    return cast(IO[bytes], io.BufferedReader(_Limited(packed), _PIECE))


def is_unpacked(file: IO[bytes]) -> bool:
    """Return whether ``unpacked`` opened a file."""
    return isinstance(getattr(file, "raw", None), _Limited)


class _Limited(io.RawIOBase):
    def __init__(self, packed: IO[bytes]) -> None:
        self._file = gzip.GzipFile(fileobj=packed)
        self._packed_size = packed.seek(0, io.SEEK_END)
        packed.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self._file.readinto(buffer)
        check_size(self._file.tell(), self._packed_size)
        return size

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_END:
            while self.readinto(bytearray(_PIECE)):
                pass
        elif whence == io.SEEK_SET:
            check_size(offset, self._packed_size)
        return self._file.seek(offset, whence)

    def close(self) -> None:
        self._file.close()
        super().close()


def _limit() -> int:
    setting = os.environ.get(VARIABLE, "")
    if not setting:
        return _USUAL
    size = re.fullmatch(r"([0-9]{1,15})([KMGT]?)", setting.upper())
    if size is None:
        raise ParameterError(
            f"{VARIABLE} is {setting!r}", help="set it to a number of bytes, or to a size such as 500M or 8G"
        )
    return int(size[1]) << _UNITS[size[2]]
