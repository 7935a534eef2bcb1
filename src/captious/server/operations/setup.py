"""Setting up Django for a data folder, in any process."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

from captious.errors import MissingExtraError, ParameterError
from captious.server.settings import DATA_VARIABLE

__all__ = ["SETTINGS_MODULE", "first_administrator", "load_demo", "make_administrator", "migrate", "set_up"]

SETTINGS_MODULE = "captious.server.django_settings"


def set_up(data: Path | None = None, *, make: bool = False) -> None:
    """Make Django ready to be used.

    Args:
        data: the data folder; None if the environment names it.
        make: make the folder if it does not exist.

    Raises:
        ParameterError: no such folder, or settings that are not valid.
        MissingExtraError: the extra is not installed.
    """
    if data is not None:
        if make:
            data.mkdir(parents=True, exist_ok=True)
        if not data.is_dir():
            raise ParameterError(f"there is no folder {data}", help="captious serve --data DIR makes it")
        os.environ[DATA_VARIABLE] = str(data.absolute())
    os.environ["DJANGO_SETTINGS_MODULE"] = SETTINGS_MODULE
    try:
        import django
    except ImportError:
        raise MissingExtraError("Django is not installed", help="pip install 'captious[server]'") from None
    django.setup()


def migrate() -> None:
    """Bring the database to the current layout."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)


def make_administrator(name: str, password: str) -> None:
    """Make an administrator, or an administrator of a user, with this password."""
    from captious.server.models import User
    from captious.server.people.audit import record

    user, _ = User.objects.get_or_create(username=name)
    user.is_active = user.is_staff = user.is_superuser = True
    user.set_password(password)
    user.save()
    record("make administrator", name)


def first_administrator(ask: Callable[[], tuple[str, str]] | None, *, demo: bool) -> str:
    """Make the first administrator if there is none.

    Args:
        ask: asks for a name and a password; None if nobody can be asked.
        demo: make one with a random password if nothing else helps.

    Returns:
        What to tell; may be empty.

    Raises:
        ParameterError: ``CAPTIOUS_ADMIN`` is set without a password.
    """
    from captious.server.models import User

    if User.objects.filter(is_superuser=True).exists():
        return ""
    name, password = os.environ.get("CAPTIOUS_ADMIN", ""), os.environ.get("CAPTIOUS_ADMIN_PASSWORD", "")
    if name and not password:
        raise ParameterError("CAPTIOUS_ADMIN is set, but CAPTIOUS_ADMIN_PASSWORD is not", help="set both")
    if name:
        make_administrator(name, password)
        return ""
    if demo:
        password = secrets.token_urlsafe(9)
        make_administrator("admin", password)
        return f"administrator: admin, password: {password}"
    if ask is not None:
        make_administrator(*ask())
        return ""
    return "There is no administrator yet: captious serve admin --data DIR --user NAME"


def load_demo() -> None:
    """Load the challenge "demo", unless it is there."""
    from captious.server.challenges.demo import write_demo
    from captious.server.challenges.loading import load_challenge
    from captious.server.models import Challenge

    if Challenge.objects.filter(slug="demo").exists():
        return
    with tempfile.TemporaryDirectory() as place:
        write_demo(Path(place) / "demo")
        load_challenge(Path(place) / "demo")
