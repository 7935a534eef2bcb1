"""Backup and restore. A backup can be made while the server runs: SQLite's own copy, then the files it refers to.

Files of submissions and challenges never change once a row refers to them, so a copy of the database with the
files present later is complete. Submissions that were scored again or deleted meanwhile are an exception,
which ``settle`` resolves after a restoration. The last file of a backup names all others with their checksums.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from contextlib import closing, suppress
from pathlib import Path

from django.conf import settings

from captious.errors import CaptionFileError, CaptiousError, MissingExtraError, OutputError
from captious.files.atomic_write import whole_file
from captious.progress import Progress
from captious.server.server_settings import SQLITE

_POSTGRES_NAME = "database.dump"
_FOLDER_NAMES = ("challenges", "drafts", "submissions")
_FILE_NAMES = ("secret_key", "captious.toml")
_CHECKSUMS_NAME = "checksums.json"


def backup(target: Path) -> int:
    """Write a backup, a tar file; return the number of files in it.

    Raises:
        OutputError: it cannot be written.
        MissingExtraError: PostgreSQL is used, and ``pg_dump`` is not installed.
    """
    data: Path = settings.CAPTIOUS.data
    with tempfile.TemporaryDirectory(dir=data, prefix=".backup-") as place:
        database = _dump(Path(place))
        files = [data / name for name in _FILE_NAMES if (data / name).exists()]
        for folder in _FOLDER_NAMES:
            files += sorted(path for path in (data / folder).rglob("*") if _is_finished(path.relative_to(data), path))
        checksums: dict[str, str] = {}
        with whole_file(target, "wb") as out, tarfile.open(fileobj=out, mode="w") as archive:
            os.fchmod(out.fileno(), 0o600)  # it contains references and passwords
            _add(archive, database, database.name, checksums)
            with Progress(len(files)) as progress:
                for file in files:
                    progress.step(f"backing up {target.name}")
                    _add(archive, file, str(file.relative_to(data)), checksums)
            content = json.dumps(checksums).encode()
            entry = tarfile.TarInfo(_CHECKSUMS_NAME)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    os.chmod(target, 0o600)
    return len(checksums)


def _is_finished(name: Path, path: Path) -> bool:
    """Return whether a file is complete: names of unfinished files begin with a dot."""
    parts = name.parts[2:3] if name.parts[0] == "challenges" else name.parts  # versions may have such files
    return not any(part.startswith(".") for part in parts) and path.is_file()


def _add(archive: tarfile.TarFile, path: Path, name: str, checksums: dict[str, str]) -> None:
    """Add a file, unless it was deleted meanwhile."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        checksums[name] = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        archive.addfile(archive.gettarinfo(arcname=name, fileobj=file), file)


def restore(source: Path, data: Path) -> int:
    """Make a data folder from a backup; return the number of files.

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
                archive.extractall(place, filter="data")
        except (tarfile.TarError, EOFError) as error:
            raise CaptionFileError(f"{source} is not a backup, or is damaged", where=str(error)) from None
        except OSError as error:
            raise CaptionFileError(f"{source} cannot be restored", where=error.strerror or str(error)) from None
        names = _verified_checksums(place, source)
        if data.exists():
            data.rmdir()
        place.chmod(0o700)
        os.rename(place, data)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return len(names)


def _verified_checksums(place: Path, source: Path) -> dict[str, str]:
    """Verify that a backup is complete and undamaged; return the checksums of its files by name."""
    file = place / _CHECKSUMS_NAME
    if not file.is_file():
        raise CaptionFileError(
            f"{source} is not a backup, or is damaged", where="its last file, the checksums, is missing"
        )
    try:
        checksums: dict[str, str] = json.loads(file.read_bytes())
        for name, checksum in checksums.items():
            with (place / name).open("rb") as stream:
                if hashlib.file_digest(stream, "sha256").hexdigest() != checksum:
                    raise CaptionFileError(f"{source} is damaged", where=f"the checksum of {name} does not match")
    except (ValueError, AttributeError, OSError) as error:
        raise CaptionFileError(f"{source} is damaged", where=str(error)) from None
    if not {SQLITE, _POSTGRES_NAME} & checksums.keys():
        raise CaptionFileError(f"{source} is not a backup", where="there is no database in it")
    file.unlink()
    return checksums


def restore_database(data: Path) -> None:
    """Load the PostgreSQL dump of a restored folder into the database of the settings; with SQLite, do nothing.

    Raises:
        CaptiousError: ``pg_restore`` failed.
    """
    dump = data / _POSTGRES_NAME
    if not dump.exists():
        return
    if not settings.CAPTIOUS.database_url:
        raise CaptiousError(
            "the backup is of a PostgreSQL database", help="set DATABASE_URL to the address of an empty database"
        )
    _run(["pg_restore", "--no-owner", "--exit-on-error", "--dbname", settings.CAPTIOUS.database_url, str(dump)])
    dump.unlink()


def settle() -> tuple[int, int]:
    """Reconcile changes made during a backup, after its restoration.

    Submissions without results are scored again, those without captions are deleted.

    Returns:
        The number of submissions that are scored again and of those that are deleted.
    """
    from captious.server.models import Submission
    from captious.server.scoring.queue import queue_again
    from captious.server.submissions import storage

    status = Submission.Status
    n_again = n_deleted = 0

    def has_results(submission: Submission) -> bool:
        """Return whether the file of its last scores exists; those of older ones cannot be recomputed."""
        scores = submission.all_scores.last()
        return scores is not None and (submission.folder / scores.results_file).is_file()

    for submission in Submission.objects.exclude(status=status.DELETED).select_related("phase"):
        rows = Submission.objects.filter(pk=submission.pk)
        if not all(storage.captions_file(submission.folder, name).is_file() for name in submission.phase.captions):
            n_deleted += storage.delete(rows)
        elif submission.status == status.DONE and not has_results(submission):
            n_again += queue_again(rows)
    return n_again, n_deleted


def _dump(place: Path) -> Path:
    if settings.CAPTIOUS.database_url:
        file = place / _POSTGRES_NAME
        _run(["pg_dump", "--format=custom", "--file", str(file), "--dbname", settings.CAPTIOUS.database_url])
        return file
    file = place / SQLITE
    with closing(sqlite3.connect(settings.CAPTIOUS.data / SQLITE)) as source, closing(sqlite3.connect(file)) as copy:
        source.backup(copy)
    return file


def _run(command: list[str]) -> None:
    try:
        result = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise MissingExtraError(
            f"{command[0]} is not installed", help="install the client programs of PostgreSQL"
        ) from None
    if result.returncode:
        raise CaptiousError(f"{command[0]} failed", where=result.stderr.strip()[-1000:])
