"""Remote files, read in parts or as a whole, from a server on this machine."""

from __future__ import annotations

import io
import random
import socket
import tempfile
from collections.abc import Callable, Iterator

import pytest

from captious.resources import fetch
from captious.resources.fetch import copied, is_url, opened
from tests.support.web_server import Web, serving

CONTENT = random.Random(5).randbytes(3_000_000)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def web() -> Iterator[Web]:
    with serving(Web({"/file": CONTENT, "/small": b"small"})) as web:
        yield web


def read(web: Web, use: Callable[[io.BufferedIOBase], bytes], path: str = "/file") -> tuple[bytes, list[str]]:
    messages: list[str] = []
    with opened(web.url + path, messages.append) as file:
        return use(file), messages


def test_urls_are_recognized() -> None:
    assert is_url("http://a/b")
    assert is_url("HTTPS://a/b")
    assert not any(map(is_url, ("file:///etc/passwd", "ftp://a/b", "a.zip", "/http://a", "")))


def test_the_end_and_the_beginning_take_a_few_bytes(web: Web) -> None:
    def ends(file: io.BufferedIOBase) -> bytes:
        assert file.seek(-100, io.SEEK_END) == len(CONTENT) - 100
        last = file.read()
        file.seek(10)
        return file.read(5) + last

    assert read(web, ends) == (CONTENT[10:15] + CONTENT[-100:], [])
    assert web.sent < 300_000


@pytest.mark.parametrize("parts", [True, False])
@pytest.mark.parametrize("lengths", [True, False])
def test_remote_file_is_read_completely(web: Web, parts: bool, lengths: bool) -> None:
    web.parts, web.lengths = parts, lengths
    content, messages = read(web, lambda file: file.read())
    assert content == CONTENT
    assert web.sent == len(CONTENT)
    if parts:
        assert (len(web.spans), messages) == (5, [])  # 128, 256, 512 KiB and so on
    else:
        assert messages == ["the server cannot send parts of the file" + ": 3 MB" * lengths]
        assert len(web.spans) == 1


@pytest.mark.parametrize("parts", [True, False])
def test_remote_file_smaller_than_a_part_is_read(web: Web, parts: bool) -> None:
    web.parts = parts
    assert read(web, lambda file: file.read(), "/small")[0] == b"small"


def test_remote_file_is_read_at_any_position(web: Web) -> None:
    rng = random.Random(2)

    def somewhere(file: io.BufferedIOBase) -> bytes:
        for _ in range(40):
            start, size = rng.randrange(len(CONTENT) + 10), rng.choice([1, 100, 200_000])
            assert file.seek(start) == file.tell() == start
            assert file.read(size) == CONTENT[start : start + size]
        return b""

    read(web, somewhere)
    with pytest.raises(OSError, match="before the start of the file"):
        read(web, lambda file: bytes(file.seek(-1, io.SEEK_END) and file.seek(-4_000_000, io.SEEK_CUR)))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"files": {}}, "the server says 404"),
        ({"until": 0}, "the connection broke"),
        ({"until": 1000, "parts": False}, "1,000 bytes were received instead of 3,000,000|IncompleteRead"),
        ({"shift": 1}, "a different part than requested"),
    ],
)
def test_failing_servers_raise_os_errors(web: Web, change: dict[str, object], reason: str) -> None:
    vars(web).update(change)
    with pytest.raises(OSError, match=reason):
        read(web, lambda file: file.read())


def test_broken_connection_is_resumed(web: Web) -> None:
    web.until = 100_000
    assert read(web, lambda file: file.read())[0] == CONTENT
    assert len(web.spans) == 30


def test_changed_remote_file_is_refused(web: Web) -> None:
    def change(file: io.BufferedIOBase) -> bytes:
        web.files["/file"] += b"more"
        return file.read()

    with pytest.raises(OSError, match="changed while it was read"):
        read(web, change)


def test_unreachable_server_raises_os_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/file"
        with pytest.raises(OSError, match=r"^Connection refused$"), opened(url, print):
            pass
    for url in ("http://", "http://[", "http://a b/", "http://127.0.0.1:port/"):
        with pytest.raises(OSError), opened(url, print):
            pass


def test_errors_of_the_content_are_passed_through(web: Web) -> None:
    for web.parts in (True, False):
        with pytest.raises(ValueError, match="mine"), opened(web.url + "/file", lambda line: None):
            raise ValueError("mine")


def test_copy_is_complete_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with copied(io.BytesIO(CONTENT), len(CONTENT), "copying") as copy:
        assert copy.read() == CONTENT
    with pytest.raises(OSError, match="2,999,999 bytes were received instead of 3,000,000"):
        copied(io.BytesIO(CONTENT[1:]), len(CONTENT), "copying")


def test_a_full_disk_leaves_nothing_open(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    files = []

    class Full(io.BytesIO):
        def write(self, content: object) -> int:
            raise OSError(28, "No space left on device")

    def temporary(**options: object) -> io.BytesIO:
        files.append(Full())
        return files[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", temporary)
    web.parts = False
    with pytest.raises(OSError, match="No space left on device"):
        read(web, lambda file: file.read())
    assert [file.closed for file in files] == [True]
    assert fetch.tempfile is tempfile
