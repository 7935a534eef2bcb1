"""Zip and gzip files of every kind that somebody might upload to harm: each is refused for its own reason."""

from __future__ import annotations

import gzip
import io
import json
import random
import stat
import tarfile
import time
import tracemalloc
import zipfile
import zlib
from dataclasses import replace

import pytest

from captious_server.submissions.upload import UploadLimits
from server.tests.submissions.uploads import (
    GOOD,
    NAME,
    TEST,
    VAL,
    Forged,
    as_json,
    deflated,
    deflated_zeros,
    forged,
    messages,
    problems,
    read,
    zipped,
)

CONTENT = as_json()
SMALL = UploadLimits(upload_bytes=1 << 20, unpacked_bytes=1 << 21, entries=4)


DAMAGED = "The entry of the zip file is truncated or damaged."


def one(entry: Forged) -> list[str]:
    return messages(forged([entry]), "ours.zip")


def test_zip_files_are_read() -> None:
    expected, problems = read(CONTENT)
    assert not problems
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        assert read(zipped({NAME: CONTENT}, method), "Ours.ZIP") == (expected, [])
    assert read(forged([Forged(NAME, CONTENT)]), "ours.zip") == (expected, [])
    assert read(zipped({"any name.json": CONTENT}), "ours.zip") == (expected, [])


def test_streamed_zip_files_are_read() -> None:
    class Stream(io.RawIOBase):
        def __init__(self) -> None:
            self.written = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            self.written += data
            return len(data)

    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(NAME, "w") as file:  # type: ignore[call-overload]
        file.write(CONTENT)
    assert read(bytes(stream.written), "ours.zip") == read(CONTENT)


def test_macos_metadata_is_ignored() -> None:
    data = zipped({NAME: CONTENT, f"__MACOSX/._{NAME}": b"\0\5\x16\7", ".DS_Store": b"\0\0\0\1Bud1"})
    assert read(data, "ours.zip") == read(CONTENT)


def test_zip_file_of_several_captions_files_is_read() -> None:
    both = {NAME: CONTENT, "captions_test2014_ours_results.json": CONTENT}
    files, problems = read(zipped(both), "ours.zip", expected=[VAL, TEST])
    assert not problems
    assert list(files) == ["val2014", "test2014"]
    assert "zip file with captions_val2014_" in messages(CONTENT, expected=[VAL, TEST])[0]


def test_problems_of_names_and_captions_are_reported_together() -> None:
    files = {
        NAME: as_json(GOOD[:1]),
        "captions_test2014_a_results.json": CONTENT,
        "captions_test2014_b_results.json": CONTENT,
        "read me.txt": b"hello",
    }
    found = problems(zipped(files), "ours.zip", expected=[VAL, TEST])
    assert [problem.file for problem in found] == ["read me.txt", "ours.zip", NAME]
    assert "does not expect a file of this name" in found[0].message
    assert "Several files could be the captions of test2014" in found[1].message
    assert (found[2].message, found[2].ids) == ("2 images have no caption.", (42, 301))
    missing = problems(zipped({}), "ours.zip", expected=[VAL, TEST])
    assert [problem.message[:23] for problem in missing] == ["The zip file has no fil"] * 2


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "/etc/passwd", "a/../../b.json", "..", "C:\\windows\\x.json", "c:x.json", "..\\x.json", "\\x"],
)
def test_path_traversal_is_refused(name: str) -> None:
    assert one(Forged(name, CONTENT)) == ["The name of the entry is a path that leads out of the zip file."]


@pytest.mark.parametrize("name", ["results/ours.json", "a\\b.json", "folder/", "__MACOSX2/x"])
def test_folders_are_refused(name: str) -> None:
    assert one(Forged(name, CONTENT)) == ["The zip file contains folders; zip the files themselves, not their folder."]


@pytest.mark.parametrize("name", ["a\0.json", "a\n.json", "a\x1b[31m.json", "nosj.\u202ea"])
def test_unprintable_names_are_refused(name: str) -> None:
    (found,) = problems(forged([Forged(name, CONTENT)]), "ours.zip")
    assert "unprintable" in found.message
    assert found.file.isprintable()


def test_long_names_are_refused() -> None:
    (found,) = problems(forged([Forged("a" * 60_000 + ".json", CONTENT)]), "ours.zip")
    assert "longer than 255 characters" in found.message
    assert len(found.file) == 100


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        (stat.S_IFLNK | 0o777, "a symbolic link"),
        (stat.S_IFIFO | 0o644, "a special file"),
        (stat.S_IFCHR | 0o644, "a special file"),
        (stat.S_IFSOCK | 0o644, "a special file"),
        (stat.S_IFDIR | 0o755, "contains folders"),
    ],
)
def test_links_and_special_files_are_refused(mode: int, words: str) -> None:
    (message,) = one(Forged(NAME, b"/etc/passwd", mode=mode))
    assert words in message


@pytest.mark.parametrize("flags", [1, 1 << 6 | 1, 1 << 13])
def test_encrypted_entries_are_refused(flags: int) -> None:
    (message,) = one(Forged(NAME, CONTENT, flags=flags))
    assert "encrypted" in message


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 9, 93, 97])
def test_unusual_compression_is_refused(method: int) -> None:
    (message,) = one(Forged(NAME, CONTENT, method=method))
    assert "unsupported compression method" in message


def test_nested_archives_are_refused() -> None:
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("x"))
    for name in ("x.zip", "x.tar.gz", "captions.JSON.GZ", "x.7z"):
        assert "is itself an archive" in one(Forged(name, CONTENT))[0]
    for content in (zipped({NAME: CONTENT}), gzip.compress(CONTENT), tar.getvalue(), b"7z\xbc\xaf\x27\x1c\0\0"):
        assert "is an archive or compressed, despite its name" in one(Forged(NAME, content))[0]
        assert "is an archive or compressed, despite its name" in messages(content, "ours.json")[0]
    twice = gzip.compress(gzip.compress(CONTENT))
    assert "is an archive or compressed" in messages(twice, "ours.json.gz")[0]


def test_duplicate_names_are_refused() -> None:
    problems = messages(forged([Forged(NAME, CONTENT), Forged(NAME, CONTENT)]), "ours.zip")
    assert "The zip file has 2 entries of this name." in problems


def test_zip_bomb_is_refused() -> None:
    packed = deflated_zeros(1 << 26)
    (found,) = one(Forged(NAME, packed=packed, size=10 << 30 & 0xFFFFFFFF))[:1]
    assert "more than 200 times its size" in found


@pytest.mark.parametrize(
    "entry",
    [
        Forged(NAME, packed=deflated_zeros(1 << 26), size=1000, crc=0),  # small enough for every limit, if it were true
        Forged(NAME, CONTENT, size=len(CONTENT) - 1),
        Forged(NAME, CONTENT, size=len(CONTENT) + 1),
        Forged(NAME, CONTENT, crc=1),
        Forged(NAME, CONTENT, packed=CONTENT, size=5, method=0),
        Forged(NAME, CONTENT, packed_size=1 << 20),
        Forged(NAME, CONTENT, packed=deflated(CONTENT)[:-4]),
        Forged(NAME, CONTENT, packed=b"\xff" * 30),
        Forged(NAME, CONTENT, local_name="other.json"),
        Forged(NAME, CONTENT, at=1 << 31),
    ],
)
def test_entries_that_differ_from_what_is_announced_are_refused(entry: Forged) -> None:
    whole = forged([Forged("other.json", CONTENT), entry])
    assert messages(whole, "ours.zip", expected=[VAL, replace(TEST, pattern="other.json")]) == [DAMAGED]
    if entry.at is None:
        assert one(entry) == [DAMAGED]


def test_unpacking_stops_at_the_announced_size() -> None:
    data = forged([Forged(NAME, packed=deflated_zeros(1 << 28), size=1000, crc=zlib.crc32(bytes(1000)))])
    tracemalloc.start()
    found = messages(data, "ours.zip")
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    assert "not JSON" in found[0] or "UTF-16" in found[0]
    tracemalloc.stop()


def test_unpacking_bit_by_bit_takes_no_longer() -> None:
    block = b"\0" + (65535).to_bytes(2, "little") + bytes(2 + 65535)
    bit = b"\0\0\0\xff\xff" * 818 + b"\0\1\0\xfe\xff\0"  # empty blocks, and one of a single byte
    size = 400 * 65535 + 3000
    entry = Forged(NAME, packed=400 * block + 3000 * bit + b"\3\0", size=size, crc=zlib.crc32(bytes(size)))
    began = time.process_time()
    assert "UTF-16" in one(entry)[0]
    assert time.process_time() - began < 2


def test_overlapping_entries_are_refused() -> None:
    # One kernel of data for every entry of the directory, and a header that is quoted as the data of another.
    kernel = Forged(NAME, CONTENT)
    shared = [kernel, Forged("captions_test2014_a_results.json", CONTENT, at=0)]
    assert messages(forged(shared), "ours.zip", expected=[VAL, TEST]) == [DAMAGED]  # its header bears the other name
    quoting = forged([kernel])
    header = quoting[: quoting.index(b"PK\x01\x02")]
    quoted = [Forged("a.json", header, packed=header, method=0), Forged(NAME, CONTENT, at=30 + len("a.json"))]
    found = messages(forged(quoted), "ours.zip", expected=[replace(TEST, pattern="a.json"), VAL])
    assert "an archive or compressed, despite its name" in found[0]


def test_too_many_entries_are_refused() -> None:
    many = {f"{i}.json": b"" for i in range(65)}
    assert messages(zipped(many), "ours.zip") == ["The zip file has more than 64 entries."]
    # The number at the end of the file may lie.
    data = bytearray(zipped(many))
    end = data.rindex(b"PK\x05\x06")
    data[end + 8 : end + 12] = b"\1\0\1\0"
    assert messages(bytes(data), "ours.zip") == ["The zip file has more than 64 entries."]


def test_total_size_is_limited() -> None:
    noise = random.Random(1).randbytes(700_000)
    data = forged([Forged(f"captions_val2014_{i}_results.json", noise) for i in range(3)])
    problems = messages(data, "ours.zip", limits=UploadLimits(unpacked_bytes=1 << 21))
    assert "The zip file unpacks to more than 2 MiB." in problems
    assert messages(data, "ours.zip", limits=SMALL) == ["The file is larger than 1 MiB."]


@pytest.mark.parametrize(
    "data", [b"PK", b"PK\x03\x04", b"hello", b"\x1f\x8b\x08", b"<html>", b"MZ" + zipped({NAME: CONTENT})]
)
def test_other_files_are_not_zip_files(data: bytes) -> None:
    (message,) = messages(data, "ours.zip")
    assert "not a zip file" in message or "truncated or damaged" in message


def test_truncated_zip_files_do_not_crash_the_reader() -> None:
    data = zipped({NAME: CONTENT})
    for size in range(1, len(data)):
        messages(data[:size], "ours.zip")
    for size in range(1, 60):
        messages(data[size:], "ours.zip")


def test_damaged_zip_files_are_read_or_refused() -> None:
    rng = random.Random(5)
    data = zipped({NAME: CONTENT, "captions_test2014_ours_results.json": CONTENT})
    refused = 0
    for _ in range(3000):
        changed = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            changed[rng.randrange(len(changed))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        files, problems = read(bytes(changed), "ours.zip", expected=[VAL, TEST])
        assert bool(files) != bool(problems)
        if files:
            assert all(json.loads(content) for content in files.values())
        refused += bool(problems)
    assert refused > 1500


def test_zip64_directory_hides_no_entries() -> None:
    many = {f"{i}.json": b"" for i in range(70_000)}
    assert messages(zipped(many, zipfile.ZIP_STORED), "ours.zip") == ["The zip file has more than 64 entries."]


def test_gzip_files_are_read() -> None:
    packed = gzip.compress(CONTENT)
    assert read(packed, "ours.json.gz") == read(CONTENT)
    assert read(gzip.compress(CONTENT[:20]) + gzip.compress(CONTENT[20:]) + bytes(10), "a.json.GZ") == read(CONTENT)
    assert messages(packed[:-3], "ours.json.gz") == ["The gzip file is truncated."]
    assert "not a gzip file" in messages(CONTENT, "ours.json.gz")[0]
    assert "not a gzip file" in messages(packed + b"more", "ours.json.gz")[0]
    assert "must end in" in messages(packed, "ours.gz")[0]


def test_gzip_bombs_are_refused() -> None:
    bomb = gzip.compress(bytes(1 << 25))
    assert "more than 200 times its size" in messages(bomb, "ours.json.gz")[0]
    half = gzip.compress(random.Random(1).randbytes(1_200_000))
    problems = messages(half + half, "ours.json.gz", limits=UploadLimits(unpacked_bytes=1 << 21))
    assert problems == ["The file unpacks to more than 2 MiB."]
