"""Setting up Django for a data folder, in any process; and backup and restore."""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import tomlkit
from django.conf import settings

from captious.errors import (
    CaptionFileError,
    CaptiousError,
    MissingExtraError,
    OutputError,
    ParameterError,
    ResourceError,
)
from captious.files import whole_file
from captious.progress import Progress
from captious_server.settings import DATA_VARIABLE, FILE_NAME, SQLITE, ServerSettings

# Backup and restore. A backup can be made while the server runs: SQLite's own copy, then the files it refers to.
#
# Files of submissions and challenges never change once a row refers to them, so a copy of the database with the
# files present later is complete. Submissions that were scored again or deleted meanwhile are an exception,
# which ``settle`` resolves after a restoration. The last file of a backup names all others with their checksums.

_POSTGRES_NAME = "database.dump"
_FOLDER_NAMES = ("challenges", "drafts", "submissions")
_FILE_NAMES = ("secret_key", "captious.toml")
_CHECKSUMS_NAME = "checksums.json"
_DISK = "check that the disk of the folder is not full, and that its files can be read and written"


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
        raise OutputError(f"{data} is not empty", hint="restore into a folder that does not exist yet")
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

    A settings file that names the former database names this one afterwards.

    Raises:
        CaptiousError: no database, one that is not empty, or ``pg_restore`` failed. Nothing was loaded.
        ResourceError: the database cannot be used.
    """
    from django.db import Error, connection

    dump, address = data / _POSTGRES_NAME, settings.CAPTIOUS.database_url
    if not dump.exists():
        return
    hint = "set DATABASE_URL to the address of an empty database, such as one that createdb makes"
    if not address:
        raise CaptiousError("the backup is of a PostgreSQL database", hint=hint)
    try:
        tables = connection.introspection.table_names()
    except Error as error:
        raise _unusable(error) from None
    if tables:
        raise CaptiousError("the database is not empty", where=f"it has a table {tables[0]}", hint=hint)
    options = ["--no-owner", "--exit-on-error", "--single-transaction"]
    _run(["pg_restore", *options, "--dbname", address, str(dump)])
    dump.unlink()
    file = data / FILE_NAME
    if file.exists() and "database_url" in (document := tomlkit.parse(file.read_text("utf-8"))):
        document["database_url"] = address
        with whole_file(file) as new:
            new.write(tomlkit.dumps(document))


def settle() -> tuple[int, int]:
    """Reconcile changes made during a backup, after its restoration.

    Submissions without results are scored again, those without captions are deleted.

    Returns:
        The number of submissions that are scored again and of those that are deleted.
    """
    from captious_server.models import Submission
    from captious_server.scoring.queue import queue_again
    from captious_server.submissions import storage

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
    try:
        with (
            closing(sqlite3.connect(settings.CAPTIOUS.data / SQLITE)) as source,
            closing(sqlite3.connect(file)) as copy,
        ):
            source.backup(copy)
    except sqlite3.Error as error:
        raise OutputError(f"cannot write a copy of the database to {place}", where=str(error), hint=_DISK) from None
    return file


def _run(command: list[str]) -> None:
    try:
        result = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise MissingExtraError(
            f"{command[0]} is not installed", hint="install the client programs of PostgreSQL"
        ) from None
    if result.returncode:
        raise CaptiousError(f"{command[0]} failed", where=result.stderr.strip()[-1000:])


# Setup: Django, the database, the first administrator and the demonstration.

SETTINGS_MODULE = "captious_server.django_settings"
_PASSWORD_FILE = "demo_password"


def set_up(data: Path | None = None, *, make: bool = False) -> None:
    """Make Django ready to be used.

    Args:
        data: the data folder; None if the environment names it.
        make: whether to create the folder and a server in it. Only its owner can read a new folder.

    Raises:
        ParameterError: a folder without a server, or settings that are not valid.
        ResourceError: the database cannot be used.
    """
    if data is not None:
        if make:
            try:
                data.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise ParameterError(
                    f"the data folder cannot be created: {error.strerror}",
                    where=str(data),
                    hint="use captious serve --data DIR with a folder that exists or can be created",
                ) from error
        elif not (data.is_dir() and _may_hold_server(data)):
            raise _no_server(data)
        os.environ[DATA_VARIABLE] = str(data.absolute())
    os.environ["DJANGO_SETTINGS_MODULE"] = SETTINGS_MODULE
    import django

    django.setup()
    if data is not None and not make:
        from django.db import Error, connection

        try:
            if "captious_user" not in connection.introspection.table_names():
                raise _no_server(data)
        except Error as error:
            raise _unusable(error) from None


def _may_hold_server(data: Path) -> bool:
    """Return whether there is a SQLite database, or the settings name another one."""
    return (data / SQLITE).exists() or bool(ServerSettings.load(data).database_url)


def _no_server(data: Path) -> ParameterError:
    return ParameterError(
        f"{data} is not the data folder of a server", hint="create one with captious serve --data DIR"
    )


def _unusable(error: Exception) -> ResourceError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    is_on_disk = not settings.CAPTIOUS.database_url
    hint = _DISK if is_on_disk else "check that it is running and that DATABASE_URL is correct"
    return ResourceError("the database cannot be used", where=lines[0], hint=hint)


def migrate() -> None:
    """Migrate the database, and queue submissions scored with another version of captious.

    Raises:
        ResourceError: the database cannot be used.
    """
    from django.core.management import call_command
    from django.db import Error

    try:
        call_command("migrate", verbosity=0, interactive=False)
        _check_tables()
        call_command("createcachetable", verbosity=0)
        from captious_server.scoring.queue import change_program

        change_program()
    except Error as error:
        raise _unusable(error) from None


def _check_tables() -> None:
    """Refuse a database without a table or column of this version, which no page could use.

    Raises:
        ResourceError: it lacks one.
    """
    from django.apps import apps
    from django.db import connection

    with connection.cursor() as cursor:
        tables = {*connection.introspection.table_names(cursor)}
        for model in (model for model in apps.get_models() if model._meta.managed):
            name, needed = model._meta.db_table, {str(f.column) for f in model._meta.local_concrete_fields}
            found = connection.introspection.get_table_description(cursor, name) if name in tables else []
            if missing := sorted(needed - {column.name for column in found}):
                raise ResourceError(
                    "the database was made by another version of captious-server",
                    where=f"its table {name} has no {missing[0]}",
                    hint="use that version, or a new data folder",
                )


def make_administrator(name: str, password: str) -> str:
    """Make a new user or an existing one an administrator, with this password; return a warning if it is weak.

    Tokens and connected sites of the old one end, and its address counts as confirmed.
    """
    from captious_server.models import User
    from captious_server.people.accounts import record
    from captious_server.people.sign_in import confirm_address, end_access

    user, _ = User.objects.get_or_create(username=name)
    user.is_active = user.is_staff = user.is_superuser = True
    user.set_password(password)
    user.save()
    if user.email:
        confirm_address(user)
    end_access(user)
    record("make administrator", name)
    return _remark(password)


def first_administrator(ask: Callable[[], tuple[str, str]] | None, *, demo: bool, show: bool) -> str:
    """Make the first administrator if there is none.

    Args:
        ask: prompts for a name and a password; None if that is impossible.
        demo: whether to create one with a random password as a last resort.
        show: whether the message goes to a person and may contain that password. Otherwise it goes to a log,
            and the password to a file in the data folder.

    Returns:
        A message for the person at the command line; may be empty.

    Raises:
        ParameterError: ``CAPTIOUS_ADMIN`` is set without a password.
    """

    from captious_server.models import User

    if User.objects.filter(is_superuser=True).exists():
        return ""
    name, password = os.environ.get("CAPTIOUS_ADMIN", ""), os.environ.get("CAPTIOUS_ADMIN_PASSWORD", "")
    if name and not password:
        raise ParameterError("CAPTIOUS_ADMIN is set, but CAPTIOUS_ADMIN_PASSWORD is not", hint="set both")
    if name:
        return make_administrator(name, password)
    if demo:
        password = secrets.token_urlsafe(9)
        make_administrator("admin", password)
        if show:
            return f"administrator: admin, password: {password}"
        file = settings.CAPTIOUS.data / _PASSWORD_FILE
        file.touch(0o600)
        file.write_text(f"{password}\n")
        return f"administrator: admin, password: in {file}"
    if ask is not None:
        return make_administrator(*ask())
    return "There is no administrator yet. Create one with captious serve admin --data DIR --user NAME"


def _remark(password: str) -> str:
    """A warning if an administrator's password is weak; empty otherwise."""
    from django.contrib.auth.password_validation import validate_password
    from django.core.exceptions import ValidationError

    try:
        validate_password(password)
    except ValidationError as error:
        return f"warning: the administrator's password is weak. {' '.join(error.messages)}"
    return ""


def load_demo() -> None:
    """Load the challenge "demo" if it does not exist."""
    from captious_server.actions.loading import load_challenge
    from captious_server.challenges.starter import write_demo
    from captious_server.models import Challenge

    if Challenge.objects.filter(slug="demo").exists():
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "demo"
        write_demo(folder)
        load_challenge(folder)
