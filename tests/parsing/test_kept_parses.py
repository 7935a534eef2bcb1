"""Parses of references that are kept in the cache folder: the same scores in less work, whatever is in the folder."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import captious
from captious.errors import ParameterError
from captious.parsing import parses, sources
from captious.parsing.parses import KEPT, clear_kept, kept_file, n_kept
from captious.parsing.sources import CaptionParser, parser_with
from captious.progress import told
from captious.resources.meteor_tables import MeteorTables

pytestmark = pytest.mark.filterwarnings("ignore::captious.errors.CaptiousWarning")

THINGS = ("bus", "car", "naïve café", "train", "boat", "truck", "bike", "tram", "van", "plane")
REFERENCES = {
    i: [f"a red {thing} is parked on the street", f"two men look at {i} {thing}s. A dog sleeps."]
    for i, thing in enumerate(THINGS)
}
CANDIDATES = {i: f"a man on a {texts[0].split()[2]} in the street" for i, texts in REFERENCES.items()}
METRICS = ["spice", "spider", "hwcm", "spice:split=sentences"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meteor_tables: MeteorTables) -> Path:
    """An empty cache folder in which parses are kept."""
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path))
    monkeypatch.setenv(KEPT, "")
    monkeypatch.setattr(parses, "_said", set())
    return tmp_path


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The sentences that were parsed so far."""
    seen: list[tuple[str, ...]] = []
    parse = CaptionParser.parse

    def counted(self: CaptionParser, captions: Sequence[str], words: Sequence[tuple[str, ...]]) -> Iterator[object]:
        seen.extend(words)
        return parse(self, captions, words)

    monkeypatch.setattr(CaptionParser, "parse", counted)
    return seen


def scores(metrics: Sequence[str] = METRICS) -> dict[str, list[float]]:
    """Return the scores of every caption with the bundled grammar."""
    settings = captious.Settings(parser="bundled")
    report = captious.score(CANDIDATES, REFERENCES, list(metrics), settings=settings)
    return {name: result.per_caption.tolist() for name, result in report.items()}


def test_later_runs_parse_no_references(parsed: list[tuple[str, ...]]) -> None:
    first, n_first = scores(), len(parsed)
    again, n_again = scores(), len(parsed) - n_first
    assert again == first
    assert 0 < n_again < n_first / 2
    assert not set(parsed[n_first:]) & {words for words in parsed[:n_first] if "parked" in words}


@pytest.mark.parametrize("size", ["0", "1G"])
def test_scores_are_the_same_with_and_without(size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [scores(), scores()]
    monkeypatch.setenv(KEPT, size)
    assert [scores(), scores()] == kept


def test_nothing_is_kept_if_so_chosen(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv(KEPT, "0")
    scores()
    assert not kept_file().exists()
    monkeypatch.setenv(KEPT, "much")
    with pytest.raises(ParameterError, match=KEPT):
        scores()


def test_only_references_are_kept() -> None:
    scores(["spice"])
    assert n_kept() == len({text for texts in REFERENCES.values() for text in texts})
    clear_kept()
    assert n_kept() == 0


@pytest.mark.parametrize("part", ["program", "label", "fingerprint", "words"])
def test_parses_of_another_parser_are_not_read(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parser = parser_with("bundled")
    words = ("a", "dog")
    (parse,) = parser.parse(["a dog"], [words])
    parser.kept.add({words: parse})
    assert parser.kept.find([words]) == {words: parse}
    if part == "program":
        monkeypatch.setattr(sources, "_program", lambda: "another")
    elif part == "label":
        parser = replace(parser, label="another")
    elif part == "fingerprint":
        monkeypatch.setattr(parser.parser, "grammar", replace(parser.parser.grammar, fingerprint="another"))
    else:
        words = ("a dog",)
    assert parser.kept.find([words]) == {}


def each_byte_changed(path: Path) -> Iterator[bytes]:
    content = path.read_bytes()
    for at in range(0, len(content), 97):
        yield content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :]


def test_damaged_parses_are_never_read(folder: Path) -> None:
    parser = parser_with("bundled")
    sentences = [("a", "red", "bus", "on", "the", "street"), ("two", "dogs"), ("naïve", "\ud800", "café")]
    expected = dict(zip(sentences, parser.parse([""] * 3, sentences), strict=True))
    parser.kept.add(expected)
    whole = kept_file().read_bytes()
    n_damaged = 0
    for content in [
        *each_byte_changed(kept_file()),
        whole[:100],
        whole[: len(whole) // 2],
        b"",
        b"not a database" * 999,
    ]:
        kept_file().write_bytes(content)
        found = parser.kept.find(sentences)
        assert found.items() <= expected.items()
        n_damaged += found != expected
        clear_kept()
    assert n_damaged > 5


def damaged() -> None:
    kept_file().write_bytes(b"not a database" * 999)


def of_another_version() -> None:
    with closing(sqlite3.connect(kept_file())) as file:
        file.execute("DROP TABLE parses")
        file.execute("PRAGMA user_version = 999")


@pytest.mark.parametrize("spoil", [damaged, of_another_version])
def test_a_file_that_is_of_no_use_is_written_anew(spoil: Callable[[], None]) -> None:
    expected = scores()
    spoil()
    assert scores() == expected
    assert scores() == expected
    assert n_kept() > 0


def no_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "file").touch()
    monkeypatch.setenv("CAPTIOUS_CACHE", str(folder / "file"))


def full_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = parses._opened

    def limited() -> sqlite3.Connection:
        file = opened()
        file.execute("PRAGMA max_page_count = 3")
        return file

    monkeypatch.setattr(parses, "_opened", limited)


def read_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect
    scores(["hwcm"])
    address = f"file:{kept_file()}?mode=ro"
    monkeypatch.setattr(sqlite3, "connect", lambda path, **options: connect(address, uri=True, **options))
    with closing(connect(kept_file())) as file, file:
        file.execute("DELETE FROM parses")


@pytest.mark.parametrize("trouble", [no_folder, full_disk, read_only])
def test_a_cache_that_cannot_be_used_costs_only_time(
    trouble: Callable[[Path, pytest.MonkeyPatch], None], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv(KEPT, "0")
        expected = scores()
    trouble(folder, monkeypatch)
    said: list[str] = []
    with told(said.append):
        assert [scores(), scores()] == [expected, expected]
    assert [line for line in said if "cannot be kept" in line] == said
    assert len(said) == 1
    parses._said.clear()
    with pytest.warns(captious.CaptiousWarning, match="cannot be kept"):
        scores(["hwcm"])


def test_what_was_not_used_for_longest_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    parser = parser_with("bundled")
    sentences = [("a", "dog", f"number{i}") for i in range(3000)]
    made = dict(zip(sentences, parser.parse([""] * 3000, sentences), strict=True))
    monkeypatch.setenv(KEPT, "100K")
    monkeypatch.setattr(time, "time", lambda: 1e9)
    parser.kept.add({words: made[words] for words in sentences[:500]})
    monkeypatch.setattr(time, "time", lambda: 1e9 + 2e5)
    assert len(parser.kept.find(sentences[:250])) == 250  # used today
    for start in (500, 700):
        parser.kept.add({words: made[words] for words in sentences[start : start + 200]})
    assert kept_file().stat().st_size <= 100 << 10
    assert len(parser.kept.find(sentences[250:500])) < 250
    parser.kept.add(made)
    assert kept_file().stat().st_size <= 100 << 10


def test_processes_share_the_parses(folder: Path) -> None:
    program = """
import sys
from captious.parsing.sources import parser_with
parser = parser_with("bundled")
for i in range(20):
    sentences = [("a", "dog", f"n{(i * 7 + int(sys.argv[1])) % 40}x{k}") for k in range(9)]
    made = dict(zip(sentences, parser.parse([""] * 9, sentences)))
    found = parser.kept.find(sentences)
    assert found.items() <= made.items()
    parser.kept.add(made)
    assert parser.kept.find(sentences) == made
"""
    runs = [subprocess.Popen([sys.executable, "-W", "error", "-c", program, str(i)], env=os.environ) for i in range(4)]
    assert [run.wait() for run in runs] == [0] * 4


def test_the_first_run_says_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_PATIENCE", 1e-6)
    said: list[str] = []
    with told(said.append):
        scores(["spice"])
        scores(["spice"])
    assert len(said) == 1
    assert "20 references for the first time" in said[0]
