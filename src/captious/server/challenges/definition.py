"""``challenge.toml`` as pydantic models: what organisers write, checked as far as that needs no other file.

A definition is complete: defaults that depend on other keys (the only captions file, all phases, the output that ranks)
are filled in when it is made. ``model_dump(mode="json")`` and ``model_validate`` turn it into plain values and back.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping, Sequence
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
    model_validator,
)

from captious.data.ids import ImageId
from captious.errors import CaptiousError
from captious.metrics.contract import registry
from captious.metrics.contract.selection import ALL
from captious.metrics.contract.settings import REFERENCES_AS
from captious.metrics.contract.specification import Specification
from captious.server.challenges.problems import ChallengeError, CrossError, at, sentences, unknown_key

__all__ = [
    "SETTINGS",
    "BaselineDefinition",
    "CaptionsDefinition",
    "ChallengeDefinition",
    "PhaseDefinition",
    "ReferencesDefinition",
    "TextDefinition",
    "definition_from",
    "outputs_of",
    "tables",
]

#: The settings of metrics that a challenge may have. The number of threads is the server's.
SETTINGS = ("tokenizer", "idf", "model", "vectors", "parser", "images", "references_as")
#: The output that ranks if the file names none and this is among the outputs.
RANKS = "cider-d"
#: The captions file of a challenge that describes none.
CAPTIONS = "captions"

_MOST = 1_000_000


# ---- values


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
    try:
        pieces = [*string.Formatter().parse(template)]
    except ValueError as error:
        raise ValueError(f"is not a template: {error}") from None
    fields = [(name, form, conversion) for _, name, form, conversion in pieces if name is not None]
    if not fields or any(name != "id" or conversion for name, _, conversion in fields):
        raise ValueError("must contain {id}, or {id:012d} for numbers with leading zeros, and no other field")
    if any(form and re.fullmatch(r"0?[0-9]{0,2}d", form) is None for _, form, _ in fields):
        raise ValueError("only formats such as {id:012d} are known")
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


def _moment(value: Any) -> Any:
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
Moment: TypeAlias = Annotated[datetime | None, BeforeValidator(_moment)]
# Plain values have lists where the models have tuples.
Listed = Field(strict=False)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


# ---- tables


class TextDefinition(_Table):
    """A page of the organisers, a Markdown file."""

    title: Line
    file: FileName


class CaptionsDefinition(_Table):
    """A captions file that submissions contain.

    Args:
        name: what it is called.
        pattern: of its name in an archive, with ``*`` and ``?``.
        public: captions, references and scores of images may be seen.
    """

    name: Name = CAPTIONS
    pattern: Annotated[str, Field(min_length=1), AfterValidator(_pattern)] = "*"
    public: bool = False


class ReferencesDefinition(_Table):
    """A reference set, which judges one captions file."""

    name: Name
    captions: Name
    file: FileName


class PhaseDefinition(_Table):
    """When submissions are taken, which captions files they contain, and how many submissions a team may make.

    Args:
        name: what it is called in addresses.
        title: what it is called on pages; by default, the name.
        opens, closes: UTC; None for always.
        captions: names of captions files.
        scored_per_day, scored_in_total, attempts_per_day: limits for each team, 0 for none.
        board: whether its leaderboard is public.
    """

    name: Name
    title: Line
    opens: Moment = None
    closes: Moment = None
    captions: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    scored_per_day: Limit = 0
    scored_in_total: Limit = 0
    attempts_per_day: Limit = 0
    board: Literal["public", "hidden"] = "public"


class BaselineDefinition(_Table):
    """A submission of the organisers, shown on leaderboards."""

    method: Annotated[str, Field(max_length=120), AfterValidator(_line)]
    file: FileName
    phases: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    human: bool = False
    description: str = Field(default="", max_length=5000)
    link: Annotated[str, Field(max_length=500), AfterValidator(_link)] = ""


class ChallengeDefinition(_Table):
    """A challenge. Fields and defaults are those of ``challenge.toml``; see docs/challenges.md."""

    title: Line
    slug: Name | None = None
    summary: str = ""
    access: Literal["public", "participants"] = "public"
    organisers: Annotated[tuple[UserName, ...], Listed] = ()
    image_url: Annotated[str, AfterValidator(_image_url)] = ""
    metrics: Annotated[tuple[Annotated[str, AfterValidator(_metric)], ...], Field(min_length=1, strict=False)]
    rank_by: str
    settings: Annotated[dict[str, str], BeforeValidator(_settings)] = Field(default_factory=dict)
    texts: Annotated[tuple[TextDefinition, ...], Listed] = ()
    captions: Annotated[tuple[CaptionsDefinition, ...], Field(min_length=1, strict=False)]
    references: Annotated[tuple[ReferencesDefinition, ...], Field(min_length=1, strict=False)]
    phases: Annotated[tuple[PhaseDefinition, ...], Field(min_length=1, strict=False)]
    baselines: Annotated[tuple[BaselineDefinition, ...], Listed] = ()

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, data: Any) -> Any:
        return completed(data) if isinstance(data, Mapping) else data

    @model_validator(mode="after")
    def _consistent(self) -> ChallengeDefinition:
        if problems := cross_problems(self.model_dump()):
            raise CrossError(problems)
        return self

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The outputs of the metrics in the order of the file: the columns of leaderboards."""
        return tuple(label for metric in self.metrics for label in outputs_of(metric))

    def phase(self, name: str) -> PhaseDefinition:
        """The phase of a name. KeyError if there is none."""
        return {each.name: each for each in self.phases}[name]

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


_LISTS: Mapping[str, type[_Table]] = {
    "texts": TextDefinition,
    "captions": CaptionsDefinition,
    "references": ReferencesDefinition,
    "phases": PhaseDefinition,
    "baselines": BaselineDefinition,
}
_KEYS = {"": [*ChallengeDefinition.model_fields], **{name: [*table.model_fields] for name, table in _LISTS.items()}}


# ---- what depends on several keys; on plain values, of which any may be wrong


def tables(data: Mapping[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The tables of a list with their positions, as far as they are tables."""
    given = data.get(name)
    for position, each in enumerate(given if isinstance(given, list | tuple) else ()):
        if isinstance(each, Mapping):
            yield position, dict(each)


def _names(data: Mapping[str, Any], name: str) -> tuple[list[str], bool]:
    """The names of a list of tables, and whether these are all of them."""
    found = [each.get("name") for _, each in tables(data, name)]
    given = data.get(name)
    texts = [each for each in found if isinstance(each, str)]
    return texts, isinstance(given, list | tuple) and len(texts) == len(given)


def _outputs(data: Mapping[str, Any]) -> tuple[list[str], bool]:
    """The outputs of those metrics that are valid, and whether all are."""
    given = data.get("metrics")
    labels: list[str] = []
    whole = isinstance(given, list | tuple)
    for each in given if isinstance(given, list | tuple) else ():
        try:
            labels += outputs_of(each) if isinstance(each, str) else ()
        except ValueError:
            whole = False
    return labels, whole


def completed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same definition with the defaults that depend on other keys."""
    data = dict(data)
    data.setdefault("captions", [{"name": CAPTIONS}])
    if isinstance(data["captions"], list | tuple) and len(data["captions"]) == 1:
        named = [{"name": CAPTIONS, **each} for _, each in tables(data, "captions")]
        data["captions"] = named or data["captions"]
    captions, _ = _names(data, "captions")
    phases, _ = _names(data, "phases")
    defaults: dict[str, dict[str, Any]] = {
        # Of captions files that are wrong, references need not say more than they do.
        "references": {} if len(captions) > 1 else {"captions": captions[0] if captions else CAPTIONS},
        "phases": {"captions": captions or [CAPTIONS]},
        "baselines": {"phases": phases or [""]},
    }
    for name, default in defaults.items():
        if isinstance(data.get(name), list | tuple):
            data[name] = [{**default, **each} if isinstance(each, Mapping) else each for each in data[name]]
    if isinstance(data.get("phases"), list):
        data["phases"] = [_with_title(each) if isinstance(each, Mapping) else each for each in data["phases"]]
    if "rank_by" not in data:
        outputs, _ = _outputs(data)
        data["rank_by"] = RANKS if RANKS in outputs or not outputs else outputs[-1]
    return data


def _with_title(phase: Mapping[str, Any]) -> dict[str, Any]:
    name = phase.get("name")
    return {"title": name if isinstance(name, str) else "?", **phase}


def cross_problems(data: Mapping[str, Any]) -> list[str]:
    """Problems between the keys of a completed definition, of which other keys may be wrong."""
    return [
        *_repeated_names(data),
        *_unknown_names(data),
        *_captions_problems(data),
        *_date_problems(data),
        *_output_problems(data),
    ]


def _repeated_names(data: Mapping[str, Any]) -> Iterator[str]:
    for name, keys in (
        ("texts", ("title",)),
        ("captions", ("name",)),
        ("references", ("captions", "name")),
        ("phases", ("name",)),
        ("baselines", ("method",)),
    ):
        seen: dict[tuple[object, ...], int] = {}
        for position, each in tables(data, name):
            values = tuple(each.get(key) for key in keys)
            if not all(isinstance(value, str) for value in values):
                continue
            if values in seen:
                first = at((name, seen[values]))
                yield f"{at((name, position, keys[-1]))}: {values[-1]!r} is also the {keys[-1]} of {first}"
            seen.setdefault(values, position)


def _unknown_names(data: Mapping[str, Any]) -> Iterator[str]:
    for name, key, target in (
        ("references", "captions", "captions"),
        ("phases", "captions", "captions"),
        ("baselines", "phases", "phases"),
    ):
        known, whole = _names(data, target)
        if not whole:
            continue  # the name may be that of a table that is wrong
        for position, each in tables(data, name):
            given = each.get(key)
            listed: Sequence[object] = given if isinstance(given, list | tuple) else [given]
            for one in dict.fromkeys(value for value in listed if isinstance(value, str)):
                if one not in known:
                    what = "captions file" if target == "captions" else "phase"
                    yield f"{at((name, position, key))}: there is no {what} {one!r}; known are {', '.join(known)}"
            if len({*map(str, listed)}) != len(listed):
                yield f"{at((name, position, key))}: names one of them twice"


def _captions_problems(data: Mapping[str, Any]) -> Iterator[str]:
    judged = {each.get("captions") for _, each in tables(data, "references")}
    used = {name for _, each in tables(data, "phases") for name in each.get("captions") or () if isinstance(name, str)}
    captions = [*tables(data, "captions")]
    patterns: dict[str, int] = {}
    for position, each in captions:
        name, pattern = each.get("name"), each.get("pattern", "*")
        place = at(("captions", position))
        if isinstance(name, str) and name not in judged and isinstance(data.get("references"), list | tuple):
            yield f"{place}: no reference set judges {name!r}"
        if isinstance(name, str) and name not in used and isinstance(data.get("phases"), list | tuple):
            yield f"{place}: no phase takes {name!r}"
        if len(captions) > 1 and pattern == "*":
            yield f"{place}.pattern: is required where there are several captions files"
        elif len(captions) > 1 and isinstance(pattern, str):
            if pattern in patterns:
                yield f"{place}.pattern: is also the pattern of {at(('captions', patterns[pattern]))}"
            patterns.setdefault(pattern, position)


def _date_problems(data: Mapping[str, Any]) -> Iterator[str]:
    for position, each in tables(data, "phases"):
        try:
            opens, closes = _moment(each.get("opens")), _moment(each.get("closes"))
        except ValueError:
            continue
        if opens is not None and closes is not None and closes <= opens:
            yield f"{at(('phases', position, 'closes'))}: must be later than opens"


def _output_problems(data: Mapping[str, Any]) -> Iterator[str]:
    outputs, whole = _outputs(data)
    for label in dict.fromkeys(label for label in outputs if outputs.count(label) > 1):
        yield f"metrics: {label} is requested twice"
    rank_by = data.get("rank_by")
    if isinstance(rank_by, str) and whole and outputs and rank_by not in outputs:
        yield f"rank_by: {rank_by!r} is not an output of the metrics; these are {', '.join(outputs)}"


# ---- reading


def definition_from(data: Mapping[str, Any], name: str = "challenge.toml") -> ChallengeDefinition:
    """The definition that a file's values are.

    Args:
        data: plain values, as from TOML.
        name: of the file, for messages.

    Raises:
        ChallengeError: every problem.
    """
    try:
        return ChallengeDefinition.model_validate(data)
    except ValidationError as error:
        # Keys that are wrong keep pydantic from getting to the problems between keys.
        raise ChallengeError([*_said(error, data), *cross_problems(completed(data))], name) from None


def _said(error: ValidationError, data: Mapping[str, Any]) -> list[str]:
    """The sentences of an error; where a key may be left out unless there are several captions files, they say so."""
    captions, _ = _names(completed(data), "captions")
    said = sentences(error, _KEYS)
    if len(captions) > 1:
        by_which = f"must say which captions file it judges: {', '.join(captions)}"
        said = [re.sub(r"^(references\[\d+\]\.captions): is required$", rf"\1: {by_which}", each) for each in said]
    return said
