"""``challenge.toml`` as pydantic models, checked as far as possible without other files.

A definition is complete: ``definition_from`` fills in the defaults that depend on other keys (the only captions file,
all phases, the output that ranks). ``model_dump(mode="json")`` and ``model_validate`` turn it into plain values and
back. Errors of checks are sentences about a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields as fields_of
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path, PurePath
from typing import Annotated, Any, ClassVar, Literal, TypeAlias
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
)

from captious import ImageId, SetMetric, Settings, metric_info, select
from captious.drawing import shortened
from captious.errors import CaptiousError, UnusedSettingError, shown
from captious_server.challenges.problems import ChallengeError, at, one_line, sentences, unknown_key

# The metrics of a challenge: requests, settings, and whether they can run here.

#: The settings of metrics that a challenge may have. The number of threads is a server setting, and
#: captions are never sent to other hosts.
SETTINGS = tuple(field.name for field in fields_of(Settings) if field.name not in ("threads", "judge"))
#: Settings that may name a file or folder.
FILE_SETTINGS = tuple(name for name in SETTINGS if name not in {"tokenizer", "references_as"})
#: Settings that name large files, which may be elsewhere on the server.
SHARED_SETTINGS = ("model", "vectors", "images")


def public_label(label: str) -> str:
    """The label of an output without folders of this server: "sbert:model=minilm" for "sbert:model=/srv/minilm".

    Pages, files and the API have no other labels.
    """
    head, colon, tail = label.partition(":")
    return head + colon + ",".join(map(_without_folders, tail.split(",")))


def public_path(value: str) -> str:
    """The last part of an absolute path, or of one in a home folder; anything else as it is."""
    is_path = PurePath(value).is_absolute() or value.startswith("~")
    return PurePath(value).name if is_path else value


def _without_folders(parameter: str) -> str:
    name, equals, value = parameter.partition("=")
    return name + equals + public_path(value)


def directions_of(text: str) -> dict[str, bool | None]:
    """Public labels of the outputs requested by a text -> whether lower scores are better.

    The value is None for undirected outputs. Only the metric's class is loaded.

    Raises:
        ValueError: the text is "all", which depends on the machine, or not a metric or output.
    """
    if text.strip().lower() == "all":
        raise ValueError("list the metrics one by one, because 'all' depends on the installed metrics")
    try:
        info = metric_info(text)
    except CaptiousError as error:
        guess, question, _ = shown(error.hint, "challenge").partition("?")
        raise ValueError(f"{shown(error.message, 'challenge')}; {guess + question}") from None
    return {public_label(label): info.lower_is_better[output] for label, output in info.labels.items()}


def lacking_metrics(names: Iterable[str]) -> dict[str, list[str]]:
    """The metrics that miss requirements on this machine, by the command that installs these."""
    names_by_command: dict[str, list[str]] = {}
    for name in names:
        if command := metric_info(name).missing:
            names_by_command.setdefault(command, []).append(name)
    return names_by_command


def installed_metrics(names: Iterable[str]) -> list[str]:
    """The metrics that can run on this machine."""
    return [name for name in names if not metric_info(name).missing]


def settings_in(folder: Path, values: Mapping[str, str], *, threads: int | None = None) -> Settings:
    """The settings of a challenge, with paths into its folder; by default, for all cores.

    Raises:
        CaptiousError: a value that cannot be used, as ``Settings`` says.
    """
    settings: dict[str, Any] = dict(values)
    for name in FILE_SETTINGS:
        if name in settings and not Path(settings[name]).is_absolute() and (folder / settings[name]).exists():
            settings[name] = str(folder / settings[name])
    return Settings(**settings, threads=threads)


def metric_problems(
    metrics: Sequence[str], folder: Path, values: Mapping[str, str], *, unusable: Set[str] = frozenset()
) -> list[str]:
    """The reasons why metrics of a challenge cannot run here, a sentence each; unknown names are left out.

    Args:
        unusable: invalid settings. Metrics that use one are left out.
    """
    problems = []
    for name, value in values.items():
        try:
            settings_in(folder, {name: value})
        except (CaptiousError, OSError) as error:
            problems.append(f"{at(('settings', name))}: {one_line(error)}")
    settings = Settings() if problems else settings_in(folder, values)
    known = [(at(("metrics", position)), text) for position, text in enumerate(metrics) if _is_metric(text)]
    for place, text in known:
        try:
            if reason := _missing_requirement(text, settings, unusable):
                problems.append(f"{place}: {reason}")
        except UnusedSettingError:
            pass  # another metric may use it
        except CaptiousError as error:
            problems.append(f"{place}: {one_line(error)}")
    if not problems and not unusable and known:
        try:
            select([text for _, text in known], settings)
        except UnusedSettingError as error:
            problems.append(f"settings: {one_line(error)}")
        except CaptiousError:
            pass  # an output that is requested twice is a problem of the definition
    return problems


def _is_metric(text: str) -> bool:
    try:
        return bool(directions_of(text))
    except ValueError:
        return False


def _missing_requirement(text: str, settings: Settings, unusable: Set[str]) -> str:
    """The missing requirement of a metric on this machine; "" if it can run, or uses an unusable setting.

    Raises:
        CaptiousError: the parameters are invalid, or it does not use one of the settings.
    """
    info = metric_info(text, settings=settings)
    reason = info.missing or ""
    if not unusable.isdisjoint(info.needs):
        return ""
    if "judge" in info.needs:
        reason = "it sends captions to an endpoint, which servers do not do"
    elif reason:
        reason = shown(reason, "challenge") if reason.startswith("give ") else f"run {shown(reason, 'challenge')}"
    elif isinstance(select([text], settings, several=None)[0].metric, SetMetric):
        reason = "it judges several candidates per image together, but submissions have one"
    return reason and f"{info.name} cannot run here: {reason}"


# Relations between the keys of ``challenge.toml``: defaults that depend on other keys, and contradictions.
#
# These functions take plain values, any of which may be wrong, so that contradictions are found among the keys that are
# right.

#: The default output for ranking, in challenges that have it.
_DEFAULT_RANK_OUTPUT = "cider-d"
#: The captions file of a challenge that describes none.
CAPTIONS = "captions"
#: The first columns of a leaderboard as CSV, and those that name the submissions of a table of fields.
BOARD_HEADS = ("rank", "method", "team", "submitted", "baseline", "human")
ENTRY_HEADS = ("submission", "team", "phase")


def tables(data: Mapping[str, Any], name: str) -> list[tuple[int, Mapping[str, Any]]]:
    """The tables of a list with their positions; other entries are skipped."""
    return [(position, table) for position, table in enumerate(_list(data, name)) if isinstance(table, Mapping)]


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    value = data.get(name)
    return [*value] if isinstance(value, list | tuple) else []


def _texts(value: object) -> list[str]:
    """The texts in a value, which may be a text or a list of texts."""
    return [text for text in (value if isinstance(value, list | tuple) else [value]) if text and isinstance(text, str)]


def _column(data: Mapping[str, Any], name: str, key: str) -> tuple[list[str], bool]:
    """The texts that a key holds in the tables of a list, and whether every table has one."""
    cells = [_texts(table.get(key)) for _, table in tables(data, name)]
    return [text for texts in cells for text in texts], 0 < len(_list(data, name)) == sum(map(bool, cells))


def _outputs(data: Mapping[str, Any]) -> tuple[list[str], bool]:
    """The outputs of valid metrics and of the formula, and whether all metrics are valid."""
    labels: list[str] = []
    is_complete = True
    for text in _texts(_list(data, "metrics")):
        try:
            labels += directions_of(text)
        except ValueError:
            is_complete = False
    formula = data.get("formula")
    labels += _texts(formula.get("name")) if isinstance(formula, Mapping) else []
    return labels, is_complete


def with_defaults(data: Mapping[str, Any]) -> dict[str, Any]:
    """A definition with the defaults that depend on other keys."""
    data = {"captions": [{}], **data}
    if len(_list(data, "captions")) == 1:
        _set_defaults(data, "captions", {"name": CAPTIONS})
    captions, _ = _column(data, "captions", "name")
    phases, _ = _column(data, "phases", "name")
    if len(set(captions)) < 2:
        _set_defaults(data, "references", {"captions": captions[0] if captions else CAPTIONS})
    _set_defaults(data, "phases", {"captions": [*dict.fromkeys(captions)] or [CAPTIONS]})
    _set_defaults(data, "baselines", {"phases": [*dict.fromkeys(phases)] or [""]})
    if "rank_by" not in data:
        outputs, _ = _outputs(data)
        data["rank_by"] = _DEFAULT_RANK_OUTPUT if _DEFAULT_RANK_OUTPUT in outputs or not outputs else outputs[-1]
    elif isinstance(data["rank_by"], str):
        data["rank_by"] = public_label(data["rank_by"])
    return data


def _set_defaults(data: dict[str, Any], name: str, defaults: Mapping[str, Any]) -> None:
    """Complete the tables of a list."""
    if rows := _list(data, name):
        data[name] = [{**defaults, **row} if isinstance(row, Mapping) else row for row in rows]


def cross_problems(data: Mapping[str, Any]) -> list[str]:
    """Contradictions between the keys of a completed definition, other keys of which may be invalid."""
    return [
        *_repeated_names(data),
        *_unknown_names(data),
        *_captions_problems(data),
        *_held_problems(data),
        *_output_problems(data),
        *_field_problems(data),
        *_terms_problems(data),
    ]


def _repeated_names(data: Mapping[str, Any]) -> Iterator[str]:
    for name, model in TABLES.items():
        positions: dict[tuple[object, ...], int] = {}
        for position, table in tables(data, name):
            values = tuple(table.get(key) for key in model.identity)
            if not all(isinstance(value, str) for value in values):
                continue
            if (earlier := positions.setdefault(values, position)) != position:
                key = model.identity[-1]
                yield f"{at((name, position, key))}: {values[-1]!r} is also the {key} of {at((name, earlier))}"


def _unknown_names(data: Mapping[str, Any]) -> Iterator[str]:
    for name, key, target, kind in (
        ("references", "captions", "captions", "captions file"),
        ("phases", "captions", "captions", "captions file"),
        ("baselines", "phases", "phases", "phase"),
    ):
        names, is_complete = _column(data, target, "name")
        for position, table in tables(data, name):
            place, texts = at((name, position, key)), _texts(table.get(key))
            if name == "references" and not table.get(key):  # not completed where there are several captions files
                yield f"{place}: must name the captions file that it judges: {', '.join(names)}"
            for text in dict.fromkeys(texts):
                if is_complete and text not in names:  # otherwise it may be the name of an invalid table
                    yield f"{place}: there is no {kind} {text!r}; known are {', '.join(names)}"
            if len(set(texts)) < len(texts):
                yield f"{place}: has a duplicate name"


def _captions_problems(data: Mapping[str, Any]) -> Iterator[str]:
    reference_captions, knows_references = _column(data, "references", "captions")
    phase_captions, knows_phases = _column(data, "phases", "captions")
    phases = [{*_texts(table.get("captions"))} for _, table in tables(data, "phases")]
    patterns: dict[str, tuple[int, object]] = {}
    for position, table in tables(data, "captions"):
        name, pattern, place = table.get("name"), table.get("pattern", "*"), at(("captions", position))
        if not isinstance(name, str):
            continue
        if knows_references and name not in reference_captions:
            yield f"{place}: no reference set judges {name!r}"
        if knows_phases and name not in phase_captions:
            yield f"{place}: no phase takes {name!r}"
        companions = {companion for names in phases if name in names for companion in names} - {name}
        duplicates = [row for companion, (row, text) in patterns.items() if companion in companions and text == pattern]
        if companions and pattern == "*":
            yield f"{place}.pattern: is required where a phase takes several captions files"
        elif duplicates:
            yield f"{place}.pattern: is also the pattern of {at(('captions', duplicates[0]))}"
        patterns.setdefault(name, (position, pattern))


def _held_problems(data: Mapping[str, Any]) -> Iterator[str]:
    """Problems of reference sets with a part of the images, or with scores that are shown at the end."""
    rows = tables(data, "references")
    public = {table.get("name") for _, table in tables(data, "captions") if table.get("public") is True}
    for position, row in rows:
        place, captions = at(("references", position)), row.get("captions")
        others = [other for _, other in rows if other.get("captions") == captions]
        named = [other for other in others if other.get("name") == row.get("rest_of")]
        if rest_of := row.get("rest_of"):
            if not any(other.get("file") == row.get("file") and not other.get("rest_of") for other in named):
                yield f"{place}.rest_of: no other reference set of this file is called {rest_of!r}"
            if row.get("images"):
                yield f"{place}.images: is not needed with rest_of"
        if row.get("scores_shown") != "at-end":
            continue
        if others[0] is row:
            yield f"{place}.scores_shown: the first reference set of a captions file decides which entry counts"
        if captions in public:
            yield f"{place}.scores_shown: captions {captions!r} are public, so that everybody has these references"
        for number, phase in tables(data, "phases"):
            if captions in _texts(phase.get("captions")) and not phase.get("closes"):
                yield f"{at(('phases', number))}.closes: is required, as scores with {row.get('name')!r} are shown then"


def _output_problems(data: Mapping[str, Any]) -> Iterator[str]:
    outputs, is_complete = _outputs(data)
    for label in dict.fromkeys(label for label in outputs if outputs.count(label) > 1):
        yield f"metrics: {label} is requested twice"
    formula = data.get("formula")
    weights = formula.get("weights") if isinstance(formula, Mapping) else {}
    named = {"rank_by": [data.get("rank_by")], "tie_breaks": _list(data, "tie_breaks")}
    named["formula.weights"] = [*weights] if isinstance(weights, Mapping) else []
    numbers = [row.get("name") for _, row in tables(data, "fields") if row.get("kind") == "number"]
    for place, names in named.items():
        for name in names if is_complete and outputs else ():
            if not isinstance(name, str) or name in outputs or (place == "tie_breaks" and name in numbers):
                continue
            if name in numbers:
                yield f"{place}: {name!r} is a field, which images do not have; tie_breaks can name it"
            else:
                yield f"{place}: {name!r} is not an output of the metrics; these are {', '.join(outputs)}"
    if isinstance(formula, Mapping) and formula.get("name") in named["formula.weights"]:
        yield "formula.weights: the formula is not part of itself"
    if named["tie_breaks"] and data.get("ranks") != "scores":
        yield 'tie_breaks: need ranks = "scores"'


def _field_problems(data: Mapping[str, Any]) -> Iterator[str]:
    outputs, _ = _outputs(data)
    for position, row in tables(data, "fields"):
        place = at(("fields", position))
        if (name := row.get("name")) in (*BOARD_HEADS, *ENTRY_HEADS, *outputs):
            yield f"{place}.name: {name!r} is another column of leaderboards or tables; choose another name"
        if row.get("required") is True and row.get("filled_by") == "organizers":
            yield f"{place}.required: is for fields that teams fill in"
        if row.get("lower_is_better") is True and row.get("kind") != "number":
            yield f'{place}.lower_is_better: is for fields of the kind "number"'


def _terms_problems(data: Mapping[str, Any]) -> Iterator[str]:
    titles, is_complete = _column(data, "texts", "title")
    terms = data.get("terms")
    if isinstance(terms, str) and terms and terms not in titles and (is_complete or not titles):
        yield f"terms: there is no text {terms!r}; known are {', '.join(titles) or 'none'}"


# The models, one for each table of ``challenge.toml``.

_FIRST_YEAR, _LAST_YEAR = 2000, 2999  # of dates
_MOMENT_MESSAGE = "must be a date and time such as 2026-12-31T23:59:59Z"


def _metric(text: str) -> str:
    directions_of(text)
    return text.strip()


def _setting_name(name: str) -> str:
    if name == "threads":
        raise ValueError("is a setting of the server, not of challenges")
    if name not in SETTINGS:
        raise ValueError(unknown_key(name, SETTINGS))
    return name


def _setting(text: str) -> str:
    if not text.strip():
        raise ValueError("must be text")
    return text


#: Text with ``{id}``, which may have the format of a whole number.
_TEMPLATE = re.compile(r"[^{}]*(?:\{id(?::0?[0-9]{0,2}d)?\}[^{}]*)+")


def _image_url(template: str) -> str:
    """A template in which only ``{id}`` is replaced, so that it cannot reach into any object."""
    if not template:
        return template
    if _TEMPLATE.fullmatch(template) is None:
        raise ValueError("must contain {id}, or {id:012d} for numbers with leading zeros, and no other field")
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
        raise ValueError(f"{shortened(name)} is not a user name: letters, digits and @ . + - _")
    return name


def _domain(domain: str) -> str:
    if re.fullmatch(r"(?:[a-z0-9-]+\.)+[a-z0-9-]{2,}", domain.lower()) is None:
        raise ValueError(f"{shortened(domain)} is not a domain such as example.edu")
    return domain.lower()


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
        if not _FIRST_YEAR <= value.year <= _LAST_YEAR:
            raise ValueError(f"must be between the years {_FIRST_YEAR} and {_LAST_YEAR}; leave it out for no limit")
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

    #: What a table of a list is called, and the keys that tell it from others.
    noun: ClassVar[str]
    identity: ClassVar[tuple[str, ...]]


class TextDefinition(_Table):
    """A page of the organizers, a Markdown file."""

    noun, identity = "text", ("title",)

    title: _Line
    file: _File


class DownloadDefinition(_Table):
    """A file that everybody who sees the challenge can download, such as a list of images or a notebook."""

    noun, identity = "download", ("file",)

    title: _Line
    file: _File


class CaptionsDefinition(_Table):
    """A captions file that submissions contain.

    Args:
        pattern: pattern of its name in an archive, with ``*`` and ``?``.
        public: whether captions, references and scores of images are public.
    """

    noun, identity = "captions file", ("name",)

    name: _Name = CAPTIONS
    pattern: Annotated[str, Field(min_length=1), AfterValidator(_pattern)] = "*"
    public: bool = False


class ReferencesDefinition(_Table):
    """A reference set, which judges one captions file.

    Args:
        captions: optional if there is only one.
        images: a file with the ids of its images, or a share of the images of ``file``, chosen by ``seed``; "" for all.
        seed: drawn for a share that states none, and then kept by the server: the ids of images are no secret.
        rest_of: another set of the same file. This one has the images that the other leaves out.
        scores_shown: "at-end" to show scores on this set when a phase has closed.
    """

    noun, identity = "reference set", ("captions", "name")

    name: _Name
    captions: _Name = ""
    file: _File
    images: Annotated[float, Field(gt=0, lt=1)] | str = ""
    seed: Annotated[int, Field(ge=0)] | None = None
    rest_of: str = ""
    scores_shown: Literal["at-once", "at-end"] = "at-once"


def _name_in(values: dict[str, Any]) -> str:
    """The name of a table, which is its title or label as well where it has none."""
    return str(values["name"])


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

    noun, identity = "phase", ("name",)

    name: _Name
    title: _Line = Field(default_factory=_name_in)
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


class FormulaDefinition(_Table):
    """A further output, of which higher is better: a weighted sum of others.

    Args:
        weights: output -> weight.
    """

    name: _Name
    weights: Annotated[dict[str, float], Field(min_length=1)]


class BaselineDefinition(_Table):
    """A submission of the organizers, shown on leaderboards."""

    noun, identity = "baseline", ("method",)

    method: Annotated[str, Field(max_length=120), AfterValidator(_line)]
    file: _File
    phases: Annotated[tuple[str, ...], _NonEmptyList]
    human: bool = False
    description: str = Field(default="", max_length=5000)
    link: Annotated[str, Field(max_length=500), AfterValidator(_link)] = ""


class FieldDefinition(_Table):
    """A value that each submission may have, and its column on leaderboards.

    Args:
        label: name on pages; by default, ``name``.
        filled_by: who gives the values: teams with their submissions, or only organizers, with a table.
        required: whether teams must fill it in.
        on_board: whether it is a column of leaderboards; otherwise only organizers and, if it is theirs to fill in,
            the team see it.
        lower_is_better: whether lower numbers are better, where they break ties.
    """

    noun, identity = "field", ("name",)

    name: _Name
    label: _Line = Field(default_factory=_name_in)
    kind: Literal["text", "number", "yes/no"] = "text"
    filled_by: Literal["teams", "organizers"] = "teams"
    required: bool = False
    on_board: bool = True
    lower_is_better: bool = False


class ChallengeDefinition(_Table):
    """A challenge, with the fields of a completed ``challenge.toml``; see server/docs/challenges.md."""

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
    confirmed_members: bool = True
    mail_domains: Annotated[tuple[Annotated[str, AfterValidator(_domain)], ...], _List] = ()
    team_size: _Limit = 0
    teams_close: _Moment = None
    image_url: Annotated[str, AfterValidator(_image_url)] = ""
    metrics: Annotated[tuple[Annotated[str, AfterValidator(_metric)], ...], _NonEmptyList]
    formula: FormulaDefinition | None = None
    rank_by: str
    ranks: Literal["tests", "scores"] = "tests"
    tie_breaks: Annotated[tuple[str, ...], _List] = ()
    max_words: Annotated[int, Field(ge=1, le=1000)] = 150
    unknown_words: Annotated[float, Field(gt=0, le=1)] = 0.3
    distinct_captions: Annotated[float, Field(ge=0, lt=1)] = 0.05
    settings: dict[Annotated[str, AfterValidator(_setting_name)], Annotated[str, AfterValidator(_setting)]] = {}
    texts: Annotated[tuple[TextDefinition, ...], _List] = ()
    downloads: Annotated[tuple[DownloadDefinition, ...], _List] = ()
    captions: Annotated[tuple[CaptionsDefinition, ...], _NonEmptyList]
    references: Annotated[tuple[ReferencesDefinition, ...], _NonEmptyList]
    phases: Annotated[tuple[PhaseDefinition, ...], _NonEmptyList]
    baselines: Annotated[tuple[BaselineDefinition, ...], _List] = ()
    fields: Annotated[tuple[FieldDefinition, ...], _List] = ()

    @cached_property
    def directions(self) -> dict[str, bool | None]:
        """The outputs -> whether lower scores are better; None if neither higher nor lower scores are.

        They are in the order of the file, which is that of the columns of leaderboards.
        """
        directions = {label: lower for metric in self.metrics for label, lower in directions_of(metric).items()}
        return directions if self.formula is None else {**directions, self.formula.name: False}

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
    "fields": FieldDefinition,
}
_KEYS = {"": [*ChallengeDefinition.model_fields], "formula": [*FormulaDefinition.model_fields]} | {
    name: [*table.model_fields] for name, table in TABLES.items()
}


def definition_from(data: Mapping[str, Any], name: str = "challenge.toml") -> ChallengeDefinition:
    """The definition with these values; messages call the file ``name``.

    Raises:
        ChallengeError: every problem.
    """
    problems = [f"{place}: has a null character, which databases do not store" for place in _with_nulls(data)]
    data = with_defaults(data)
    try:
        definition = ChallengeDefinition.model_validate(data)
        problems += cross_problems(definition.model_dump())
    except ValidationError as error:
        problems += [*sentences(error, _KEYS), *cross_problems(data)]
    if problems:
        raise ChallengeError(problems, name)
    return definition


def _with_nulls(value: Any, place: tuple[int | str, ...] = ()) -> Iterator[str]:
    """The places of texts with a null character, which TOML can write as ``\\u0000``."""
    if isinstance(value, str) and "\0" in value:
        yield at(place)
    rows = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, row in rows:
        yield from _with_nulls(row, (*place, key))
