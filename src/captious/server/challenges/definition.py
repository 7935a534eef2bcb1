"""``challenge.toml`` as pydantic models: what organisers write, checked as far as that needs no other file.

A definition is complete: defaults that depend on other keys (the only captions file, all phases, the output that ranks)
are filled in when it is made. ``model_dump(mode="json")`` and ``model_validate`` turn it into plain values and back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from captious.data.ids import ImageId
from captious.server.challenges.consistency import CAPTIONS, completed, cross_problems, names_of
from captious.server.challenges.problems import ChallengeError, CrossError, sentences
from captious.server.challenges.values import (
    FileName,
    FilePattern,
    ImageTemplate,
    Limit,
    Line,
    Link,
    MetricSettings,
    MetricText,
    Moment,
    Name,
    UserName,
    directions_of,
    outputs_of,
)

__all__ = [
    "BaselineDefinition",
    "CaptionsDefinition",
    "ChallengeDefinition",
    "PhaseDefinition",
    "ReferencesDefinition",
    "TextDefinition",
    "definition_from",
]

# Plain values have lists where the models have tuples.
_Listed = Field(strict=False)
_Some = Field(strict=False, min_length=1)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


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
    pattern: FilePattern = "*"
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
    captions: Annotated[tuple[str, ...], _Some]
    scored_per_day: Limit = 0
    scored_in_total: Limit = 0
    attempts_per_day: Limit = 0
    board: Literal["public", "hidden"] = "public"


class BaselineDefinition(_Table):
    """A submission of the organisers, shown on leaderboards."""

    method: Annotated[Line, Field(max_length=120)]
    file: FileName
    phases: Annotated[tuple[str, ...], _Some]
    human: bool = False
    description: str = Field(default="", max_length=5000)
    link: Link = ""


class ChallengeDefinition(_Table):
    """A challenge. Fields and defaults are those of ``challenge.toml``; see docs/challenges.md."""

    title: Line
    slug: Name | None = None
    summary: str = ""
    access: Literal["public", "participants"] = "public"
    organisers: Annotated[tuple[UserName, ...], _Listed] = ()
    image_url: ImageTemplate = ""
    metrics: Annotated[tuple[MetricText, ...], _Some]
    rank_by: str
    settings: MetricSettings = Field(default_factory=dict)
    texts: Annotated[tuple[TextDefinition, ...], _Listed] = ()
    captions: Annotated[tuple[CaptionsDefinition, ...], _Some]
    references: Annotated[tuple[ReferencesDefinition, ...], _Some]
    phases: Annotated[tuple[PhaseDefinition, ...], _Some]
    baselines: Annotated[tuple[BaselineDefinition, ...], _Listed] = ()

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

    @cached_property
    def lower_is_better(self) -> tuple[str, ...]:
        """The outputs of which lower scores are better."""
        return tuple(label for label, lower in self.directions.items() if lower)

    @cached_property
    def directions(self) -> dict[str, bool | None]:
        """For each output whether lower scores are better; None if neither higher nor lower scores are."""
        return {label: lower for metric in self.metrics for label, lower in directions_of(metric).items()}

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
    captions, _ = names_of(completed(data), "captions")
    said = sentences(error, _KEYS)
    if len(captions) > 1:
        by_which = f"must say which captions file it judges: {', '.join(captions)}"
        said = [re.sub(r"^(references\[\d+\]\.captions): is required$", rf"\1: {by_which}", each) for each in said]
    return said
