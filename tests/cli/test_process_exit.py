"""Ends of runs whose environment fails: streams that are closed or full, no memory, signals."""

from __future__ import annotations

import os
import pty
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import captious
from captious.cli.process import stoppable
from tests.cli.conftest import Run, assert_refused, plain_environment

SCORE = "score baseline.json references.json -m rouge-l"

# A command that tells when it is writing its output, and then writes slowly.
SLOW_OUTPUT = """
import os, sys, time
from captious import files, progress
from captious.cli import main, outputs, progress_bar

progress_bar._PATIENCE = 0.05

def slowly(path, text):
    with files.whole_file(path) as file, progress.Progress(2) as bar:
        bar.step("writing")
        file.write("half")
        file.flush()
        time.sleep(0.3)
        os.write(1, b"ready\\n")  # print would go by way of the bar
        time.sleep(60)

outputs.write_text = slowly
sys.argv = ["captious", *sys.argv[1:]]
main()
"""


Shell: TypeAlias = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def shell(folder: Path, command: list[str]) -> Shell:
    """``shell(line)``: exit status, stdout and stderr of a line for bash, where ``captious`` is the command."""

    def run_line(line: str) -> tuple[int, str, str]:
        words = " ".join(f"'{word}'" for word in command)
        done = subprocess.run(
            ["bash", "-c", f'captious() {{ {words} "$@"; }}; {line}'],
            capture_output=True,
            env=plain_environment(),
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run_line


class TestClosedStreams:
    @pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"])
    def test_output_files_are_written_with_closed_streams(self, shell: Shell, folder: Path, closed: str) -> None:
        assert shell(f"captious {SCORE} --per-caption rows.csv -o out.txt {closed}") == (0, "", "")
        assert "rouge-l" in (folder / "out.txt").read_text()
        assert (folder / "rows.csv").read_text().startswith("id,candidate,rouge-l\n")

    def test_results_on_a_closed_stdout_are_an_error(self, shell: Shell) -> None:
        for arguments in (SCORE, "metrics", "--version", "--help", "score --help", "metrics --format json"):
            code, out, err = shell(f"captious {arguments} >&-")
            assert (code, out) == (2, "")
            assert err == (
                "error: cannot write the results\n"
                "  standard output is closed\n"
                "  help: redirect the output, or write to a file (-o FILE)\n"
            )
        assert shell("captious metrics >&- 2>&-") == (2, "", "")

    def test_messages_on_a_closed_stderr_are_dropped(self, shell: Shell) -> None:
        """The default metrics come with warnings."""
        code, out, err = shell("captious score baseline.json references.json")
        assert "warning" in err
        for lost in ("2>&-", "2>/dev/full"):
            assert shell(f"captious score baseline.json references.json {lost}") == (code, out, "")

    @pytest.mark.parametrize("lost", ["2>&-", "2>/dev/full", ">&- 2>&-"])
    def test_errors_on_a_closed_stderr_keep_their_exit_status(self, shell: Shell, lost: str) -> None:
        assert shell(f"captious score none.json references.json {lost}") == (2, "", "")
        assert shell(f"captious --debug score none.json references.json {lost}") == (2, "", "")

    def test_no_file_takes_the_place_of_a_closed_stream(self, shell: Shell, folder: Path) -> None:
        """Whatever writes to descriptor 2, such as a library, would write into it."""
        program = "import os, sys; from captious.cli.process import prepare_streams as p; p(); "
        program += "open('kept', 'w').write(' '.join(os.path.realpath(f'/proc/self/fd/{n}') for n in range(3)))"
        assert shell(f"'{sys.executable}' -c \"{program}\" <&- >&- 2>&-")[0] == 0
        assert (folder / "kept").read_text() == "/dev/null /dev/null /dev/null"

    def test_scores_without_stderr(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As in daemons."""
        monkeypatch.setattr(sys, "stdout", None)
        for nothing in (None, object()):
            monkeypatch.setattr(sys, "stderr", nothing)
            report = captious.score(
                {1: "a dog"}, {1: ["a dog runs"]}, ["hwcm"], settings=captious.Settings(parser="bundled")
            )
            assert report["hwcm-1"].score > 0.5


class TestFullStreams:
    def test_full_disk_is_an_error_of_the_run(self, shell: Shell) -> None:
        messages = "error: cannot write the results\n  No space left on device\n  help: free some disk space\n"
        for arguments in (SCORE, "metrics", "--help", "--version"):
            assert shell(f"captious {arguments} > /dev/full") == (2, "", messages)
        assert shell("captious metrics > /dev/full 2> /dev/full") == (2, "", "")

    def test_file_size_limit_is_an_error_with_advice(self, shell: Shell, folder: Path) -> None:
        code, _, err = shell("ulimit -f 0; captious metrics > out.txt")
        assert (code, err.splitlines()[:2]) == (2, ["error: cannot write the results", "  File too large"])
        assert "ulimit -f" in err
        code, _, err = shell(f"ulimit -f 1; captious {SCORE} --per-caption rows.jsonl")
        assert (code, err.splitlines()[:2]) == (2, ["error: cannot write rows.jsonl", "  File too large"])
        assert not [*folder.glob("rows*"), *folder.glob(".captious-*")]

    def test_read_only_stdout_is_an_error(self, shell: Shell) -> None:
        code, _, err = shell("captious metrics 1< /dev/null")
        assert (code, err.splitlines()[:2]) == (2, ["error: cannot write the results", "  Bad file descriptor"])

    def test_vanished_terminal_ends_the_run(self, folder: Path, command: list[str]) -> None:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            ["bash", "-c", 'read; "$@"', "bash", *command, "metrics"],
            stdin=subprocess.PIPE,
            stdout=theirs,
            stderr=subprocess.PIPE,
            env=plain_environment(),
        )
        os.close(theirs)
        os.close(ours)
        _, err = process.communicate(b"\n", timeout=60)
        assert (process.returncode, err.decode().splitlines()[:2]) == (
            2,
            ["error: cannot write the results", "  Input/output error"],
        )

    def test_closed_reader_of_messages_is_ignored(self, shell: Shell) -> None:
        line = "{ sleep 0.5; captious score none.json references.json; echo $? >&3; } 2>&1 >/dev/null | true"
        code, out, err = shell(f"exec 3>&1; {line}")
        assert (code, out, err) == (0, "2\n", "")


class TestMemory:
    def test_out_of_memory_error_names_the_step(self, folder: Path, start: Run) -> None:
        def limited() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

        (folder / "large.json").write_text('{"1": "' + "a " * (60 << 20) + '"}')
        outcome = start("score", "large.json", "references.json", "-m", "rouge-l", preexec_fn=limited)
        assert_refused(outcome, "out of memory", "during: reading large.json", "ulimit -v")

    def test_out_of_memory_message_of_numpy_is_shown(
        self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def hungry(*_: object) -> None:
            raise MemoryError("Unable to allocate 8.00 TiB")

        monkeypatch.setattr(captious.RougeL, "statistics", hungry)
        assert_refused(run(*SCORE.split()), "out of memory", "during: baseline: rouge-l", "Unable to allocate 8.00")

    def test_out_of_memory_error_without_steps_names_the_command(
        self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def hungry(*_: object) -> None:
            raise MemoryError

        monkeypatch.setattr("captious.cli.data.load_judgments", hungry)
        assert_refused(run("data", "items", "flickr8k-expert"), "out of memory", "captious data")

    def test_files_that_do_not_fit_are_not_called_damaged(
        self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert run("fit", "cider-d", "references.json", "-o", "x.idf").code == 0

        def hungry(*_: object, **__: object) -> None:
            raise MemoryError

        monkeypatch.setattr("captious.resources.npy.read_npz", hungry)
        outcome = run("score", "baseline.json", "references.json", "-m", "cider", "--idf", "x.idf")
        assert_refused(outcome, "out of memory")


def heed_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def writing(**streams: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a command in the middle of writing out.txt."""
    command = [sys.executable, "-c", SLOW_OUTPUT, *SCORE.split(), "-o", "out.txt"]
    environment = {**plain_environment(), "TERM": "xterm"}
    # What ignores signals hands that down: under nohup, commands would ignore SIGHUP.
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env=environment, preexec_fn=heed_signals, **streams
    ) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            yield process
        finally:
            process.kill()


class TestSignals:
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
    def test_signals_leave_no_temporary_files(self, folder: Path, number: int) -> None:
        (folder / "out.txt").write_text("old")
        ours, theirs = pty.openpty()
        with writing(stdin=theirs, stderr=theirs) as process:
            os.close(theirs)
            assert len([*folder.glob(".captious-*")]) == 1
            process.send_signal(number)
            assert process.wait(30) == 128 + number
        shown = os.read(ours, 1 << 16).decode()
        os.close(ours)
        assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")  # the cursor is back
        assert "Traceback" not in shown
        assert [*folder.glob(".captious-*")] == []
        assert (folder / "out.txt").read_text() == "old"

    def test_temporary_files_of_killed_runs_are_removed_by_the_next(self, folder: Path, start: Run) -> None:
        for _ in range(3):
            with writing():
                assert len([*folder.glob(".captious-*")]) == 1
        assert len([*folder.glob(".captious-*")]) == 1
        assert start(*SCORE.split(), "-o", "other.txt").code == 0
        assert [*folder.glob(".captious-*")] == []

    def test_programs_that_use_captious_keep_their_handlers(self, run: Run, folder: Path) -> None:
        before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]
        assert run(*SCORE.split()).code == 0
        assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == before
        captious.score({1: "a"}, {1: ["a"]}, ["rouge-l"])
        assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)] == before

    def test_ignored_signals_stay_ignored(self) -> None:
        """As under nohup."""
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            with stoppable():
                assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
                os.kill(os.getpid(), signal.SIGHUP)
        finally:
            signal.signal(signal.SIGHUP, before)

    def test_the_first_signal_stops_and_the_second_kills(self) -> None:
        with pytest.raises(SystemExit) as caught, stoppable():
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)
        assert caught.value.code == 128 + signal.SIGTERM
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL

    def test_threads_have_no_handlers(self) -> None:
        handlers = []

        def work() -> None:
            with stoppable():
                handlers.append(signal.getsignal(signal.SIGTERM))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert handlers == [signal.SIG_DFL]
