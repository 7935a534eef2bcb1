"""Zip and gzip files that may be hostile: checked before anything is unpacked, and again while it is.

Names, sizes and positions of entries come from the central directory, as read by the standard library. Headers may lie,
so unpacking stops at the size that was announced and compares lengths and checksums. Nothing is written to disk, and
no name of an entry is ever used as a path.
"""

from __future__ import annotations

import gzip
import io
import re
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import NamedTuple

from captious_server.settings import ExpectedFile, Problem, UploadLimits, amount, printable

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_CENTRAL_SIGNATURE = b"PK\x01\x02"
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_UTF8_NAME = 1 << 11
#: Encryption, patches and masked headers.
_ENCRYPTED_FLAGS = 1 << 0 | 1 << 6 | 1 << 13
_PATCH_FLAG = 1 << 5
_DOS_FOLDER = 0x10
_NAME_LENGTH = 255
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
#: A file this small cannot be a bomb, however well it packs.
_HARMLESS_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 20

_ARCHIVE_NAME = re.compile(r"\.(?:7z|ar|br|bz2|cab|cpio|gz|iso|jar|lz4?|lzma|rar|tar|tbz2?|tgz|txz|whl|xz|z|zip|zst)$")
_ARCHIVE_STARTS = (
    *_ZIP_STARTS,
    b"PK\x07\x08",
    b"\x1f\x8b",
    b"\x1f\x9d",
    b"BZh",
    b"\xfd7zXZ\x00",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a\x07",
    b"\x28\xb5\x2f\xfd",
    b"\x04\x22\x4d\x18",
    b"MSCF",
)


class Entry(NamedTuple):
    """A file in a zip file: its entry in the directory, and the start of its packed data."""

    info: zipfile.ZipInfo
    start: int

    @property
    def name(self) -> str:
        return self.info.orig_filename


def is_archive(data: bytes | bytearray) -> bool:
    """Return whether a file begins as archives and compressed files do."""
    return bytes(data[:8]).startswith(_ARCHIVE_STARTS) or data[257:262] == b"ustar"


def read_entries(data: bytes, file: str, limits: UploadLimits) -> tuple[list[Entry], list[Problem]]:
    """The entries of a zip file, and all problems of its structure; nothing is unpacked.

    Problems name the zip file ``file``.
    """
    if not data.startswith(_ZIP_STARTS):
        return [], [Problem(file, "This is not a zip file.")]
    # Before the directory is read: two million entries fit into a hundred megabytes, and take gigabytes of memory.
    too_many = Problem(file, f"The zip file has more than {limits.entries:,} entries.")
    if data.count(_CENTRAL_SIGNATURE) > limits.entries:
        return [], [too_many]
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos, directory = archive.infolist(), archive.start_dir
    except NotImplementedError:
        return [], [Problem(file, "The zip file uses unsupported features; pack it again.")]
    except (zipfile.BadZipFile, struct.error, ValueError, IndexError, EOFError, OSError, OverflowError):
        return [], [Problem(file, "The zip file is truncated or damaged; pack and upload it again.")]
    if len(infos) > limits.entries:
        return [], [too_many]
    problems: list[Problem] = []
    entries: list[Entry] = []
    spans: list[tuple[int, int, str]] = []
    for info in infos:
        name = info.orig_filename
        problems += [Problem(printable(name), message) for message in _faults(info, limits)]
        start = _start_of_data(data, info)
        if start is None or start + info.compress_size > directory:
            problems.append(Problem(printable(name), "The entry of the zip file is truncated or damaged."))
            continue
        spans.append((info.header_offset, start + info.compress_size, name))
        entries.append(Entry(info, start))
    for (_, end, name), (start, _, other) in pairwise(sorted(spans)):
        if start < end:
            message = f"The entry shares data with the entry {printable(other)}, as only forged zip files do."
            problems.append(Problem(printable(name), message))
    for name, times in Counter(info.orig_filename for info in infos).items():
        if times > 1:
            problems.append(Problem(printable(name), f"The zip file has {times:,} entries of this name."))
    if sum(info.file_size for info in infos) > limits.unpacked_bytes:
        problems.append(Problem(file, f"The zip file unpacks to more than {amount(limits.unpacked_bytes)}."))
    return entries, problems


def _faults(info: zipfile.ZipInfo, limits: UploadLimits) -> Iterator[str]:
    """The problems of an entry, according to the directory."""
    name, kind = info.orig_filename, stat.S_IFMT(info.external_attr >> 16)
    if len(name) > _NAME_LENGTH:
        yield f"The name of the entry is longer than {_NAME_LENGTH} characters."
    if kind == stat.S_IFLNK:
        yield "The entry is a symbolic link, not a file."
    elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        yield "The entry is a special file."
    if any(not letter.isprintable() for letter in name):
        yield "The name of the entry contains control characters or other unprintable characters."
    parts = re.split(r"[/\\]", name)
    if ".." in parts or parts[0] == "" or re.match(r"[A-Za-z]:", name):
        yield "The name of the entry is a path that leads out of the zip file."
    elif _is_clutter(name):
        pass
    elif len(parts) > 1 or kind == stat.S_IFDIR or info.external_attr & _DOS_FOLDER:
        yield "The zip file contains folders; zip the files themselves, not their folder."
    if info.flag_bits & _ENCRYPTED_FLAGS:
        yield "The entry is encrypted; pack it without a password."
    if info.flag_bits & _PATCH_FLAG or info.compress_type not in _METHODS:
        yield "The entry uses an unsupported compression method; use deflate, the default of zip files."
    if _ARCHIVE_NAME.search(name.lower()) and not _is_clutter(name):
        yield "The entry is itself an archive or compressed; add the plain captions file to the zip file."
    if info.file_size > max(_HARMLESS_BYTES, limits.ratio * info.compress_size):
        yield f"The entry unpacks to more than {limits.ratio:,} times its size, which captions never do."
    elif (
        info.file_size != info.compress_size
        and info.compress_type == zipfile.ZIP_STORED
        and not info.flag_bits & _ENCRYPTED_FLAGS
    ):
        yield "The zip file gives the entry two different sizes."


def _is_clutter(name: str) -> bool:
    """Return whether macOS has added an entry of this name, which is never unpacked."""
    return name.startswith("__MACOSX/") or name == ".DS_Store"


def _start_of_data(data: bytes, info: zipfile.ZipInfo) -> int | None:
    """The start of the packed data of an entry; None if its own header is not there or differs from the directory's."""
    begin = info.header_offset
    if begin < 0 or begin + _LOCAL_HEADER.size > len(data):
        return None
    signature, _, flags, method, _, _, _, _, _, name_length, extra_length = _LOCAL_HEADER.unpack_from(data, begin)
    name_begin = begin + _LOCAL_HEADER.size
    raw_name = data[name_begin : name_begin + name_length]
    try:
        name = raw_name.decode("utf-8" if flags & _UTF8_NAME else "cp437")
    except UnicodeDecodeError:
        return None
    agrees = (
        name == info.orig_filename and method == info.compress_type and not (flags ^ info.flag_bits) & _ENCRYPTED_FLAGS
    )
    return name_begin + name_length + extra_length if signature == b"PK\x03\x04" and agrees else None


def assign(
    entries: Sequence[Entry], expected_files: Sequence[ExpectedFile], archive: str
) -> tuple[dict[str, Entry], list[Problem]]:
    """Assign the entries of an archive to captions files by name; reports missing, superfluous and ambiguous ones.

    A challenge with one captions file takes the only entry of a zip file, whatever its name.
    """
    entries = [entry for entry in entries if not _is_clutter(entry.name)]
    if len(expected_files) == 1 and len(entries) == 1:
        return {expected_files[0].name: entries[0]}, []
    problems = []
    candidates: dict[str, list[Entry]] = {file.name: [] for file in expected_files}
    for entry in entries:
        files = [file for file in expected_files if fnmatchcase(entry.name, file.pattern)]
        if files:
            candidates[files[0].name].append(entry)
        if not files:
            patterns = " and ".join(file.pattern for file in expected_files)
            message = f"The challenge does not expect a file of this name; it expects {patterns}."
            problems.append(Problem(printable(entry.name), message))
        elif len(files) > 1:
            names = " and ".join(file.name for file in files)
            problems.append(
                Problem(printable(entry.name), f"The name matches several files of the challenge: {names}.")
            )
    for file in expected_files:
        matches = candidates[file.name]
        if not matches:
            message = f"The zip file has no file {file.pattern} (the captions of {file.name})."
            problems.append(Problem(archive, message))
        elif len(matches) > 1:
            names = " and ".join(printable(entry.name) for entry in matches)
            message = f"Several files could be the captions of {file.name}, {file.pattern}: {names}."
            problems.append(Problem(archive, message))
    return {name: matches[0] for name, matches in candidates.items() if len(matches) == 1}, problems


def unpack(data: bytes, entry: Entry) -> bytes | Problem:
    """The content of an entry, or its problem; unpacks no more than the entry announces."""
    name, info = printable(entry.name), entry.info
    compressed = data[entry.start : entry.start + info.compress_size]
    content = compressed
    if info.compress_type != zipfile.ZIP_STORED:
        stream = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            content = stream.decompress(compressed, info.file_size + 1)
        except zlib.error:
            return Problem(name, "The entry of the zip file is damaged.")
        if len(content) > info.file_size:
            return Problem(name, "The entry unpacks to more than the announced size.")
        if not stream.eof or stream.unused_data:
            return Problem(name, "The entry of the zip file is truncated or damaged.")
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        return Problem(name, "The entry is damaged: its size or checksum does not match the zip file.")
    return content


def unpack_gzip(data: bytes, file: str, limits: UploadLimits) -> bytearray | Problem:
    """The content of a gzip file, of one member or several, or its problem."""
    max_bytes = min(limits.unpacked_bytes, max(_HARMLESS_BYTES, limits.ratio * len(data)))
    content = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            while len(content) <= max_bytes and (piece := stream.read(_CHUNK_BYTES)):
                content += piece
    except EOFError:
        return Problem(file, "The gzip file is truncated.")
    except (OSError, zlib.error):
        return Problem(file, "This is not a gzip file, or it is damaged.")
    if len(content) > limits.unpacked_bytes:
        return Problem(file, f"The file unpacks to more than {amount(limits.unpacked_bytes)}.")
    if len(content) > max_bytes:
        return Problem(file, f"The file unpacks to more than {limits.ratio:,} times its size, which captions never do.")
    return content
