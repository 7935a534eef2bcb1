"""SPICE's official grammar: CoreNLP 3.6.0's English PCFG, read from the user's files.

It is searched for at the path in ``CAPTIOUS_SPICE_GRAMMAR``, where ``fetch`` puts it, and where pycocoevalcap and
aac-metrics keep CoreNLP's models (their code is never imported). It is compiled once into the cache folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from captious.errors import ResourceError
from captious.files.atomic_write import whole_file
from captious.progress import Progress
from captious.resources.arrays import Arrays
from captious.resources.cache import cache_folder, expanded, make_folder
from captious.resources.compiled_files import ResourceFiles, compiled
from captious.resources.grammars.corenlp_files import GRAMMAR, MODELS_JAR, packed_grammar
from captious.resources.grammars.corenlp_grammar import fingerprint_of, read_grammar
from captious.resources.grammars.grammar import Grammar
from captious.resources.remote_files import is_url, opened
from captious.resources.wheels import installed_folder

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
        return _opened(self)

    def _compile(self, progress: Progress) -> Arrays:
        progress.reach(5, "compiling SPICE's grammar (once)")
        with _trouble_with(self.file, self.origin), open(self.file, "rb") as file:
            return read_grammar(packed_grammar(file, tell=None), self.label).arrays()


@cache
def _opened(grammar: SpiceGrammar) -> Grammar:
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
        help=f"copy it from another machine: {INSTALL} --from PATH_OR_URL\n  {_SOURCES}",
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


@contextmanager
def _source(source: str, tell: Callable[[str], None]) -> Iterator[IO[bytes]]:
    if is_url(source):
        with opened(source, tell) as file:
            yield file
    else:
        with open(os.path.expanduser(source), "rb") as file:
            yield file


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
            help=help.get(origin, f"get it again: {INSTALL}"),
        ) from error
