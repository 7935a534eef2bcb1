"""Types of the API's answers, which views return and from which the description of the API is made."""

from __future__ import annotations

from typing import NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

#: An answer has the keys of its type, and no others.
exact = with_config(ConfigDict(extra="forbid"))


@exact
class ProblemAnswer(TypedDict):
    """A problem with captions; ``ids`` are the first of ``n`` images."""

    file: str
    message: str
    ids: list[int | str]
    n: int


@exact
class ErrorAnswer(TypedDict):
    """The reason why a call was refused."""

    error: str
    problems: NotRequired[list[ProblemAnswer]]
