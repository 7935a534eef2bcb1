"""Setting up Django for a data folder, in any process."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

from captious.errors import ParameterError, ResourceError, needed_for
from captious.server.server_settings import DATA_VARIABLE, SQLITE, ServerSettings

SETTINGS_MODULE = "captious.server.django_settings"
_PASSWORD_FILE = "demo_password"


def set_up(data: Path | None = None, *, make: bool = False) -> None:
    """Make Django ready to be used.

    Args:
        data: the data folder; None if the environment names it.
        make: whether to create the folder and a server in it. Only its owner can read a new folder.

    Raises:
        ParameterError: a folder without a server, or settings that are not valid.
        ResourceError: the database cannot be used.
        MissingExtraError: the extra is not installed.
    """
    if data is not None:
        if make:
            try:
                data.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise ParameterError(
                    f"the data folder cannot be created: {error.strerror}",
                    where=str(data),
                    help="use captious serve --data DIR with a folder that exists or can be created",
                ) from error
        elif not (data.is_dir() and _may_hold_server(data)):
            raise _no_server(data)
        os.environ[DATA_VARIABLE] = str(data.absolute())
    os.environ["DJANGO_SETTINGS_MODULE"] = SETTINGS_MODULE
    with needed_for("the evaluation server", "server"):
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
        f"{data} is not the data folder of a server", help="create one with captious serve --data DIR"
    )


def _unusable(error: Exception) -> ResourceError:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return ResourceError(
        "the database cannot be used", where=lines[0], help="check that it is running and that DATABASE_URL is correct"
    )


def migrate() -> None:
    """Migrate the database, and queue submissions scored with another version of captious.

    Raises:
        ResourceError: the database cannot be used.
    """
    from django.core.management import call_command
    from django.db import Error

    try:
        call_command("migrate", verbosity=0, interactive=False)
        from captious.server.scoring.versions import change_program

        change_program()
    except Error as error:
        raise _unusable(error) from None


def make_administrator(name: str, password: str) -> None:
    """Make a new user or an existing one an administrator, with this password. Tokens and connected sites of the
    old one end."""
    from captious.server.models import User
    from captious.server.people.audit import record
    from captious.server.people.passwords import end_access

    user, _ = User.objects.get_or_create(username=name)
    user.is_active = user.is_staff = user.is_superuser = True
    user.set_password(password)
    user.save()
    end_access(user)
    record("make administrator", name)


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
    from django.conf import settings

    from captious.server.models import User

    if User.objects.filter(is_superuser=True).exists():
        return ""
    name, password = os.environ.get("CAPTIOUS_ADMIN", ""), os.environ.get("CAPTIOUS_ADMIN_PASSWORD", "")
    if name and not password:
        raise ParameterError("CAPTIOUS_ADMIN is set, but CAPTIOUS_ADMIN_PASSWORD is not", help="set both")
    if name:
        make_administrator(name, password)
        return _remark(password)
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
        make_administrator(*ask())
        return ""
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
    from captious.server.actions.challenge_store import load_challenge
    from captious.server.challenges.starter import write_demo
    from captious.server.models import Challenge

    if Challenge.objects.filter(slug="demo").exists():
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "demo"
        write_demo(folder)
        load_challenge(folder)
