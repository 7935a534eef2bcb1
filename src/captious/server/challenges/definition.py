"""``challenge.toml`` as pydantic models, checked as far as possible without other files.

A definition is complete: defaults that depend on other keys (the only captions file, all phases, the output that ranks)
are filled in when it is made. ``model_dump(mode="json")`` and ``model_validate`` turn it into plain values and back.
Errors of checks are sentences about a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import quote, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from captious.data.ids import ImageId
from captious.metrics.contract.settings import REFERENCES_AS
from captious.report.image_urls import fields_problem
from captious.server.challenges.challenge_metrics import SETTINGS, directions_of
from captious.server.challenges.consistency import CAPTIONS, cross_problems, with_defaults
from captious.server.challenges.problems import ChallengeError, CrossError, at, sentences, unknown_key

_MOMENT_MESSAGE = "must be a date and time such as 2026-12-31T23:59:59Z"


def _metric(text: str) -> str:
    directions_of(text)
    return text.strip()


def _settings(value: Any) -> Any:
    """Settings, with every problem reported."""
    if not isinstance(value, Mapping):
        return value  # pydantic reports the problem
    problems = []
    for name, setting in value.items():
        if name == "threads":
            problems.append("settings.threads: is a setting of the server, not of challenges")
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
    """A template in which only ``{id}`` is replaced, so that it cannot reach into any object."""
    if not template:
        return template
    if problem := fields_problem(template):
        raise ValueError(problem)
    parts = urlsplit(template.partition("{")[0])
    on_the_web = parts.scheme in {"https", "http"} and parts.netloc
    if re.search(r"[\s\\]", template) or not (on_the_web or re.match(r"/[^/{]", template)):
        raise ValueError(
            "must begin with https:// or http:// and a host, or be a path on this site such as /media/{id}.jpg"
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
        raise ValueError("must use an address that begins with https:// or http://")
    return link


def moment(value: Any) -> Any:
    """A date with a time, in UTC unless it has an offset."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value) if len(value) > len("2026-12-31") else date.fromisoformat(value)
        except ValueError:
            raise ValueError(_MOMENT_MESSAGE) from None
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, date):
        raise ValueError(f"needs a time, as in {value.isoformat()}T23:59:59Z")
    if value is None:
        return None
    raise ValueError(_MOMENT_MESSAGE)


def _pattern(pattern: str) -> str:
    if "/" in pattern or "\\" in pattern:
        raise ValueError("must be the name of a file, without folders")
    return pattern


_Name: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9-]+$", max_length=80)]
_Line: TypeAlias = Annotated[str, Field(max_length=200), AfterValidator(_line)]
_File: TypeAlias = Annotated[str, Field(min_length=1)]
_Limit: TypeAlias = Annotated[int, Field(ge=0, le=1_000_000)]
_Moment: TypeAlias = Annotated[datetime | None, BeforeValidator(moment)]
# Plain values have lists where the models have tuples.
_List = Field(strict=False)
_NonEmptyList = Field(strict=False, min_length=1)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TextDefinition(_Table):
    """A page of the organizers, a Markdown file."""

    title: _Line
    file: _File


class DownloadDefinition(_Table):
    """A file that everybody who sees the challenge can download, such as a list of images or a notebook."""

    title: _Line
    file: _File


class CaptionsDefinition(_Table):
    """A captions file that submissions contain.

    Args:
        pattern: pattern of its name in an archive, with ``*`` and ``?``.
        public: whether captions, references and scores of images are public.
    """

    name: _Name = CAPTIONS
    pattern: Annotated[str, Field(min_length=1), AfterValidator(_pattern)] = "*"
    public: bool = False


class ReferencesDefinition(_Table):
    """A reference set, which judges one captions file."""

    name: _Name
    captions: _Name = ""  # optional if there is only one
    file: _File


class PhaseDefinition(_Table):
    """A phase: its dates, the captions files of its submissions, and the quotas of teams.

    Args:
        name: name in addresses.
        title: name on pages; by default, ``name``.
        opens, closes: UTC; None for always.
        captions: names of captions files.
        scored_per_day, scored_in_total, attempts_per_day: limits for each team, 0 for none.
        board: whether its leaderboard is public.
        digits: decimal places to which scores, intervals and p values are rounded wherever they are shown.
        scores_shown: when teams and the public see scores: at once, after the phase has closed, or never.
        equal_captions: the largest share of images, above 0, that may have the same caption.
        entries: whether the leaderboard shows all submissions of a team or only its entry.
    """

    name: _Name
    title: _Line
    opens: _Moment = None
    closes: _Moment = None
    captions: Annotated[tuple[str, ...], _NonEmptyList]
    scored_per_day: _Limit = 0
    scored_in_total: _Limit = 0
    attempts_per_day: _Limit = 0
    board: Literal["public", "hidden"] = "public"
    digits: Annotated[int, Field(ge=1, le=8)] = 4
    scores_shown: Literal["at-once", "at-end", "never"] = "at-once"
    equal_captions: Annotated[float, Field(gt=0, le=1)] = 0.1
    entries: Literal["all", "one"] = "all"

    @model_validator(mode="before")
    @classmethod
    def _set_title(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        name = data.get("name")
        return {"title": name if isinstance(name, str) else "?", **data}

    @field_validator("closes")
    @classmethod
    def _is_later(cls, closes: datetime | None, info: ValidationInfo) -> datetime | None:
        opens = info.data.get("opens")
        if opens is not None and closes is not None and closes <= opens:
            raise ValueError("must be later than opens")
        return closes

    @field_validator("scores_shown")
    @classmethod
    def _has_an_end(cls, scores_shown: str, info: ValidationInfo) -> str:
        if scores_shown == "at-end" and info.data.get("closes", "?") is None:
            raise ValueError('is "at-end", so the phase needs closes')
        return scores_shown


class BaselineDefinition(_Table):
    """A submission of the organizers, shown on leaderboards."""

    method: Annotated[str, Field(max_length=120), AfterValidator(_line)]
    file: _File
    phases: Annotated[tuple[str, ...], _NonEmptyList]
    human: bool = False
    description: str = Field(default="", max_length=5000)
    link: Annotated[str, Field(max_length=500), AfterValidator(_link)] = ""


class ChallengeDefinition(_Table):
    """A challenge, with the fields and defaults of ``challenge.toml``; see docs/challenges.md."""

    title: _Line
    slug: _Name | None = None
    summary: str = ""
    access: Literal["public", "participants"] = "public"
    organizers: Annotated[tuple[Annotated[str, AfterValidator(_user_name)], ...], _List] = ()
    organized_by: Annotated[tuple[_Line, ...], _List] = ()
    logo: str = ""
    license: str = Field(default="", max_length=500)
    citation: str = Field(default="", max_length=5000)
    terms: str = ""
    team_approval: bool = False
    team_size: _Limit = 0
    teams_close: _Moment = None
    image_url: Annotated[str, AfterValidator(_image_url)] = ""
    metrics: Annotated[tuple[Annotated[str, AfterValidator(_metric)], ...], _NonEmptyList]
    rank_by: str
    max_words: Annotated[int, Field(ge=1, le=1000)] = 150
    settings: Annotated[dict[str, str], BeforeValidator(_settings)] = Field(default_factory=dict)
    texts: Annotated[tuple[TextDefinition, ...], _List] = ()
    downloads: Annotated[tuple[DownloadDefinition, ...], _List] = ()
    captions: Annotated[tuple[CaptionsDefinition, ...], _NonEmptyList]
    references: Annotated[tuple[ReferencesDefinition, ...], _NonEmptyList]
    phases: Annotated[tuple[PhaseDefinition, ...], _NonEmptyList]
    baselines: Annotated[tuple[BaselineDefinition, ...], _List] = ()

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: Any) -> Any:
        return with_defaults(data) if isinstance(data, Mapping) else data

    @model_validator(mode="after")
    def _is_consistent(self) -> ChallengeDefinition:
        if problems := cross_problems(self.model_dump()):
            raise CrossError(problems)
        return self

    @cached_property
    def directions(self) -> dict[str, bool | None]:
        """The outputs of the metrics -> whether lower scores are better; None if neither higher nor lower scores are.

        They are in the order of the file, which is that of the columns of leaderboards.
        """
        return {label: lower for metric in self.metrics for label, lower in directions_of(metric).items()}

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(self.directions)

    @property
    def lower_is_better(self) -> tuple[str, ...]:
        """The outputs where lower scores are better."""
        return tuple(label for label, lower in self.directions.items() if lower)

    def phase(self, name: str) -> PhaseDefinition:
        """The phase with this name; raises KeyError if there is none."""
        return {phase.name: phase for phase in self.phases}[name]

    def key(self, references: ReferencesDefinition) -> str:
        """The key of a reference set in scores and addresses: "c5"; "val2014/c5" with several captions files."""
        return f"{references.captions}/{references.name}" if len(self.captions) > 1 else references.name

    def label(self, captions: str, references: str) -> str:
        """A short label of a reference set: its name, with that of its captions file if there are several."""
        return f"{captions} · {references}" if len(self.captions) > 1 else references

    def url_of(self, image: ImageId) -> str:
        """The address of an image; "" if the challenge has no addresses.

        Raises:
            ValueError: the template is for numbers, and the id is not one.
        """
        if not self.image_url:
            return ""
        return self.image_url.format(id=image if isinstance(image, int) else quote(image))


#: The lists of tables of challenge.toml.
TABLES: Mapping[str, type[_Table]] = {
    "texts": TextDefinition,
    "downloads": DownloadDefinition,
    "captions": CaptionsDefinition,
    "references": ReferencesDefinition,
    "phases": PhaseDefinition,
    "baselines": BaselineDefinition,
}
_KEYS = {"": [*ChallengeDefinition.model_fields], **{name: [*table.model_fields] for name, table in TABLES.items()}}


def definition_from(data: Mapping[str, Any], name: str = "challenge.toml") -> ChallengeDefinition:
    """The definition with these values; messages call the file ``name``.

    Raises:
        ChallengeError: every problem.
    """
    problems = [f"{place}: has a null character, which databases do not store" for place in _with_nulls(data)]
    try:
        definition = ChallengeDefinition.model_validate(data)
        if not problems:
            return definition
    except ValidationError as error:
        # Invalid keys keep pydantic from reporting the problems between keys.
        problems += [*sentences(error, _KEYS), *cross_problems(with_defaults(data))]
    raise ChallengeError(problems, name)


def _with_nulls(value: Any, place: tuple[int | str, ...] = ()) -> Iterator[str]:
    """The places of texts with a null character, which TOML can write as ``\\u0000``."""
    if isinstance(value, str) and "\0" in value:
        yield at(place)
    rows = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, row in rows:
        yield from _with_nulls(row, (*place, key))
