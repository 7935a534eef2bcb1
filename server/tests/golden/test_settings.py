"""The settings of a server: names, defaults, and what wrong values are answered with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from server.tests.golden.commands import captious
from server.tests.golden.place import Place
from server.tests.golden.plain import plain_text
from tests.golden.record import Record

_PREFIX = "CAPTIOUS_SERVER_"
#: Of Django, which users see: in their browsers, and in mail.
_DJANGO = [
    "AUTH_PASSWORD_VALIDATORS",
    "AUTH_USER_MODEL",
    "CSRF_COOKIE_NAME",
    "CSRF_COOKIE_SAMESITE",
    "DATA_UPLOAD_MAX_MEMORY_SIZE",
    "DATA_UPLOAD_MAX_NUMBER_FIELDS",
    "DATA_UPLOAD_MAX_NUMBER_FILES",
    "DEFAULT_FROM_EMAIL",
    "LANGUAGE_CODE",
    "SESSION_COOKIE_AGE",
    "SESSION_COOKIE_NAME",
    "SESSION_COOKIE_SAMESITE",
    "STATIC_URL",
    "TIME_ZONE",
]


def error(monkeypatch: pytest.MonkeyPatch, folder: Path, **environment: str) -> list[str]:
    """What a command says about a data folder with these variables."""
    with monkeypatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        outcome = captious("serve", "token", "--user", "captain", "--data", folder)
    assert outcome.code == 2
    return plain_text(outcome.err, {str(folder): "<data>"}).splitlines()


@pytest.fixture
def names(place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The names of all settings, which the message about an unknown one lists."""
    text = " ".join(error(monkeypatch, tmp_path, **{f"{_PREFIX}NOTHING": "1"}))
    found = re.search(r"the settings are ([\w, ]+)", text)
    assert found is not None
    return found[1].split(", ")


def test_defaults(record: Record, names: list[str]) -> None:
    from django.conf import settings

    values: dict[str, Any] = {name: getattr(settings.CAPTIOUS, name) for name in names}
    values["data"] = "<data>"
    record("settings", {"server": values, "django": {name: getattr(settings, name) for name in _DJANGO}})


def test_wrong_values(record: Record, names: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the environment and in the file; most settings take no such text."""
    document: dict[str, Any] = {}
    for name in names:
        document[name] = {
            value: error(monkeypatch, tmp_path, **{f"{_PREFIX}{name.upper()}": value}) for value in ("x y", "-1")
        }
    for number, text in enumerate(("nothing = 1", "hosts = 'a'", "web_threads = 'many'\nhttps = 3", "web_threads =")):
        (tmp_path / "captious.toml").write_text(text)
        document[f"file {number}"] = error(monkeypatch, tmp_path)
    record("settings_wrong", document)
