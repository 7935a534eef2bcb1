"""Backup and restore. A backup can be made while the server runs: SQLite's own copy, then the files it speaks of.

Files of submissions and challenges never change once a row names them, so a copy of the database together with the
files that are there later is complete.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from contextlib import closing
from pathlib import Path

from django.conf import settings

from captious.atomic_write import whole_file
from captious.errors import CaptionFileError, CaptiousError, MissingExtraError, OutputError
from captious.progress import Progress

__all__ = ["backup", "restore", "restore_database"]

_SQLITE = "database.sqlite3"
_POSTGRES = "database.dump"
_FOLDERS = ("challenges", "submissions")
_FILES = ("secret_key", "captious.toml")


def backup(target: Path) -> int:
    """Write a backup, a tar file; gives the number of files in it.

    Raises:
        OutputError: it cannot be written.
        MissingExtraError: PostgreSQL is used, and its ``pg_dump`` is not here.
    """
    data: Path = settings.CAPTIOUS.data
    with tempfile.TemporaryDirectory(dir=data, prefix=".backup-") as place:
        database = _dump(Path(place))
        files = [data / name for name in _FILES if (data / name).exists()]
        for folder in _FOLDERS:
            files += sorted(path for path in (data / folder).rglob("*") if path.is_file())
        with whole_file(target, "wb") as out, tarfile.open(fileobj=out, mode="w") as archive:
            archive.add(database, database.name)
            with Progress(len(files)) as progress:
                for file in files:
                    progress.step(f"backing up {target.name}")
                    try:
                        archive.add(file, str(file.relative_to(data)))
                    except FileNotFoundError:
                        continue  # deleted meanwhile
    os.chmod(target, 0o600)  # references and passwords are in it
    return len(files) + 1


def restore(source: Path, data: Path) -> int:
    """Make a data folder from a backup; gives the number of files.

    Raises:
        OutputError: the folder is not empty, or cannot be written.
        CaptionFileError: not a backup, or a damaged one. Nothing was restored.
    """
    if data.exists() and any(data.iterdir()):
        raise OutputError(f"{data} is not empty", help="restore into a folder that does not exist yet")
    data.parent.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(dir=data.parent, prefix=".restore-"))
    try:
        try:
            with tarfile.open(source) as archive:
                names = archive.getnames()
                archive.extractall(place, filter="data")
        except (tarfile.TarError, EOFError) as error:
            raise CaptionFileError(f"{source} is not a backup, or is damaged", where=str(error)) from None
        if not {_SQLITE, _POSTGRES} & set(names):
            raise CaptionFileError(f"{source} is not a backup", where="there is no database in it")
        if data.exists():
            data.rmdir()
        place.chmod(0o700)
        os.rename(place, data)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return len(names)


def restore_database(data: Path) -> None:
    """Load the PostgreSQL dump of a restored folder into the database of the settings; with SQLite, do nothing.

    Raises:
        CaptiousError: ``pg_restore`` failed.
    """
    dump = data / _POSTGRES
    if not dump.exists():
        return
    if not settings.CAPTIOUS.database_url:
        raise CaptiousError("the backup is of a PostgreSQL database", help="set DATABASE_URL to an empty database")
    _run(["pg_restore", "--no-owner", "--exit-on-error", "--dbname", settings.CAPTIOUS.database_url, str(dump)])
    dump.unlink()


def _dump(place: Path) -> Path:
    if settings.CAPTIOUS.database_url:
        file = place / _POSTGRES
        _run(["pg_dump", "--format=custom", "--file", str(file), "--dbname", settings.CAPTIOUS.database_url])
        return file
    file = place / _SQLITE
    with closing(sqlite3.connect(settings.CAPTIOUS.data / _SQLITE)) as source, closing(sqlite3.connect(file)) as copy:
        source.backup(copy)
    return file


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise MissingExtraError(
            f"{command[0]} is not installed", help="install the client programs of PostgreSQL"
        ) from None
    if done.returncode:
        raise CaptiousError(f"{command[0]} failed", where=done.stderr.strip()[-1000:])
