"""The process that reads uploads: what it writes, what it cannot see, and how it ends when a file is too much."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from captious.errors import CaptiousError, OutputError
from captious_server.submissions import upload_process
from captious_server.submissions.upload import ExpectedFile, Problem, UploadLimits
from server.tests.submissions.uploads import GOOD, IDS, NAME, Forged, as_json, deflated_zeros, forged, zipped

pytestmark = pytest.mark.upload_process
SMALL = UploadLimits(memory_bytes=256 << 20, seconds=20)


class Challenge:
    """A challenge of three images, and the folder where uploads are read to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "output"
        self.expected = [self.file("val2014"), self.file("test2014")]

    def file(self, name: str) -> ExpectedFile:
        ids = self.folder / f"{name}-ids.json"
        ids.write_text(json.dumps(IDS))
        return ExpectedFile(name, f"captions_{name}_*_results.json", ids)

    def read(self, data: bytes, filename: str = "ours.json", limits: UploadLimits = SMALL, n: int = 1) -> list[Problem]:
        """What is wrong with an upload; no files are left if that is anything."""
        upload = self.folder / "upload"
        upload.write_bytes(data)
        self.output.mkdir(exist_ok=True)
        problems = upload_process.read_upload(upload, filename, self.expected[:n], limits, self.output)
        self.check_that_nothing_is_left(files=not problems)
        for problem in problems:
            assert "/" not in problem.message + problem.file
        return problems

    def check_that_nothing_is_left(self, *, files: bool = False) -> None:
        left = [path.name for path in self.output.iterdir()] if self.output.exists() else []
        assert bool(left) == files
        assert all(name.endswith("2014.json") for name in left)


@pytest.fixture
def challenge(tmp_path: Path) -> Challenge:
    return Challenge(tmp_path)


def test_captions_are_written_in_challenge_order(challenge: Challenge) -> None:
    assert challenge.read(as_json()) == []
    expected = [{"image_id": 42, "caption": "two dogs"}, {"image_id": 7, "caption": "a cat"}, GOOD[1]]
    assert json.loads((challenge.output / "val2014.json").read_text()) == expected
    data = zipped({NAME: as_json(), "captions_test2014_x_results.json": as_json()})
    assert challenge.read(data, "ours.zip", n=2) == []
    assert json.loads((challenge.output / "test2014.json").read_text()) == expected


def test_one_bad_file_of_two_leaves_no_files(challenge: Challenge) -> None:
    data = zipped({NAME: as_json(), "captions_test2014_x_results.json": as_json(GOOD[:2])})
    (problem,) = challenge.read(data, "ours.zip", n=2)
    assert problem == Problem("captions_test2014_x_results.json", "1 image has no caption.", (42,), 1)


def test_refused_upload_keeps_files_of_an_earlier_one(challenge: Challenge) -> None:
    challenge.read(as_json())
    before = (challenge.output / "val2014.json").read_bytes()
    upload = challenge.folder / "upload"
    upload.write_bytes(b"[")
    assert upload_process.read_upload(upload, "ours.json", challenge.expected[:1], SMALL, challenge.output)
    assert {path.name: path.read_bytes() for path in challenge.output.iterdir()} == {"val2014.json": before}


@pytest.mark.parametrize("system", ["vinyals-et-al-2017", "dai-et-al-2017"])
def test_real_captions_are_read(system: str, shared_data: Path, challenge: Challenge) -> None:
    packed = (shared_data / "coco" / "results_val2014" / f"{system}.json.gz").read_bytes()
    data = gzip.decompress(packed)
    rows = [{"image_id": row["image_id"], "caption": row["caption"]} for row in json.loads(data)]
    ids = [row["image_id"] for row in rows]
    challenge.expected[0].ids_file.write_text(json.dumps(ids))
    for upload, name in ((data, "a.json"), (packed, "a.json.gz"), (zipped({NAME: data}), "a.zip")):
        assert challenge.read(upload, name, UploadLimits()) == []
        assert json.loads((challenge.output / "val2014.json").read_text()) == rows
    (challenge.output / "val2014.json").unlink()
    begin = time.monotonic()
    (problem,) = challenge.read(as_json(rows[100:]))
    assert time.monotonic() - begin < 10
    assert (problem.n, problem.ids) == (100, tuple(ids[:20]))


def test_zip_bomb_of_ten_gigabytes_is_refused(challenge: Challenge) -> None:
    packed = deflated_zeros(10 << 30)
    entry = Forged(NAME, packed=packed, size=3_000_000_000, packed_size=len(packed))
    begin = time.monotonic()
    assert "more than 200 times" in challenge.read(forged([entry]), "ours.zip")[0].message
    honest_ratio = Forged(NAME, packed=packed, size=150 * len(packed))
    limits = UploadLimits(unpacked_bytes=10 << 30, memory_bytes=256 << 20)
    (problem,) = challenge.read(forged([honest_ratio]), "ours.zip", limits)
    assert problem.message == "The file needs more than 256 MiB of memory to read."
    assert time.monotonic() - begin < 60


def test_json_beyond_the_memory_limit_is_refused(challenge: Challenge) -> None:
    limits = UploadLimits(memory_bytes=128 << 20)
    for data in (b"[" + b"[]," * 5_000_000 + b"[]]", b"{" + b'"":{},' * 3_000_000, b'"' + b"x" * 90_000_000):
        (problem,) = challenge.read(data, limits=limits)
        assert problem == Problem("ours.json", "The file needs more than 128 MiB of memory to read.")


def test_json_beyond_the_time_limit_is_refused(challenge: Challenge) -> None:
    (problem,) = challenge.read(b"[" + b"1," * 40_000_000 + b"1]", limits=UploadLimits(seconds=1))
    assert problem.message == "The file takes longer than 1 second to read."


def test_deeply_nested_json_is_refused(challenge: Challenge) -> None:
    for data in (b"[" * 100_000, b"[" * 10_000_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000):
        (problem,) = challenge.read(data, limits=UploadLimits())
        assert "nested too deeply" in problem.message


def test_large_uploads_are_refused_unread(challenge: Challenge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "no such program")
    assert challenge.read(as_json(), limits=UploadLimits(upload_bytes=10)) == [
        Problem("ours.json", "The file is larger than 10 bytes.")
    ]


def instead(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Run another program as the process that reads."""
    popen = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda command, **options: popen([sys.executable, "-c", program], **options)
    )


def test_hung_process_is_killed_with_its_children(challenge: Challenge, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = challenge.folder / "pids"
    instead(
        monkeypatch,
        "import os, time; child = os.fork()\n"
        f"if child: open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child}}')\n"
        "time.sleep(100)",
    )
    monkeypatch.setattr(UploadLimits, "wall_seconds", 2)
    (problem,) = challenge.read(as_json())
    assert problem.message == "The file takes longer than 2 seconds to read."
    for pid in pids.read_text().split():
        for _ in range(100):
            status = Path(f"/proc/{pid}/stat")
            if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z":
                break
            time.sleep(0.05)
        else:
            pytest.fail("a process is left")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("SIGSEGV", "The file cannot be read: it crashed the program that reads uploads."),
        ("SIGABRT", "The file cannot be read: it crashed the program that reads uploads."),
        ("SIGKILL", "The file needs more than 256 MiB of memory to read."),
        ("SIGXCPU", "The file takes longer than 10 seconds to read."),
    ],
)
def test_death_of_the_process_is_reported(
    name: str, message: str, challenge: Challenge, monkeypatch: pytest.MonkeyPatch
) -> None:
    instead(monkeypatch, f"import os, signal; os.kill(os.getpid(), signal.{name})")
    assert challenge.read(as_json()) == [Problem("ours.json", message)]


def test_internal_errors_are_not_blamed_on_uploaders(challenge: Challenge, monkeypatch: pytest.MonkeyPatch) -> None:
    instead(monkeypatch, "raise RuntimeError('/secret/path')")
    with pytest.raises(CaptiousError, match="the process that reads uploads failed") as caught:
        challenge.read(as_json())
    assert "secret" not in str(caught.value)
    challenge.check_that_nothing_is_left()
    monkeypatch.undo()
    monkeypatch.setattr(sys, "executable", "/no such program")
    with pytest.raises(CaptiousError, match="cannot be started"):
        challenge.read(as_json())
    challenge.check_that_nothing_is_left()


def no_list(challenge: Challenge) -> None:
    challenge.expected[0].ids_file.unlink()


def damaged_list(challenge: Challenge) -> None:
    challenge.expected[0].ids_file.write_text('{"ids": [1.5]}')


def wrong_list(challenge: Challenge) -> None:
    challenge.expected[0].ids_file.write_text("[true]")


@pytest.mark.parametrize("damage", [no_list, damaged_list, wrong_list])
def test_unreadable_id_list_is_an_internal_error(damage: Callable[[Challenge], None], challenge: Challenge) -> None:
    damage(challenge)
    with pytest.raises(CaptiousError, match="the process that reads uploads failed") as caught:
        challenge.read(as_json())
    assert str(challenge.folder) not in str(caught.value)
    challenge.check_that_nothing_is_left()


def test_missing_upload_is_an_internal_error(challenge: Challenge) -> None:
    with pytest.raises(FileNotFoundError):
        upload_process.read_upload(challenge.folder / "gone", "a.json", challenge.expected, SMALL, challenge.output)


def test_full_disk_is_an_internal_error(challenge: Challenge, monkeypatch: pytest.MonkeyPatch) -> None:
    full = (
        "import os, errno, runpy, captious.files as a\n"
        "def fsync(descriptor): raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "os.fsync = fsync\n"
        "runpy.run_module('captious_server.submissions.upload_process', run_name='__main__')"
    )
    instead(monkeypatch, full)
    with pytest.raises(OutputError, match="cannot be stored") as caught:
        challenge.read(as_json())
    assert (caught.value.where, caught.value.hint) == ("No space left on device", "free some disk space")
    challenge.check_that_nothing_is_left()


def test_unwritable_output_is_an_internal_error(challenge: Challenge) -> None:
    (challenge.output / "val2014.json" / "folder").mkdir(parents=True)
    with pytest.raises(OutputError, match="cannot be stored"):
        challenge.read(as_json())


def test_process_has_limits_and_no_secrets(challenge: Challenge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "secret")
    monkeypatch.setenv("SECRET_KEY", "secret")
    seen = challenge.folder / "seen.json"
    look = (
        "import json, os, resource, sys\n"
        "import captious_server.submissions.upload_process as r\n"
        "def read(*_):\n"
        "    limits = {k: resource.getrlimit(v)[0] for k, v in vars(resource).items() if k.startswith('RLIMIT_')}\n"
        "    seen = {'environment': dict(os.environ), 'limits': limits, 'group': os.getpgid(0) == os.getpid(),\n"
        "            'session': os.getsid(0) == os.getpid(), 'heavy': {'numpy', 'django'} & sys.modules.keys()}\n"
        f"    open({str(seen)!r}, 'w').write(json.dumps(seen, default=sorted))\n"
        "    return {}, [r.Problem('a', 'b')]\n"
        "r.read_contents = read\n"
        "r._main()\n"
    )
    instead(monkeypatch, look)
    assert challenge.read(as_json(), limits=UploadLimits(memory_bytes=1 << 30, seconds=7)) == [Problem("a", "b")]
    answer = json.loads(seen.read_text())
    assert not {"DATABASE_URL", "SECRET_KEY", "HOME"} & answer["environment"].keys()
    assert {name: answer["limits"][name] for name in ("RLIMIT_CORE", "RLIMIT_CPU", "RLIMIT_AS", "RLIMIT_FSIZE")} == {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": 7,
        "RLIMIT_AS": 1 << 30,
        "RLIMIT_FSIZE": 1 << 30,
    }
    assert answer["limits"]["RLIMIT_NOFILE"] <= 64
    assert (answer["group"], answer["session"], answer["heavy"]) == (True, True, [])


def test_unprintable_upload_names_are_escaped(challenge: Challenge) -> None:
    (problem,) = challenge.read(b"[", "\udcff\x1b[2J<b>.json")
    assert problem.file == "\\udcff\\x1b[2J<b>.json"


def test_interrupt_leaves_no_process(challenge: Challenge, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(command: list[str], **options: object) -> subprocess.Popen[bytes]:
        started.append(popen([sys.executable, "-c", "import time; time.sleep(100)"], **options))  # type: ignore[call-overload]
        return started[0]

    def interrupted(*_: object, **options: object) -> tuple[bytes, bytes]:
        if options.get("timeout") is not None:
            raise KeyboardInterrupt
        return communicate(started[0])

    communicate = subprocess.Popen.communicate
    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        challenge.read(as_json())
    assert started[0].returncode == -signal.SIGKILL
    challenge.check_that_nothing_is_left()
