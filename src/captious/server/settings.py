"""``ServerSettings``: everything an administrator can configure, from a TOML file and the environment.

``captious serve --data DIR`` reads ``DIR/captious.toml`` if it exists. Each setting can also be given as an environment
variable, ``CAPTIOUS_SERVER_`` and its name in capitals, which takes precedence; ``DATABASE_URL`` is known by that name.
"""

from __future__ import annotations

import os
import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from captious.entry_points import did_you_mean
from captious.errors import ParameterError

__all__ = ["DATA_VARIABLE", "FILE_NAME", "ServerSettings"]

#: Name of the settings file in the data folder.
FILE_NAME = "captious.toml"
#: The environment variable through which child processes learn the data folder.
DATA_VARIABLE = "CAPTIOUS_SERVER_DATA"
_PREFIX = "CAPTIOUS_SERVER_"

_MEBIBYTE = 1024 * 1024


@checked_dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class ServerSettings:
    """Settings of an evaluation server. All have defaults, with which it runs on one machine.

    Args:
        data: folder of the server: database, challenges, submissions.
        site_name: name of the site in its pages.
        database_url: ``postgres://user:password@host/name``; empty for SQLite in the data folder.
        hosts: host names under which the site may be reached; ``*`` for any, which is only allowed without mail,
            because links in mail are made with the name under which the site was reached.
        https: the site is reached through HTTPS: cookies are sent over HTTPS only, and browsers are told so.
        behind_proxy: trust the ``X-Forwarded-Proto`` and ``X-Forwarded-For`` headers of a proxy in front.
        time_zone: time zone in which a day of the daily quotas begins.
        registration: "open" (anyone can sign up), "approval" (an administrator activates new accounts) or "closed".
        email_url: ``smtp://user:password@host:port`` (``smtps://`` for TLS); empty to print mail on the console.
            Nothing depends on mail: administrators can activate accounts and make links that reset passwords.
        email_from: the sender of mail.
        upload_mebibytes: size limit of an upload.
        unpacked_mebibytes: size limit of the files in an archive together.
        reading_memory_mebibytes: memory limit of the process that reads an upload.
        reading_seconds: CPU time limit of that process.
        concurrent_reads: number of uploads that are read at the same time by one web process.
        web_processes: number of web server processes.
        web_threads: number of threads in each of them.
        workers: number of scoring processes that ``captious serve`` starts.
        scoring_threads: number of threads of each; 0 for all cores.
        scoring_seconds: time limit of scoring one submission; after it, the worker is replaced.
        scoring_tries: number of times that scoring is tried before a submission counts as failed.
        lease_seconds: a worker that has not been heard from for so long has lost its submission to another.
        resamples: bootstrap resamples of the intervals and tests on leaderboards.
        requests_per_minute: rate limit of sign-ups, uploads and tokens per account or address.
        wrong_passwords: number of wrong passwords after which an account is locked for an address.
        lock_minutes: how long it is locked.
    """

    data: Path
    site_name: str = "captious"
    database_url: str = ""
    hosts: tuple[str, ...] = ("*",)
    https: bool = False
    behind_proxy: bool = False
    time_zone: str = "UTC"
    registration: Literal["open", "approval", "closed"] = "open"
    email_url: str = ""
    email_from: str = "captious@localhost"
    upload_mebibytes: int = 100
    unpacked_mebibytes: int = 500
    reading_memory_mebibytes: int = 2048
    reading_seconds: int = 60
    concurrent_reads: int = 2
    web_processes: int = 1
    web_threads: int = 8
    workers: int = 1
    scoring_threads: int = 0
    scoring_seconds: int = 3600
    scoring_tries: int = 3
    lease_seconds: int = 30
    resamples: int = 1000
    requests_per_minute: int = 60
    wrong_passwords: int = 10
    lock_minutes: int = 15

    @classmethod
    def load(cls, data: Path, environment: Mapping[str, str] | None = None) -> ServerSettings:
        """The settings of a data folder: its file, then the environment.

        Raises:
            ParameterError: every unknown name and invalid value, all at once.
        """
        environment = os.environ if environment is None else environment
        file = data / FILE_NAME
        given = _from_file(file)
        for name in _NAMES:
            variable = _PREFIX + name.upper()
            if name != "data" and variable in environment:
                text = environment[variable]
                given[name] = tuple(text.replace(",", " ").split()) if name == "hosts" else text
        if environment.get("DATABASE_URL"):
            given["database_url"] = environment["DATABASE_URL"]
        try:
            settings = _ADAPTER.validate_python({**given, "data": data.absolute()})
        except ValidationError as error:
            raise _refused(error, file) from None
        if settings.email_url and "*" in settings.hosts:
            # Whoever asks for a link that resets a password would choose the site that it leads to.
            raise ParameterError(
                "a server that sends mail needs its host names",
                where='hosts: "*" is not allowed with email_url',
                help=f'set hosts = ["captions.example.org"] in {file}, or {_PREFIX}HOSTS',
            )
        return settings

    @property
    def secret_key(self) -> str:
        """The key that signs sessions: from ``CAPTIOUS_SERVER_SECRET_KEY``, or made once in the data folder."""
        if key := os.environ.get(_PREFIX + "SECRET_KEY"):
            return key
        file = self.data / "secret_key"
        if not file.exists():
            # A file of its own, linked into place: of two processes that start at once, both read the first key.
            temporary = self.data / f".secret_key-{secrets.token_hex(4)}"
            temporary.touch(0o600)
            temporary.write_text(secrets.token_urlsafe(50))
            try:
                os.link(temporary, file)
            except FileExistsError:
                pass
            finally:
                temporary.unlink()
        return file.read_text()

    @property
    def upload_bytes(self) -> int:
        return self.upload_mebibytes * _MEBIBYTE


_ADAPTER = TypeAdapter(ServerSettings)
_NAMES = tuple(each.name for each in fields(ServerSettings))


def _from_file(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError("the server's settings cannot be read", where=f"{file}: {error}") from None
    given.pop("data", None)
    return given


def _refused(error: ValidationError, file: Path) -> ParameterError:
    lines = []
    for each in error.errors():
        name = ".".join(map(str, each["loc"]))
        if each["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
            lines.append(f"{name}: there is no such setting. {did_you_mean(name, _NAMES)}".rstrip())
        else:
            lines.append(f"{name}: {each['msg'][:1].lower()}{each['msg'][1:]}")
    return ParameterError(
        "invalid settings of the server",
        where="\n".join(lines),
        help=f"change them in {file} or in the environment variables {_PREFIX}...; docs/server.md lists all",
    )
