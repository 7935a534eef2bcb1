"""Streams of output, closed streams, and progress on a terminal."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from itertools import groupby
from pathlib import Path

import pytest

from tests.cli.conftest import Run, plain_environment

# A slow metric, and a command line that has it.
SLOW = """
import sys, time
import captious
from captious.cli import main, progress_bar

progress_bar._PATIENCE = {patience}

@captious.register("slow")
class Slow(captious.RougeL):
    outputs = ("slow",)
    def statistics(self, captions, state=None):
        time.sleep({seconds})
        return super().statistics(captions, state)

sys.argv = ["captious", *sys.argv[1:]]
main()
"""


# In front of it: the tables of METEOR take their time to compile.
COMPILING = """
import time
from captious.resources import meteor_tables as meteor

unpacked = meteor._unpacked

def slowly(path):
    for share in (0.25, 0.5, 0.75):
        yield share, b""
        time.sleep(0.1)
    yield from unpacked(path)

meteor._unpacked = slowly
"""


def on_terminal(
    command: list[str], *, stdout: Path | None = None, columns: int = 120, status: int = 0
) -> tuple[str, float]:
    """Run a command whose stderr, and stdout unless it goes to a file, is a terminal: what that shows, and how long."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {**plain_environment(), "TERM": "xterm"}
    out = theirs if stdout is None else os.open(stdout, os.O_WRONLY | os.O_CREAT)
    begun = time.monotonic()
    process = subprocess.Popen(command, stdin=theirs, stdout=out, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError as error:  # Linux's error when the other side has closed
            assert error.errno == errno.EIO
            break
        if not chunk:
            break
        shown += chunk
    os.close(ours)
    if stdout is not None:
        os.close(out)
    assert process.wait(30) == status, shown.decode()
    return shown.decode(), time.monotonic() - begun


def without_escapes(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def screen(text: str) -> list[str]:
    """Return the text on a terminal after this output, without empty lines at the end."""
    lines, row, column = [""], 0, 0
    for sent in re.findall(r"\x1b\[[0-9;?]*[a-zA-Z]|.", text, re.DOTALL):
        if sent == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif sent == "\r":
            column = 0
        elif sent.endswith("A") and len(sent) > 1:
            row -= int(sent[2:-1])
        elif sent == "\x1b[2K":
            lines[row] = ""
        elif len(sent) == 1:
            lines[row] = lines[row][:column].ljust(column) + sent + lines[row][column + 1 :]
            column += 1
    return "\n".join(lines).rstrip().split("\n")


class TestPiped:
    def test_tables_are_plain_and_unbroken(self, folder: Path, start: Run) -> None:
        (folder / "baseline.json").rename(folder / f"{'long' * 30}.json")
        outcome = start("compare", f"{'long' * 30}.json", "improved.json", "references.json", "--examples", "1")
        assert "\x1b" not in outcome.out + outcome.err
        assert "…" not in outcome.out
        assert "long" * 30 in outcome.out.splitlines()[2]

    def test_closed_reader_of_results_ends_the_run(self, folder: Path, command: list[str]) -> None:
        """As `| head -1` does; here the reader has gone before the first byte."""
        process = subprocess.Popen(
            [*command, "score", "baseline.json", "references.json", "--format", "json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        process.stdout.close()
        complaints = process.stderr.read().decode()
        process.stderr.close()
        assert process.wait(30) == 0
        assert "Traceback" not in complaints
        assert "Broken" not in complaints

    def test_output_can_be_piped_to_head(self, folder: Path, command: list[str]) -> None:
        line = f"'{command[0]}' metrics --format json | head -1"
        if len(command) > 1:
            pytest.skip("not here: the command is not installed beside this interpreter")
        done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, check=False, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"{\n", b"")


class TestProgress:
    # Another test covers how long the bar waits, so that these need not wait for it.
    SLOW = SLOW.format(patience=0.2, seconds=1.5)

    def test_progress_is_not_shown_without_a_terminal(self, folder: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-c", self.SLOW, "score", "baseline.json", "references.json", "-m", "slow"],
            capture_output=True,
            env=plain_environment(),
            check=False,
            timeout=60,
        )
        assert done.returncode == 0
        assert done.stderr == b""
        assert b"slow" in done.stdout

    def test_progress_of_long_work_is_on_stderr_only(self, folder: Path) -> None:
        command = [sys.executable, "-c", self.SLOW, "score", "baseline.json", "references.json"]
        shown, took = on_terminal([*command, "-m", "slow", "--format", "json"], stdout=folder / "out.json")
        assert took > 0.5
        assert "baseline: slow" in shown
        document = json.loads((folder / "out.json").read_text())
        assert list(document["systems"][0]["metrics"]) == ["slow"]

    def test_progress_disappears_at_the_end(self, folder: Path) -> None:
        command = [sys.executable, "-c", self.SLOW, "score", "baseline.json", "references.json"]
        shown, _ = on_terminal([*command, "-m", "slow"])
        last = shown.rindex("baseline: slow")
        assert "\x1b[2K" in shown[last:]  # the line of the bar is erased
        assert without_escapes(shown[last:]).rstrip().splitlines()[-1].split()[0] == "slow"

    def test_names_are_text_and_never_markup(self, folder: Path) -> None:
        (folder / "baseline.json").rename(folder / "[bold]x.json")
        command = [sys.executable, "-c", self.SLOW, "score", "[bold]x.json", "references.json", "-m", "slow"]
        shown, _ = on_terminal(command, stdout=folder / "out")
        assert "[bold]x: slow" in without_escapes(shown)

    def test_progress_of_short_work_is_not_shown(self, folder: Path, command: list[str]) -> None:
        arguments = ["score", "baseline.json", "references.json", "-m", "rouge-l", "--format", "json"]
        shown, took = on_terminal([*command, *arguments], stdout=folder / "out.json")
        assert took < 30
        assert took > 2 or shown == ""


@pytest.mark.usefixtures("tables")
class TestCompiling:
    """Tables that are not compiled yet are, with a bar, in the middle of other work."""

    COMMAND = (sys.executable, "-c", COMPILING + SLOW.format(patience=0.1, seconds=1.5))
    FILES = ("baseline.json", "references.json")
    WHAT = "compiling METEOR's paraphrases (once)"

    def test_compilation_bar_replaces_the_outer_bar(self, folder: Path, run: Run) -> None:
        shown, _ = on_terminal([*self.COMMAND, "score", *self.FILES, "-m", "slow", "-m", "meteor"])
        bars = [bar for bar, _ in groupby(re.findall(rf"baseline: \w+|{re.escape(self.WHAT)}", shown))]
        assert bars == ["baseline: slow", "baseline: meteor", self.WHAT, "baseline: meteor"]
        assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")  # the cursor is back
        *head, slow, meteor = screen(shown)
        plain = run("score", *self.FILES, "-m", "meteor").out.splitlines()
        assert [*head, meteor.split()] == [*plain[:-1], plain[-1].split()]
        assert slow.split()[0] == "slow"

    def test_compilation_alone_shows_a_bar(self, command: list[str], tmp_path: Path, run: Run) -> None:
        arguments = ["explain", "meteor", "the cat", "a feline"]
        shown, _ = on_terminal([*self.COMMAND, *arguments], stdout=tmp_path / "out")
        assert re.search(rf"{re.escape(self.WHAT)} .*\b95/100", without_escapes(shown))
        assert screen(shown) == [""]
        assert (tmp_path / "out").read_text() == run(*arguments).out

    def test_error_after_a_bar_starts_a_new_line(self, folder: Path, tables: Path) -> None:
        (tables / "paraphrase-en.gz").write_bytes((tables / "paraphrase-en.gz").read_bytes()[:-9])
        arguments = [*self.COMMAND, "score", *self.FILES, "-m", "slow", "-m", "meteor"]
        shown, _ = on_terminal(arguments, status=2)
        assert self.WHAT in shown
        assert screen(shown)[0].startswith("error: METEOR's tables are damaged: ")
        assert screen(shown)[-1].startswith("  help: ")


class TestTerminal:
    def test_colors_mark_the_best(self, folder: Path, command: list[str]) -> None:
        arguments = ["score", "baseline.json", "improved.json", "references.json", "-m", "rouge-l"]
        shown, _ = on_terminal([*command, *arguments])
        assert "\x1b[" in shown
        assert "◀" in shown

    @pytest.mark.parametrize("arguments", [["compare"], ["score", "--ci"]], ids=" ".join)
    def test_table_fits_80_columns(self, folder: Path, command: list[str], arguments: list[str]) -> None:
        names = ["transformer-large-finetuned.json", "lstm-attention-beam-search-5.json"]
        (folder / "improved.json").rename(folder / names[0])
        (folder / "baseline.json").rename(folder / names[1])
        shown, _ = on_terminal([*command, *arguments, *names, "references.json", "-m", "rouge-l"], columns=80)
        assert "…" not in without_escapes(shown)
        for name in names:
            assert name.removesuffix(".json") in without_escapes(shown).splitlines()[2]

    def test_no_blanks_at_the_ends_of_lines(self, folder: Path, command: list[str]) -> None:
        """On a narrow terminal they would run over into empty lines."""
        files = ["baseline.json", "improved.json", "references.json"]
        shown, _ = on_terminal([*command, "compare", *files, "-m", "rouge-l", "--examples", "3"], columns=80)
        assert [line for line in without_escapes(shown).splitlines() if line != line.rstrip()] == []
