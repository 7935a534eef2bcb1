"""METEOR's tables: where they are looked for, what their index is made from, and what is said of damaged ones.

All with files of a few words, except where it says otherwise.
"""

from __future__ import annotations

import errno
import gzip
import os
import random
import shutil
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import captious
from captious.errors import MissingExtraError, ResourceError
from captious.resources import meteor_tables as meteor
from captious.resources.cache import cache_folder
from tests.resources.conftest import Install
from tests.support.meteor_files import EXCEPTIONS, FUNCTION_WORDS, JAR, PARAPHRASES, SYNSETS, MeteorFiles, write_jar

FILES = MeteorFiles()
#: A pair that only the paraphrases, and one that only the synonyms match.
PHRASES = ("x in front of y", "x before y")
SYNONYMS = ("x car y", "x automobile y")


pytestmark = pytest.mark.usefixtures("cache")


def at_home(monkeypatch: pytest.MonkeyPatch, folder: Path, files: MeteorFiles = FILES) -> Path:
    """Return tables in the folder that CAPTIOUS_METEOR_HOME names."""
    monkeypatch.setenv("CAPTIOUS_METEOR_HOME", str(files.write(folder)))
    return folder


def located() -> meteor.MeteorTables:
    tables = meteor.find()
    assert tables is not None
    return tables


def modules(candidate: str, reference: str) -> list[str]:
    """Return the modules that match words of a pair."""
    return [match.module for match in captious.Meteor(tokenizer="whitespace").align(candidate, reference).matches]


# ---- where they are looked for


def test_missing_tables_are_refused_with_their_command() -> None:
    assert meteor.find() is None
    assert captious.Meteor.missing() == meteor.INSTALL == "pip install 'captious[meteor]'"
    with pytest.raises(MissingExtraError, match="METEOR's tables of synonyms and paraphrases") as caught:
        captious.Meteor()
    assert caught.value.hint == "pip install 'captious[meteor]', or captious resources get meteor"
    with pytest.raises(MissingExtraError):
        captious.metrics.meteor.align("a dog", "a dog")
    with pytest.raises(MissingExtraError):
        captious.score(["a dog"], [["a dog"]], metrics=["meteor"])


def test_meteor_tables_are_searched_in_order(
    tmp_path: Path, cache: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    FILES.write(cache / "meteor", data="")
    assert located().origin == "captious resources get meteor"
    install(tmp_path / "site" / "pycocoevalcap")  # without the files
    assert located().origin == "captious resources get meteor"
    FILES.write(tmp_path / "site" / "pycocoevalcap" / "meteor")
    assert located().origin == "package pycocoevalcap"
    assert located().jar == tmp_path / "site" / "pycocoevalcap" / "meteor" / JAR
    at_home(monkeypatch, tmp_path / "home")
    assert located().origin == "CAPTIOUS_METEOR_HOME"
    monkeypatch.setenv("CAPTIOUS_METEOR_HOME", "")
    assert located().origin == "package pycocoevalcap"


def test_module_named_pycocoevalcap_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(submodule_search_locations=None)
    monkeypatch.setattr(PathFinder, "find_spec", staticmethod(lambda name, *more: module))
    assert meteor.find() is None


def test_replaced_package_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    # Such as sys.modules["pycocoevalcap"] = captious.compat.pycocoevalcap.
    monkeypatch.setitem(sys.modules, "pycocoevalcap", ModuleType("pycocoevalcap"))
    assert meteor.find() is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="not here: no permissions")
def test_unreadable_cache_has_no_tables(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FILES.write(cache / "meteor", data="")
    stat = os.stat

    def refuse(path: Any, *arguments: Any, **settings: Any) -> os.stat_result:
        if str(path).startswith(str(cache)):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return stat(path, *arguments, **settings)

    monkeypatch.setattr(os, "stat", refuse)
    assert meteor.find() is None


@pytest.mark.parametrize("variable", ["CAPTIOUS_CACHE", "CAPTIOUS_METEOR_HOME"])
def test_home_of_an_unknown_user_is_refused(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "~nobody-of-this-name/x")
    with pytest.raises(ResourceError, match=f"{variable} does not name a folder"):
        meteor.find()


@pytest.mark.parametrize("data", ["", "data"])
def test_meteor_home_may_have_a_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: str) -> None:
    monkeypatch.setenv("CAPTIOUS_METEOR_HOME", str(FILES.write(tmp_path / "home", data=data)))
    assert located().paraphrases == tmp_path / "home" / data / PARAPHRASES
    assert modules(*PHRASES) == ["exact", "paraphrase", "exact"]


def test_meteor_home_expands_the_users_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FILES.write(tmp_path / "meteor")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CAPTIOUS_METEOR_HOME", "~/meteor")
    assert located().jar == tmp_path / "meteor" / JAR


@pytest.mark.parametrize("kept", [None, JAR, f"data/{PARAPHRASES}"], ids=["neither", "jar", "paraphrases"])
def test_meteor_home_without_both_files_is_refused(
    tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch, kept: str | None
) -> None:
    home = at_home(monkeypatch, tmp_path / "home")
    for name in {JAR, f"data/{PARAPHRASES}"} - {kept}:
        (home / name).unlink()
    # Even if there are others elsewhere: the user has asked for these.
    install(tmp_path / "site")
    FILES.write(tmp_path / "site" / "meteor")
    with pytest.raises(
        ResourceError, match="the folder that CAPTIOUS_METEOR_HOME names has no METEOR tables"
    ) as caught:
        meteor.find()
    assert str(home) in caught.value.where
    assert JAR in caught.value.where
    assert PARAPHRASES in caught.value.where
    assert "unset it" in caught.value.hint


def test_the_cache_is_where_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CAPTIOUS_CACHE", "~/elsewhere")
    assert cache_folder() == tmp_path / "elsewhere"
    monkeypatch.setenv("CAPTIOUS_CACHE", "")
    default = cache_folder()
    assert default.name == "captious"
    if "XDG_CACHE_HOME" not in os.environ and os.name == "posix" and default.is_relative_to(tmp_path / ".cache"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert cache_folder() == tmp_path / "xdg" / "captious"


def test_the_published_tables_are_known_by_name(meteor_tables: meteor.MeteorTables) -> None:
    assert meteor_tables.label == "1.5"
    with zipfile.ZipFile(meteor_tables.jar) as jar:
        assert len(jar.read(SYNSETS).splitlines()) == 2 * 147_306


# ---- the index


def test_scores_come_of_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_home(monkeypatch, tmp_path / "home")
    assert modules(*PHRASES) == ["exact", "paraphrase", "exact"]
    assert modules(*SYNONYMS) == ["exact", "synonym", "exact"]
    assert captious.Meteor().statistics(captious.read_captions(["the"], [["a"]]))[0, :4].tolist() == [1, 1, 1, 0]
    assert f"|tables:{located().fingerprint}|" in captious.Meteor().signatures()[0]


#: Files that differ in one thing from FILES.
OTHERS = {
    "synsets": replace(FILES, synsets={"car": [1], "automobile": [2]}),
    "exceptions": replace(FILES, exceptions={"go": ["gone"]}),
    "function words": replace(FILES, function_words=["a"]),
    "paraphrases": replace(FILES, pairs=[("in front of", "behind")]),
}


@pytest.mark.parametrize("what", OTHERS)
def test_other_tables_have_another_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    home = at_home(monkeypatch, tmp_path / "home")
    before = located()
    before.build()
    at_home(monkeypatch, home, OTHERS[what])
    after = located()
    assert after.fingerprint != before.fingerprint
    assert after.index != before.index
    assert not after.is_built
    assert (modules(*PHRASES) == ["exact", "paraphrase", "exact"]) is (what != "paraphrases")
    assert (modules(*SYNONYMS) == ["exact", "synonym", "exact"]) is (what != "synsets")
    assert after.is_built
    # Who comes back to the old tables finds their index.
    at_home(monkeypatch, home)
    assert located() == before
    assert before.is_built


def test_how_files_are_packed_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = at_home(monkeypatch, tmp_path / "home")
    before = located()
    with zipfile.ZipFile(home / JAR, "w", zipfile.ZIP_STORED) as jar:
        for name, content in {"README": b"more", **FILES.members()}.items():
            jar.writestr(name, content)
    (home / "data" / PARAPHRASES).write_bytes(gzip.compress(FILES.table(), 1, mtime=7))
    assert located().fingerprint == before.fingerprint


# ---- damaged files


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def replaced(path: Path) -> None:
    path.write_bytes(b"<!DOCTYPE html><html>404: not found</html>" * 10)


def with_a_byte_changed(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 255
    path.write_bytes(content)


@pytest.mark.parametrize("name", [JAR, f"data/{PARAPHRASES}"], ids=["jar", "paraphrases"])
@pytest.mark.parametrize("damage", [truncated, emptied, replaced, with_a_byte_changed])
def test_damaged_tables_leave_no_index(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None], name: str
) -> None:
    rng = random.Random(3)
    many = [(f"w{rng.randrange(999)} w{rng.randrange(999)}", f"w{rng.randrange(999)}") for _ in range(500)]
    sets = {f"word{i}": [rng.randrange(9_999)] for i in range(500)}
    home = at_home(monkeypatch, tmp_path / "home", replace(FILES, pairs=many, synsets=sets))
    damage(home / name)
    with pytest.raises(ResourceError, match="damaged") as caught:
        located().build()
    assert str(home / name) in caught.value.where
    assert caught.value.hint
    assert not list(cache.glob("meteor/*.index"))
    assert not list(cache.glob("meteor/.captious-*"))


#: A file of the tables, what is in it instead (None: it is missing), and what is said of that.
WRONG: dict[str, tuple[str, bytes | None, str]] = {
    "no synonyms": (SYNSETS, None, SYNSETS),
    "no exceptions": (EXCEPTIONS, None, EXCEPTIONS),
    "no list of function words": (FUNCTION_WORDS, None, FUNCTION_WORDS),
    "empty synonyms": (SYNSETS, b"", "the synonyms end"),
    "cut synonyms": (SYNSETS, b"car\n1\nbus\n", "the synonyms end"),
    "a set that is a word": (SYNSETS, b"car\n1 two\n", "line 2 of the synonyms is not a list of numbers"),
    "a huge set": (SYNSETS, b"car\n99999999999\n", "line 2 of the synonyms is not a list of numbers"),
    "a word twice": (SYNSETS, b"car\n1\ncar\n2\n", "the word car twice"),
    "cut exceptions": (EXCEPTIONS, b"go\n", "the exceptions end"),
    "empty exceptions": (EXCEPTIONS, b"", "the exceptions end"),
    "empty function words": (FUNCTION_WORDS, b"", "no function words"),
    "empty paraphrases": (PARAPHRASES, b"", "middle of an entry"),
    "cut paraphrases": (PARAPHRASES, b"0.5\nin front of\n", "middle of an entry"),
    "a cut line": (PARAPHRASES, b"0.5\na\nb\n0.5\na", "middle of an entry"),
    "a word for a probability": (
        PARAPHRASES,
        b"0.5\na\nb\nhalf\na\nc\n",
        "line 4 of the paraphrases is not a probability",
    ),
    "shifted paraphrases": (PARAPHRASES, b"a\nb\n0.5\n", "line 1 of the paraphrases is not a probability"),
    "an empty phrase": (PARAPHRASES, b"0.5\n\nb\n", "line 2 of the paraphrases is not a phrase"),
    "a blank paraphrase": (PARAPHRASES, b"0.5\na\n \t\n", "line 3 of the paraphrases is not a phrase"),
    "a long phrase": (PARAPHRASES, b"0.5\n" + b"a " * 256 + b"\nb\n", "line 2 of the paraphrases is not a phrase"),
    "many words": (
        PARAPHRASES,
        b"".join(b"0.5\n%d\nx\n" % i for i in range(65_536)),
        "more than 65,535 distinct words",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_invalid_tables_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    name, content, reason = WRONG[what]
    home = at_home(monkeypatch, tmp_path / "home")
    place = home / "data" / PARAPHRASES if name == PARAPHRASES else home / JAR
    if name == PARAPHRASES:
        place.write_bytes(gzip.compress(content or b""))
    else:
        members = {**FILES.members(), name: content}
        write_jar(place, {member: text for member, text in members.items() if text is not None})
    with pytest.raises(ResourceError, match="damaged") as caught:
        located().build()
    assert reason in caught.value.message
    assert str(place) in caught.value.where
    assert caught.value.hint


def test_line_ends_and_the_last_line_do_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = at_home(monkeypatch, tmp_path / "home")
    members = {name: content.replace(b"\n", b"\r\n").rstrip() for name, content in FILES.members().items()}
    write_jar(home / JAR, members)
    table = FILES.table().replace(b"\n", b"\r\n").rstrip()
    (home / "data" / PARAPHRASES).write_bytes(gzip.compress(table))
    assert modules(*PHRASES) == ["exact", "paraphrase", "exact"]
    assert modules(*SYNONYMS) == ["exact", "synonym", "exact"]


def test_files_that_go_away_before_they_are_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = at_home(monkeypatch, tmp_path / "home")
    tables = located()
    shutil.rmtree(home)
    with pytest.raises(ResourceError, match="damaged") as caught:
        tables.build()
    assert "No such file" in caught.value.message
