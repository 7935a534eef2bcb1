"""What the keys of ``challenge.toml`` may hold: types with their checks, whose errors are sentences about a key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Annotated, Any, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from captious.errors import CaptiousError
from captious.metrics.contract import registry
from captious.metrics.contract.selection import ALL
from captious.metrics.contract.settings import REFERENCES_AS
from captious.metrics.contract.specification import Specification
from captious.report.image_urls import fields_problem
from captious.server.challenges.problems import CrossError, unknown_key

__all__ = [
    "SETTINGS",
    "FileName",
    "FilePattern",
    "ImageTemplate",
    "Limit",
    "Line",
    "Link",
    "MetricSettings",
    "MetricText",
    "Moment",
    "Name",
    "UserName",
    "directions_of",
    "moment",
    "outputs_of",
]

#: The settings of metrics that a challenge may have. The number of threads is the server's.
SETTINGS = ("tokenizer", "idf", "model", "vectors", "parser", "images", "objects", "training", "references_as")

_MOST = 1_000_000


def _metric(text: str) -> str:
    outputs_of(text)
    return text.strip()


def outputs_of(specification: str) -> tuple[str, ...]:
    """The labels of the outputs that a specification asks for; as ``select`` names them, but nothing is loaded.

    Raises:
        ValueError: it is "all", which depends on the machine, or names no metric or output.
    """
    try:
        what = Specification.from_text(specification)
        if what.name == ALL:
            raise ValueError("name each metric, because 'all' depends on what is installed")
        owner = registry.owner(what.name)
        if owner is None:
            raise registry.unknown(what.name)
        outputs = registry.get(owner).outputs
    except CaptiousError as error:
        guess, question, _ = error.help.partition("?")
        raise ValueError(f"{error.message}; {guess + question}") from None
    return tuple(output + what.suffix for output in ([what.name] if what.name in outputs else outputs))


def directions_of(specification: str) -> dict[str, bool | None]:
    """For each of ``outputs_of`` whether lower scores are better; None if neither higher nor lower scores are."""
    what = Specification.from_text(specification)
    owner = registry.owner(what.name)
    assert owner is not None
    metric = registry.get(owner)
    outputs = {label: label.removesuffix(what.suffix) for label in outputs_of(specification)}
    return {
        label: None if output in metric.no_direction else output in metric.lower_is_better
        for label, output in outputs.items()
    }


def _settings(value: Any) -> Any:
    """Settings, of which every problem is named."""
    if not isinstance(value, Mapping):
        return value  # pydantic says what is wrong with it
    problems = []
    for name, setting in value.items():
        if name == "threads":
            problems.append("settings.threads: is a setting of the server, not of a challenge")
        elif name not in SETTINGS:
            problems.append(f"settings.{name}: {unknown_key(str(name), SETTINGS)}")
        elif not isinstance(setting, str) or not setting.strip():
            problems.append(f"settings.{name}: must be text")
        elif name == "references_as" and setting not in REFERENCES_AS:
            problems.append(f"settings.{name}: must be {' or '.join(REFERENCES_AS)}")
    if problems:
        raise CrossError(problems)
    return value


def _image_url(template: str) -> str:
    """A template in which nothing but ``{id}`` is replaced, so that it can reach into no object."""
    if not template:
        return template
    if problem := fields_problem(template):
        raise ValueError(problem)
    parts = urlsplit(template.partition("{")[0])
    on_the_web = parts.scheme in {"https", "http"} and parts.netloc
    if re.search(r"[\s\\]", template) or not (on_the_web or re.match(r"/[^/{]", template)):
        raise ValueError(
            "must begin with https:// or http:// and a host, or be a path on this site, as /media/{id}.jpg"
        )
    return template


def _line(text: str) -> str:
    if not text.strip() or len(text.splitlines()) > 1:
        raise ValueError("must be one line of text")
    return text.strip()


def _user_name(name: str) -> str:
    if re.fullmatch(r"[\w.@+-]{1,150}", name) is None:
        raise ValueError(f"{name!r:.60} is not a user name: letters, digits and @ . + - _")
    return name


def _link(link: str) -> str:
    if link and (re.search(r"\s", link) or re.match(r"https?://[^/]", link) is None):
        raise ValueError("must begin with https:// or http://")
    return link


def moment(value: Any) -> Any:
    """A date with a time, in UTC unless it has an offset."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value) if len(value) > len("2026-12-31") else date.fromisoformat(value)
        except ValueError:
            raise ValueError("must be a date and time such as 2026-12-31T23:59:59Z") from None
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, date):
        raise ValueError(f"needs a time, as in {value.isoformat()}T23:59:59Z")
    if value is None:
        return None
    raise ValueError("must be a date and time such as 2026-12-31T23:59:59Z")


def _pattern(pattern: str) -> str:
    if "/" in pattern or "\\" in pattern:
        raise ValueError("must be the name of a file, without folders")
    return pattern


Name: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9-]+$", max_length=80)]
Line: TypeAlias = Annotated[str, Field(max_length=200), AfterValidator(_line)]
UserName: TypeAlias = Annotated[str, AfterValidator(_user_name)]
FileName: TypeAlias = Annotated[str, Field(min_length=1)]
Limit: TypeAlias = Annotated[int, Field(ge=0, le=_MOST)]
Moment: TypeAlias = Annotated[datetime | None, BeforeValidator(moment)]
FilePattern: TypeAlias = Annotated[str, Field(min_length=1), AfterValidator(_pattern)]
ImageTemplate: TypeAlias = Annotated[str, AfterValidator(_image_url)]
Link: TypeAlias = Annotated[str, Field(max_length=500), AfterValidator(_link)]
MetricText: TypeAlias = Annotated[str, AfterValidator(_metric)]
MetricSettings: TypeAlias = Annotated[dict[str, str], BeforeValidator(_settings)]
