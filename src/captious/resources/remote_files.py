"""Files on the web as seekable files, so that only the parts of a large archive that are read are downloaded."""

from __future__ import annotations

import io
import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING, Any

from captious.progress import Progress
from captious.version import __version__

if TYPE_CHECKING:
    from http.client import HTTPResponse

_SECONDS = 60.0  # timeout without data
_PIECE = 1 << 20
#: Bytes to request: the first time, and at most; the number doubles as long as reading is sequential.
_FIRST, _MOST = 1 << 17, 1 << 23


def is_url(source: str) -> bool:
    return re.match(r"https?://", source, re.IGNORECASE) is not None


@contextmanager
def opened(url: str, tell: Callable[[str], None]) -> Iterator[IO[bytes]]:
    """Open a file on the web, in parts if its server supports that, otherwise after downloading it whole.

    Args:
        url: HTTP or HTTPS.
        tell: called with a message if the whole file is downloaded.

    Raises:
        OSError: there is no such file, no connection, or not enough space.
    """
    with ExitStack() as stack:
        file: IO[bytes]
        with _answer(url, 0, _FIRST) as answer:
            if answer.status == 206:
                file = io.BufferedReader(_RemoteFile(url, *_part(answer, 0)), _FIRST)
            else:
                size = int(answer.headers.get("Content-Length", 0))
                tell(f"the server cannot send parts of the file{f': {size / 1e6:,.0f} MB' if size else ''}")
                file = copied(answer, size, "downloading the complete file")
        yield stack.enter_context(file)


def copied(source: IO[bytes] | HTTPResponse, size: int, what: str) -> IO[bytes]:
    """Return a copy on disk, which is deleted when it is closed.

    Args:
        source: the file to copy.
        size: its size in bytes; 0 if unknown.
        what: label of the progress bar.

    Raises:
        OSError: it cannot be read, or not written.
    """
    with ExitStack() as stack:
        copy = stack.enter_context(tempfile.TemporaryFile(prefix="captious-"))
        with Progress(max(1, size // 1_000_000)) as progress:
            while piece := source.read(_PIECE):
                copy.write(piece)
                progress.reach(copy.tell() // 1_000_000, f"{what} (MB)")
        if size and copy.tell() != size:
            raise OSError(f"{copy.tell():,} bytes were received instead of {size:,}")
        copy.seek(0)
        stack.pop_all()
    return copy


class FileOfPieces(io.RawIOBase, ABC):
    """A seekable file whose bytes come from elsewhere.

    Args:
        size: its size in bytes.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if at < 0:
            raise OSError("a position before the start of the file")
        self._at = at
        return at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        size = min(len(buffer), self._size - self._at)
        piece = self._piece(self._at, size) if size > 0 else b""
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    @abstractmethod
    def _piece(self, at: int, size: int) -> bytes:
        """Return at most ``size`` bytes from a position on, at least one."""


class _RemoteFile(FileOfPieces):
    """A file on a server that supports range requests.

    Args:
        url: its URL.
        size: size of the whole file.
        part: its first bytes.
    """

    def __init__(self, url: str, size: int, part: bytes) -> None:
        super().__init__(size)
        self._url = url
        self._part, self._start = part, 0
        self._ask = _FIRST

    def _piece(self, at: int, size: int) -> bytes:
        end = self._start + len(self._part)
        if not self._start <= at < end:
            self._ask = min(2 * self._ask, _MOST) if at == end else _FIRST
            with _answer(self._url, at, min(self._ask, self._size - at)) as answer:
                size_now, part = _part(answer, at)
            if size_now != self._size or not part:
                raise OSError("the file on the server changed while it was read" if part else "the connection broke")
            self._part, self._start = part, at
        place = at - self._start
        return self._part[place : place + size]


@contextmanager
def _answer(url: str, first: int, size: int) -> Iterator[HTTPResponse]:
    """Return a server's response to a request for bytes of a file."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    headers = {"Range": f"bytes={first}-{first + size - 1}", "User-Agent": f"captious/{__version__}"}
    try:
        with urlopen(Request(url, headers=headers), timeout=_SECONDS) as answer:
            yield answer
    except HTTPError as error:
        with error:
            raise OSError(f"the server says {error.code} {error.reason}") from error
    except URLError as error:
        raise OSError(getattr(error.reason, "strerror", None) or f"{error.reason}") from error
    except (HTTPException, ValueError) as error:
        raise OSError(f"unexpected answer ({error!r})") from error


def _part(answer: HTTPResponse, first: int) -> tuple[int, bytes]:
    """Return the size of the whole file, and the part of it that a server sent."""
    from http.client import IncompleteRead

    span = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range", ""))
    if answer.status != 206 or span is None or int(span[1]) != first:
        raise OSError("the server sent a different part than requested")
    try:
        part = answer.read(_MOST)
    except IncompleteRead as error:  # the next request asks for the rest
        part = error.partial
    return int(span[2]), part
