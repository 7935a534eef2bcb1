"""SPICE's official grammar: found in CoreNLP's files, converted from Java objects, and compiled once."""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.errors import ResourceError
from captious.files import is_gzip, unpacked, whole_file
from captious.progress import Progress
from captious.resources.cache import Arrays, ResourceFiles, cache_folder, compiled, expanded, make_folder
from captious.resources.fetch import FileOfPieces, copied, installed_folder, is_url, opened
from captious.resources.grammar import ANY, Grammar

if TYPE_CHECKING:
    from captious.resources.java_objects import JavaObject


# Locating CoreNLP's English grammar in its published files.
#
# It is a file of 2 MB, ``englishPCFG.ser.gz``. The models jar, of 360 MB, contains it, and the distribution is a zip
# that contains that jar.

GRAMMAR = "englishPCFG.ser.gz"
MODELS_JAR = "stanford-corenlp-3.6.0-models.jar"

_LARGEST = 1 << 25  # bytes of a grammar, compressed or not; the stream of CoreNLP 3.6.0 has a fifth of it
_LOCAL_HEADER = struct.Struct("<4s22xHH")


def packed_grammar(file: IO[bytes], tell: Callable[[str], None] | None) -> bytes:
    """Return the content of ``englishPCFG.ser.gz``.

    Args:
        file: this file, a zip (or jar) that contains it, or a zip with a models jar that contains it.
        tell: called with a message before a whole jar is unpacked to disk; None to refuse such a jar.

    Raises:
        ValueError: another file, or a damaged one.
        OSError: it cannot be read.
    """
    if file.read(2) == b"\x1f\x8b":
        file.seek(0)
        return _bounded(file)
    try:
        with zipfile.ZipFile(file) as archive:
            return _read_member(archive, file, tell)
    except (EOFError, RuntimeError, struct.error, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"neither {GRAMMAR} nor a complete zip ({error})") from error


def _read_member(archive: zipfile.ZipFile, file: IO[bytes], tell: Callable[[str], None] | None) -> bytes:
    for entry in archive.infolist():
        if entry.filename.rpartition("/")[2] == GRAMMAR:
            with archive.open(entry) as member:
                return _bounded(member)
    for entry in archive.infolist():
        if entry.filename.endswith("-models.jar"):
            with _opened(archive, entry, file, tell) as inner, zipfile.ZipFile(inner) as jar:
                names = {name.rpartition("/")[2]: name for name in jar.namelist()}
                if GRAMMAR in names:
                    with jar.open(names[GRAMMAR]) as member:
                        return _bounded(member)
    raise ValueError(f"the zip does not contain {GRAMMAR} (it is in {MODELS_JAR})")


@contextmanager
def _opened(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, file: IO[bytes], tell: Callable[[str], None] | None
) -> Iterator[IO[bytes]]:
    """Open a member of an archive as a seekable file."""
    name = entry.filename.rpartition("/")[2]
    if entry.compress_type == zipfile.ZIP_STORED:
        file.seek(entry.header_offset)
        _, of_name, of_more = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
        start = entry.header_offset + _LOCAL_HEADER.size + of_name + of_more
        yield io.BufferedReader(_Window(file, start, entry.file_size))
    elif tell is not None:
        tell(f"{name} is compressed and will be unpacked temporarily: {entry.file_size / 1e6:,.0f} MB")
        with archive.open(entry) as member, copied(member, entry.file_size, f"unpacking {name}") as copy:
            yield copy
    else:
        raise ValueError(f"{name} inside it is compressed and too large to unpack every time")


class _Window(FileOfPieces):
    """A range of a file as a file."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        super().__init__(size)
        self._file, self._start = file, start

    def _piece(self, at: int, size: int) -> bytes:
        self._file.seek(self._start + at)
        return self._file.read(size)


def _bounded(file: IO[bytes]) -> bytes:
    content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError(f"much larger than {GRAMMAR}")
    return content


# Conversion of a CoreNLP grammar, ``englishPCFG.ser.gz``, from the Java objects in the file.
#
# The file is a ``LexicalizedParser``: indexes of states, tags and words; lists of rules; and a lexicon of counters
# whose keys are pairs of a tag and a word.

_Counts: TypeAlias = tuple[NDArray[np.int32], NDArray[np.float64]]

_PARSER = "edu.stanford.nlp.parser.lexparser.LexicalizedParser"
_UNKNOWN_WORDS = "edu.stanford.nlp.parser.lexparser.EnglishUnknownWordModel"

#: What the parser assumes, because it holds in CoreNLP 3.6.0: where it is in the file, and its value.
_GRANTED: dict[tuple[str, ...], object] = {
    ("dg",): None,
    ("reranker",): None,
    ("lex", "flexiTag"): True,
    ("lex", "smoothInUnknownsThreshold"): 100,
    ("lex", "useSignatureForKnownSmoothing"): False,
    ("op", "lexOptions", "useUnknownWordSignatures"): 2,
    ("op", "lexOptions", "unknownSuffixSize"): 1,
    ("op", "trainOptions", "openClassTypesThreshold"): 50,
}
_SMOOTHING = [1.0, 0.2]  # for unknown and known words


def fingerprint_of(packed: bytes) -> str:
    """Return sixteen hex digits that identify the content of a gzip file: the CRC-32 and the length at its end, which
    are verified on reading.
    """
    if len(packed) < 18 or not is_gzip(packed):
        raise ValueError("not a gzip file")
    return packed[-8:-4][::-1].hex() + packed[-4:][::-1].hex()


def read_grammar(packed: bytes, name: str) -> Grammar:
    """Read the grammar of a file.

    Args:
        packed: content of ``englishPCFG.ser.gz``.
        name: name in signatures.

    Raises:
        ValueError: a truncated or damaged file, or another one.
    """
    from captious.resources.java_objects import JavaObject, read_object

    parser = read_object(_unpacked(packed))
    if not isinstance(parser, JavaObject) or parser.type.name != _PARSER:
        raise ValueError("not a grammar of CoreNLP's lexicalized parser")
    try:
        grammar = _grammar(parser, name, fingerprint_of(packed))
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
        raise ValueError(f"the format is not that of CoreNLP 3.6.0's grammar ({error!r})") from error
    _check(grammar)
    return grammar


def _unpacked(packed: bytes) -> bytes:
    try:
        with unpacked(io.BytesIO(packed)) as file:
            return _bounded(file)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{error}") from error


def _grammar(parser: JavaObject, name: str, fingerprint: str) -> Grammar:
    for path, expected in _GRANTED.items():
        value: Any = parser
        for field in path:
            value = value[field]
        if value != expected:
            raise ValueError(f"a grammar for another parser: {'.'.join(path)} is {value}, not {expected}")
    lexicon, unknown = parser["lex"], parser["lex"]["uwModel"]
    if unknown.type.name != _UNKNOWN_WORDS or lexicon["smooth"].tolist() != _SMOOTHING:
        raise ValueError("a grammar for another parser: its model of unknown words differs")
    binary = _items(parser["bg"]["allRules"])
    unary = _keys_and_values(parser["ug"]["coreRules"])[0]
    seen, seen_counts = _counts(lexicon["seenCounter"])
    unseen, unseen_counts = _counts(unknown["unSeenCounter"])
    return Grammar(
        name=name,
        fingerprint=fingerprint,
        states=_strings(parser["stateIndex"]),
        tags=_strings(parser["tagIndex"]),
        words=_strings(parser["wordIndex"]),
        binary_rules=_table(binary, ("parent", "leftChild", "rightChild")),
        binary_scores=np.array([rule["score"] for rule in binary], np.float32),
        unary_rules=_table(unary, ("parent", "child")),
        unary_scores=np.array([rule["score"] for rule in unary], np.float32),
        seen=seen,
        seen_counts=seen_counts,
        unseen=unseen,
        unseen_counts=unseen_counts,
    )


def _table(objects: Sequence[JavaObject], fields: Sequence[str]) -> NDArray[np.int32]:
    return np.array([[instance[field] for field in fields] for instance in objects], np.int32).reshape(-1, len(fields))


def _counts(counter: JavaObject) -> _Counts:
    """Convert a ``ClassicCounter`` over pairs of a tag and a word."""
    keys, values = _keys_and_values(counter["map"])
    return _table(keys, ("tag", "word")), np.array([value["d"] for value in values], np.float64)


def _strings(index: JavaObject) -> tuple[str, ...]:
    """Convert a ``HashIndex`` of strings."""
    strings = _items(index["objects"])
    if not all(isinstance(string, str) for string in strings):
        raise TypeError("an index of strings contains other items")
    return tuple(strings)


def _items(array_list: JavaObject) -> Sequence[Any]:
    """Return the items of a ``java.util.ArrayList``, which writes its capacity, then its items."""
    items = array_list.written[1:]
    if len(items) != array_list["size"]:
        raise TypeError("a list without its items")
    return items


def _keys_and_values(hash_map: JavaObject) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return the entries of a ``java.util.HashMap``, which writes its numbers of buckets and of entries, then these."""
    sizes, entries = hash_map.written[0], hash_map.written[1:]
    if len(entries) != 2 * int.from_bytes(sizes[4:8], "big"):
        raise TypeError("a map without its entries")
    return entries[0::2], entries[1::2]


def _check(grammar: Grammar) -> None:
    """Check that every number is a valid reference, and that nothing is infinite.

    Raises:
        ValueError: names the invalid arrays.
    """
    tables = {
        "rules": ((grammar.binary_rules, grammar.unary_rules), (grammar.states,) * 3, 0),
        "counts": ((grammar.seen, grammar.unseen), (grammar.tags, grammar.words), ANY),
    }
    for what, (arrays, names, least) in tables.items():
        for array in arrays:
            if len(array) == 0:
                raise ValueError(f"a grammar without {what}")
            for column, of in zip(array.T, names, strict=False):
                if column.min() < least or column.max() >= len(of):
                    raise ValueError(f"a grammar whose {what} refer to missing entries")
    for numbers in (grammar.binary_scores, grammar.unary_scores, grammar.seen_counts, grammar.unseen_counts):
        if not np.isfinite(numbers).all():
            raise ValueError("a grammar with infinite or NaN numbers")


# SPICE's official grammar: CoreNLP 3.6.0's English PCFG, read from the user's files.
#
# It is searched for at the path in ``CAPTIOUS_SPICE_GRAMMAR``, where ``fetch`` puts it, and where pycocoevalcap and
# aac-metrics keep CoreNLP's models (their code is never imported). It is compiled once into the cache folder.

#: The command that installs the grammar.
INSTALL = "captious resources get spice-grammar"

#: The addresses where it is published; of the first, 2 MB are downloaded.
_PUBLISHED_AT = (
    f"https://repo1.maven.org/maven2/edu/stanford/nlp/stanford-corenlp/3.6.0/{MODELS_JAR}",
    "https://nlp.stanford.edu/software/stanford-corenlp-full-2015-12-09.zip",
)
_SOURCES = f"""PATH_OR_URL is {GRAMMAR}, or CoreNLP 3.6.0's models jar or distribution zip; both contain the grammar:
  {_PUBLISHED_AT[0]}
  {_PUBLISHED_AT[1]}
  without it, SPICE uses the bundled approximate grammar"""

# How the grammar may have been found.
_VARIABLE = "CAPTIOUS_SPICE_GRAMMAR"
_FETCHED = "captious resources get spice-grammar"
_PACKAGE = "package pycocoevalcap"
_AAC = "cache of aac-metrics"
_NAMED = ""  # by the user, just now

_UNREADABLE = "SPICE's grammar cannot be read: "

#: Fingerprint of the published file.
_PUBLISHED = "7e035e8900611f89"


@dataclass(frozen=True)
class SpiceGrammar(ResourceFiles):
    """A file found on this machine.

    Args:
        file: ``englishPCFG.ser.gz``, or a jar or zip that contains it.
    """

    file: Path

    name = "spice-grammar"
    format = 2

    @property
    def label(self) -> str:
        """The grammar in signatures."""
        return f"corenlp-{'3.6.0' if self.fingerprint == _PUBLISHED else self.fingerprint}"

    def grammar(self) -> Grammar:
        """Return the grammar, compiled if necessary; its tables are mapped into memory.

        Raises:
            ResourceError: a damaged file, or a cache folder that cannot be used.
        """
        return _opened_grammar(self)

    def _compile(self, progress: Progress) -> Arrays:
        progress.reach(5, "compiling SPICE's grammar (once)")
        with _trouble_with(self.file, self.origin), open(self.file, "rb") as file:
            return read_grammar(packed_grammar(file, tell=None), self.label).arrays()


@cache
def _opened_grammar(grammar: SpiceGrammar) -> Grammar:
    return Grammar.from_arrays(grammar.arrays(), grammar.label, grammar.fingerprint)


def find() -> SpiceGrammar | None:
    """Return the grammar, if it is on this machine.

    Raises:
        ResourceError: ``CAPTIOUS_SPICE_GRAMMAR`` names no file that contains it, or the file found is damaged.
    """
    if path := os.environ.get(_VARIABLE, ""):
        return _read_grammar(expanded(path, _VARIABLE), _VARIABLE)
    for file, origin in _places():
        if os.path.isfile(file):  # also false where access is denied
            return _read_grammar(file, origin)
    return None


def fetch(source: str = "", tell: Callable[[str], None] = lambda line: None) -> SpiceGrammar:
    """Extract the grammar into the cache folder and compile it.

    Args:
        source: path or URL of the file, a models jar or the distribution zip; by default, the URLs where CoreNLP is
            published, tried in turn.
        tell: called with messages, line by line, about slow steps.

    Raises:
        ResourceError: it cannot be read, is damaged or has no such grammar, comes from a publisher's URL but is not the
            published one, or the cache folder cannot be used.
        OutputError: the file cannot be written.
    """
    if source:
        return _fetched_from(source, tell)
    failures = []
    for address in _PUBLISHED_AT:
        tell(f"reading {address}")
        try:
            return _fetched_from(address, tell, expected=_PUBLISHED)
        except ResourceError as error:
            failures.append(f"{address}: {error.message.removeprefix(_UNREADABLE)}")
            tell(failures[-1])
    raise ResourceError(
        "SPICE's grammar cannot be downloaded",
        where="\n".join(failures),
        hint=f"copy it from another machine: {INSTALL} --from PATH_OR_URL\n  {_SOURCES}",
    )


def _fetched_from(source: str, tell: Callable[[str], None], expected: str = "") -> SpiceGrammar:
    """Return the grammar in a file, with the expected fingerprint, if there is one."""
    make_folder(_fetched().parent)
    with _trouble_with(source, _NAMED), _source(source, tell) as file:
        content = packed_grammar(file, tell)
        grammar = SpiceGrammar(_FETCHED, fingerprint_of(content), _fetched())
        if expected and grammar.fingerprint != expected:
            raise ValueError(f"its checksum is {grammar.fingerprint}, that of the published grammar {expected}")
        arrays = read_grammar(content, grammar.label).arrays()
    with whole_file(grammar.file, "wb") as copy:
        copy.write(content)
    compiled(grammar.index, grammar.fingerprint, lambda progress: arrays)
    return grammar


def _source(source: str, tell: Callable[[str], None]) -> AbstractContextManager[IO[bytes]]:
    return opened(source, tell) if is_url(source) else open(os.path.expanduser(source), "rb")


def _fetched() -> Path:
    return cache_folder() / "spice-grammar" / GRAMMAR


def _places() -> Iterator[tuple[Path, str]]:
    """Return the paths where the grammar may be, and their names in messages."""
    yield _fetched(), _FETCHED
    if (package := installed_folder("pycocoevalcap")) is not None:
        yield package / "spice" / "lib" / MODELS_JAR, _PACKAGE
    caches = os.path.expandvars(os.path.expanduser(os.environ.get("AAC_METRICS_CACHE_PATH", "~/.cache")))
    yield Path(caches) / "aac-metrics" / "spice" / "lib" / MODELS_JAR, _AAC


def _read_grammar(path: Path, origin: str) -> SpiceGrammar:
    with _trouble_with(path, origin), open(path, "rb") as file:
        return SpiceGrammar(origin, fingerprint_of(packed_grammar(file, tell=None)), path)


@contextmanager
def _trouble_with(source: str | Path, origin: str) -> Iterator[None]:
    """Turn problems with a file into errors; the help depends on how it was found."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        help = {
            _VARIABLE: f"set {_VARIABLE} to {GRAMMAR} or to {MODELS_JAR}, or unset it and {INSTALL}",
            _NAMED: _SOURCES,
        }
        raise ResourceError(
            f"{_UNREADABLE}{reason}",
            where=f"{source}",
            hint=help.get(origin, f"get it again: {INSTALL}"),
        ) from error
