"""An upload: its limits, expected files and problems, and the zip and gzip files that it may be.

The process that reads uploads has to start fast: nothing that it imports needs numpy.

Archives may be hostile: they are checked before anything is unpacked, by what the central directory says of their
entries. It may lie, so unpacking stops at the size that was announced, and the standard library compares names and
checksums. Nothing is written to disk, and no name of an entry is ever used as a path.
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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any

from captious.data.ids import ImageId

#: Number of image ids listed in a problem; others are only counted.
_N_LISTED_IDS = 20
_NAME_LENGTH = 100
#: CPU time for a small file, and its growth with the size of the file.
_LEAST_SECONDS, _SECONDS_PER_SHARE = 10, 4
_UNITS = ((1 << 30, "GiB"), (10**9, "GB"), (1 << 20, "MiB"), (10**6, "MB"), (1 << 10, "KiB"), (10**3, "kB"))
_CENTRAL_SIGNATURE = b"PK\x01\x02"
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
#: Encryption, patches and masked headers.
_ENCRYPTED_FLAGS = 1 << 0 | 1 << 6 | 1 << 13
_PATCH_FLAG = 1 << 5
_DOS_FOLDER = 0x10
_ENTRY_NAME_LENGTH = 255
#: What the standard library raises at zip files that lie or are cut off.
_DAMAGES = (zipfile.BadZipFile, zlib.error, struct.error, ValueError, IndexError, EOFError, OSError, OverflowError)
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


@dataclass(frozen=True)
class UploadLimits:
    """The limits on the resources that an upload may take.

    Args:
        upload_bytes: size of the uploaded file.
        unpacked_bytes: unpacked size.
        entries: entries of a zip file.
        ratio: how many times its packed size a file may unpack to. Captions pack 5 to 15 times.
        memory_bytes: address space of the process that reads it.
        seconds: CPU time of that process.
        caption_characters: length of one caption.
        caption_words: words and punctuation marks in one caption.
        equal_captions: the largest share of images that may have the same caption.
    """

    upload_bytes: int = 100 << 20
    unpacked_bytes: int = 500 << 20
    entries: int = 64
    ratio: int = 200
    memory_bytes: int = 2 << 30
    seconds: int = 60
    caption_characters: int = 5000
    caption_words: int = 150
    equal_captions: float = 1.0

    @property
    def wall_seconds(self) -> int:
        """The wall-time limit of the process, which allows for a busy machine."""
        return 3 * self.seconds + 10

    def of_size(self, size: int) -> UploadLimits:
        """The limits for a file of this size: small files get less time, however large they are when unpacked."""
        seconds = _LEAST_SECONDS + _SECONDS_PER_SHARE * self.seconds * size / self.upload_bytes
        return replace(self, seconds=min(self.seconds, int(seconds)))

    @property
    def of_baselines(self) -> UploadLimits:
        """The limits of organizers' own submissions: these may be constant, with captions of any number of words."""
        return replace(self, caption_words=self.caption_characters, equal_captions=1.0)


@dataclass(frozen=True)
class ExpectedFile:
    """A captions file that a challenge expects.

    Args:
        name: lower-case letters, digits and hyphens.
        pattern: pattern of its name in a zip file, such as ``captions_val2014_*_results.json``.
        ids_file: a JSON list of the ids of all required images, integers or strings.
    """

    name: str
    pattern: str
    ids_file: Path


@dataclass(frozen=True)
class Problem:
    """A problem of an upload, worded for those who uploaded it.

    Args:
        file: name of the file in the upload.
        message: one sentence.
        ids: some of the images concerned, at most 20.
        n: how many images are concerned; 0 where the problem is not one of images.
        is_slow: whether reading the file took too long.
    """

    file: str
    message: str
    ids: tuple[ImageId, ...] = ()
    n: int = 0
    is_slow: bool = field(default=False, compare=False)

    @classmethod
    def about(cls, file: str, message: str, ids: Collection[ImageId]) -> Problem:
        """A problem of images; names the first 20 and counts all."""
        listed_ids = tuple(
            printable(image) if isinstance(image, str) else image for image in islice(ids, _N_LISTED_IDS)
        )
        return cls(file, message, listed_ids, len(ids))

    def to_dict(self) -> dict[str, Any]:
        """The problem as JSON can hold it."""
        return {"file": self.file, "message": self.message, "ids": list(self.ids), "n": self.n}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Problem:
        """The inverse of ``to_dict``."""
        return cls(str(fields["file"]), str(fields["message"]), tuple(fields["ids"]), int(fields["n"]))


def printable(text: str) -> str:
    """A name from an upload that can be shown and stored: shortened, with unprintable characters escaped."""
    short = text if len(text) <= _NAME_LENGTH else text[: _NAME_LENGTH - 1] + "…"
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode("ascii")
        for letter in short
    )


def amount(n: int) -> str:
    """A number of bytes in the largest unit that gives a whole number: "2 GiB", "100 MB", "1,234 bytes"."""
    for size, unit in _UNITS:
        if n >= size and n % size == 0:
            return f"{n // size:,} {unit}"
    return f"{n:,} bytes"


def is_archive(data: bytes | bytearray) -> bool:
    """Return whether a file begins as archives and compressed files do."""
    return bytes(data[:8]).startswith(_ARCHIVE_STARTS) or data[257:262] == b"ustar"


def read_entries(data: bytes, file: str, limits: UploadLimits) -> tuple[list[zipfile.ZipInfo], list[Problem]]:
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
            entries = archive.infolist()
    except NotImplementedError:
        return [], [Problem(file, "The zip file uses unsupported features; pack it again.")]
    except _DAMAGES:
        return [], [Problem(file, "The zip file is truncated or damaged; pack and upload it again.")]
    if len(entries) > limits.entries:
        return [], [too_many]
    problems = [
        Problem(printable(entry.orig_filename), message) for entry in entries for message in _faults(entry, limits)
    ]
    for name, times in Counter(entry.orig_filename for entry in entries).items():
        if times > 1:
            problems.append(Problem(printable(name), f"The zip file has {times:,} entries of this name."))
    if sum(entry.file_size for entry in entries) > limits.unpacked_bytes:
        problems.append(Problem(file, f"The zip file unpacks to more than {amount(limits.unpacked_bytes)}."))
    return entries, problems


def _faults(info: zipfile.ZipInfo, limits: UploadLimits) -> Iterator[str]:
    """The problems of an entry, according to the directory."""
    name, kind = info.orig_filename, stat.S_IFMT(info.external_attr >> 16)
    if len(name) > _ENTRY_NAME_LENGTH:
        yield f"The name of the entry is longer than {_ENTRY_NAME_LENGTH} characters."
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


def _is_clutter(name: str) -> bool:
    """Return whether macOS has added an entry of this name, which is never unpacked."""
    return name.startswith("__MACOSX/") or name == ".DS_Store"


def assign(
    entries: Sequence[zipfile.ZipInfo], expected_files: Sequence[ExpectedFile], archive: str
) -> tuple[dict[str, zipfile.ZipInfo], list[Problem]]:
    """Assign the entries of an archive to captions files by name; reports missing, superfluous and ambiguous ones.

    A challenge with one captions file takes the only entry of a zip file, whatever its name.
    """
    entries = [entry for entry in entries if not _is_clutter(entry.orig_filename)]
    if len(expected_files) == 1 and len(entries) == 1:
        return {expected_files[0].name: entries[0]}, []
    problems = []
    candidates: dict[str, list[zipfile.ZipInfo]] = {file.name: [] for file in expected_files}
    for entry in entries:
        files = [file for file in expected_files if fnmatchcase(entry.orig_filename, file.pattern)]
        if files:
            candidates[files[0].name].append(entry)
        if not files:
            patterns = " and ".join(file.pattern for file in expected_files)
            message = f"The challenge does not expect a file of this name; it expects {patterns}."
            problems.append(Problem(printable(entry.orig_filename), message))
        elif len(files) > 1:
            names = " and ".join(file.name for file in files)
            problems.append(
                Problem(printable(entry.orig_filename), f"The name matches several files of the challenge: {names}.")
            )
    for file in expected_files:
        matches = candidates[file.name]
        if not matches:
            message = f"The zip file has no file {file.pattern} (the captions of {file.name})."
            problems.append(Problem(archive, message))
        elif len(matches) > 1:
            names = " and ".join(printable(entry.orig_filename) for entry in matches)
            message = f"Several files could be the captions of {file.name}, {file.pattern}: {names}."
            problems.append(Problem(archive, message))
    return {name: matches[0] for name, matches in candidates.items() if len(matches) == 1}, problems


def unpack(data: bytes, entry: zipfile.ZipInfo) -> bytearray | Problem:
    """The content of an entry, or its problem; unpacks no more than the entry announces."""
    content = bytearray()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(entry) as stream:
            while piece := stream.read(_CHUNK_BYTES):  # at once, what was read would be copied with every bit added
                content += piece
    except _DAMAGES:
        content.clear()
    if len(content) != entry.file_size or entry.header_offset + entry.compress_size > len(data):
        return Problem(printable(entry.orig_filename), "The entry of the zip file is truncated or damaged.")
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
