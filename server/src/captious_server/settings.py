"""The settings of a server, and what its parts share: threads, locks, times, limits of requests, clients' addresses."""

from __future__ import annotations

import fcntl
import ipaddress
import json
import os
import re
import secrets
import threading
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.utils import timezone
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from captious.errors import ParameterError
from captious.files import whole_file
from captious_server.challenges.problems import did_you_mean
from captious_server.submissions.upload import UploadLimits

# A thread that works in the background of a process.


class BackgroundThread:
    """A thread that runs for as long as the block of a ``with`` statement. Subclasses define ``run``.

    Args:
        name: name of the thread.
        join_seconds: time that it may take to end, after which the process goes on; None for any time.

    Attributes:
        stop: is set when the block ends.
    """

    def __init__(self, name: str, *, join_seconds: float | None = None) -> None:
        self.stop = threading.Event()
        self._thread = threading.Thread(target=self.run, name=name, daemon=True)
        self._join_seconds = join_seconds

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self._thread.join(self._join_seconds)

    def run(self) -> None:
        """Work until ``stop`` is set."""
        raise NotImplementedError


# Locks between processes, on files in the data folder.


@contextmanager
def locked(file: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a file, which is created if needed, with its folder.

    Raises:
        BlockingIOError: without ``wait``, if another process holds it.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield


# Times in sentences for users, and in files and answers for programs.


def local_time(time: datetime) -> str:
    """A time in the time zone of the server, which is named, with seconds if it has some: "2026-11-22 17:05 UTC"."""
    return timezone.localtime(time).strftime(f"%Y-%m-%d %H:%M{':%S' if time.second else ''} %Z")


def utc_time(time: datetime) -> str:
    """A time in UTC for programs, everywhere as in the API: "2026-11-22T17:05:03.120Z"."""
    text = time.astimezone(UTC).isoformat(timespec="milliseconds" if time.microsecond else "seconds")
    return text.removesuffix("+00:00") + "Z"


# Values of addresses and forms: booleans, and ids of rows.

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def flag(text: str) -> bool | None:
    """Parse a boolean: 1, true, yes and on, or 0, false, no and off; None for any other text."""
    word = text.lower()
    return True if word in _TRUE else False if word in _FALSE else None


def row_id(text: str) -> int:
    """The id of a row in a text; 0, which no row has, if the text is not an id."""
    return int(text) if text.isdecimal() and len(text) < 19 else 0


# ``ServerSettings``: everything an administrator can configure, from a TOML file and the environment.
#
# ``captious serve --data DIR`` reads ``DIR/captious.toml`` if it exists. Each setting can also be given as an
# environment variable, ``CAPTIOUS_SERVER_`` and its name in capitals, which takes precedence; ``DATABASE_URL`` is known
# by that name.

#: Name of the settings file in the data folder.
FILE_NAME = "captious.toml"
_MIN_KEY_LENGTH = 32  # of the key that signs sessions
#: The environment variable through which child processes learn the data folder.
DATA_VARIABLE = "CAPTIOUS_SERVER_DATA"
#: The database in the data folder, unless ``database_url`` names another one.
SQLITE = "database.sqlite3"
#: Milliseconds that a transaction waits there for others.
SQLITE_WAIT = 30_000
#: Characters that OpenID allows in the subject of an ID token.
LONGEST_SUBJECT = 255
_PREFIX = "CAPTIOUS_SERVER_"

_MEBIBYTE = 1024 * 1024
#: Variables with the prefix that are not settings.
_INTERNAL_VARIABLES = {DATA_VARIABLE, f"{_PREFIX}SECRET_KEY", f"{_PREFIX}PIPE", f"{_PREFIX}SOCKET"}

Positive = Annotated[int, Field(ge=1)]


def _time_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"there is no time zone {name!r}; use a name such as Europe/Berlin") from None
    return name


def _email_url(url: str) -> str:
    parts = urlsplit(url)
    if url and (parts.scheme not in {"smtp", "smtp+starttls", "smtps"} or not parts.hostname):
        raise ValueError("must begin with smtp://, smtp+starttls:// or smtps:// and name a host")
    return url


def _database_url(url: str) -> str:
    parts = urlsplit(url)
    if url and (parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/")):
        raise ValueError("must be postgres://user:password@host/name; leave it out for SQLite")
    return url


def _host_list(hosts: Any) -> Any:
    if isinstance(hosts, str):
        raise ValueError('must be a list, such as ["captions.example.org"]')
    return hosts


def _issuer(url: str) -> str:
    parts = urlsplit(url)
    is_here = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    if url and (not parts.hostname or parts.query or parts.fragment or (parts.scheme != "https" and not is_here)):
        raise ValueError("must be the https:// address of an OpenID Connect issuer, without a query")
    return url.rstrip("/")


@checked_dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class Provider:
    """Another site through which users sign in.

    Args:
        client_id: its name for this site.
        client_secret: the password of this site there.
        issuer: its OpenID Connect address; "orcid" and "github" need none.
        title: its name on buttons; by default, the name of its table.
    """

    client_id: Annotated[str, Field(min_length=1)]
    client_secret: Annotated[str, Field(min_length=1)]
    issuer: Annotated[str, AfterValidator(_issuer)] = ""
    title: str = ""


#: Name -> issuer and title of sites that need no others. GitHub speaks OAuth 2.0, not OpenID Connect.
_PRESET_PROVIDERS = {"orcid": ("https://orcid.org", "ORCID"), "github": ("https://github.com", "GitHub")}


def _provider_tables(text: Any) -> Any:
    """Tables in the environment are JSON."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise ValueError('must be JSON, such as {"orcid": {"client_id": "...", "client_secret": "..."}}') from None


def _with_presets(providers: dict[str, Provider]) -> dict[str, Provider]:
    """Providers with issuer and title."""
    providers_with_titles = {}
    for name, provider in providers.items():
        issuer, title = _PRESET_PROVIDERS.get(name, ("", name))
        if not re.fullmatch("[a-z0-9-]{1,40}", name):
            raise ValueError(f"{name!r} must consist of lower-case letters, digits and hyphens")
        if not (provider.issuer or issuer):
            raise ValueError(f"{name} needs an issuer, such as https://login.example.edu")
        providers_with_titles[name] = replace(provider, issuer=provider.issuer or issuer, title=provider.title or title)
    return providers_with_titles


@checked_dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class ServerSettings:
    """Settings of an evaluation server. All have defaults, with which it runs on one machine.

    Args:
        data: folder of the server: database, challenges, submissions.
        site_name: name of the site in its pages.
        database_url: ``postgres://user:password@host/name``; empty for SQLite in the data folder.
        hosts: host names under which the site may be reached; ``*`` for any, which is only allowed without mail,
            because links in mail need one.
        https: the site is reached through HTTPS: cookies are sent over HTTPS only, and browsers are told to use it.
        behind_proxy: trust the ``X-Forwarded-Proto`` and ``X-Forwarded-For`` headers of a proxy in front.
        time_zone: time zone in which a day of the daily quotas begins.
        registration: "open" (anyone can sign up), "approval" (an administrator activates new accounts) or "closed".
        sign_in: other sites through which users sign in, by name. In the environment, JSON.
        second_step_for: users who must set up a second sign-in step: "nobody" (it is optional), "organizers" (those who
            manage or create challenges, and administrators) or "everybody".
        email_url: ``smtp://user:password@host:port``, ``smtp+starttls://`` or ``smtps://`` (TLS from the start); empty
            for no mail. With mail, users confirm their address before they sign in; without, administrators
            can activate accounts and make links that reset passwords.
        email_from: the sender of mail.
        site_url: address of the site, for links in mail and webhooks; by default, made of ``https`` and the first of
            ``hosts``.
        webhook_hosts: host names that webhooks may have although they are not on the public internet; those may be
            without TLS.
        upload_mebibytes: size limit of an upload.
        upload_seconds: time within which an upload must have arrived; other requests have 30 seconds.
        stored_mebibytes: size limit of all submissions of an account, and of a team, together, until they are deleted.
        unpacked_mebibytes: size limit of the files in an archive together.
        reading_memory_mebibytes: memory limit of the process that reads an upload.
        reading_seconds: CPU time limit of that process.
        concurrent_reads: number of uploads that are read at the same time by one web process; more wait for their turn.
        web_processes: number of web server processes.
        web_threads: number of threads for pages in each of them.
        workers: number of scoring processes that ``captious serve`` starts.
        scoring_threads: number of threads of each; 0 for all cores.
        scoring_seconds: time by the clock after which scoring a submission is stopped, and its worker is replaced.
        scoring_cpu_seconds: processor time that scoring any submission may take.
        scoring_cpu_seconds_per_million_words: additional processor time for each metric that parses captions or runs a
            model, and a tenth of it for each other metric. A submission that takes longer fails, and counts.
        scoring_tries: number of times that scoring is tried before a submission counts as failed.
        lease_seconds: a worker that has not been heard from for so long has lost its submission to another.
        queue_minutes: age of the oldest submission that waits for scoring above which the server is not healthy.
        resamples: bootstrap resamples of the intervals and tests on leaderboards.
        requests_per_minute: rate limit of the forms and calls that an account sends, of sign-ups and the like for each
            address, and of signing in and passwords for each account or address.
        concurrent_passwords: number of passwords that are hashed at the same time by one web process.
        audit_days: age of events at which they are removed from the audit log; 0 to keep all.
        wrong_passwords: number of wrong passwords after which an account is locked for an address; and of wrong codes
            of a second step after which no more are checked, from any address.
        lock_minutes: how long it is locked.
    """

    data: Path
    site_name: str = "captious"
    database_url: Annotated[str, AfterValidator(_database_url)] = ""
    hosts: Annotated[tuple[str, ...], BeforeValidator(_host_list)] = ("*",)
    https: bool = False
    behind_proxy: bool = False
    time_zone: Annotated[str, AfterValidator(_time_zone)] = "UTC"
    registration: Literal["open", "approval", "closed"] = "open"
    sign_in: Annotated[dict[str, Provider], BeforeValidator(_provider_tables), AfterValidator(_with_presets)] = field(
        default_factory=dict
    )
    second_step_for: Literal["nobody", "organizers", "everybody"] = "nobody"
    email_url: Annotated[str, AfterValidator(_email_url)] = ""
    email_from: str = "captious@localhost"
    site_url: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""
    webhook_hosts: Annotated[tuple[str, ...], BeforeValidator(_host_list)] = ()
    upload_mebibytes: Positive = 100
    upload_seconds: Positive = 600
    stored_mebibytes: Positive = 5000
    unpacked_mebibytes: Positive = 500
    reading_memory_mebibytes: Positive = 2048
    reading_seconds: Positive = 60
    concurrent_reads: Positive = 2
    web_processes: Positive = 1
    web_threads: Positive = 8
    workers: Positive = 1
    scoring_threads: Annotated[int, Field(ge=0)] = 0
    scoring_seconds: Positive = 3600
    scoring_cpu_seconds: Positive = 60
    scoring_cpu_seconds_per_million_words: Positive = 500
    scoring_tries: Positive = 3
    lease_seconds: Positive = 30
    queue_minutes: Positive = 60
    resamples: Positive = 1000
    requests_per_minute: Positive = 60
    concurrent_passwords: Positive = 1
    audit_days: Annotated[int, Field(ge=0)] = 730
    wrong_passwords: Positive = 10
    lock_minutes: Positive = 15

    @classmethod
    def load(cls, data: Path, environment: Mapping[str, str] | None = None) -> ServerSettings:
        """The settings of a data folder: its file, then the environment.

        Raises:
            ParameterError: every unknown name and invalid value, all at once.
        """
        environment = os.environ if environment is None else environment
        file = data / FILE_NAME
        values = _from_file(file)
        variables = {_PREFIX + name.upper(): name for name in _NAMES}
        for variable, name in variables.items():
            if name != "data" and variable in environment:
                text = environment[variable]
                values[name] = tuple(text.replace(",", " ").split()) if name in _LIST_SETTINGS else text
        names = variables.keys() | _INTERNAL_VARIABLES
        unknown = sorted(name for name in environment if name.startswith(_PREFIX) and name not in names)
        if unknown:
            guess = did_you_mean(unknown[0].removeprefix(_PREFIX), _NAMES)
            raise ParameterError(
                f"{', '.join(unknown)}: unknown setting", hint=f"{guess}the settings are {', '.join(_NAMES)}"
            )
        if environment.get("DATABASE_URL"):
            values["database_url"] = environment["DATABASE_URL"]
        try:
            settings = _SETTINGS_ADAPTER.validate_python({**values, "data": data.absolute()})
        except ValidationError as error:
            raise _settings_error(error, file) from None
        if settings.email_url and "*" in settings.hosts:
            # Otherwise the sender of a reset request would choose the site that the link leads to.
            raise ParameterError(
                "a server that sends mail needs explicit host names",
                where='hosts: "*" is not allowed with email_url',
                hint=f'set hosts = ["captions.example.org"] in {file}, or {_PREFIX}HOSTS',
            )
        return settings

    @property
    def secret_key(self) -> str:
        """The key that signs sessions: from ``CAPTIOUS_SERVER_SECRET_KEY``, or made once in the data folder.

        Raises:
            ParameterError: one that can be guessed.
        """
        if key := os.environ.get(_PREFIX + "SECRET_KEY"):
            if len(key) < _MIN_KEY_LENGTH:
                raise ParameterError(
                    f"{_PREFIX}SECRET_KEY has fewer than {_MIN_KEY_LENGTH} characters, so it could be guessed",
                    hint="leave it out, or set random text",
                )
            return key
        file = self.data / "secret_key"
        with locked(self.data / ".secret_key.lock"):  # two processes may start at once
            if not file.exists():
                with whole_file(file) as new:
                    os.fchmod(new.fileno(), 0o600)
                    new.write(secrets.token_urlsafe(50))
        return file.read_text()

    @property
    def address(self) -> str:
        """The address of the site without a slash at its end; empty if the settings do not say it."""
        host = self.hosts[0].lstrip(".") if self.hosts else "*"
        return (self.site_url or ("" if host == "*" else f"{'https' if self.https else 'http'}://{host}")).rstrip("/")

    @property
    def upload_bytes(self) -> int:
        return self.upload_mebibytes * _MEBIBYTE

    @property
    def upload_limits(self) -> UploadLimits:
        """The resources that reading an upload may take; challenges and phases add limits on captions."""
        return UploadLimits(
            upload_bytes=self.upload_bytes,
            unpacked_bytes=self.unpacked_mebibytes * _MEBIBYTE,
            memory_bytes=self.reading_memory_mebibytes * _MEBIBYTE,
            seconds=self.reading_seconds,
        )


_SETTINGS_ADAPTER = TypeAdapter(ServerSettings)
_LIST_SETTINGS = {"hosts", "webhook_hosts"}
_NAMES = tuple(field.name for field in fields(ServerSettings))


def _from_file(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError("the server's settings cannot be read", where=f"{file}: {error}") from None
    values.pop("data", None)
    return values


def _settings_error(error: ValidationError, file: Path) -> ParameterError:
    lines = []
    for details in error.errors():
        name = ".".join(map(str, details["loc"]))
        if details["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
            lines.append(f"{name}: unknown setting. {did_you_mean(name, _NAMES)}".rstrip())
        else:
            message = details["msg"].removeprefix("Value error, ")
            lines.append(f"{name}: {message[:1].lower()}{message[1:]}")
    return ParameterError(
        "invalid settings of the server",
        where="\n".join(lines),
        hint=f"change them in {file} or in the environment variables {_PREFIX}...",
    )


# Limits on the size of requests, shared by the web server, the proxy and the pages: only uploads may be larger than a
# form.

#: Bytes of a request that brings no captions, and of a form around a file.
REQUEST_BYTES, FORM_BYTES = 1024 * 1024, 256 * 1024


#: Addresses that receive files: captions by form or API, or files of a draft; for Python and nginx.
PAGE_UPLOADS = r"/drafts/(?:.+/files)?|/(?!drafts/|api/).*/submit"
API_UPLOADS = r"/api/.*/submissions"


def is_upload(path: str) -> bool:
    """Return whether an address receives files."""
    return re.fullmatch(f"{PAGE_UPLOADS}|{API_UPLOADS}", path) is not None


def max_request_bytes(path: str, upload_bytes: int) -> int:
    """The largest number of bytes of a request to an address.

    Args:
        path: of the address.
        upload_bytes: size limit of a file of captions.
    """
    if not is_upload(path):
        return REQUEST_BYTES
    return upload_bytes if path.startswith("/api/") else upload_bytes + FORM_BYTES


# Addresses of clients, tokens and sessions, as counted by limits.

SESSION_COOKIE = "captious_session"

#: Addresses with ports, as some proxies write them. Ports change with every connection, so limits drop them.
_ADDRESS_AND_PORT = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::\d+)?|([\d.]+):\d+")


def client_address(peer: str, forwarded_for: str, *, behind_proxy: bool) -> str:
    """The address of a client.

    Args:
        peer: address of the connection.
        forwarded_for: ``X-Forwarded-For``, which counts only behind a proxy.
        behind_proxy: whether there is one.
    """
    # The proxy appends the address that it saw; earlier ones may be forged by the client.
    address = forwarded_for.rpartition(",")[2].strip() if behind_proxy else ""
    match = _ADDRESS_AND_PORT.fullmatch(address)
    return ((match[1] or match[2] if match else address) or peer)[:45]


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def network(address: str) -> str:
    """An address for limits; for IPv6, the first address of the /64 network of a client."""
    try:
        value = ipaddress.ip_address(address)
    except ValueError:
        return address
    value = getattr(value, "ipv4_mapped", None) or value
    return str(value if value.version == 4 else ipaddress.ip_network((int(value), 64), strict=False).network_address)


def token_in(authorization: str) -> str | None:
    """The token in the header ``Authorization``, without spaces around it; None if that is of another scheme."""
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
