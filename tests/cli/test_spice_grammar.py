"""captious resources and the grammar of SPICE, with a made-up grammar of a few rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from captious.resources import corenlp
from captious.resources.corenlp import fingerprint_of
from captious.resources.grammar import VERSION
from tests.cli.conftest import Run, assert_refused
from tests.support.spice_grammar_files import GRAMMAR, JAR, distribution, models_jar, packed
from tests.support.web_server import Web, serving

WHAT = "the English grammar of CoreNLP 3.6.0, which the official SPICE uses"
INSTALL = "captious resources get spice-grammar"
LABEL = f"corenlp-{fingerprint_of(packed())}"

pytestmark = pytest.mark.usefixtures("cache")


def listed(run: Run) -> tuple[str, str]:
    """Return the state of the grammar, and its description."""
    _, row = run("resources", "list").out.splitlines()
    name, state, rest = row.split(maxsplit=2)
    assert name == "spice-grammar"
    return state, rest


@pytest.fixture
def grammar(tmp_path: Path) -> Path:
    (tmp_path / GRAMMAR).write_bytes(packed())
    return tmp_path / GRAMMAR


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.setenv("no_proxy", "*")
    jar = models_jar(packed())
    with serving(Web({f"/{JAR}": jar, "/corenlp.zip": distribution(jar)})) as web:
        yield web


def test_missing_grammar_is_listed_with_its_command(run: Run, cache: Path) -> None:
    assert listed(run) == ("missing", f"{WHAT}: {INSTALL}")
    assert_refused(run("resources", "build", "spice-grammar"), "spice-grammar is not installed", f"help: {INSTALL}")
    assert not cache.exists()


@pytest.fixture
def published(web: Web, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses where the grammar is published, on a server of ours."""
    addresses = [f"{web.url}/{JAR}", f"{web.url}/corenlp.zip"]
    monkeypatch.setattr(corenlp, "_PUBLISHED_AT", addresses)
    monkeypatch.setattr(corenlp, "_PUBLISHED", fingerprint_of(packed()))
    return addresses


@pytest.mark.usefixtures("folder", "tables")
def test_scores_name_the_grammar_in_their_first_line(run: Run) -> None:
    for command in (("score", "baseline.json"), ("compare", "baseline.json", "improved.json")):
        outcome = run(*command, "references.json", "-m", "spice")
        assert f"grammar: {VERSION} (official: {INSTALL})" in outcome.out.splitlines()[0]
        assert outcome.err == ""


@pytest.mark.usefixtures("folder", "tables")
def test_grammar_is_offered_once(run: Run, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explain = ("explain", "spice", "a dog", "a cat")
    assert run(*explain).err.count(INSTALL) == 1
    assert run(*explain).err == ""
    monkeypatch.setenv("CAPTIOUS_CACHE", str(cache.with_name("another")))
    assert run(*explain).err.count(INSTALL) == 1


def test_grammar_is_downloaded_from_its_publisher(run: Run, web: Web, published: list[str], cache: Path) -> None:
    outcome = run("resources", "get", "spice-grammar")
    (index,) = cache.rglob("spice-grammar-*.index")
    assert outcome.code == 0
    assert outcome.err.splitlines() == [f"spice-grammar: reading {published[0]}", f"spice-grammar: {index}"]
    assert listed(run)[1].endswith("corenlp-3.6.0, from captious resources get spice-grammar")


@pytest.mark.parametrize("failure", ["the server says 404", "its checksum is"])
def test_second_url_is_tried_after_the_first(run: Run, web: Web, published: list[str], failure: str) -> None:
    if failure.startswith("its"):
        web.files[f"/{JAR}"] = models_jar(packed({"words": ("a", "dog", "runs", "UNK-LC-x")}))
    else:
        del web.files[f"/{JAR}"]
    outcome = run("resources", "get", "spice-grammar")
    assert outcome.code == 0
    reading, failed, second, *_ = outcome.err.splitlines()
    assert (reading, second) == tuple(f"spice-grammar: reading {address}" for address in published)
    assert failed.startswith(f"spice-grammar: {published[0]}: {failure}")


def test_unreachable_urls_are_reported(run: Run, web: Web, published: list[str], cache: Path) -> None:
    web.files.clear()
    outcome = run("resources", "get", "spice-grammar")
    assert_refused(outcome, "cannot be downloaded", *published, "--from PATH_OR_URL", "bundled approximate grammar")
    assert not list(cache.rglob("*.index"))


def test_grammar_is_downloaded_to_a_folder(
    run: Run, grammar: Path, published: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The folder gets the grammar even if it is already installed.
    monkeypatch.setenv("CAPTIOUS_SPICE_GRAMMAR", str(grammar))
    outcome = run("resources", "get", "spice-grammar", "--to", tmp_path / "taken")
    assert outcome.code == 0
    assert outcome.err.splitlines()[-1].endswith(f"export CAPTIOUS_CACHE={tmp_path / 'taken'}")
    monkeypatch.delenv("CAPTIOUS_SPICE_GRAMMAR")
    monkeypatch.setenv("CAPTIOUS_CACHE", str((tmp_path / "taken").rename(tmp_path / "elsewhere")))
    assert listed(run)[0] == "compiled"


def test_grammar_is_extracted_from_a_file(run: Run, grammar: Path, cache: Path) -> None:
    outcome = run("resources", "get", "spice-grammar", "--from", grammar)
    bounds, index = sorted(cache.rglob("*.index"))
    assert bounds.name.startswith("bounds-")  # so that no job need write there
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.splitlines() == [f"spice-grammar: reading {grammar}", f"spice-grammar: {index}"]
    assert listed(run) == ("compiled", f"{WHAT}, {LABEL}, from captious resources get spice-grammar")
    again = run("resources", "get", "spice-grammar")
    assert (again.code, again.err) == (0, f"spice-grammar: {index}\n")
    assert run("resources", "build").err.splitlines()[1] == f"spice-grammar: {index}"


def test_file_without_a_grammar_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<html>")
    outcome = run("resources", "get", "spice-grammar", "--from", tmp_path / "page.html")
    assert_refused(outcome, "SPICE's grammar cannot be read", str(tmp_path / "page.html"), "repo1.maven.org")
    assert listed(run)[0] == "missing"
    outcome = run("resources", "get", "spice-grammar", "--from", "http://127.0.0.1:1/x")
    assert_refused(outcome, "Connection refused", "http://127.0.0.1:1/x")


def test_grammar_named_in_the_environment_is_used(
    run: Run, grammar: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPTIOUS_SPICE_GRAMMAR", str(grammar))
    assert listed(run) == ("found", f"{WHAT}, {LABEL}, from CAPTIOUS_SPICE_GRAMMAR")
    (row,) = (line for line in run("doctor").out.splitlines() if line.startswith("spice grammar "))
    assert row.split()[2] == "found"
    assert run("resources", "get", "spice-grammar").code == 0
    assert listed(run)[0] == "compiled"
    grammar.write_bytes(b"")
    state, message = listed(run)
    assert state == "unusable"
    assert str(grammar) in message
    assert "CAPTIOUS_SPICE_GRAMMAR" in message
    assert_refused(run("resources", "build"), "SPICE's grammar cannot be read")
