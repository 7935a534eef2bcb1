"""Files of any content: atomic writes, checksums, decompression with a limit, and rows (CSV, JSON lines, Parquet).

    with whole_file("scores.csv") as file:
        file.write(csv_text(["system", "score"], [("mine", 0.7)]))

Tables for people, which open in spreadsheets, hold no text that a spreadsheet would run as a formula: ``harmless`` is
the one rule, of CSV and XLSX, also on the evaluation server. Files of captions, which programs read back
(``write_rows``), hold every caption as it is.
"""

from __future__ import annotations

import csv
import difflib
import errno
import fcntl
import gzip
import io
import json
import math
import os
import re
import stat
import tomllib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from captious.errors import CaptiousError, OutputError, ParameterError, ResourceError, needed_for, reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "advice",
    "check_place",
    "checksum",
    "csv_row",
    "csv_text",
    "harmless",
    "whole_file",
    "write_csv",
    "write_rows",
]


# Atomic file writes: a file appears complete, or does not appear.
#
# A file is written under a temporary name in its folder, and renamed when it is complete. Until then its writer holds a
# lock on it, which the kernel releases if the process dies. Temporary files without a lock are thus left over from
# killed processes; the next writer into the folder removes them.

_ADVICE = {
    errno.ENOSPC: "free some disk space",
    errno.EDQUOT: "free some disk space",
    errno.EFBIG: "raise the file size limit (ulimit -f), or write less",
}


def is_pipe_or_device(path: str | os.PathLike[str]) -> bool:
    """Return whether this is a pipe or device, which has no content of its own, or a folder, which cannot be written
    to.
    """
    return os.path.exists(path) and not os.path.isfile(path)


@contextmanager
def whole_file(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file in the folder of `path`, and move it into place if the block succeeds.

    Otherwise it is removed. A file that is replaced keeps its owner and permissions; a new one follows the umask. Links
    are followed. Pipes and devices are written to directly.

    Raises:
        OutputError: the place cannot be written to.
    """
    target = check_place(path)
    try:
        if is_pipe_or_device(target):
            with _opened(target, mode) as file:
                yield file
            return
        replaced = target.stat() if target.exists() else None
        permissions = 0o666 if replaced is None else stat.S_IMODE(replaced.st_mode) & 0o777
        _remove_leftovers(target.parent)
        temporary, descriptor = _created(target.parent, permissions | 0o600)
        try:
            with _opened(descriptor, mode) as file:
                yield file
                file.flush()
                if replaced is not None:
                    with suppress(OSError):  # only the administrator may give files away
                        os.fchown(descriptor, replaced.st_uid, replaced.st_gid)
                    os.fchmod(descriptor, permissions)
                os.fsync(descriptor)  # so that a file that exists is complete, even after a power cut
                os.replace(temporary, target)  # while the lock is held, no process removes it
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise _cannot(path, error) from error


def _opened(file: Path | int, mode: str) -> IO[Any]:
    if "b" in mode:
        return open(file, mode)
    # Names of files need not be UTF-8; what is written is.
    return open(file, mode, encoding="utf-8", errors="replace", newline="")


def _prefix() -> str:
    """Return the prefix of this machine's temporary files. Locks need not be visible on other machines."""
    return f".captious-{zlib.crc32(os.uname().nodename.encode()):08x}-"


def _created(folder: Path, permissions: int) -> tuple[Path, int]:
    """Create a temporary file with a lock on it, and return it with its descriptor."""
    while True:
        path = folder / f"{_prefix()}{os.urandom(4).hex()}"
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, permissions)
        except FileExistsError:
            continue
        with suppress(OSError):  # on file systems without locks, nothing is removed
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)  # another process took the lock first and removed the file


def _remove_leftovers(folder: Path) -> None:
    """Remove temporary files of killed processes from a folder where possible."""
    with suppress(OSError):
        for path in folder.glob(f"{_prefix()}*"):
            with suppress(OSError):
                descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()
                finally:
                    os.close(descriptor)


def check_place(path: str | os.PathLike[str]) -> Path:
    """Return where a file would be written, with links followed. Check early that it can be.

    Raises:
        OutputError: a folder, or a file in a folder that does not exist or cannot be written to.
    """
    try:
        target = Path(path)
        if is_pipe_or_device(target) and not target.is_dir():
            return target  # a pipe or device, which may have no other name
        target = Path(os.path.realpath(target))
        if target.is_symlink():  # a loop of links, which has no end
            raise OutputError(f"cannot write {path}", where="the link points to itself", hint="name another file")
        if target.is_dir():
            raise OutputError(f"cannot write {path}", where="it is a folder", hint="name a file")
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise _cannot(path, error) from error
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK | os.X_OK):
        raise OutputError(
            f"cannot write {path}",
            where=f"{target.parent} is not a writable folder",
            hint="name a file in a folder that exists and is writable",
        )
    return target


def advice(error: OSError) -> str:
    """Return the remedy for an output that cannot be written; empty if only another output helps."""
    return _ADVICE.get(error.errno or 0, "")


def _cannot(path: str | os.PathLike[str], error: OSError | ValueError) -> OutputError:
    help = (advice(error) if isinstance(error, OSError) else "") or "name another file"
    return OutputError(f"cannot write {path}", where=reason(error), hint=help)


# The checksum by which signatures and results name the content of a resource.


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


# Lists and tables in text files of the package.


@cache
def sections(path: Path) -> Mapping[str, str]:
    """Return the text below each heading, a name in brackets on a line of its own.

    Comments, which are lines that begin with ``# ``, and empty lines are left out.
    """
    lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("# ")]
    parts = re.split(r"^\[(.+)\]$", "\n".join(lines), flags=re.MULTILINE)
    return dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))


@cache
def tables(path: Path) -> Mapping[str, dict[str, Any]]:
    """Return the tables of a TOML file of a package by name, with tuples in place of their lists."""
    return {
        name: {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
        for name, table in tomllib.loads(path.read_text("utf-8")).items()
    }


# Decompression of gzip files with a size limit: a few megabytes may unpack to gigabytes.
#
# Content is limited to 2 GiB, or to eight times the size of the compressed file if that is more. The environment
# variable ``CAPTIOUS_MAX_UNPACKED`` replaces the limit of 2 GiB.

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
    most = max(size_setting(VARIABLE, _USUAL), _USUAL_RATIO * packed_size)
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


_MOST_NAMES = 10_000  # in a folder, among which a similar one is looked for


def neighbour(path: str | os.PathLike[str]) -> str:
    """Return the path of the file that was probably meant by a path without one; empty if there is none like it.

    Extensions may differ in any way: a.jsno may mean a.json, but c.json not r.json.
    """
    folder, name = os.path.split(os.fspath(path))
    try:
        names = sorted(os.listdir(folder or os.curdir))
    except (OSError, ValueError):
        return ""
    same = [one for one in names if one.lower() == name.lower()]
    stems = {one: one.partition(".")[0] for one in names[:_MOST_NAMES]}
    alike = difflib.get_close_matches(name.partition(".")[0], {*stems.values()}, 3, 0.7)
    near = same or difflib.get_close_matches(name, [one for one in stems if stems[one] in alike], 1, 0)
    return os.path.join(folder, near[0]) if near else ""


def help_for_missing(path: str | os.PathLike[str], otherwise: str) -> str:
    """Return the hint for a missing file: the folder that is missing, or the file that was probably meant."""
    folder = os.path.dirname(os.fspath(path))
    if folder and not os.path.isdir(folder):
        return f"there is no folder {folder}" + (f": did you mean {near}?" if (near := neighbour(folder)) else "")
    return f"did you mean {near}?" if (near := neighbour(path)) else otherwise


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
    path: str | os.PathLike[str],
    what: str,
    help: str,
    damaged: type[CaptiousError] = ResourceError,
    read: Callable[[Path], bytes] = Path.read_bytes,
) -> bytes:
    """Read a file and decompress it. Other arguments, and errors, are those of ``user_text``.

    Args:
        read: returns the bytes of the file.
    """
    where = os.fspath(path)
    try:
        return plain_content(read(Path(path)), where)
    except UnpackedSizeError as error:
        raise damaged(f"the file is too large: {error}", where=where, hint=RAISE_LIMIT) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise damaged(f"cannot read {what}: damaged gzip file: {error}", where=where, hint=help) from error
    except FileNotFoundError as error:
        found = help_for_missing(path, "")
        hint = f"{found} Otherwise {help}" if found.endswith("?") else found or help
        raise ResourceError(f"cannot read {what}: {reason(error)}", where=where, hint=hint) from error
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise ResourceError(f"cannot read {what}: {reason(error)}", where=where, hint=help) from error


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
            f"cannot read {what}: not UTF-8 text", where=f"{os.fspath(path)}, line {line:,}", hint=help
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


def size_setting(variable: str, usual: int) -> int:
    """Return the size in an environment variable, in bytes.

    Args:
        variable: its name.
        usual: the size if it is not set.

    Raises:
        ParameterError: it is not a size.
    """
    setting = os.environ.get(variable, "")
    if not setting:
        return usual
    size = re.fullmatch(r"([0-9]{1,15})([KMGT]?)", setting.upper())
    if size is None:
        raise ParameterError(
            f"{variable} is {setting!r}", hint="set it to a number of bytes, or to a size such as 500M or 8G"
        )
    return int(size[1]) << _UNITS[size[2]]


# Output files of rows: csv, JSON lines and parquet. Files are written atomically.


def check_row_file(path: str | os.PathLike[str], formats: Sequence[str], what: str) -> str:
    """Check that a file can be written, before any work is done.

    Args:
        path: the file.
        formats: allowed extensions.
        what: the kind of rows in messages, plural.

    Returns:
        The extension, in lower case.

    Raises:
        ParameterError: another extension.
        MissingExtraError: parquet without pyarrow.
        OutputError: a place that cannot be written to.
    """
    check_place(path)
    suffix = Path(path).suffix.lower()
    if suffix not in formats:
        raise ParameterError(
            f"{what} cannot be written as {suffix or 'a file without extension'}",
            where=str(path),
            hint=f"use one of these extensions: {', '.join(formats)}",
        )
    if suffix == ".parquet":
        with needed_for("parquet", "parquet"):
            import pyarrow  # noqa: F401
    return suffix


def write_rows(
    path: str | os.PathLike[str], fields: Sequence[str], rows: Iterable[Sequence[Any]], metadata: Mapping[str, str]
) -> None:
    """Write rows in the format that the extension names: .csv, .jsonl or .parquet.

    Args:
        path: the file.
        fields: names of the columns.
        rows: plain values, one per field. Lists are written to csv as JSON.
        metadata: metadata of parquet files.

    Raises:
        OutputError: the file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".parquet":
        columns = [[*column] for column in zip(*rows, strict=True)] or [[] for _ in fields]
        write_parquet(path, dict(zip(fields, columns, strict=True)), metadata)
        return
    records = (dict(zip(fields, row, strict=True)) for row in rows)
    if suffix == ".csv":
        write_csv(path, records, fields)
        return
    with whole_file(path) as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")


def write_csv(
    path: str | os.PathLike[str], records: Iterable[Mapping[str, Any]], fields: Sequence[str] | None = None
) -> None:
    """Write records to a file that programs read back: text as it is, lists as JSON, undefined numbers empty.

    Args:
        path: the file.
        records: all with the same fields.
        fields: the names of the columns; by default those of the first record.

    Raises:
        OutputError: the file cannot be written.
    """
    rows = iter(records)
    with whole_file(path) as file:
        writer = csv_writer(file)
        if fields is None:
            first = next(rows, {})
            fields, rows = [*first], chain([first] if first else [], rows)
        writer.writerow(fields)
        writer.writerows([*map(_csv_cell, record.values())] for record in rows)


def write_parquet(path: str | os.PathLike[str], columns: Mapping[str, Any], metadata: Mapping[str, str]) -> None:
    """Write columns; "id" holds image ids, written as 64-bit integers, or else all as strings."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    ids = columns["id"]
    if not all(isinstance(i, int) and abs(i) < 2**63 for i in ids) and not all(isinstance(i, str) for i in ids):
        columns = {**columns, "id": [*map(str, ids)]}  # a column has one type
    table = pa.table(columns).replace_schema_metadata(metadata)
    with whole_file(path, "wb") as file:
        pq.write_table(table, file)


def csv_text(fields: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Format rows under their header, with line feeds as line ends; text that would be a formula is made harmless."""
    return "".join(map(csv_row, [fields, *rows]))


def csv_row(row: Sequence[object]) -> str:
    """Format one row as ``csv_text`` does."""
    out = io.StringIO()
    csv_writer(out).writerow([*map(harmless, row)])
    return out.getvalue()


#: What text begins with that a spreadsheet may run as a formula, as OWASP lists it.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def harmless(value: Any) -> Any:
    """Return a cell that no spreadsheet runs as a formula.

    Text that begins with one of ``= + - @``, also in full width, a tab or a line break gets an apostrophe in front, as
    OWASP recommends. Other text and other values stay as they are.
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value


def csv_writer(file: IO[str]) -> Any:
    """Return a ``csv`` writer that ends lines with line feeds and quotes cells with a carriage return or line feed."""
    # csv.writer quotes only the characters that end its own lines; readers take either for the end of a line.
    return csv.writer(_Lines(file), lineterminator="\r\n")


class _Lines:
    """A file for a csv writer that replaces CRLF line ends with line feeds."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, line: str) -> None:
        self._file.write(line.removesuffix("\r\n") + "\n")


def _csv_cell(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
