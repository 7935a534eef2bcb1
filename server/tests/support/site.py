"""The site in this process: users, challenges, submissions and scoring with a few words."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[3]
EXAMPLES = REPOSITORY / "examples"
PASSWORD = "correct-horse-77"


class Site:
    """An empty site.

    Args:
        data: its data folder.
        monkeypatch: undoes changes of settings.
    """

    _middleware: Any = None

    def __init__(self, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.data = data
        self._monkeypatch = monkeypatch

    def configure(self, **settings: Any) -> None:
        """Change settings of the server for this test."""
        from django.conf import settings as django

        self.use(dataclasses.replace(django.CAPTIOUS, **settings))

    def use(self, own: Any) -> None:
        """Use settings of the server for this test."""
        from django.conf import settings as django

        from captious_server.django_settings import sign_in_settings

        for name, value in {"CAPTIOUS": own, **sign_in_settings(own)}.items():
            self._monkeypatch.setattr(django, name, value)

    def user(self, name: str = "ann", *, confirmed: bool = False, **values: Any) -> Any:
        """Return a user with the password ``PASSWORD``, and an address that may be confirmed."""
        from captious_server.models import User
        from captious_server.people.sign_in import confirm_address

        user = User.objects.create_user(name, password=PASSWORD, **values)
        if confirmed:
            assert confirm_address(user)
        return user

    def client(self, user: Any = None, *, proved: bool = True) -> Any:
        """Return a browser in which a user has signed in, and may have given the password again just now."""
        from django.test import Client

        client = Client(raise_request_exception=False)
        if Site._middleware is None:  # slow to load
            client.handler.load_middleware()
            Site._middleware = client.handler._middleware_chain  # type: ignore[attr-defined]  # private
        client.handler._middleware_chain = Site._middleware  # type: ignore[attr-defined]
        if user is not None:
            client.force_login(user)
            if proved:
                prove(client, user)
        return client

    def token(self, user: Any, **values: Any) -> str:
        """Return a token that may do everything, unless ``values`` say otherwise."""
        from captious_server.people.accounts import SCOPES, make_token

        return make_token(user, "test", **{"scopes": SCOPES, **values})

    def demo(self) -> Any:
        """Return the demonstration, its baselines not scored yet."""
        from captious_server.models import Challenge
        from captious_server.operations.setup import load_demo

        load_demo()
        return Challenge.objects.get(slug="demo")

    def build(self, name: str, scene: Callable[[], object]) -> None:
        """Build a scene; for later tests of this process, copy what was built under this name."""
        from django.db import connection

        if name not in _SCENES:
            scene()
            if connection.vendor == "sqlite":
                _SCENES[name] = Scene(self.data)
        else:
            _SCENES[name].copy(self.data)

    def load(self, folder: Path, **values: Any) -> Any:
        """Return a challenge from a folder."""
        from captious_server.actions.loading import load_challenge

        return load_challenge(folder, **values).challenge

    def work(self) -> None:
        """Score everything that is queued, as a worker does."""
        from captious_server.operations import worker
        from captious_server.scoring import queue

        while (taken := queue.take("test")) is not None:
            worker.score(taken)

    def submit(self, user: Any, captions: Any = None, *, challenge: str = "demo", **values: Any) -> Any:
        """Submit through the form; gives the response. By default, the captions of examples/improved.json."""
        client = self.client(user)
        content = (EXAMPLES / "improved.json").read_bytes() if captions is None else captions
        if not isinstance(content, bytes):
            content = json.dumps(content).encode()
        return client.post(f"/challenges/{challenge}/submit", self.form(user, content, **values))

    def form(self, user: Any, content: bytes, **values: Any) -> dict[str, Any]:
        """Return the fields of the submission form."""
        from django.core.files.uploadedfile import SimpleUploadedFile

        from captious_server.people.teams import personal_team

        return {
            "phase": "main",
            "team": personal_team(user).slug,
            "method": "Mine",
            "public": "on",
            "action": "submit",
            "file": SimpleUploadedFile(values.pop("filename", "captions.json"), content),
            **values,
        }

    def submissions(self, **values: Any) -> list[Any]:
        """Return submissions other than baselines, the oldest first."""
        from captious_server.models import Submission

        return list(Submission.objects.filter(is_baseline=False, **values).order_by("pk"))


class Scene:
    """A copy of the site in this process: its SQLite database, and its files in memory."""

    def __init__(self, data: Path) -> None:
        from django.db import connection

        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        connection.connection.backup(self._database)
        self._files = {
            path.relative_to(data): path.read_bytes()
            for folder in FOLDERS
            for path in (data / folder).rglob("*")
            if path.is_file()
        }

    def copy(self, data: Path) -> None:
        """Make the empty site the one that was copied."""
        from django.db import connection

        connection.ensure_connection()
        self._database.backup(connection.connection)
        for path, content in self._files.items():
            (data / path).parent.mkdir(parents=True, exist_ok=True)
            (data / path).write_bytes(content)


_SCENES: dict[str, Scene] = {}

#: Folders of the site's data that tests fill.
FOLDERS = ("boards", "challenges", "drafts", "submissions", "incoming", "prepared")


def prove(client: Any, user: Any) -> None:
    """Let a browser be one in which a user has given the password just now."""
    session = client.session
    session["account_authentication_methods"] = [{"method": "password", "at": time.time(), "reauthenticated": True}]
    session["account_authentication_methods_user"] = str(user.pk)
    session.save()


def empty_site(data: Path) -> None:
    """Remove everything from the database and the data folder of the site in this process."""
    from django.core.cache import cache

    empty_database()
    cache.clear()
    for name in FOLDERS:
        shutil.rmtree(data / name, ignore_errors=True)


def empty_database() -> None:
    """Remove all rows, except those that migrations make."""
    from django.core.management.color import no_style
    from django.db import connection

    tables = set(connection.introspection.django_table_names(include_views=False))
    tables -= {"django_content_type", "auth_permission"}
    connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), sorted(tables), reset_sequences=True))


def delivered() -> list[Any]:
    """Return the mail that a worker sends now."""
    from django.core import mail

    from captious_server.notices import delivery

    mail.outbox = []
    delivery.deliver_due()
    return list(mail.outbox)


def parsed(response: Any) -> Any:
    """Return the JSON of a streamed response, such as leaderboard.json."""
    return json.loads(b"".join(response.streaming_content))


def example(name: str = "improved") -> list[dict[str, Any]]:
    """Return the captions of a system in examples/."""
    answer: list[dict[str, Any]] = json.loads((EXAMPLES / f"{name}.json").read_text())
    return answer
