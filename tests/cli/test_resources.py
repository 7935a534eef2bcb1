"""captious resources; pip is played by a function that puts a wheel of small tables where it is told to."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from captious.resources import meteor_tables as meteor
from tests.cli.conftest import Run, assert_refused

INSTALL = "pip install 'captious[meteor]'"
WHAT = "METEOR 1.5's synonyms, paraphrases and function words"


def listed(run: Run) -> tuple[str, str]:
    """Return the state of METEOR's tables, and its description."""
    outcome = run("resources", "list")
    assert outcome.code == 0
    assert re.fullmatch(r"cache: .*\n", outcome.err)
    row, _ = outcome.out.splitlines()
    name, state, rest = row.split(maxsplit=2)
    assert name == "meteor"
    return state, rest


def indexes(cache: Path) -> list[Path]:
    return list(cache.rglob("*.index"))


@pytest.fixture
def wheel(tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel as pip would bring it, which captious takes for the published one. Nothing else is on the machine."""
    monkeypatch.delenv("CAPTIOUS_METEOR_HOME")
    path = tmp_path / "pycocoevalcap-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(tables / "meteor-1.5.jar", "pycocoevalcap/meteor/meteor-1.5.jar")
        archive.write(tables / "paraphrase-en.gz", "pycocoevalcap/meteor/data/paraphrase-en.gz")
        archive.writestr("pycocoevalcap/spice/spice.jar", "what nobody asked for")
    published = replace(meteor._WHEEL, sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setattr(meteor, "_WHEEL", published)
    return path


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Arguments of pip, which by default does nothing but report that."""
    return play_pip(monkeypatch, None, code=1, message="ERROR: it rains\n")


def play_pip(
    monkeypatch: pytest.MonkeyPatch, wheel: Path | None, *, code: int = 0, message: str = ""
) -> list[list[str]]:
    """Return a pip that puts this wheel into the folder it is told, says this and ends with this exit code."""
    commands: list[list[str]] = []

    def pip(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        if wheel is not None:
            (Path(command[command.index("--dest") + 1]) / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, code, "", message)

    monkeypatch.setattr(subprocess, "run", pip)
    return commands


class TestList:
    def test_missing_resource_is_listed(self, run: Run, cache: Path) -> None:
        assert listed(run) == ("missing", f"{WHAT}: {INSTALL}")
        assert run("resources", "list").err == f"cache: {cache}\n"
        assert not cache.exists()  # to look is not to touch

    @pytest.mark.usefixtures("tables")
    def test_resource_is_listed_as_found_then_compiled(self, run: Run) -> None:
        fingerprint = meteor.tables().fingerprint
        assert listed(run) == ("found", f"{WHAT}, {fingerprint}, from CAPTIOUS_METEOR_HOME")
        assert run("resources", "build").code == 0
        assert listed(run) == ("compiled", f"{WHAT}, {fingerprint}, from CAPTIOUS_METEOR_HOME")

    @pytest.mark.parametrize("file", ["meteor-1.5.jar", "paraphrase-en.gz"])
    def test_damaged_resource_is_listed(self, run: Run, tables: Path, file: str) -> None:
        (tables / file).write_bytes(b"")
        state, message = listed(run)
        assert state == "unusable"
        assert str(tables / file) in message
        assert "unset CAPTIOUS_METEOR_HOME" in message


class TestBuild:
    @pytest.mark.parametrize("arguments", [["meteor"], ["meteor", "meteor"]])
    def test_build_compiles_a_resource(self, run: Run, tables: Path, cache: Path, arguments: list[str]) -> None:
        outcome = run("resources", "build", *arguments)
        (index,) = indexes(cache)
        assert (outcome.code, outcome.out) == (0, "")
        assert {*outcome.err.splitlines()} == {f"meteor: {index}"}
        assert index == meteor.tables().index

    def test_build_without_names_compiles_all_installed_resources(self, run: Run, tables: Path, cache: Path) -> None:
        outcome = run("resources", "build")
        (index,) = indexes(cache)
        assert (outcome.code, outcome.out, outcome.err.splitlines()[0]) == (0, "", f"meteor: {index}")

    def test_build_without_resources_says_so(self, run: Run, cache: Path) -> None:
        outcome = run("resources", "build")
        assert (outcome.code, outcome.out) == (0, "")
        assert outcome.err.splitlines() == [
            f"meteor: not installed: {INSTALL}, or captious resources get meteor",
            "spice-grammar: not installed: captious resources get spice-grammar",
        ]
        assert not cache.exists()

    @pytest.mark.usefixtures("cache")
    def test_build_of_a_missing_resource_is_an_error(self, run: Run) -> None:
        help = f"\n  help: {INSTALL}, or captious resources get meteor"
        assert_refused(run("resources", "build", "meteor"), "error: meteor is not installed", help)

    def test_build_in_an_unusable_cache_is_an_error(self, run: Run, tables: Path, cache: Path) -> None:
        cache.write_text("a file")
        assert_refused(run("resources", "build"), "cache folder cannot be used", str(cache), "CAPTIOUS_CACHE")


class TestGet:
    def test_get_downloads_and_compiles(
        self, run: Run, wheel: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        commands = play_pip(monkeypatch, wheel)
        outcome = run("resources", "get", "meteor")
        (index,) = indexes(cache)
        assert (outcome.code, outcome.out) == (0, "")
        assert outcome.err.splitlines() == ["meteor: downloading", f"meteor: {index}"]
        state, message = listed(run)
        assert (state, message.rpartition(", ")[2]) == ("compiled", "from captious resources get meteor")
        kept = {path.name for path in cache.rglob("*") if path.is_file()}
        assert kept == {"meteor-1.5.jar", "paraphrase-en.gz", "lock", index.name}
        assert run("explain", "meteor", "a cat", "a feline").code == 0
        (command,) = commands
        assert command[:5] == [sys.executable, "-P", "-m", "pip", "download"]
        assert "--no-deps" in command
        assert command[-1] == "pycocoevalcap==1.2"

    @pytest.mark.usefixtures("cache")
    def test_get_reports_failure_of_pip(self, run: Run, cache: Path, commands: list[list[str]]) -> None:
        outcome = run("resources", "get", "meteor")
        assert outcome.err.startswith("meteor: downloading\n")
        assert_refused(outcome, "pip could not download pycocoevalcap==1.2", "\n  ERROR: it rains", "pip download")
        assert listed(run)[0] == "missing"
        assert [path for path in cache.rglob("*") if path.is_file()] == []
        assert len(commands) == 1


def test_the_cache_shows_its_parses_and_clears_them(
    run: Run, tables: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPTIOUS_KEPT_PARSES", "2M")
    captions = tmp_path / "captions.json"
    captions.write_text('{"1": ["a cat on the road", "a street"]}')
    assert run("score", captions, captions, "-m", "hwcm", "--several", "mean").code in (0, 2)
    candidates = tmp_path / "candidates.json"
    candidates.write_text('{"1": "a cat on the street"}')
    assert run("score", candidates, captions, "-m", "hwcm").code == 0
    row = run("resources", "cache").out.splitlines()[0]
    assert re.fullmatch(rf"parses\s+0\.0 of at most 2\.1 MB\s+2 references\s+{cache / 'parses.sqlite'}\s*", row)
    assert (cache / "parses.sqlite").exists()
    assert "0 references" in run("resources", "cache", "--clear").out
    assert not (cache / "parses.sqlite").exists()
