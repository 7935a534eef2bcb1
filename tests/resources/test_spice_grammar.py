"""The grammar of SPICE: where it is looked for, what it is taken out of, and what is said of other files.

All with a made-up grammar of a few rules, except where it says otherwise.
"""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from captious.errors import OutputError, ResourceError
from captious.resources import corenlp
from captious.resources.corenlp import SpiceGrammar, fingerprint_of
from captious.resources.grammar import Grammar
from tests.resources.conftest import Install
from tests.support.spice_grammar_files import GRAMMAR, IN_JAR, JAR, WORDS, distribution, models_jar, packed
from tests.support.web_server import Web, serving

PACKED = packed()
OTHER = packed({"words": (*WORDS[:3], "UNK-LC-x")})
FINGERPRINT = fingerprint_of(PACKED)
STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
FORMS = {
    GRAMMAR: PACKED,
    "models.jar": models_jar(PACKED),
    "models-stored.jar": models_jar(PACKED, STORED),
    "distribution.zip": distribution(models_jar(PACKED)),
    "distribution-stored.zip": distribution(models_jar(PACKED), STORED),
}
PACKED_WITHIN = "distribution.zip"

pytestmark = pytest.mark.usefixtures("cache")


def located() -> SpiceGrammar:
    grammar = corenlp.find()
    assert grammar is not None
    return grammar


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.setenv("no_proxy", "*")
    with serving(Web({f"/{name}": content for name, content in FORMS.items()})) as web:
        yield web


# ---- where it is looked for


def test_missing_grammar_creates_no_cache(cache: Path) -> None:
    assert corenlp.find() is None
    assert not cache.exists()


def test_grammars_are_searched_in_order(
    tmp_path: Path, cache: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "caches" / "aac-metrics" / "spice" / "lib" / JAR, models_jar(PACKED))
    assert (located().origin, located().fingerprint) == ("cache of aac-metrics", FINGERPRINT)
    install(tmp_path / "site")  # without the file
    assert located().origin == "cache of aac-metrics"
    put(tmp_path / "site" / "spice" / "lib" / JAR, models_jar(PACKED))
    assert (located().origin, located().file) == ("package pycocoevalcap", tmp_path / "site" / "spice" / "lib" / JAR)
    put(cache / "spice-grammar" / GRAMMAR, PACKED)
    assert located().origin == "captious resources get spice-grammar"
    own = put(tmp_path / "own", OTHER)
    monkeypatch.setenv("CAPTIOUS_SPICE_GRAMMAR", str(own))
    assert (located().origin, located().fingerprint) == ("CAPTIOUS_SPICE_GRAMMAR", fingerprint_of(OTHER))
    monkeypatch.setenv("CAPTIOUS_SPICE_GRAMMAR", "")
    assert located().origin == "captious resources get spice-grammar"


@pytest.mark.parametrize("value", [None, "~/elsewhere", "$HOME/elsewhere"])
def test_grammar_is_found_in_the_aac_metrics_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    if value is None:
        monkeypatch.delenv("AAC_METRICS_CACHE_PATH")
    else:
        monkeypatch.setenv("AAC_METRICS_CACHE_PATH", value)
    caches = tmp_path / (".cache" if value is None else "elsewhere")
    jar = put(caches / "aac-metrics" / "spice" / "lib" / JAR, models_jar(PACKED))
    assert located().file == jar


@pytest.mark.parametrize("form", sorted(FORMS.keys() - {PACKED_WITHIN}))
def test_named_grammar_file_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    put(tmp_path / "file", FORMS[form])
    monkeypatch.setenv("CAPTIOUS_SPICE_GRAMMAR", "~/file")
    assert located().fingerprint == FINGERPRINT
    assert located().grammar().words == WORDS


def test_large_compressed_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_SPICE_GRAMMAR", str(put(tmp_path / "file", FORMS[PACKED_WITHIN])))
    with pytest.raises(ResourceError, match="too large to unpack every time") as caught:
        corenlp.find()
    assert "captious resources get spice-grammar" in caught.value.hint


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file"),
        (b"", "neither englishPCFG.ser.gz nor a complete zip"),
        (models_jar(PACKED)[:-30], "neither englishPCFG.ser.gz nor a complete zip"),
        (b"\x1f\x8b", "not a gzip file"),
        (distribution(b"no jar", STORED), "neither"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["variable", "package"])
def test_invalid_grammar_files_are_refused(
    tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch, place: str, content: bytes | None, reason: str
) -> None:
    path = tmp_path / "spice" / "lib" / JAR
    if content is not None:
        put(path, content)
    if place == "variable":
        monkeypatch.setenv("CAPTIOUS_SPICE_GRAMMAR", str(path))
    elif content is None:
        return
    else:
        install(tmp_path)
    with pytest.raises(ResourceError, match="SPICE's grammar cannot be read") as caught:
        corenlp.find()
    assert reason in caught.value.message
    assert caught.value.where == str(path)
    assert "captious resources get spice-grammar" in caught.value.hint
    assert ("CAPTIOUS_SPICE_GRAMMAR" in caught.value.hint) is (place == "variable")


def test_grammar_home_of_an_unknown_user_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_SPICE_GRAMMAR", "~nobody-of-this-name/x")
    with pytest.raises(ResourceError, match="CAPTIOUS_SPICE_GRAMMAR does not name a folder"):
        corenlp.find()


# ---- where it is brought from


@pytest.mark.parametrize("form", FORMS)
def test_grammar_is_fetched_from_a_file(tmp_path: Path, cache: Path, form: str) -> None:
    messages: list[str] = []
    fetched = corenlp.fetch(str(put(tmp_path / form, FORMS[form])), messages.append)
    assert fetched == located()
    assert fetched.is_built
    assert fetched.file.read_bytes() == PACKED
    assert fetched.label == f"corenlp-{FINGERPRINT}"
    assert len(messages) == (form == PACKED_WITHIN)
    assert all("is compressed and will be unpacked temporarily" in line for line in messages)
    assert {path.name for path in cache.rglob("*") if path.is_file()} == {GRAMMAR, "lock", fetched.index.name}


@pytest.mark.parametrize("parts", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_grammar_is_fetched_from_the_web(web: Web, form: str, parts: bool) -> None:
    web.parts = parts
    messages: list[str] = []
    fetched = corenlp.fetch(f"{web.url}/{form}", messages.append)
    assert fetched.grammar().words == WORDS
    assert any("cannot send parts" in line for line in messages) is not parts
    assert any("unpacked temporarily" in line for line in messages) is (form == PACKED_WITHIN)


@pytest.mark.parametrize("stored", [True, False], ids=["jar", "zip"])
def test_only_parts_of_a_big_archive_are_fetched(web: Web, stored: bool) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as jar:
        for number in range(6):
            jar.writestr(f"edu/stanford/model{number}", bytes(2_000_000))
            if number == 3:
                jar.writestr(IN_JAR, PACKED)
    web.files["/big"] = content.getvalue() if stored else distribution(content.getvalue(), STORED)
    corenlp.fetch(f"{web.url}/big")
    assert web.sent < 1_000_000 < 12_000_000 < len(web.files["/big"])


def zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


def with_a_byte_changed(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]


#: What is not the grammar, and what is said of it.
NONE = {
    "empty": (b"", "neither englishPCFG.ser.gz nor a complete zip"),
    "a page": (b"<!DOCTYPE html><html>404: not found</html>", "neither englishPCFG.ser.gz nor a complete zip"),
    "another jar": (zipped("edu/stanford/nlp/Main.class", b""), f"the zip does not contain {GRAMMAR} (it is in {JAR})"),
    "a jar without": (distribution(zipped("edu/x", b""), STORED), f"the zip does not contain {GRAMMAR}"),
    "text": (packed()[:10] + packed()[20:], ""),
    "cut": (PACKED[: len(PACKED) // 2], ""),
    "cut jar": (models_jar(PACKED)[:-40], "nor a complete zip"),
    "damaged jar": (with_a_byte_changed(models_jar(PACKED, STORED), 400), "nor a complete zip"),
    "damaged": (with_a_byte_changed(PACKED, 400), ""),
    "another grammar": (packed({"signatures": 5}), "a grammar for another parser"),
    "no grammar": (zipped(IN_JAR, b"no grammar"), "not a gzip file"),
}


@pytest.mark.parametrize("what", NONE)
@pytest.mark.parametrize("source", ["file", "web"])
def test_archive_without_a_grammar_is_refused(tmp_path: Path, cache: Path, web: Web, what: str, source: str) -> None:
    content, reason = NONE[what]
    web.files["/file"] = content
    web.parts = bool(content)
    path = str(put(tmp_path / "file", content)) if source == "file" else f"{web.url}/file"
    with pytest.raises(ResourceError, match="SPICE's grammar cannot be read") as caught:
        corenlp.fetch(path)
    assert reason in caught.value.message
    assert caught.value.where == path
    assert "repo1.maven.org" in caught.value.hint
    assert not [path for path in cache.rglob("*") if path.is_file()]


@pytest.mark.parametrize("source", ["missing", "", "/", "~nobody-of-this-name/x", "a\0b", "ftp://127.0.0.1/x"])
def test_missing_source_is_refused(tmp_path: Path, source: str) -> None:
    with pytest.raises(ResourceError, match="cannot be read"):
        corenlp.fetch(source or str(tmp_path))


def test_failing_download_leaves_no_grammar(web: Web) -> None:
    with pytest.raises(ResourceError, match="the server says 404"):
        corenlp.fetch(f"{web.url}/nothing")
    web.until = 0
    with pytest.raises(ResourceError, match="cannot be read"):
        corenlp.fetch(f"{web.url}/models.jar")
    assert corenlp.find() is None


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    corenlp.fetch(str(put(tmp_path / "good", PACKED)))
    with pytest.raises(ResourceError):
        corenlp.fetch(str(put(tmp_path / "bad", PACKED[:-10])))
    assert located().fingerprint == FINGERPRINT
    assert corenlp.fetch(str(put(tmp_path / "other", OTHER))).fingerprint == fingerprint_of(OTHER)
    assert located().fingerprint == fingerprint_of(OTHER)


def test_unusable_cache_is_reported(tmp_path: Path, cache: Path) -> None:
    cache.write_text("a file")
    with pytest.raises((ResourceError, OutputError), match="cache folder cannot be used"):
        corenlp.fetch(str(put(tmp_path / "file", PACKED)))


# ---- the compiled file


def test_grammar_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_SPICE_GRAMMAR", str(put(tmp_path / "file", PACKED)))
    grammar = located()
    assert not grammar.is_built
    first = grammar.grammar()
    assert grammar.is_built
    written = grammar.index.stat().st_mtime_ns
    monkeypatch.setattr(corenlp, "read_grammar", None)
    corenlp._opened_grammar.cache_clear()
    again = grammar.grammar()
    assert grammar.index.stat().st_mtime_ns == written
    assert (again.name, again.fingerprint, again.words) == (first.name, FINGERPRINT, WORDS)
    assert not again.seen.flags.writeable
    grammar.index.write_bytes(grammar.index.read_bytes()[:-1])
    assert not grammar.is_built


def test_damaged_grammar_is_refused_during_compilation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The fingerprint is what the file says of itself.
    path = put(tmp_path / "file", with_a_byte_changed(PACKED, 400))
    monkeypatch.setenv("CAPTIOUS_SPICE_GRAMMAR", str(path))
    grammar = located()
    with pytest.raises(ResourceError, match="SPICE's grammar cannot be read") as caught:
        grammar.build()
    assert caught.value.where == str(path)
    assert not grammar.is_built
    path.unlink()
    with pytest.raises(ResourceError, match="No such file"):
        grammar.build()


# ---- the published grammar


@pytest.mark.slow
def test_published_grammar_survives_compilation(
    corenlp_grammar: Path, published_grammar: Grammar, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAPTIOUS_SPICE_GRAMMAR", str(corenlp_grammar))
    grammar = located()
    assert grammar.label == "corenlp-3.6.0"
    grammar.build()
    assert grammar.index.stat().st_size < 4_000_000
    start = time.process_time()
    opened = grammar.grammar()
    assert time.process_time() - start < 0.1
    assert opened.name == "corenlp-3.6.0"
    for key, value in vars(published_grammar).items():
        same = np.array_equal(value, vars(opened)[key]) if isinstance(value, np.ndarray) else value == vars(opened)[key]
        assert same, key
