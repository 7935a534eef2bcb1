"""Atomic file writes: the new file or the old one, and no other file."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from captious.errors import OutputError
from captious.files import whole_file


def write_text(path: str | Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text)


class TestWholeFile:
    """``whole_file``: the new file or the old one, and no other file."""

    @pytest.fixture
    def target(self, tmp_path: Path) -> Path:
        path = tmp_path / "out.txt"
        path.write_text("old")
        return path

    def test_new_content_replaces_the_old(self, target: Path) -> None:
        with whole_file(target) as file:
            file.write("new é\n")
            assert target.read_text() == "old"
        assert target.read_bytes() == "new é\n".encode()
        assert list(target.parent.iterdir()) == [target]

    @pytest.mark.parametrize("error", [RuntimeError("x"), KeyboardInterrupt(), OSError(errno.ENOSPC, "disk full")])
    def test_error_while_writing_keeps_the_old_file(self, target: Path, error: BaseException) -> None:
        with pytest.raises((type(error), OutputError)), whole_file(target) as file:
            file.write("half")
            file.flush()
            raise error
        assert target.read_text() == "old"
        assert list(target.parent.iterdir()) == [target]

    @pytest.mark.parametrize("call", ["replace", "fsync"])
    def test_full_disk_keeps_the_old_file(self, target: Path, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, call, full)
        with pytest.raises(OutputError, match="cannot write") as caught:
            write_text(target, "new")
        monkeypatch.undo()
        assert "No space left" in caught.value.where
        assert target.read_text() == "old"
        assert list(target.parent.iterdir()) == [target]

    def test_missing_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(OutputError, match="cannot write") as caught:
            write_text(tmp_path / "none" / "out.txt", "new")
        assert "folder that exists" in caught.value.hint
        assert list(tmp_path.iterdir()) == []

    def test_unwritable_folder_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        if os.geteuid() == 0:  # root may write everywhere

            def denied(*_: object, **__: object) -> None:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

            monkeypatch.setattr(os, "open", denied)
        else:
            tmp_path.chmod(0o500)
        with pytest.raises(OutputError) as caught:
            write_text(tmp_path / "out.txt", "new")
        assert "Permission denied" in caught.value.where
        tmp_path.chmod(0o700)
        assert list(tmp_path.iterdir()) == []

    def test_folder_in_place_of_a_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        with pytest.raises(OutputError) as caught:
            write_text(tmp_path / "out", "new")
        assert list(tmp_path.iterdir()) == [tmp_path / "out"]
        assert list((tmp_path / "out").iterdir()) == []
        assert "disk full" not in str(caught.value)
        assert "folder" in str(caught.value) or "directory" in str(caught.value).lower()

    def test_a_link_is_followed(self, target: Path) -> None:
        link = target.with_name("link")
        link.symlink_to(target)
        write_text(link, "new")
        assert link.is_symlink()
        assert target.read_text() == "new"
        assert {*target.parent.iterdir()} == {link, target}

    def test_special_file_is_never_replaced(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # so that whoever writes into it need not wait
        try:
            write_text(pipe, "new")
            assert os.read(reader, 10) == b"new"
        finally:
            os.close(reader)
        assert stat.S_ISFIFO(pipe.lstat().st_mode)
        assert list(tmp_path.iterdir()) == [pipe]

    def test_socket_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)  # names of sockets are short
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket")
            with pytest.raises(OutputError, match="cannot write"):
                write_text("socket", "new")
        assert stat.S_ISSOCK(Path("socket").lstat().st_mode)

    def test_an_open_pipe_has_no_other_name(self) -> None:
        # What `-o >(gzip > x.gz)` hands over.
        reading, writing = os.pipe()
        write_text(f"/dev/fd/{writing}", "new")
        os.close(writing)
        with open(reading) as file:
            assert file.read() == "new"

    @pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
    def test_permissions_follow_the_umask(self, tmp_path: Path, umask: int, mode: int) -> None:
        before = os.umask(umask)
        try:
            write_text(tmp_path / "out.txt", "new")
        finally:
            assert os.umask(before) == umask
        assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == mode

    @pytest.mark.parametrize("mode", [0o600, 0o644, 0o444, 0o660, 0o777])
    def test_a_file_that_is_replaced_keeps_its_mode(self, target: Path, mode: int) -> None:
        target.chmod(mode)
        with whole_file(target) as file:
            (temporary,) = target.parent.glob(".captious-*")
            assert (
                stat.S_IMODE(temporary.stat().st_mode) & ~mode & 0o077 == 0
            )  # others see no more of it than of target
            file.write("new")
        assert (stat.S_IMODE(target.stat().st_mode), target.read_text()) == (mode, "new")

    def test_the_umask_is_never_touched(self, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is the whole process', and other threads make files."""
        monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("umask"))
        write_text(target, "new")
        write_text(target.with_name("another"), "new")

    def test_only_temporary_files_of_dead_processes_are_removed(self, tmp_path: Path) -> None:
        leave = "import os, sys; from captious.files import whole_file\n"
        leave += "with whole_file(sys.argv[1]) as file: file.write('x'); file.flush(); os._exit(0)"
        for _ in range(2):
            subprocess.run([sys.executable, "-c", leave, str(tmp_path / "dead.txt")], check=True)
        left = {*tmp_path.iterdir()}
        assert left
        kept = tmp_path / ".captious-notes"  # somebody else's
        kept.write_text("mine")
        elsewhere = tmp_path / ".captious-00000000-12345678"  # of another machine, whose locks we may not see
        elsewhere.write_text("half")
        with whole_file(tmp_path / "one.txt") as one:
            one.write("1")
            (living,) = {*tmp_path.iterdir()} - left - {kept, elsewhere}
            write = "import sys; from captious.files import whole_file\nwith whole_file(sys.argv[1]): pass"
            subprocess.run([sys.executable, "-c", write, str(tmp_path / "two.txt")], check=True)
            assert living.exists()
        assert (tmp_path / "one.txt").read_text() == "1"
        assert {*tmp_path.iterdir()} == {tmp_path / "one.txt", tmp_path / "two.txt", kept, elsewhere}

    def test_concurrent_writers_share_a_folder(self, tmp_path: Path) -> None:
        """None takes another's file for one that was left over."""
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda i: write_text(tmp_path / f"{i % 16}.txt", str(i % 16)), range(400)))
        assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {f"{i}.txt": str(i) for i in range(16)}

    def test_files_are_written_without_lock_support(self, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refused(*_: object) -> None:
            raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

        monkeypatch.setattr("fcntl.flock", refused)
        with whole_file(target) as file:
            file.write("new")
            write_text(target.with_name("another"), "new")
        assert target.read_text() == "new"

    def test_line_breaks_are_written_as_they_are(self, tmp_path: Path) -> None:
        write_text(tmp_path / "out.txt", "a\r\nb\nc")
        assert (tmp_path / "out.txt").read_bytes() == b"a\r\nb\nc"

    def test_unusual_file_name_is_written(self, tmp_path: Path) -> None:
        write_text(tmp_path / "ünï côde 猫.txt", "new")
        assert [path.name for path in tmp_path.iterdir()] == ["ünï côde 猫.txt"]

    def test_longest_file_name_is_written(self, tmp_path: Path) -> None:
        target = tmp_path / ("n" * 251 + ".txt")
        write_text(target, "new")
        assert target.read_text() == "new"

    def test_the_temporary_name_is_short_and_hidden(self, target: Path) -> None:
        with whole_file(target) as file:
            file.write("new")
            (temporary,) = (path.name for path in target.parent.iterdir() if path != target)
        assert temporary.startswith(".captious-")
        assert len(temporary) < 30
