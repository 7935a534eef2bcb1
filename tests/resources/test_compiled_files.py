"""Files that are compiled once: complete and correct, whichever process builds them and however a build ends."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.errors import ResourceError
from captious.progress import Progress
from captious.resources import cache
from captious.resources.cache import Arrays, compiled, open_arrays
from tests.resources.programs import output, start, wait_until

LABEL = "numbers 1"


class Maker:
    """Makes numbers, and counts how often."""

    def __init__(self, size: int = 1_000) -> None:
        self.size = size
        self.times = 0

    def __call__(self, progress: Progress) -> Arrays:
        self.times += 1
        progress.reach(50, "making numbers")
        return {"numbers": np.arange(self.size)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "numbers" / "numbers-1.index"


def others(path: Path) -> set[str]:
    """Return the other files of the folder, except the lock."""
    return {file.name for file in path.parent.iterdir()} - {path.name, "lock"}


def test_compiled_file_is_made_once(path: Path) -> None:
    make = Maker()
    for _ in range(3):
        assert compiled(path, LABEL, make)["numbers"].tolist() == [*range(1_000)]
    assert make.times == 1
    assert open_arrays(path, LABEL) is not None
    assert others(path) == set()


def test_existing_compiled_file_needs_no_lock(path: Path) -> None:
    # Such as in a cache that somebody else has made, where nothing can be written.
    compiled(path, LABEL, Maker())
    (path.parent / "lock").unlink(missing_ok=True)
    compiled(path, LABEL, Maker())
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("length", [0, 10, 100, 4_000, -1], ids=lambda length: f"to {length}")
def test_truncated_file_is_compiled_again(path: Path, length: int) -> None:
    compiled(path, LABEL, Maker())
    whole = path.read_bytes()
    path.write_bytes(whole[:length])
    make = Maker()
    assert compiled(path, LABEL, make)["numbers"].tolist() == [*range(1_000)]
    assert make.times == 1
    assert path.read_bytes() == whole


def test_damaged_file_is_compiled_again(path: Path) -> None:
    compiled(path, LABEL, Maker())
    whole = bytearray(path.read_bytes())
    whole[-500] ^= 4
    path.write_bytes(whole)
    make = Maker()
    assert compiled(path, LABEL, make)["numbers"].tolist() == [*range(1_000)]
    assert make.times == 1
    compiled(path, LABEL, make)
    assert make.times == 1


def test_file_of_another_label_is_compiled_again(path: Path) -> None:
    compiled(path, "numbers 0", Maker(7))
    assert len(compiled(path, LABEL, Maker())["numbers"]) == 1_000


def test_failing_maker_leaves_no_file(path: Path) -> None:
    def fail(progress: Progress) -> Arrays:
        raise ResourceError("the source is damaged")

    with pytest.raises(ResourceError, match="damaged"):
        compiled(path, LABEL, fail)
    assert not path.exists()
    assert others(path) == set()
    assert len(compiled(path, LABEL, Maker())["numbers"]) == 1_000  # the lock is free again


# ---- several processes

MAKE = """
import sys, time
from pathlib import Path
import numpy as np
from captious.resources import cache

def make(progress):
    with open(sys.argv[2], "a") as marker:
        marker.write("made\\n")
    time.sleep(0.3)
    return {"numbers": np.arange(1000)}

{beforehand}
print(cache.compiled(Path(sys.argv[1]), "numbers 1", make)["numbers"].sum())
"""
#: Writing stops in the middle and never goes on.
STUCK = """
def stuck(file, arrays, label):
    file.write(b"CAPTARR1 and then")
    file.flush()
    open(sys.argv[2] + " writing", "w").close()
    time.sleep(600)

cache.write_arrays = stuck
"""


def test_concurrent_processes_compile_once(path: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    programs = [start(MAKE.replace("{beforehand}", ""), path, marker) for _ in range(4)]
    assert [output(program) for program in programs] == ["499500\n"] * 4
    assert marker.read_text() == "made\n"
    assert open_arrays(path, LABEL) is not None
    assert others(path) == set()


@pytest.mark.skipif(sys.platform == "win32", reason="not here: no SIGKILL")
def test_killed_build_is_taken_over(path: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    victim = start(MAKE.replace("{beforehand}", STUCK), path, marker)
    wait_until((tmp_path / "marker writing").exists)
    waiting = start(MAKE.replace("{beforehand}", ""), path, marker)
    os.kill(victim.pid, signal.SIGKILL)
    victim.communicate()
    # Who has waited takes over, and removes what was left.
    assert output(waiting) == "499500\n"
    assert open_arrays(path, LABEL) is not None
    assert others(path) == set()


@pytest.mark.skipif(sys.platform == "win32", reason="not here: no SIGKILL")
def test_killed_build_is_replaced(path: Path, tmp_path: Path) -> None:
    victim = start(MAKE.replace("{beforehand}", STUCK), path, tmp_path / "marker")
    wait_until((tmp_path / "marker writing").exists)
    os.kill(victim.pid, signal.SIGKILL)
    victim.communicate()
    assert not path.exists()
    assert len(others(path)) == 1
    make = Maker()
    assert len(compiled(path, LABEL, make)["numbers"]) == 1_000
    assert make.times == 1
    assert others(path) == set()


# ---- places that cannot be written to


def test_full_disk_leaves_no_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: IO[bytes], arrays: Mapping[str, NDArray[Any]], label: str) -> None:
        file.write(b"CAPTARR1")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(cache, "write_arrays", full)
    with pytest.raises(ResourceError, match="the cache cannot be written to: No space left on device") as caught:
        compiled(path, LABEL, Maker())
    assert caught.value.where == str(path)
    assert "free some disk space, or set CAPTIOUS_CACHE" in caught.value.hint
    assert not path.exists()
    assert others(path) == set()
    monkeypatch.undo()
    assert len(compiled(path, LABEL, Maker())["numbers"]) == 1_000


@pytest.mark.parametrize("depth", [1, 2], ids=["cache", "folder of the resource"])
def test_file_in_place_of_the_cache_is_refused(path: Path, depth: int) -> None:
    blocked = path.parents[2 - depth]
    blocked.parent.mkdir(parents=True, exist_ok=True)
    blocked.write_text("not a folder")
    make = Maker()
    with pytest.raises(ResourceError, match="the cache folder cannot be used") as caught:
        compiled(path, LABEL, make)
    assert caught.value.where == str(path.parent)
    assert caught.value.hint == "set CAPTIOUS_CACHE to a writable folder"
    assert make.times == 0


def test_unwritable_cache_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(os, "access", lambda *arguments: False)
    with pytest.raises(ResourceError, match="it is not writable"):
        compiled(path, LABEL, Maker())


@pytest.mark.parametrize("kind", ["folder", "file of others"])
def test_unavailable_lock_is_reported(path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path.parent.mkdir(parents=True)
    if kind == "folder":
        (path.parent / "lock").mkdir()
    else:
        monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    with pytest.raises(ResourceError, match="the cache cannot be written to") as caught:
        compiled(path, LABEL, Maker())
    assert caught.value.where == str(path.parent / "lock")


def refuse(*arguments: object, **settings: object) -> None:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def test_removed_index_does_not_lose_the_arrays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # By somebody who cleans the cache, say: the arrays were made all the same.
    monkeypatch.setattr(cache, "open_arrays", lambda path, label, note: None)
    assert len(compiled(path, LABEL, Maker())["numbers"]) == 1_000
