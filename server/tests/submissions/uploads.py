"""Uploads made for tests: captions of few images, zip files that are written by the book, and forged ones."""

from __future__ import annotations

import io
import json
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from captious.data.ids import ImageId
from captious_server.submissions.reading import read_contents
from captious_server.submissions.upload import ExpectedFile, Problem, UploadLimits

IDS: tuple[ImageId, ...] = (42, 7, 301)
#: Captions of the images above, in another order.
GOOD = [{"image_id": 7, "caption": "a cat"}, {"image_id": 301, "caption": ""}, {"image_id": 42, "caption": "two dogs"}]
NAME = "captions_val2014_ours_results.json"
VAL = ExpectedFile("val2014", "captions_val2014_*_results.json", Path("unused"))
TEST = ExpectedFile("test2014", "captions_test2014_*_results.json", Path("unused"))


def as_json(document: object = GOOD) -> bytes:
    return json.dumps(document).encode()


def read(
    data: bytes,
    filename: str = "ours.json",
    *,
    ids: Sequence[ImageId] = IDS,
    expected: Sequence[ExpectedFile] = (VAL,),
    limits: UploadLimits | None = None,
) -> tuple[dict[str, bytes], list[Problem]]:
    """What an upload contains, read in this process; all files expect the same ids."""
    by_name = {each.name: ids for each in expected}
    return read_contents(data, filename, expected, by_name, limits or UploadLimits())


def problems(data: bytes, filename: str = "ours.json", **options: object) -> list[Problem]:
    """What is wrong with an upload; it has to be something."""
    files, problems = read(data, filename, **options)  # type: ignore[arg-type]
    assert problems
    assert not files
    for problem in problems:
        assert problem.message[-1] == "."
        assert len(problem.ids) <= 20
        assert Problem.from_dict(json.loads(json.dumps(problem.to_dict()))) == problem
        (problem.file + problem.message).encode()
    return problems


def messages(data: bytes, filename: str = "ours.json", **options: object) -> list[str]:
    return [problem.message for problem in problems(data, filename, **options)]


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An ordinary zip file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@dataclass
class Forged:
    """An entry of a zip file, every field of which may be a lie.

    Args:
        name: its name.
        content: what it unpacks to.
        packed: what stands in the file in place of the packed content.
        size, packed_size, crc: what headers announce.
        local_name: its name in its own header.
        at: offset of a header that is already there, in place of one of its own.
    """

    name: str
    content: bytes = b""
    packed: bytes | None = None
    size: int | None = None
    packed_size: int | None = None
    crc: int | None = None
    method: int = 8
    flags: int = 0
    mode: int = stat.S_IFREG | 0o644
    local_name: str | None = None
    at: int | None = None


def forged(entries: Sequence[Forged]) -> bytes:
    """A zip file of such entries."""
    body, directory = bytearray(), bytearray()
    for entry in entries:
        packed = entry.packed if entry.packed is not None else deflated(entry.content)
        sizes = (
            zlib.crc32(entry.content) if entry.crc is None else entry.crc,
            len(packed) if entry.packed_size is None else entry.packed_size,
            len(entry.content) if entry.size is None else entry.size,
        )
        name = entry.name.encode()
        local = (entry.local_name or entry.name).encode()
        start = len(body) if entry.at is None else entry.at
        flags = entry.flags | 1 << 11
        if entry.at is None:
            body += struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, flags, entry.method, 0, 33, *sizes, len(local), 0)
            body += local + packed
        attributes = entry.mode << 16
        directory += struct.pack("<4s4B4H3L5H2L", b"PK\x01\x02", 20, 3, 20, 0, flags, entry.method, 0, 33, *sizes,
                                 len(name), 0, 0, 0, 0, attributes, start) + name  # fmt: skip
    n = len(entries)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, n, n, len(directory), len(body), 0)
    return bytes(body + directory + end)


def deflated(content: bytes) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    return stream.compress(content) + stream.flush()


def deflated_zeros(size: int) -> bytes:
    """What so many zeros pack to, rounded down to 16 MiB, without there ever being so many."""
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = stream.compress(bytes(1 << 24)) + stream.flush(zlib.Z_FULL_FLUSH)
    return piece * (size >> 24) + stream.flush()
